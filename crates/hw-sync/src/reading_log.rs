//! The log events about reading lists by their cursors. Each has its name in the field `event`, for programs that read
//! the log.

use hw_rules::lane::Lane;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::ListingFloor;

use crate::watch_context::ShadowDifference;

/// Reading the changes of a lane begins.
pub(crate) const SCAN_STARTED: &str = "incremental_scan_started";
/// The changes of a lane were read to their end.
pub(crate) const SCAN_COMPLETED: &str = "incremental_scan_completed";
/// A part of a lane is read that lies below its watermark, or was never read.
pub(crate) const SCAN_BACKFILL: &str = "incremental_scan_backfill";
/// A cursor cannot be relied on, and the lane is read again from an earlier time.
pub(crate) const CURSOR_INVALID: &str = "cursor_invalid";

/// A full scan shows something else than what the lists brought.
pub(crate) const SHADOW_DIFFERENCE: &str = "shadow_difference";

/// The names of all these events.
pub const READING_EVENTS: [&str; 5] =
    [SCAN_STARTED, SCAN_COMPLETED, SCAN_BACKFILL, CURSOR_INVALID, SHADOW_DIFFERENCE];

/// What reading a list brought.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanResult {
    pub(crate) pages: u64,
    pub(crate) fetched: u64,
    pub(crate) stored: u64,
}

pub(crate) fn scan_started(lane: &Lane, through: Option<SourceInstant>) {
    let through = through.map(|through| through.to_string());
    tracing::info!(event = SCAN_STARTED, %lane, through, "reading a list");
}

pub(crate) fn scan_completed(lane: &Lane, through: Option<SourceInstant>, result: ScanResult) {
    let through = through.map(|through| through.to_string());
    let ScanResult { pages, fetched, stored } = result;
    tracing::info!(event = SCAN_COMPLETED, %lane, through, pages, fetched, stored, "read a list");
}

pub(crate) fn scan_backfill(lane: &Lane, floor: ListingFloor) {
    let floor = match floor {
        ListingFloor::Beginning => None,
        ListingFloor::At(floor) => Some(floor.to_string()),
    };
    tracing::info!(event = SCAN_BACKFILL, %lane, floor, "reading an earlier part of a list");
}

pub(crate) fn scan_backfill_thread(repository: &str, number: i64) {
    tracing::info!(
        event = SCAN_BACKFILL,
        thread = format!("{repository}#{number}"),
        "reading a thread whole"
    );
}

pub(crate) fn shadow_difference(difference: &ShadowDifference) {
    let ShadowDifference { thread, kind, id, difference } = difference;
    tracing::warn!(
        event = SHADOW_DIFFERENCE,
        thread,
        kind = kind.name(),
        id,
        difference,
        "a full scan differs from what is stored"
    );
}

pub(crate) fn cursor_invalid(lane: &Lane, reason: &str) {
    tracing::warn!(event = CURSOR_INVALID, %lane, reason, "the cursor is invalid; reading again from an earlier time");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    use hw_rules::item::CommentKind;
    use hw_rules::lane::Surface;
    use hw_rules::repository_key::RepositoryKey;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    #[test]
    fn reading_events_are_all_listed_and_have_their_name_in_a_field() {
        let collector = EventNames::default();
        let names = Arc::clone(&collector.0);
        tracing::subscriber::with_default(collector, || {
            let lane = Lane::for_repository(RepositoryKey::new("github.com", 7), Surface::Activity);
            scan_started(&lane, None);
            scan_completed(&lane, None, ScanResult { pages: 1, fetched: 2, stored: 3 });
            scan_backfill(&lane, ListingFloor::Beginning);
            scan_backfill_thread("acme/pump", 7);
            cursor_invalid(&lane, "it is later than the source's clock");
            shadow_difference(&ShadowDifference {
                thread: "acme/pump#7".to_owned(),
                kind: CommentKind::Conversation,
                id: 1,
                difference: "missing",
            });
        });
        let names = names.lock().unwrap().clone();
        assert_eq!(names, READING_EVENTS.map(str::to_owned).into());
        let of_the_design = [
            "incremental_scan_started",
            "incremental_scan_completed",
            "incremental_scan_backfill",
            "cursor_invalid",
        ];
        assert!(of_the_design.iter().all(|name| names.contains(*name)));
    }

    /// Collects the field `event` of everything that is logged.
    #[derive(Default)]
    struct EventNames(Arc<Mutex<BTreeSet<String>>>);

    impl Subscriber for EventNames {
        fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _span: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _span: &Id, _values: &Record<'_>) {}

        fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

        fn event(&self, event: &Event<'_>) {
            event.record(&mut NameVisitor(&self.0));
        }

        fn enter(&self, _span: &Id) {}

        fn exit(&self, _span: &Id) {}
    }

    struct NameVisitor<'a>(&'a Mutex<BTreeSet<String>>);

    impl Visit for NameVisitor<'_> {
        fn record_str(&mut self, field: &Field, value: &str) {
            if field.name() == "event" {
                self.0.lock().unwrap().insert(value.to_owned());
            }
        }

        fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
    }
}
