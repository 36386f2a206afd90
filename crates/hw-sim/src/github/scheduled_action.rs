//! Lets users act between two requests of one reader.

use std::fmt;

use super::SimulatedGitHub;
use crate::world::World;

type BoxedAction = Box<dyn FnOnce(&mut World, i64) + Send>;

/// An action right after the response to a certain request.
pub(super) struct ScheduledAction {
    target: String,
    /// The number of requests that are still to be left out.
    skipped: u32,
    action: BoxedAction,
}

impl fmt::Debug for ScheduledAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, skipped, .. } = self;
        f.debug_struct("ScheduledAction")
            .field("target", target)
            .field("skipped", skipped)
            .finish_non_exhaustive()
    }
}

impl SimulatedGitHub {
    /// Acts once, after the response to a request whose [`crate::RequestEntry::summary`] contains `target`; the first
    /// `skipped` of these requests are left out.
    pub fn act_after(
        &mut self,
        target: &str,
        skipped: u32,
        action: impl FnOnce(&mut World, i64) + Send + 'static,
    ) {
        let target = target.to_owned();
        self.scheduled_actions.push(ScheduledAction { target, skipped, action: Box::new(action) });
    }

    /// Returns the number of scheduled actions that did not happen yet.
    #[must_use]
    pub fn actions_left(&self) -> usize {
        self.scheduled_actions.len()
    }

    pub(super) fn perform_scheduled_actions(&mut self, summary: &str) {
        if self.scheduled_actions.is_empty() {
            return;
        }
        for mut scheduled in std::mem::take(&mut self.scheduled_actions) {
            let is_target = summary.contains(&scheduled.target);
            if is_target && scheduled.skipped == 0 {
                (scheduled.action)(&mut self.world, self.now_ms);
                continue;
            }
            scheduled.skipped -= u32::from(is_target);
            self.scheduled_actions.push(scheduled);
        }
    }
}
