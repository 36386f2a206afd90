//! How much the present run has removed, over all of its lanes.
//!
//! A run that is killed has removed what it has removed: the next one goes on counting. So does the one after
//! a run that the brake stopped, or it would let the rest go piece by piece.

use hw_rules::item::Kind;

use crate::Store;
use crate::error::Error;
use crate::leases::Lease;
use crate::sql::{Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::{Step, Tx, step};

/// Items of a run, by what the brake counts apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ItemTally {
    pub threads: u64,
    pub comments: u64,
}

impl ItemTally {
    /// Adds items of one kind. Repositories have a brake of their own.
    pub fn add(&mut self, kind: Kind, count: u64) {
        match kind {
            Kind::Repository => {}
            Kind::Discussion | Kind::Issue | Kind::PullRequest => self.threads += count,
            Kind::IssueComment | Kind::ReviewComment | Kind::Review | Kind::DiscussionComment => {
                self.comments += count;
            }
        }
    }
}

const END: Step = step!("end removals");

impl Store {
    /// Returns what the present run has removed.
    pub fn removal_tally(&self, host: &str) -> Result<ItemTally, Error> {
        const TALLY: Sql =
            Sql::both("select threads, comments from removal_tallies where host = $1");
        let read = |mut row: Row| {
            let (threads, comments) = (row.int(0)?.unsigned_abs(), row.int(1)?.unsigned_abs());
            Ok(ItemTally { threads, comments })
        };
        let tally = self.read("removal tally", |tx| tx.first(TALLY, &params![host], read))?;
        Ok(tally.unwrap_or_default())
    }

    /// Ends a run that was not stopped by the brake: the next one counts from zero.
    pub fn end_removals(&self, lease: &Lease, host: &str) -> Result<(), Error> {
        const CLEAR: Sql = Sql::both("delete from removal_tallies where host = $1");
        if self.removal_tally(host)? == ItemTally::default() {
            return Ok(());
        }
        self.write_for(lease, END, |tx| tx.execute(CLEAR, &params![host]).map(drop))
    }

    /// Counts the items of these kinds in these repositories.
    pub fn count_items(
        &self,
        host: &str,
        repositories: &[i64],
        kinds: &[Kind],
    ) -> Result<ItemTally, Error> {
        const COUNT: OfKind = of_kind!(
            "select count(*) from",
            "where host = $1 and repository_id in (select value from json_each($2))",
            "where host = $1 and repository_id = any($2)"
        );
        self.read("count items", |tx| {
            let mut tally = ItemTally::default();
            for kind in kinds.iter().filter(|kind| Kind::TEXTS.contains(kind)) {
                tally.add(*kind, tx.count(COUNT.of(*kind), &params![host, repositories])?);
            }
            Ok(tally)
        })
    }
}

/// Counts removals of one kind, in the transaction that removes.
pub(crate) fn count(tx: &mut Tx<'_>, host: &str, kind: Kind, removed: u64) -> Result<(), Error> {
    const COUNT: Sql = Sql::both(
        "insert into removal_tallies (host, threads, comments) values ($1, $2, $3)
         on conflict (host) do update
            set threads = removal_tallies.threads + excluded.threads,
                comments = removal_tallies.comments + excluded.comments",
    );
    let mut tally = ItemTally::default();
    tally.add(kind, removed);
    if tally == ItemTally::default() {
        return Ok(());
    }
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let (threads, comments) = (number(tally.threads), number(tally.comments));
    tx.execute(COUNT, &params![host, threads, comments]).map(drop)
}
