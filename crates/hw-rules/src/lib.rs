//! The decisions of highwater, and nothing that could surprise them.
//!
//! Every function here takes what it needs as arguments, the time included, and returns a value.
//! No file, no socket, no clock, no dice. If a rule needs to know something, its caller asks first.

pub mod address;
pub mod backoff;
pub mod cells;
pub mod clean;
pub mod coverage;
pub mod dates;
pub mod freshness;
pub mod item;
pub mod item_names;
pub mod lane;
pub mod listing_count;
pub mod news;
pub mod pace;
pub mod page_guard;
pub mod page_size;
pub mod plan;
pub mod plausible;
pub mod probe;
pub mod query;
pub mod ranking;
pub mod reconcile;
pub mod since;
pub mod snippet;
pub mod source_clock;
pub mod time;
pub mod tokens;
pub mod version;
pub mod walk;

/// How far behind a source's lists may be: everything within this of a mark is read again.
///
/// List lag of a minute is normal on GitHub; the comparison in the store makes re-reading free.
pub const OVERLAP_MS: i64 = 60_000;
