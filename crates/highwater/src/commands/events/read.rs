//! `highwater events read`

use hw_rules::delivery::DEFAULT_LEASE;
use hw_sync::clock::{Clock as _, MachineClock};
use tokio_util::sync::CancellationToken;

use super::event_reader::EventReader;
use super::{ensure_consumer, open_writer};
use crate::cli::ReadEventsArgs;
use crate::columns::delivered_event_json;
use crate::config::AppSettings;
use crate::terminal::StdoutWriter;
use crate::{hints, interrupt};

pub(super) fn run(args: &ReadEventsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let store = open_writer(settings)?;
    let consumer = &args.consumer.name;
    let batch = interrupt::run(&CancellationToken::new(), async {
        ensure_consumer(&store, consumer)?;
        let lease_ms = i64::try_from(DEFAULT_LEASE.as_millis()).unwrap_or(i64::MAX);
        let reader = EventReader { store: &store, consumer, lease_ms };
        let until_ms = MachineClock.now_ms() + i64::from(args.wait) * 1_000;
        reader.wait_for_events(args.limit, until_ms).await
    });
    let batch = batch.map_err(hints::add_database_hint)?;
    let mut out = StdoutWriter::new();
    for delivered in &batch.events {
        out.write_json(&delivered_event_json(delivered, batch.until_ms))?;
    }
    Ok(out.finish()?)
}
