//! The handle of frontends that write: what a user decides about events, and nothing else.

use std::ops::Deref;

use crate::consumers::acknowledgement::{AckOutcome, DeliveryRef};
use crate::consumers::leasing::{ConsumerRead, DeliveredEvent};
use crate::consumers::{ConsumerStart, NewConsumer};
use crate::error::StoreError;
use crate::{StoreReader, StoreWriter};

use hw_rules::delivery::DEFAULT_MAX_TRIES;

/// Reads a workspace's database, and writes what a user decides. Clones share it.
///
/// It cannot claim a duty, so it never writes what was fetched:
///
/// ```compile_fail,E0599
/// # fn try_to_claim(decisions: &hw_store::DecisionWriter, duty: &hw_rules::duty::DutyName) {
/// decisions.claim_duty(duty, "me", 0);
/// # }
/// ```
#[derive(Clone)]
pub struct DecisionWriter {
    writer: StoreWriter,
}

impl DecisionWriter {
    pub(crate) fn new(writer: StoreWriter) -> Self {
        Self { writer }
    }

    /// Adds a consumer that starts with the oldest stored event, unless there is one with this name. Returns true if it is
    /// new.
    pub fn ensure_consumer(&self, name: &str, now_ms: i64) -> Result<bool, StoreError> {
        if self.consumers()?.iter().any(|consumer| consumer.name == name) {
            return Ok(false);
        }
        let new = NewConsumer {
            name: name.to_owned(),
            start: ConsumerStart::Beginning,
            max_tries: DEFAULT_MAX_TRIES,
        };
        self.writer.add_consumer(&new, now_ms)
    }

    /// Gives the next events to a consumer.
    pub fn lease_events(&self, read: &ConsumerRead) -> Result<Vec<DeliveredEvent>, StoreError> {
        self.writer.lease_events(read)
    }

    /// Gives leased events back, as if they had not been delivered.
    pub fn release_events(
        &self,
        consumer: &str,
        deliveries: &[DeliveryRef],
        retry_at_ms: i64,
    ) -> Result<u64, StoreError> {
        self.writer.release_events(consumer, deliveries, retry_at_ms)
    }

    /// Acknowledges events.
    pub fn acknowledge_events(
        &self,
        consumer: &str,
        deliveries: &[DeliveryRef],
        now_ms: i64,
    ) -> Result<Vec<AckOutcome>, StoreError> {
        self.writer.acknowledge_events(consumer, deliveries, now_ms)
    }
}

impl Deref for DecisionWriter {
    type Target = StoreReader;

    fn deref(&self) -> &StoreReader {
        &self.writer
    }
}
