//! Decides what highwater does next. Pure: no file, socket, clock or random number.
//!
//! Every function takes everything it needs as an argument, the time included, and returns a value.
//! If a rule needs to know something, its caller looks it up first.

pub mod backoff;
pub mod bluesky;
pub mod cells;
pub mod chunk_size;
pub mod class_shares;
pub mod closing_references;
pub mod command_line;
pub mod coverage;
pub mod daily_slot;
pub mod date_range;
pub mod delivery;
pub mod discovered_page;
pub mod duty;
pub mod duty_text;
pub mod event;
pub mod event_policy;
pub mod event_text;
pub mod follow_reason;
pub mod followed_source;
pub mod format;
pub mod freshness;
pub mod item;
pub mod item_names;
pub mod item_validation;
pub mod lane;
pub mod listing_count;
pub mod login;
pub mod missing;
pub mod missing_text;
pub mod moved_thread;
pub mod pace;
pub mod page_guard;
pub mod page_size;
pub mod pause_end;
pub mod plan;
pub mod principal;
pub mod probe;
pub mod progress_event;
pub mod query;
pub mod ranking;
pub mod rate_limit;
pub mod reconcile;
pub mod removal_brake;
pub mod repository_key;
pub mod row_subject;
pub mod runtime_settings;
pub mod safe_text;
pub mod second_lookup;
pub mod since_walk;
pub mod snippet;
pub mod source_clock;
pub mod source_time;
pub mod thread_address;
pub mod thread_order;
pub mod thread_scan;
pub mod thread_status;
pub mod tokens;
pub mod version;
pub mod walk;
pub mod watch;
pub mod worker_watch;

/// The lag that is expected of a source's lists: everything this close to a watermark is read again.
///
/// A lag of a minute is normal on GitHub. The comparison in the store makes rereading free.
pub const OVERLAP_MS: i64 = 60_000;
