//! `highwater doctor`

mod bluesky;
mod finding;
mod github;
mod service;
mod store;
mod stored_texts;

use hw_store::IntegrityCheck;
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::cli::{DoctorArgs, DoctorPart};
use crate::config::AppSettings;
use crate::report::ErrorHint;
use crate::terminal::{print_json, print_result};
use crate::{github_token, interrupt};
use finding::{CheckStatus, DoctorFinding};

pub(crate) fn run(args: &DoctorArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let token = github_token::find_token(settings);
    let findings = interrupt::run(&CancellationToken::new(), run_checks(args, settings, token))?;
    // damaged items are part of the check that found them
    let checks = findings.iter().filter(|finding| finding.item.is_none());
    let failed = checks.filter(|finding| finding.status == CheckStatus::Fail).count();
    match failed {
        0 => Ok(()),
        1 => Err(failure_error("1 check failed")),
        _ => Err(failure_error(&format!("{failed} checks failed"))),
    }
}

fn failure_error(message: &str) -> anyhow::Error {
    let hint = "each failed check ends with a suggested fix after →".to_owned();
    anyhow::anyhow!("{message}").context(ErrorHint(hint))
}

/// Runs one part after the other, and prints the findings of each as soon as it is done.
async fn run_checks(
    args: &DoctorArgs,
    settings: &AppSettings,
    token: anyhow::Result<SecretString>,
) -> anyhow::Result<Vec<DoctorFinding>> {
    let mut findings = Vec::new();
    if args.part != Some(DoctorPart::Store) {
        let found = github::check_github(settings, token).await?;
        print_findings(args, &found)?;
        findings.extend(found);
    }
    if args.part != Some(DoctorPart::Github) {
        let depth = if args.deep { IntegrityCheck::Full } else { IntegrityCheck::Quick };
        let found = store::check_database(settings, depth);
        print_findings(args, &found)?;
        findings.extend(found);
    }
    Ok(findings)
}

fn print_findings(args: &DoctorArgs, findings: &[DoctorFinding]) -> anyhow::Result<()> {
    for finding in findings {
        if args.json {
            print_json(&finding.to_json())?;
        } else if !finding.is_beyond_limit {
            print_result(&finding.to_line())?;
        }
    }
    Ok(())
}
