//! Stores the consumers of events. Each gets every event at least once, independently of the others.
//!
//! A consumer has acknowledged everything up to its floor but the deliveries below it that are leased, waiting or dead,
//! and above the floor only the deliveries that say so. Events are numbered in the order of commits, so none ever
//! appears below a floor.

use crate::error::StoreError;
use crate::events::{self, EventRow, IS_DELIVERED};
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::change_counter::bump_change_counter;
use crate::{StoreReader, StoreWriter};

pub(crate) mod acknowledgement;
pub(crate) mod event_deliveries;
pub(crate) mod leasing;
pub(crate) mod retention;

const ADD: TransactionStep = step!("add consumer", durable);
const REMOVE: TransactionStep = step!("remove consumer", durable);

/// A consumer to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConsumer {
    pub name: String,
    pub start: ConsumerStart,
    /// How often an event is delivered before it counts as a dead letter.
    pub max_tries: u32,
}

/// The first event that a consumer gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsumerStart {
    /// The oldest one that is stored.
    Beginning,
    /// The next one.
    Now,
}

/// A consumer, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerRow {
    pub name: String,
    /// Everything up to here was acknowledged, but what is leased, waiting or dead.
    pub floor_seq: i64,
    /// Events that it was never given.
    pub unread: u64,
    pub leased: u64,
    /// Rejected events that come again.
    pub waiting: u64,
    pub dead: u64,
    pub max_tries: u32,
    pub created_ms: i64,
}

/// An event that a consumer could not process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    pub event: EventRow,
    pub tries: u32,
    pub error: Option<String>,
}

/// What a program printed that was run for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionRow {
    pub event_id: String,
    pub seq: i64,
    /// The state of the delivery, by its name.
    pub state: String,
    pub tries: u32,
    /// None if a signal ended it.
    pub exit_code: Option<i64>,
    pub stdout: Vec<u8>,
    pub error: Option<String>,
    pub ended_ms: i64,
}

impl StoreReader {
    /// Returns all consumers, by name.
    pub fn consumers(&self) -> Result<Vec<ConsumerRow>, StoreError> {
        let text = format!(
            "select name, floor_seq, max_tries, created_ms,
                    (select count(*) from events
                      where {IS_DELIVERED} and events.seq > consumers.floor_seq) as above,
                    {} as acknowledged, {} as leased, {} as waiting, {} as dead
               from consumers order by name",
            count_deliveries("state = 'acknowledged' and seq > consumers.floor_seq"),
            count_deliveries("state = 'leased'"),
            count_deliveries("state = 'waiting'"),
            count_deliveries("state = 'dead'"),
        );
        self.read("consumers", |tx| {
            tx.query(Sql::portable(&text), &[], |mut row| {
                let (name, floor_seq) = (row.text("name")?, row.int("floor_seq")?);
                let max_tries = to_tries(row.int("max_tries")?);
                let created_ms = row.int("created_ms")?;
                let (above, acknowledged) = (row.int("above")?, row.int("acknowledged")?);
                Ok(ConsumerRow {
                    name,
                    floor_seq,
                    unread: (above - acknowledged).unsigned_abs(),
                    leased: row.int("leased")?.unsigned_abs(),
                    waiting: row.int("waiting")?.unsigned_abs(),
                    dead: row.int("dead")?.unsigned_abs(),
                    max_tries,
                    created_ms,
                })
            })
        })
    }

    /// Returns the events that a consumer could not process, the newest first.
    pub fn dead_letters(&self, consumer: &str) -> Result<Vec<DeadLetter>, StoreError> {
        const DEAD: Sql = Sql::portable(
            "select seq, tries, error from deliveries where consumer = $1 and state = 'dead'
              order by seq desc",
        );
        self.read("dead letters", |tx| {
            let dead = tx.query(DEAD, &params![consumer], |mut row| {
                Ok((row.int("seq")?, to_tries(row.int("tries")?), row.maybe_text("error")?))
            })?;
            let events = events_with(tx, &dead.iter().map(|dead| dead.0).collect::<Vec<_>>())?;
            let letters = dead.into_iter().filter_map(|(seq, tries, error)| {
                let event = events.iter().find(|event| event.seq == seq)?.clone();
                Some(DeadLetter { event, tries, error })
            });
            Ok(letters.collect())
        })
    }

    /// Returns how the last programs ended that were run for events of a consumer, the newest first.
    pub fn executions(&self, consumer: &str, limit: u32) -> Result<Vec<ExecutionRow>, StoreError> {
        const EXECUTIONS: Sql = Sql::portable(
            "select events.id, deliveries.seq, deliveries.state, tries, exit_code, stdout, error, ended_ms
               from deliveries join events on events.seq = deliveries.seq
              where consumer = $1 and ended_ms is not null
              order by ended_ms desc, deliveries.seq desc limit $2",
        );
        self.read("executions", |tx| {
            tx.query(EXECUTIONS, &params![consumer, i64::from(limit)], |mut row| {
                Ok(ExecutionRow {
                    event_id: row.text("id")?,
                    seq: row.int("seq")?,
                    state: row.text("state")?,
                    tries: to_tries(row.int("tries")?),
                    exit_code: row.maybe_int("exit_code")?,
                    stdout: row.maybe_bytes("stdout")?.unwrap_or_default(),
                    error: row.maybe_text("error")?,
                    ended_ms: row.int("ended_ms")?,
                })
            })
        })
    }
}

impl StoreWriter {
    /// Adds a consumer. Returns false if there is one with this name, which stays as it is.
    pub fn add_consumer(&self, new: &NewConsumer, now_ms: i64) -> Result<bool, StoreError> {
        const ADD_FROM: Sql = Sql::portable(
            "insert into consumers (name, floor_seq, max_tries, created_ms)
             values ($1, $2, $3, $4) on conflict (name) do nothing",
        );
        const NEWEST: Sql = Sql::portable("select max(seq) as newest from events");
        self.write(ADD, |tx| {
            let floor = match new.start {
                ConsumerStart::Beginning => None,
                ConsumerStart::Now => {
                    tx.query_first(NEWEST, &[], |mut row| row.maybe_int("newest"))?.flatten()
                }
            };
            let max_tries = i64::from(new.max_tries);
            let params = params![&new.name, floor.unwrap_or(0), max_tries, now_ms];
            let is_new = tx.execute(ADD_FROM, &params)? > 0;
            bump_change_counter(tx)?;
            Ok(is_new)
        })
    }

    /// Removes a consumer with its position and its dead letters. Returns false if there is none with this name.
    pub fn remove_consumer(&self, name: &str) -> Result<bool, StoreError> {
        const DELETE: Sql = Sql::portable("delete from consumers where name = $1");
        const DELIVERIES: Sql = Sql::portable("delete from deliveries where consumer = $1");
        self.write(REMOVE, |tx| {
            let is_removed = tx.execute(DELETE, &params![name])? > 0;
            tx.send_statement(DELIVERIES, &params![name])?;
            bump_change_counter(tx)?;
            Ok(is_removed)
        })
    }
}

fn count_deliveries(condition: &str) -> String {
    format!("(select count(*) from deliveries where consumer = consumers.name and {condition})")
}

fn to_tries(tries: i64) -> u32 {
    u32::try_from(tries).unwrap_or(u32::MAX)
}

/// Returns the events with these numbers, in order.
fn events_with(tx: &mut Transaction<'_>, seqs: &[i64]) -> Result<Vec<EventRow>, StoreError> {
    let rest = events::events_by_seq(tx.dialect());
    events::select_events(tx, &rest, &params![seqs])
}
