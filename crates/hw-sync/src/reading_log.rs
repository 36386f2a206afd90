//! The log events about reading lists by their cursors. Each has its name in the field `event`, for programs that read
//! the log.

use hw_rules::lane::Lane;

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

pub(crate) fn cursor_invalid(lane: &Lane, reason: &str) {
    tracing::warn!(event = CURSOR_INVALID, %lane, reason, "the cursor is invalid; reading again from an earlier time");
}
