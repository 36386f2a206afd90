//! What happened to a thread's state, and which events about it are right.

use super::SeenState;
use super::watch::{EventFloor, EventWatch};
use crate::timestamps::floor_to_second;
use crate::world::ThreadKind;

/// The history of an issue or a pull request.
#[derive(Debug)]
pub(super) struct ThreadStory {
    pub(super) repository_id: i64,
    pub(super) number: i64,
    pub(super) kind: ThreadKind,
    pub(super) created_ms: i64,
    pub(super) facts: Vec<ThreadFacts>,
    /// True if the token can read it at the end.
    pub(super) is_visible: bool,
    /// True if it was hidden for a while, or came from another repository, with its old times.
    pub(super) came_late: bool,
}

/// A state of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ThreadFacts {
    pub(super) at_ms: i64,
    pub(super) updated_ms: i64,
    /// `OPEN`, `CLOSED` or `MERGED`.
    pub(super) state: &'static str,
    pub(super) closed_ms: Option<i64>,
    pub(super) head: String,
    pub(super) labels: Vec<String>,
}

/// When a thread had a label.
pub(super) struct LabelTimes {
    pub(super) was_always_there: bool,
    /// The time since when it has the label.
    pub(super) since_ms: Option<i64>,
}

/// How long the texts of a thread count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadingEnd {
    /// Texts before this second must be delivered.
    pub(super) earliest: i64,
    /// Nothing after this second may be delivered once the end was.
    pub(super) latest: i64,
}

impl ThreadStory {
    pub(super) fn label(&self) -> String {
        format!("{}#{}", self.repository_id, self.number)
    }

    /// Returns when it had a label since the watch was added; `None` if never.
    pub(super) fn label_times(&self, label: &str, added_ms: i64) -> Option<LabelTimes> {
        let has_label = |facts: &ThreadFacts| facts.labels.iter().any(|name| name == label);
        let relevant = self.facts_from(added_ms);
        relevant.iter().any(has_label).then_some(())?;
        let tail = relevant.iter().rev().take_while(|facts| has_label(facts));
        Some(LabelTimes {
            was_always_there: relevant.iter().all(has_label),
            since_ms: tail.last().map(|facts| facts.at_ms),
        })
    }

    /// Returns true if closing the thread ends its texts.
    pub(super) fn has_end(&self, watch: &EventWatch) -> bool {
        self.kind == ThreadKind::PullRequest && !watch.is_commands_only
    }

    /// Returns when reading ends, if the pull request was closed: as an event said, or before the reader knew it.
    pub(super) fn reading_end(
        &self,
        watch: &EventWatch,
        is_end_delivered: bool,
    ) -> Option<ReadingEnd> {
        if !self.has_end(watch) {
            return None;
        }
        let closings = || self.facts.iter().filter_map(|facts| facts.closed_ms);
        let was_closed_before = match watch.floor {
            EventFloor::Beginning => false,
            EventFloor::At(floor_ms) => closings().any(|ms| floor_to_second(ms) < floor_ms),
        };
        let first = self.facts_between(watch.added_ms, watch.active_ms);
        let was_closed_at_first = first.iter().any(|facts| facts.state != "OPEN");
        let may_have_ended = is_end_delivered || was_closed_before || was_closed_at_first;
        let earliest = closings().map(floor_to_second).min().filter(|_| may_have_ended)?;
        Some(ReadingEnd { earliest, latest: closings().map(floor_to_second).max()? })
    }

    /// Checks the events about its state, in their order.
    pub(super) fn check_states(
        &self,
        watch: &EventWatch,
        seen: &[&SeenState],
    ) -> Result<(), String> {
        if watch.is_commands_only && !seen.is_empty() {
            return Err(format!("{}: only commands count here, but got {seen:?}", self.label()));
        }
        let mut last_state = None;
        let mut end: Option<usize> = None;
        for (position, event) in seen.iter().enumerate() {
            if let Some(state) = named_state(event) {
                self.check_named_state(event, state, last_state)?;
                last_state = Some(state);
            }
            if let Some(end) = end {
                self.check_after_end(event, &seen[end + 1..position])?;
            }
            self.check_value(event)?;
            if self.has_end(watch) && matches!(event, SeenState::Closed | SeenState::Merged) {
                end = Some(position);
            }
        }
        if end.is_some() || watch.is_commands_only || !self.is_visible || self.came_late {
            return Ok(());
        }
        self.check_final_state(watch, last_state)?;
        self.check_final_head(watch, seen)?;
        self.check_final_labels(watch, seen)
    }

    fn check_named_state(
        &self,
        event: &SeenState,
        state: &str,
        last_state: Option<&str>,
    ) -> Result<(), String> {
        let was_ever = |state| self.facts.iter().any(|facts| facts.state == state);
        let was_closed = was_ever("CLOSED") || was_ever("MERGED");
        // a thread that was closed when its history began was opened before
        let has_been = *event == SeenState::Opened || was_ever(state);
        if !has_been || *event == SeenState::Reopened && !was_closed {
            return Err(format!("{}: {event:?} never happened", self.label()));
        }
        let is_repeated = last_state == Some(state);
        if is_repeated || (*event == SeenState::Opened && last_state.is_some()) {
            return Err(format!("{}: {event:?} was delivered twice", self.label()));
        }
        Ok(())
    }

