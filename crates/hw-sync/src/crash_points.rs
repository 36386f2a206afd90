//! Names the points at which a test can crash a pull.
//!
//! Outside tests they do nothing. The store has more of its own, before and after each commit.

use std::sync::Arc;

use crate::SyncError;

pub const DUTY_CLAIMED: &str = "run: duty claimed";
pub const BEFORE_SENDING: &str = "fetch: before sending";
pub const AFTER_ANSWER: &str = "fetch: answered";
pub const PAUSE_WRITTEN: &str = "fetch: pause written";
pub const REPOSITORIES_RECHECKED: &str = "gone: looked again";
pub const CHUNK_DONE: &str = "chore: chunk done";
pub const SUSPECTS_RECHECKED: &str = "sweep: looked again";

/// Returns true to crash at the named point.
pub type CrashTrigger = Arc<dyn Fn(&'static str) -> bool + Send + Sync>;

#[derive(Clone, Default)]
pub struct CrashPoints(Option<CrashTrigger>);

impl CrashPoints {
    pub fn new(trigger: CrashTrigger) -> Self {
        Self(Some(trigger))
    }

    /// Passes a point, or returns the error that simulates the crash.
    pub(crate) fn pass_point(&self, point: &'static str) -> Result<(), SyncError> {
        match &self.0 {
            Some(trigger) if trigger(point) => Err(SyncError::Crashed(point)),
            _ => Ok(()),
        }
    }
}
