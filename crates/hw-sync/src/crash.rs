//! Named points at which a test may pull the plug.
//!
//! Without a test they do nothing. The store has more of its own, before and after each commit.

use std::sync::Arc;

use crate::Error;

pub const LEASE_TAKEN: &str = "run: lease taken";
pub const BEFORE_SENDING: &str = "fetch: before sending";
pub const ANSWERED: &str = "fetch: answered";
pub const PAUSE_WRITTEN: &str = "fetch: pause written";
pub const REPOSITORIES_LOOKED: &str = "gone: looked again";
pub const SWEEP_LOOKED: &str = "sweep: looked again";

/// Whether to crash here.
pub type Plug = Arc<dyn Fn(&'static str) -> bool + Send + Sync>;

#[derive(Clone, Default)]
pub struct CrashPoints(Option<Plug>);

impl CrashPoints {
    pub fn new(plug: Plug) -> Self {
        Self(Some(plug))
    }

    /// Passes a point; an error is the crash.
    pub(crate) fn pass(&self, point: &'static str) -> Result<(), Error> {
        match &self.0 {
            Some(plug) if plug(point) => Err(Error::Crashed(point)),
            _ => Ok(()),
        }
    }
}