    /// Checks an event after the end. The look that showed the end may show one more move of the head and one more change
    /// of the labels, which were made before that look.
    fn check_after_end(&self, event: &SeenState, after_end: &[&SeenState]) -> Result<(), String> {
        let has_kind = |kind: fn(&SeenState) -> bool| after_end.iter().any(|seen| kind(seen));
        let is_of_same_look = match event {
            SeenState::HeadMoved(_) => !has_kind(|seen| seen.new_head().is_some()),
            SeenState::Labeled(_) => !has_kind(|seen| seen.new_labels().is_some()),
            SeenState::Opened | SeenState::Closed | SeenState::Reopened | SeenState::Merged => {
                false
            }
        };
        if is_of_same_look {
            return Ok(());
        }
        Err(format!("{}: {event:?} came after the end of the pull request", self.label()))
    }

    fn check_value(&self, event: &SeenState) -> Result<(), String> {
        let is_true = match event {
            SeenState::HeadMoved(head) => self.facts.iter().any(|facts| is_head(facts, head)),
            SeenState::Labeled(labels) => self.facts.iter().any(|facts| has_labels(facts, labels)),
            SeenState::Opened | SeenState::Closed | SeenState::Reopened | SeenState::Merged => true,
        };
        if is_true {
            return Ok(());
        }
        Err(format!("{}: {event:?} never happened", self.label()))
    }

    fn check_final_state(&self, watch: &EventWatch, last: Option<&str>) -> Result<(), String> {
        let Some(now) = self.facts.last() else { return Ok(()) };
        let first = self.facts_between(watch.added_ms, watch.active_ms);
        // a state may end and come back between two polls
        let is_as_at_first = first.iter().any(|facts| facts.state == now.state);
        let is_right = match last {
            Some(last) => last == now.state,
            None if watch.floor.includes(floor_to_second(self.created_ms))
                && watch.number.is_none() =>
            {
                return Err(format!("{}: opened is missing", self.label()));
            }
            // a thread that a reader meets later has no state before
            None if watch.number.is_none() => {
                let closed = now.closed_ms.map(floor_to_second);
                is_as_at_first || !closed.is_some_and(|closed| watch.floor.includes(closed))
            }
            None => is_as_at_first,
        };
        if is_right || self.reading_end(watch, false).is_some() {
            return Ok(());
        }
        Err(format!("{}: it is {}, but the last event said {last:?}", self.label(), now.state))
    }

    fn check_final_head(&self, watch: &EventWatch, seen: &[&SeenState]) -> Result<(), String> {
        let Some(now) = self.facts.last() else { return Ok(()) };
        let mut heads = seen.iter().filter_map(|event| event.new_head());
        let first = self.facts_between(watch.added_ms, watch.active_ms);
        let is_right = match heads.next_back() {
            Some(last) => is_head(now, last),
            None => watch.number.is_none() || first.iter().any(|facts| facts.head == now.head),
        };
        let is_pull = self.kind == ThreadKind::PullRequest;
        if is_right || !is_pull || self.reading_end(watch, false).is_some() {
            return Ok(());
        }
        Err(format!("{}: the move of its head to {} is missing", self.label(), now.head))
    }

    fn check_final_labels(&self, watch: &EventWatch, seen: &[&SeenState]) -> Result<(), String> {
        let Some(now) = self.facts.last() else { return Ok(()) };
        let mut changes = seen.iter().filter_map(|event| event.new_labels());
        let first = self.facts_between(watch.added_ms, watch.active_ms);
        let is_right = match changes.next_back() {
            Some(last) => has_labels(now, last),
            None => watch.number.is_none() || first.iter().any(|facts| facts.labels == now.labels),
        };
        // renaming a label moves no time, so that nothing leads to it
        let mut pairs = self.facts.windows(2);
        let was_renamed = pairs.any(|pair| {
            pair[0].labels != pair[1].labels && pair[0].updated_ms == pair[1].updated_ms
        });
        if is_right || was_renamed || self.reading_end(watch, false).is_some() {
            return Ok(());
        }
        Err(format!("{}: the change of its labels to {:?} is missing", self.label(), now.labels))
    }

    /// Returns the facts from this time on, with those that held then.
    fn facts_from(&self, from_ms: i64) -> &[ThreadFacts] {
        self.facts_between(from_ms, i64::MAX)
    }

    fn facts_between(&self, from_ms: i64, until_ms: i64) -> &[ThreadFacts] {
        let start = self.facts.iter().rposition(|facts| facts.at_ms <= from_ms).unwrap_or(0);
        let end = self.facts.iter().rposition(|facts| facts.at_ms <= until_ms);
        end.and_then(|end| self.facts.get(start..=end)).unwrap_or(&[])
    }

    /// Returns true if it was closed at this time or before.
    pub(super) fn was_closed_by(&self, ms: i64) -> bool {
        self.facts_between(i64::MIN, ms).iter().any(|facts| facts.state != "OPEN")
    }
}

/// Returns the state that an event reports.
fn named_state(event: &SeenState) -> Option<&'static str> {
    match event {
        SeenState::Opened | SeenState::Reopened => Some("OPEN"),
        SeenState::Closed => Some("CLOSED"),
        SeenState::Merged => Some("MERGED"),
        SeenState::HeadMoved(_) | SeenState::Labeled(_) => None,
    }
}

fn is_head(facts: &ThreadFacts, head: &str) -> bool {
    head.is_empty() || facts.head == head
}

fn has_labels(facts: &ThreadFacts, labels: &Option<Vec<String>>) -> bool {
    labels.as_ref().is_none_or(|labels| facts.labels == *labels)
}
