//! Ends deliveries: acknowledged, or rejected to come again later.

use hw_rules::delivery::{DeliveryState, state_after_failure};

use super::to_tries;
use crate::StoreWriter;
use crate::error::StoreError;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::change_counter::bump_change_counter;

use super::retention::settle_events;

const ACKNOWLEDGE: TransactionStep = step!("acknowledge events", durable);
const REJECT: TransactionStep = step!("reject events", durable);
const EXECUTION: TransactionStep = step!("record execution", durable);
const RELEASE: TransactionStep = step!("release events");
const REQUEUE: TransactionStep = step!("requeue dead letters", durable);

/// Names a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryRef {
    /// By the token that came with it: it counts only as long as nobody else was given the event.
    Token(String),
    /// By the id of the event, whoever works on it.
    Event(String),
}

/// The result of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckOutcome {
    Acknowledged,
    AlreadyAcknowledged,
    /// The lease had ended, and the event was given to somebody else or set aside.
    LeaseEnded,
    Unknown,
}

/// When a rejected event comes again, and why it was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    pub retry_at_ms: i64,
    pub error: Option<String>,
}

/// The result of a rejection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectOutcome {
    Waiting,
    /// It failed too often.
    Dead,
    LeaseEnded,
    Unknown,
}

/// How a program ended that was run for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// None if a signal ended it.
    pub exit_code: Option<i32>,
    pub stdout: Vec<u8>,
    pub ended_ms: i64,
    pub outcome: ExecutionOutcome,
}

/// What the end of a program means for its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutionOutcome {
    Done,
    Retry(Rejection),
    /// It comes again at this time, and the try does not count.
    Later {
        retry_at_ms: i64,
    },
}

/// A delivery as it is stored, or an event that was not delivered yet.
struct FoundDelivery {
    seq: i64,
    /// None if the consumer was never given the event, or acknowledged it.
    state: Option<DeliveryState>,
    tries: u32,
    max_tries: u32,
    is_above_floor: bool,
    has_output: bool,
}

impl StoreWriter {
    /// Acknowledges events. What was acknowledged before stays so.
    pub fn acknowledge_events(
        &self,
        consumer: &str,
        deliveries: &[DeliveryRef],
        now_ms: i64,
    ) -> Result<Vec<AckOutcome>, StoreError> {
        self.write(ACKNOWLEDGE, |tx| {
            let mut seqs = Vec::new();
            let outcomes = deliveries
                .iter()
                .map(|delivery| acknowledge(tx, consumer, delivery, &mut seqs))
                .collect::<Result<_, StoreError>>()?;
            settle_events(tx, &seqs, now_ms)?;
            bump_change_counter(tx)?;
            Ok(outcomes)
        })
    }

    /// Rejects events: they come again later or, if they failed too often, become dead letters.
    pub fn reject_events(
        &self,
        consumer: &str,
        deliveries: &[DeliveryRef],
        rejection: &Rejection,
        now_ms: i64,
    ) -> Result<Vec<RejectOutcome>, StoreError> {
        self.write(REJECT, |tx| {
            let mut seqs = Vec::new();
            let outcomes = deliveries
                .iter()
                .map(|delivery| reject(tx, consumer, delivery, rejection, &mut seqs))
                .collect::<Result<_, StoreError>>()?;
            settle_events(tx, &seqs, now_ms)?;
            bump_change_counter(tx)?;
            Ok(outcomes)
        })
    }

