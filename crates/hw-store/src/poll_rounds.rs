//! Stores how the last polls of all accounts went.

use crate::error::StoreError;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::{TransactionStep, step};
use crate::{LeasedStore, StoreReader};

const RECORD: TransactionStep = step!("record poll");

/// The time that a poll is kept: rows are small, and a week shows what a weekend changes.
const RETENTION_MS: i64 = 8 * 86_400_000;

/// One poll of all accounts of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PollRound {
    pub began_ms: i64,
    pub took_ms: i64,
    pub accounts: u64,
    /// Feeds that were read.
    pub feeds: u64,
    /// Feeds with new posts among those that were read before.
    pub active: u64,
    /// Feeds that were read for the first time.
    pub initial: u64,
    /// Accounts that are unavailable.
    pub skipped: u64,
    /// Accounts that could not be read for another reason.
    pub failed: u64,
    pub posts: u64,
    pub links: u64,
    pub removed: u64,
    pub requests: u64,
}

impl StoreReader {
    /// Returns the last polls of a host, newest first.
    pub fn poll_rounds(&self, host: &str, limit: u32) -> Result<Vec<PollRound>, StoreError> {
        const LAST: Sql = Sql::portable(
            "select began_ms, took_ms, accounts, feeds, active, initial, skipped, failed, posts, links, removed,
                    requests
               from poll_rounds where host = $1 order by began_ms desc limit $2",
        );
        self.read("poll rounds", |tx| tx.query(LAST, &params![host, i64::from(limit)], read_round))
    }
}

impl LeasedStore {
    /// Records a poll, and forgets those of more than a week ago.
    pub fn record_poll(&self, host: &str, round: &PollRound) -> Result<(), StoreError> {
        const FORGET: Sql = Sql::portable(
            "delete from poll_rounds where host = $1 and (began_ms < $2 or began_ms >= $3)",
        );
        const INSERT: Sql = Sql::portable(
            "insert into poll_rounds (host, began_ms, took_ms, accounts, feeds, active, initial, skipped, failed,
                                      posts, links, removed, requests)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        );
        let began_ms = round.began_ms;
        self.write_with_lease(RECORD, |tx| {
            // a round in the future is from a clock that was set back since
            let oldest_ms = began_ms.saturating_sub(RETENTION_MS);
            tx.send_statement(FORGET, &params![host, oldest_ms, began_ms])?;
            let [
                accounts,
                feeds,
                active,
                initial,
                skipped,
                failed,
                posts,
                links,
                removed,
                requests,
            ] = counts_of(round).map(|count| i64::try_from(count).unwrap_or(i64::MAX));
            tx.send_statement(
                INSERT,
                &params![
                    host,
                    began_ms,
                    round.took_ms,
                    accounts,
                    feeds,
                    active,
                    initial,
                    skipped,
                    failed,
                    posts,
                    links,
                    removed,
                    requests,
                ],
            )
        })
    }
}

fn counts_of(round: &PollRound) -> [u64; 10] {
    let PollRound { accounts, feeds, active, initial, skipped, failed, .. } = *round;
    let PollRound { posts, links, removed, requests, .. } = *round;
    [accounts, feeds, active, initial, skipped, failed, posts, links, removed, requests]
}

fn read_round(mut row: SqlRow) -> Result<PollRound, StoreError> {
    let mut count = |name| Ok::<_, StoreError>(row.int(name)?.unsigned_abs());
    Ok(PollRound {
        accounts: count("accounts")?,
        feeds: count("feeds")?,
        active: count("active")?,
        initial: count("initial")?,
        skipped: count("skipped")?,
        failed: count("failed")?,
        posts: count("posts")?,
        links: count("links")?,
        removed: count("removed")?,
        requests: count("requests")?,
        began_ms: row.int("began_ms")?,
        took_ms: row.int("took_ms")?,
    })
}
