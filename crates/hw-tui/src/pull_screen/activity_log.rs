//! Keeps the latest messages of a pull.

use std::collections::VecDeque;

pub(super) const VISIBLE_LINES: usize = 5;

/// The severity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageTone {
    Plain,
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ActivityEntry {
    pub(super) at_ms: i64,
    pub(super) tone: MessageTone,
    pub(super) text: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ActivityLog(VecDeque<ActivityEntry>);

impl ActivityLog {
    pub(super) fn push(&mut self, at_ms: i64, tone: MessageTone, text: String) {
        if self.0.len() == VISIBLE_LINES {
            self.0.pop_front();
        }
        self.0.push_back(ActivityEntry { at_ms, tone, text });
    }

    /// Returns the entries, oldest first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &ActivityEntry> {
        self.0.iter()
    }
}
