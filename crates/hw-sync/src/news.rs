//! What a run tells while it works, for whoever shows it. Nobody has to listen.

use std::sync::Arc;

pub use hw_rules::news::{LanesToRead, News};

/// Who is told.
#[derive(Clone, Default)]
pub struct Herald(Option<Arc<dyn Fn(News) + Send + Sync>>);

impl Herald {
    pub fn new(listener: impl Fn(News) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub(crate) fn tell(&self, news: impl FnOnce() -> News) {
        if let Some(listener) = &self.0 {
            listener(news());
        }
    }
}
