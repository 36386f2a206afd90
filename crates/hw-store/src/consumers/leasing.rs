//! Gives events to a consumer, each for the length of a lease.

use hw_rules::delivery::{DeliveryState, state_after_failure};

use super::{events_with, to_tries};
use crate::StoreWriter;
use crate::error::StoreError;
use crate::events::{EventRow, IS_DELIVERED};
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::change_counter::bump_change_counter;

const LEASE: TransactionStep = step!("lease events", durable);

/// A request for events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerRead {
    pub consumer: String,
    pub limit: u32,
    /// A random text, different in each request: the tokens begin with it.
    pub lease_token: String,
    /// The time after which the events come again if nobody acknowledges them.
    pub lease_ms: i64,
    pub now_ms: i64,
}

/// An event that was given to a consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveredEvent {
    pub event: EventRow,
    /// Acknowledges or rejects this delivery.
    pub token: String,
    /// How often the event was delivered, this time included.
    pub tries: u32,
}

/// A consumer's position.
struct Position {
    floor_seq: i64,
    max_tries: u32,
}

/// A delivery whose lease or wait has ended.
struct DueDelivery {
    seq: i64,
    state: DeliveryState,
    tries: u32,
}

impl StoreWriter {
    /// Gives the next events to a consumer, in the order of their numbers: those that come again, then new ones. An event
    /// that was delivered too often becomes a dead letter instead.
    pub fn lease_events(&self, read: &ConsumerRead) -> Result<Vec<DeliveredEvent>, StoreError> {
        // most reads of a consumer that waits find nothing, and write nothing
        if self.read("events", |tx| is_idle(tx, read))? {
            return Ok(Vec::new());
        }
        self.write(LEASE, |tx| {
            let position = find_position(tx, &read.consumer)?;
            let mut leased = lease_due(tx, read, &position)?;
            let left = i64::from(read.limit) - leased.len() as i64;
            leased.extend(lease_new(tx, read, &position, left)?);
            store_leases(tx, read, &leased)?;
            let seqs: Vec<i64> = leased.iter().map(|due| due.seq).collect();
            let events = events_with(tx, &seqs)?;
            bump_change_counter(tx)?;
            let delivered = events.into_iter().filter_map(|event| {
                let tries = leased.iter().find(|due| due.seq == event.seq)?.tries;
                Some(DeliveredEvent { token: token(read, event.seq), event, tries })
            });
            Ok(delivered.collect())
        })
    }
}

fn token(read: &ConsumerRead, seq: i64) -> String {
    format!("{}-{seq}", read.lease_token)
}

const DUE: &str = "select seq, state, tries from deliveries
     where consumer = $1 and state in ('leased', 'waiting') and until_ms <= $2
     order by seq limit $3";

/// Returns true if there is nothing for a consumer.
fn is_idle(tx: &mut Transaction<'_>, read: &ConsumerRead) -> Result<bool, StoreError> {
    let position = find_position(tx, &read.consumer)?;
    let params = params![&read.consumer, read.now_ms, 1_i64];
    let due = tx.query_first(Sql::portable(DUE), &params, |mut row| row.int("seq"))?;
    let new = format!("select seq from events where {IS_DELIVERED} and events.seq > $1 limit 1");
    let new = tx
        .query_first(Sql::portable(&new), &params![position.floor_seq], |mut row| row.int("seq"))?;
    Ok(due.is_none() && new.is_none())
}

fn find_position(tx: &mut Transaction<'_>, consumer: &str) -> Result<Position, StoreError> {
    const POSITION: Sql =
        Sql::portable("select floor_seq, max_tries from consumers where name = $1");
    let position = tx.query_first(POSITION, &params![consumer], |mut row| {
        Ok(Position {
            floor_seq: row.int("floor_seq")?,
            max_tries: to_tries(row.int("max_tries")?),
        })
    })?;
    position.ok_or_else(|| StoreError::UnknownConsumer { name: consumer.to_owned() })
}

/// An event that is given to a consumer.
struct LeasedEvent {
    seq: i64,
    tries: u32,
}