    /// Records how a program ended that was run for an event, with what it printed, and acknowledges or rejects the event
    /// in the same step.
    pub fn record_execution(
        &self,
        consumer: &str,
        token: &str,
        execution: &Execution,
    ) -> Result<AckOutcome, StoreError> {
        const OUTPUT: Sql = Sql::portable(
            "update deliveries set exit_code = $1, stdout = $2, ended_ms = $3
              where consumer = $4 and token = $5 and state = 'leased'",
        );
        let Execution { exit_code, stdout, ended_ms, outcome } = execution;
        let delivery = DeliveryRef::Token(token.to_owned());
        self.write(EXECUTION, |tx| {
            let params =
                params![exit_code.map(i64::from), stdout.as_slice(), *ended_ms, consumer, token];
            tx.send_statement(OUTPUT, &params)?;
            let mut seqs = Vec::new();
            let outcome = match outcome {
                ExecutionOutcome::Done => acknowledge(tx, consumer, &delivery, &mut seqs)?,
                ExecutionOutcome::Retry(rejection) => {
                    match reject(tx, consumer, &delivery, rejection, &mut seqs)? {
                        RejectOutcome::Waiting | RejectOutcome::Dead => AckOutcome::Acknowledged,
                        RejectOutcome::LeaseEnded => AckOutcome::LeaseEnded,
                        RejectOutcome::Unknown => AckOutcome::Unknown,
                    }
                }
                ExecutionOutcome::Later { retry_at_ms } => {
                    match postpone(tx, consumer, &delivery, *retry_at_ms)? {
                        0 => AckOutcome::LeaseEnded,
                        _ => AckOutcome::Acknowledged,
                    }
                }
            };
            settle_events(tx, &seqs, *ended_ms)?;
            bump_change_counter(tx)?;
            Ok(outcome)
        })
    }

    /// Gives leased events back, as if they had not been delivered. Returns the number of those that were still leased.
    pub fn release_events(
        &self,
        consumer: &str,
        deliveries: &[DeliveryRef],
        retry_at_ms: i64,
    ) -> Result<u64, StoreError> {
        self.write(RELEASE, |tx| {
            let mut released = 0;
            for delivery in deliveries {
                released += postpone(tx, consumer, delivery, retry_at_ms)?;
            }
            bump_change_counter(tx)?;
            Ok(released)
        })
    }

    /// Delivers dead letters again. Returns the number of those that were found.
    pub fn requeue_dead_letters(
        &self,
        consumer: &str,
        events: &[String],
    ) -> Result<u64, StoreError> {
        const AGAIN: Sql = Sql::portable(
            "update deliveries set state = 'waiting', tries = 0, until_ms = 0, error = null
              where consumer = $1 and state = 'dead'
                and seq = (select events.seq from events where events.id = $2)",
        );
        const NEEDED: Sql =
            Sql::portable("update events set settled_ms = null where events.id = $1");
        self.write(REQUEUE, |tx| {
            let mut found = 0;
            for id in events {
                let is_found = tx.execute(AGAIN, &params![consumer, id])?;
                if is_found > 0 {
                    tx.send_statement(NEEDED, &params![id])?;
                }
                found += is_found;
            }
            bump_change_counter(tx)?;
            Ok(found)
        })
    }
}

fn acknowledge(
    tx: &mut Transaction<'_>,
    consumer: &str,
    delivery: &DeliveryRef,
    settled: &mut Vec<i64>,
) -> Result<AckOutcome, StoreError> {
    const DELETE: Sql = Sql::portable("delete from deliveries where consumer = $1 and seq = $2");
    const STORE: Sql = Sql::portable(
        "insert into deliveries (consumer, seq, state, tries) values ($1, $2, 'acknowledged', 0)
         on conflict (consumer, seq) do update
            set state = excluded.state, token = null, until_ms = null, error = null",
    );
    let Some(found) = find_delivery(tx, consumer, delivery)? else {
        return Ok(match delivery {
            DeliveryRef::Token(_) => AckOutcome::LeaseEnded,
            DeliveryRef::Event(_) => AckOutcome::Unknown,
        });
    };
    let is_acknowledged = found.state == Some(DeliveryState::Acknowledged)
        || (found.state.is_none() && !found.is_above_floor);
    if is_acknowledged {
        return Ok(AckOutcome::AlreadyAcknowledged);
    }
    let params = params![consumer, found.seq];
    // below the floor, a missing row says that it was acknowledged
    if found.is_above_floor || found.has_output {
        tx.send_statement(STORE, &params)?;
    } else {
        tx.send_statement(DELETE, &params)?;
    }
    settled.push(found.seq);
    Ok(AckOutcome::Acknowledged)
}

