//! `highwater doctor`

mod finding;
mod github;
mod store;

use hw_rules::clean::for_terminal_line;

use crate::cli::{Doctor, Part};
use crate::config::Settings;
use crate::interrupt::{self, Stop};
use crate::report::{Hint, say};
use finding::{Finding, Status};

pub(crate) fn run(args: &Doctor, settings: &Settings) -> anyhow::Result<()> {
    let findings = interrupt::run(&Stop::default(), look(args, settings))?;
    let failed = findings.iter().filter(|finding| finding.status == Status::Fail).count();
    match failed {
        0 => Ok(()),
        1 => Err(told("1 check failed")),
        _ => Err(told(&format!("{failed} checks failed"))),
    }
}

fn told(sentence: &str) -> anyhow::Error {
    let hint = "what to do stands behind the arrow".to_owned();
    anyhow::anyhow!("{sentence}").context(Hint(hint))
}

/// Looks at one part after the other, and tells what it found as soon as it did.
async fn look(args: &Doctor, settings: &Settings) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    if args.part != Some(Part::Store) {
        let found = github::look(args, settings).await?;
        tell(args, &found)?;
        findings.extend(found);
    }
    if args.part != Some(Part::Github) {
        let found = store::look(args, settings);
        tell(args, &found)?;
        findings.extend(found);
    }
    Ok(findings)
}

fn tell(args: &Doctor, findings: &[Finding]) -> anyhow::Result<()> {
    for finding in findings {
        let line = if args.json {
            finding.object().to_string()
        } else {
            for_terminal_line(&finding.line())
        };
        say(&line)?;
    }
    Ok(())
}
