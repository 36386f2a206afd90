//! Leases events for a consumer, and waits for the first one.

use hw_store::{ConsumerRead, DeliveredEvent, StoreWriter};
use hw_sync::clock::{Clock as _, MachineClock};

use crate::config;

/// The interval at which the workspace is looked at while there is nothing to read.
const POLL_MS: i64 = 250;
/// The interval at which a read is tried although nothing changed: a lease or a wait may have ended.
const RETRY_MS: i64 = 1_000;

/// Reads the events of a consumer.
pub(super) struct EventReader<'a> {
    pub(super) store: &'a StoreWriter,
    pub(super) consumer: &'a str,
    /// The time for which an event belongs to its reader.
    pub(super) lease_ms: i64,
}

/// Events, and the time until which they belong to their reader.
pub(super) struct LeasedBatch {
    pub(super) events: Vec<DeliveredEvent>,
    pub(super) until_ms: i64,
}

impl EventReader<'_> {
    /// Leases the next events; waits for the first one until a time.
    pub(super) async fn wait_for_events(
        &self,
        limit: u32,
        until_ms: i64,
    ) -> anyhow::Result<LeasedBatch> {
        let (mut seen, mut tried_ms) = (None, 0);
        loop {
            let now_ms = MachineClock.now_ms();
            let counter = Some(self.store.change_counter()?);
            if counter != seen || now_ms >= tried_ms + RETRY_MS {
                (seen, tried_ms) = (counter, now_ms);
                let batch = self.lease_events(limit, now_ms)?;
                if !batch.events.is_empty() {
                    return Ok(batch);
                }
            }
            if now_ms >= until_ms {
                return Ok(LeasedBatch { events: Vec::new(), until_ms: now_ms });
            }
            MachineClock.sleep_until((now_ms + POLL_MS).min(until_ms)).await;
        }
    }

    fn lease_events(&self, limit: u32, now_ms: i64) -> anyhow::Result<LeasedBatch> {
        let read = ConsumerRead {
            consumer: self.consumer.to_owned(),
            limit,
            lease_token: config::new_lease_token(),
            lease_ms: self.lease_ms,
            now_ms,
        };
        let events = self.store.lease_events(&read)?;
        Ok(LeasedBatch { events, until_ms: now_ms.saturating_add(self.lease_ms) })
    }
}