fn reject(
    tx: &mut Transaction<'_>,
    consumer: &str,
    delivery: &DeliveryRef,
    rejection: &Rejection,
    settled: &mut Vec<i64>,
) -> Result<RejectOutcome, StoreError> {
    const STORE: Sql = Sql::portable(
        "update deliveries set state = $1, token = null, until_ms = $2, error = $3
          where consumer = $4 and seq = $5",
    );
    let Some(found) = find_delivery(tx, consumer, delivery)? else {
        return Ok(match delivery {
            DeliveryRef::Token(_) => RejectOutcome::LeaseEnded,
            DeliveryRef::Event(_) => RejectOutcome::Unknown,
        });
    };
    if !matches!(found.state, Some(DeliveryState::Leased | DeliveryState::Waiting)) {
        return Ok(RejectOutcome::LeaseEnded);
    }
    let state = state_after_failure(found.tries, found.max_tries);
    let until_ms = Some(rejection.retry_at_ms).filter(|_| state == DeliveryState::Waiting);
    let error = rejection.error.as_deref();
    tx.send_statement(STORE, &params![state.name(), until_ms, error, consumer, found.seq])?;
    if state == DeliveryState::Dead {
        settled.push(found.seq);
        return Ok(RejectOutcome::Dead);
    }
    Ok(RejectOutcome::Waiting)
}

/// Has a leased event come again at a time, without counting the try. Returns 0 if it is not leased.
fn postpone(
    tx: &mut Transaction<'_>,
    consumer: &str,
    delivery: &DeliveryRef,
    retry_at_ms: i64,
) -> Result<u64, StoreError> {
    const STORE: Sql = Sql::portable(
        "update deliveries set state = 'waiting', token = null, until_ms = $1, tries = tries - 1
          where consumer = $2 and seq = $3 and state = 'leased'",
    );
    let Some(found) = find_delivery(tx, consumer, delivery)? else { return Ok(0) };
    tx.execute(STORE, &params![retry_at_ms, consumer, found.seq])
}

fn find_delivery(
    tx: &mut Transaction<'_>,
    consumer: &str,
    delivery: &DeliveryRef,
) -> Result<Option<FoundDelivery>, StoreError> {
    const BY_TOKEN: Sql = Sql::portable(
        "select deliveries.seq, state, tries, max_tries, floor_seq, ended_ms
           from deliveries join consumers on consumers.name = deliveries.consumer
          where deliveries.consumer = $1 and token = $2 and state = 'leased'",
    );
    const BY_EVENT: Sql = Sql::portable(
        "select events.seq, deliveries.state, deliveries.tries, max_tries, floor_seq,
                deliveries.ended_ms
           from events join consumers on consumers.name = $1
           left join deliveries on deliveries.consumer = consumers.name
                               and deliveries.seq = events.seq
          where events.id = $2",
    );
    match delivery {
        DeliveryRef::Token(token) => {
            tx.query_first(BY_TOKEN, &params![consumer, token], read_found)
        }
        DeliveryRef::Event(id) => tx.query_first(BY_EVENT, &params![consumer, id], read_found),
    }
}

fn read_found(mut row: SqlRow) -> Result<FoundDelivery, StoreError> {
    let seq = row.int("seq")?;
    let state = row.maybe_text("state")?;
    Ok(FoundDelivery {
        seq,
        state: state.as_deref().and_then(DeliveryState::from_name),
        tries: row.maybe_int("tries")?.map_or(0, to_tries),
        max_tries: to_tries(row.int("max_tries")?),
        is_above_floor: seq > row.int("floor_seq")?,
        has_output: row.maybe_int("ended_ms")?.is_some(),
    })
}
