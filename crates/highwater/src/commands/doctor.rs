//! `highwater doctor`

mod finding;
mod github;
mod store;
mod texts;

use hw_store::IntegrityCheck;
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
    // each damaged item stands below the check that found it
    let checks = findings.iter().filter(|finding| finding.item.is_none());
    let failed = checks.filter(|finding| finding.status == Status::Fail).count();
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
        let depth = if args.deep { IntegrityCheck::Full } else { IntegrityCheck::Quick };
        let found = store::look(settings, depth);
        tell(args, &found)?;
        findings.extend(found);
    }
    Ok(findings)
}

fn tell(args: &Doctor, findings: &[Finding]) -> anyhow::Result<()> {
    // programs get them all
    let is_shown = |finding: &&Finding| args.json || !finding.is_one_of_too_many;
    for finding in findings.iter().filter(is_shown) {
        if args.json { say_object(&finding.object()) } else { say(&finding.line()) }?;
    }
    Ok(())
}
