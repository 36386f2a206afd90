//! `highwater doctor`

mod finding;
mod github;
mod store;

use secrecy::SecretString;

use crate::cli::{Doctor, Part};
use crate::config::Settings;
use crate::interrupt::{self, Stop};
use crate::report::Hint;
use crate::terminal::{say, say_object};
use crate::token;
use finding::{Finding, Status};

pub(crate) fn run(args: &Doctor, settings: &Settings) -> anyhow::Result<()> {
    let token = token::find(settings);
    let findings = interrupt::run(&Stop::default(), look(args, settings, token))?;
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
async fn look(
    args: &Doctor,
    settings: &Settings,
    token: anyhow::Result<SecretString>,
) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    if args.part != Some(Part::Store) {
        let found = github::look(settings, token).await?;
        tell(args, &found)?;
        findings.extend(found);
    }
    if args.part != Some(Part::Github) {
        let found = store::look(settings);
        tell(args, &found)?;
        findings.extend(found);
    }
    Ok(findings)
}

fn tell(args: &Doctor, findings: &[Finding]) -> anyhow::Result<()> {
    for finding in findings {
        if args.json { say_object(&finding.object()) } else { say(&finding.line()) }?;
    }
    Ok(())
}
