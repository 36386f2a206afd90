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

/// The names of all these events.
pub const READING_EVENTS: [&str; 4] = [SCAN_STARTED, SCAN_COMPLETED, SCAN_BACKFILL, CURSOR_INVALID];

/// A full scan shows something else than what the lists brought.
pub(crate) const SHADOW_DIFFERENCE: &str = "shadow_difference";

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
