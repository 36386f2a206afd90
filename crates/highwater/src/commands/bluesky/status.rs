//! `highwater bluesky status`

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::bluesky::poll_signs::{PollSigns, RoundSigns, warning_signs};
use hw_rules::format::{format_count, format_duration, format_tenths};
use hw_rules::source_time::SourceInstant;
use hw_store::{AccountRow, PollRound, StoreError, StoreReader};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};

use super::NO_ACCOUNTS;
use crate::cli::PollStatusArgs;
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::terminal::{print_json, print_result, print_status, print_warning};

/// Enough polls for a day.
const MAX_ROUNDS: u32 = 1_000;
const DAY_MS: i64 = 86_400_000;

pub(super) fn run(args: &PollStatusArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| {
        let health = PollHealth::read(store)?;
        if args.json {
            return Ok(print_json(&health.to_json())?);
        }
        if health.accounts.is_empty() {
            print_status(NO_ACCOUNTS);
            return Ok(());
        }
        for line in health.to_lines() {
            print_result(&line)?;
        }
        health.warnings().iter().for_each(|warning| print_warning(warning));
        Ok(())
    })
}

/// The followed accounts, and how their polls are going.
pub(crate) struct PollHealth {
    pub(crate) accounts: Vec<AccountRow>,
    /// The last polls, newest first.
    rounds: Vec<PollRound>,
}

impl PollHealth {
    pub(crate) fn read(store: &StoreReader) -> Result<Self, StoreError> {
        let accounts = store.accounts()?;
        let hosts: BTreeSet<&str> = accounts.iter().map(|account| account.host.as_str()).collect();
        let mut rounds = Vec::new();
        for host in hosts {
            rounds.extend(store.poll_rounds(host, MAX_ROUNDS)?);
        }
        rounds.sort_by_key(|round| std::cmp::Reverse(round.began_ms));
        Ok(Self { accounts, rounds })
    }

    /// Returns what looks wrong, for people who run polls.
    pub(crate) fn warnings(&self) -> Vec<String> {
        warning_signs(&self.signs())
    }

    /// Returns the first line: how many accounts there are, and how many have a cursor.
    pub(crate) fn accounts_line(&self) -> String {
        let (all, with_cursor) = (self.accounts.len() as u64, self.with_cursor());
        let share = percent(with_cursor, all);
        format!("{}, {with_cursor} with a cursor ({share} %)", format_count(all, "account"))
    }

    fn with_cursor(&self) -> u64 {
        self.accounts.iter().filter(|account| account.head_at.is_some()).count() as u64
    }

    fn signs(&self) -> PollSigns {
        let read = self.accounts.iter().filter(|account| account.feed.read_ms.is_some());
        PollSigns {
            accounts: self.accounts.len() as u64,
            read_accounts: read.count() as u64,
            age_ms: self.rounds.first().map_or(0, |last| MachineClock.now_ms() - last.began_ms),
            rounds: self
                .rounds
                .iter()
                .map(|round| RoundSigns {
                    took_ms: round.took_ms,
                    accounts: round.accounts,
                    initial: round.initial,
                    failed: round.failed,
                })
                .collect(),
        }
    }

    /// Returns the unavailable accounts by state.
    fn unavailable(&self) -> BTreeMap<&'static str, u64> {
        let mut states = BTreeMap::new();
        let accounts = self.accounts.iter().filter(|account| !account.feed.state.is_active());
        for account in accounts {
            *states.entry(account.feed.state.name()).or_default() += 1;
        }
        states
    }

    fn to_lines(&self) -> Vec<String> {
        let mut lines = vec![self.accounts_line()];
        let states: Vec<String> =
            self.unavailable().iter().map(|(state, count)| format!("{count} {state}")).collect();
        if !states.is_empty() {
            lines.push(format!("unavailable: {}", states.join(", ")));
        }
        let unfinished = self.accounts.iter().filter(|account| account.feed.is_unfinished).count();
        if unfinished > 0 {
            let feeds = format_count(unfinished as u64, "feed");
            lines.push(format!("read in part: {feeds}; the next poll goes on"));
        }
        let Some(last) = self.rounds.first() else {
            lines.push("never polled; `highwater bluesky poll` reads the accounts".to_owned());
            return lines;
        };
        lines.extend(describe_round(last));
        lines.push(self.describe_day(last));
        lines
    }

    fn describe_day(&self, last: &PollRound) -> String {
        let day = || self.rounds.iter().filter(|round| last.began_ms - round.began_ms < DAY_MS);
        let (posts, requests) = (
            day().map(|round| round.posts).sum::<u64>(),
            day().map(|round| round.requests).sum::<u64>(),
        );
        let polls = format_count(day().count() as u64, "poll");
        let requests = format_count(requests, "request");
        format!("last 24 h: {polls}, {}, {requests}", format_count(posts, "post"))
    }

    /// Returns the state as JSON; `docs/json.md` is the contract.
    fn to_json(&self) -> Value {
        let last = self.rounds.first().map(|round| {
            json!({
                "began_at": SourceInstant(round.began_ms).to_string(),
                "duration_ms": round.took_ms,
                "accounts": round.accounts,
                "feeds": round.feeds,
                "active": round.active,
                "initial": round.initial,
                "skipped": round.skipped,
                "failed": round.failed,
                "posts": round.posts,
                "links": round.links,
                "removed": round.removed,
                "requests": round.requests,
            })
        });
        json!({
            "accounts": self.accounts.len(),
            "with_cursor": self.with_cursor(),
            "unavailable": self.unavailable(),
            "unfinished": self.accounts.iter().filter(|account| account.feed.is_unfinished).count(),
            "last_poll": last,
            "warnings": self.warnings(),
        })
    }
}

fn describe_round(round: &PollRound) -> [String; 2] {
    let PollRound { began_ms, took_ms, accounts, feeds, active, initial, .. } = *round;
    let ago = format_duration(MachineClock.now_ms() - began_ms);
    let requests = format_count(round.requests, "request");
    [
        format!("last poll: {ago} ago, took {}, {requests}", format_tenths(took_ms)),
        format!(
            "  {} read: {active} with new posts ({} % of the accounts), {initial} for the first time, {} skipped, \
             {} failed",
            format_count(feeds, "feed"),
            percent(active, accounts),
            round.skipped,
            round.failed
        ),
    ]
}

fn percent(part: u64, whole: u64) -> u64 {
    (100 * part).checked_div(whole).unwrap_or(0)
}