/// Leases the events again whose lease or wait has ended, and sets aside those that were delivered too often.
fn lease_due(
    tx: &mut Transaction<'_>,
    read: &ConsumerRead,
    position: &Position,
) -> Result<Vec<LeasedEvent>, StoreError> {
    const DEAD: Sql = Sql::portable(
        "update deliveries set state = 'dead', token = null, until_ms = null,
                               error = coalesce(error, 'nobody acknowledged it before its lease ended')
          where consumer = $1 and seq = $2",
    );
    let params = params![&read.consumer, read.now_ms, i64::from(read.limit)];
    let due = tx.query(Sql::portable(DUE), &params, |mut row| {
        let (seq, state) = (row.int("seq")?, row.text("state")?);
        let state = DeliveryState::from_name(&state).unwrap_or(DeliveryState::Waiting);
        Ok(DueDelivery { seq, state, tries: to_tries(row.int("tries")?) })
    })?;
    let mut leased = Vec::new();
    let mut dead = Vec::new();
    for DueDelivery { seq, state, tries } in due {
        let has_failed = state == DeliveryState::Leased;
        if has_failed && state_after_failure(tries, position.max_tries) == DeliveryState::Dead {
            dead.push(params![&read.consumer, seq].to_vec());
        } else {
            leased.push(LeasedEvent { seq, tries: tries.saturating_add(1) });
        }
    }
    tx.execute_each(DEAD, &dead)?;
    Ok(leased)
}

/// Leases events that the consumer was never given, and moves its floor past them.
fn lease_new(
    tx: &mut Transaction<'_>,
    read: &ConsumerRead,
    position: &Position,
    left: i64,
) -> Result<Vec<LeasedEvent>, StoreError> {
    const FLOOR: Sql = Sql::portable("update consumers set floor_seq = $1 where name = $2");
    const PASSED: Sql = Sql::portable(
        "delete from deliveries
          where consumer = $1 and seq > $2 and seq <= $3
            and state = 'acknowledged' and ended_ms is null",
    );
    if left <= 0 {
        return Ok(Vec::new());
    }
    let new = format!(
        "select events.seq, deliveries.state from events
           left join deliveries on deliveries.consumer = $1 and deliveries.seq = events.seq
          where {IS_DELIVERED} and events.seq > $2
          order by events.seq limit $3"
    );
    let params = params![&read.consumer, position.floor_seq, left];
    let new = tx.query(Sql::portable(&new), &params, |mut row| {
        Ok((row.int("seq")?, row.maybe_text("state")?.is_some()))
    })?;
    if let Some((last, _)) = new.last() {
        tx.send_statement(FLOOR, &params![*last, &read.consumer])?;
        tx.send_statement(PASSED, &params![&read.consumer, position.floor_seq, *last])?;
    }
    // acknowledged before anybody read them
    let unread = new.into_iter().filter(|(_, is_acknowledged)| !is_acknowledged);
    Ok(unread.map(|(seq, _)| LeasedEvent { seq, tries: 1 }).collect())
}

fn store_leases(
    tx: &mut Transaction<'_>,
    read: &ConsumerRead,
    leased: &[LeasedEvent],
) -> Result<(), StoreError> {
    const STORE: Sql = Sql::per_dialect(
        "insert into deliveries (consumer, seq, state, token, tries, until_ms)
         values ($1, $2, 'leased', $3, $4, $5)
         on conflict (consumer, seq) do update
            set state = excluded.state, token = excluded.token, tries = excluded.tries,
                until_ms = excluded.until_ms",
        "insert into deliveries (consumer, seq, state, token, tries, until_ms)
         select consumer, seq, 'leased', token, tries, until_ms
           from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[])
                as new (consumer, seq, token, tries, until_ms)
         on conflict (consumer, seq) do update
            set state = excluded.state, token = excluded.token, tries = excluded.tries,
                until_ms = excluded.until_ms",
    );
    let until_ms = read.now_ms.saturating_add(read.lease_ms);
    let tokens: Vec<String> = leased.iter().map(|event| token(read, event.seq)).collect();
    let rows: Vec<_> = leased
        .iter()
        .zip(&tokens)
        .map(|(event, token)| {
            params![&read.consumer, event.seq, token, i64::from(event.tries), until_ms].to_vec()
        })
        .collect();
    tx.insert_rows(STORE, &rows)
}
