//! The last lines of what happened.

use std::collections::VecDeque;

/// So many lines are shown.
pub(super) const SHOWN: usize = 5;

/// How a line is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) at_ms: i64,
    pub(super) tone: Tone,
    pub(super) text: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Activity(VecDeque<Entry>);

impl Activity {
    pub(super) fn push(&mut self, at_ms: i64, tone: Tone, text: String) {
        if self.0.len() == SHOWN {
            self.0.pop_front();
        }
        self.0.push_back(Entry { at_ms, tone, text });
    }

    /// Oldest first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter()
    }
}
