//! What each consumer did with an event.

use hw_rules::delivery::DeliveryState;

use super::to_tries;
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};

/// An event at one consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDelivery {
    pub consumer: String,
    /// None if the consumer was not given the event yet.
    pub state: Option<DeliveryState>,
    pub tries: u32,
    /// When the lease or the wait ends.
    pub until_ms: Option<i64>,
    pub error: Option<String>,
    /// How the last program ended that was run for it; none if none was, or if a signal ended it.
    pub exit_code: Option<i64>,
    /// What that program printed; none if none was run.
    pub stdout: Option<Vec<u8>>,
    pub ended_ms: Option<i64>,
}

impl StoreReader {
    /// Returns what each consumer did with an event, by consumer.
    pub fn event_deliveries(&self, seq: i64) -> Result<Vec<EventDelivery>, StoreError> {
        const DELIVERIES: Sql = Sql::portable(
            "select name, floor_seq, state, tries, until_ms, error, exit_code, stdout, ended_ms
               from consumers
               left join deliveries on deliveries.consumer = consumers.name and deliveries.seq = $1
              order by name",
        );
        self.read("deliveries", |tx| {
            tx.query(DELIVERIES, &params![seq], |mut row| {
                let (consumer, floor_seq) = (row.text("name")?, row.int("floor_seq")?);
                let stored = row.maybe_text("state")?;
                let state = match stored.as_deref() {
                    Some(name) => DeliveryState::from_name(name),
                    // below the floor, a missing row says that it was acknowledged
                    None => (seq <= floor_seq).then_some(DeliveryState::Acknowledged),
                };
                let ended_ms = row.maybe_int("ended_ms")?;
                Ok(EventDelivery {
                    consumer,
                    state,
                    tries: row.maybe_int("tries")?.map_or(0, to_tries),
                    until_ms: row.maybe_int("until_ms")?,
                    error: row.maybe_text("error")?,
                    exit_code: row.maybe_int("exit_code")?,
                    stdout: row.maybe_bytes("stdout")?.filter(|_| ended_ms.is_some()),
                    ended_ms,
                })
            })
        })
    }
}
