//! Runs pulls: the only crate that both fetches and writes.
//!
//! It takes decisions from the rules, pages from a source, and stores each page together with how far it got.
//! Branches live in the rules; this crate is a straight line with waits.

pub mod api_client;
pub mod bluesky;
pub mod checkup;
pub mod clock;
pub mod crash_points;
pub mod error;
pub mod progress;
pub mod pull;
pub mod reading_log;
pub mod remove_source;
pub mod remove_workspace;
pub mod restore;
pub mod service;
pub mod watch_poll;
pub mod work_threads;
pub mod worker;

mod chores;
mod closing_references;
mod comment_lanes;
mod database_outage;
mod discover;
mod first_page_batch;
mod lane_turn;
mod lookup;
mod missing_repositories;
mod newest_first;
mod permit_queue;
mod plan_lanes;
mod pull_duty;
mod pull_run;
mod quarantine;
mod rate_limiter;
mod repair;
mod repository_duty;
mod request_ids;
mod request_permit;
mod retry_policy;
mod run_removals;
mod schedule;
mod scheduler;
mod shared_pauses;
mod since;
mod source_time;
mod sources;
mod summary;
mod sweep;
mod thread_comments;
mod turn;
mod watch_context;
mod watch_resolution;
mod watched_repository;
mod yield_signal;

pub use error::SyncError;
pub use repair::RepairSummary;
pub use retry_policy::RetryPolicy;
pub use summary::{FailureKind, PullFailure, PullSummary};
pub use turn::PullTally;
pub use watch_context::ShadowDifference;
