//! Words what a service does next, for every frontend.

use crate::duty::{DutyName, DutyState, describe_duties};
use crate::format::{format_count, format_duration};

/// Describes what is due next, one part for each kind of work: `pull from github.com in 12m`. Watched repositories are
/// one part, with the first of their polls.
pub fn describe_schedule(duties: &[DutyState], now_ms: i64) -> Vec<String> {
    let mut parts = Vec::new();
    let mut polls: Vec<&DutyState> = Vec::new();
    for duty in duties.iter().filter(|duty| duty.due_ms.is_some()) {
        match &duty.name {
            DutyName::Repository(_) => polls.push(duty),
            DutyName::Pull(_) | DutyName::Accounts(_) => {
                let name = describe_duties(std::slice::from_ref(&duty.name));
                parts.push(format!("{name} {}", describe_due(duty, now_ms)));
            }
            // it is part of the pulls and polls, or nothing that anybody waits for
            DutyName::Watches(_) | DutyName::Sweeps(_) | DutyName::Chores | DutyName::Service => {}
        }
    }
    let first = polls.iter().min_by_key(|duty| duty.due_ms);
    if let Some(first) = first {
        let count = format_count(polls.len() as u64, "watched repository");
        let next = describe_due(first, now_ms);
        parts.push(if polls.len() == 1 {
            format!("{count} {next}")
        } else {
            format!("{count}, the next one {next}")
        });
    }
    parts
}

/// Describes a duty that failed, and when it is tried again; none if its last run succeeded.
pub fn describe_failure(duty: &DutyState, now_ms: i64) -> Option<String> {
    let reason = duty.last_error.as_deref().filter(|_| duty.failures > 0)?;
    duty.due_ms?;
    let name = if let DutyName::Repository(repository) = &duty.name {
        format!("watched repository {repository}")
    } else {
        describe_duties(std::slice::from_ref(&duty.name))
    };
    let failures = format_count(u64::from(duty.failures), "failure");
    Some(format!("{name} ({failures}, again {}): {reason}", describe_due(duty, now_ms)))
}

fn describe_due(duty: &DutyState, now_ms: i64) -> String {
    if duty.owner.is_some() {
        return "now".to_owned();
    }
    match duty.due_ms.map(|due_ms| due_ms.saturating_sub(now_ms)) {
        Some(wait_ms) if wait_ms > 0 => format!("in {}", format_duration(wait_ms)),
        Some(_) | None => "now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository_key::RepositoryKey;

    #[test]
    fn schedule_names_pulls_and_accounts_and_counts_repositories() {
        let due = |name, due_ms| DutyState { due_ms: Some(due_ms), ..DutyState::new(name) };
        let repository = |id| DutyName::Repository(RepositoryKey::new("github.com", id));
        let mut duties = vec![
            due(DutyName::accounts("bsky.app"), 0),
            due(DutyName::Chores, 5_000),
            due(DutyName::pull("github.com"), 720_000),
            due(repository(1), 40_000),
        ];
        assert_eq!(
            describe_schedule(&duties, 0),
            [
                "accounts at bsky.app now",
                "pull from github.com in 12m",
                "1 watched repository in 40s"
            ]
        );
        duties.push(due(repository(2), 20_000));
        duties.push(DutyState::new(repository(3)));
        assert_eq!(describe_schedule(&duties, 0)[2], "2 watched repositories, the next one in 20s");
    }

    #[test]
    fn failure_names_its_reason_and_the_next_attempt() {
        let failed = DutyState {
            due_ms: Some(90_000),
            failures: 3,
            last_error: Some("token rejected".to_owned()),
            ..DutyState::new(DutyName::pull("github.com"))
        };
        assert_eq!(
            describe_failure(&failed, 30_000).as_deref(),
            Some("pull from github.com (3 failures, again in 60s): token rejected")
        );
        let by_hand = DutyState { due_ms: None, ..failed.clone() };
        assert_eq!(describe_failure(&by_hand, 0), None, "no service tries it again");
        assert_eq!(describe_failure(&DutyState { failures: 0, ..failed }, 0), None);
    }
}
