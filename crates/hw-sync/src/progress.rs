//! Reports the progress of a run as events, to a listener if there is one.

use std::sync::Arc;

pub use hw_rules::progress_event::{LanesToRead, ProgressEvent};

/// Passes events to an optional listener.
#[derive(Clone, Default)]
pub struct ProgressSink(Option<Arc<dyn Fn(ProgressEvent) + Send + Sync>>);

impl ProgressSink {
    pub fn new(listener: impl Fn(ProgressEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Emits an event, which is built only if there is a listener.
    pub(crate) fn emit(&self, build_event: impl FnOnce() -> ProgressEvent) {
        if let Some(listener) = &self.0 {
            listener(build_event());
        }
    }
}
