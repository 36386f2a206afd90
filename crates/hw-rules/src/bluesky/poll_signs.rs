//! Judges how polls are going, by the signs that people who run them look at.

use crate::format::{format_count, format_duration};

/// A poll of few accounts should end within this time.
const SLOW_POLL_MS: i64 = 30_000;
/// The share of accounts, in percent, above which unread ones are a warning sign.
const FAILED_PERCENT: u64 = 5;
/// Back-dated posts and deletions may be missed after such a pause.
const LONG_PAUSE_MS: i64 = 24 * 3_600_000;

/// How polls went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PollSigns {
    pub accounts: u64,
    /// Accounts that were ever read.
    pub read_accounts: u64,
    /// The time since the last poll began.
    pub age_ms: i64,
    /// Newest first.
    pub rounds: Vec<RoundSigns>,
}

/// How one poll went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoundSigns {
    pub took_ms: i64,
    pub accounts: u64,
    /// Feeds that were read for the first time.
    pub initial: u64,
    pub failed: u64,
}

/// Returns what looks wrong.
pub fn warning_signs(signs: &PollSigns) -> Vec<String> {
    let Some(last) = signs.rounds.first() else { return Vec::new() };
    let mut warnings = Vec::new();
    if signs.age_ms > LONG_PAUSE_MS {
        let age = format_duration(signs.age_ms);
        warnings.push(format!(
            "the last poll that was completed began {age} ago; `highwater bluesky poll` runs one"
        ));
    }
    if last.took_ms > SLOW_POLL_MS && last.initial == 0 {
        let took = format_duration(last.took_ms);
        warnings.push(format!("the last poll took {took}: the server is slow, or limits requests"));
    }
    if last.failed * 100 > last.accounts * FAILED_PERCENT {
        let failed = format_count(last.failed, "account");
        warnings.push(format!(
            "the last poll could not read {failed}; `highwater bluesky list` shows why"
        ));
    }
    let again: u64 = signs.rounds.iter().take(3).map(|round| round.initial).sum();
    if signs.rounds.len() >= 3 && again > 2 * signs.accounts {
        warnings.push("accounts are read for the first time again and again".to_owned());
    }
    let unread = last.accounts.min(signs.accounts).saturating_sub(signs.read_accounts);
    if unread * 100 > signs.accounts * FAILED_PERCENT {
        let unread = format_count(unread, "account");
        warnings.push(format!("never read: {unread}; `highwater bluesky list` shows why"));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_that_go_well_have_no_warning_signs() {
        assert_eq!(warning_signs(&PollSigns::default()), Vec::<String>::new());
        let first = RoundSigns { took_ms: 60_000, accounts: 342, initial: 325, failed: 0 };
        let next = RoundSigns { took_ms: 900, accounts: 342, initial: 0, failed: 17 };
        let signs = PollSigns {
            accounts: 342,
            read_accounts: 325,
            age_ms: 900_000,
            rounds: vec![next, next, first],
        };
        assert_eq!(warning_signs(&signs), Vec::<String>::new());
        assert_eq!(
            warning_signs(&PollSigns { rounds: vec![first], ..signs }),
            Vec::<String>::new(),
            "the first poll may take its time"
        );
    }

    #[test]
    fn polls_that_go_badly_say_how() {
        let bad = RoundSigns { took_ms: 61_000, accounts: 100, initial: 0, failed: 6 };
        let again = RoundSigns { initial: 100, ..bad };
        let signs = PollSigns {
            accounts: 100,
            read_accounts: 90,
            age_ms: 2 * LONG_PAUSE_MS,
            rounds: vec![bad, again, again, again],
        };
        let warnings = warning_signs(&signs);
        let parts =
            ["began 2 days ago", "the last poll took", "6 accounts", "never read: 10 accounts"];
        for (warning, part) in warnings.iter().zip(parts) {
            assert!(warning.contains(part), "{warning}");
        }
        assert_eq!(warnings.len(), 4);
        let rounds = vec![again, again, again];
        let warnings = warning_signs(&PollSigns { rounds, ..signs });
        assert!(warnings.iter().any(|warning| warning.contains("again and again")), "{warnings:?}");
    }
}
