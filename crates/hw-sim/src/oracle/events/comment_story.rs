//! What was said in one comment, and which events about it are right.

use super::seen_event::{SeenChange, SeenText};
use super::thread_story::{ReadingEnd, ThreadStory};
use super::watch::EventWatch;
use crate::oracle::TrueComment;
use crate::timestamps::{floor_to_second, format_rfc3339};
use crate::world::CommentKind;

/// The history of a comment, a review or a comment on a line.
#[derive(Debug)]
pub(super) struct CommentStory {
    pub(super) kind: CommentKind,
    pub(super) id: i64,
    pub(super) versions: Vec<CommentVersion>,
    /// Before this time no list contains it.
    pub(super) unlisted_until_ms: i64,
    /// True if the token can read it at the end.
    pub(super) is_visible: bool,
    /// True if only a sweep finds its present state: it was hidden for a while, or came with its thread.
    pub(super) came_late: bool,
}

/// A state of a comment.
#[derive(Debug)]
pub(super) struct CommentVersion {
    pub(super) at_ms: i64,
    pub(super) listed_ms: i64,
    pub(super) updated_ms: i64,
    /// `None` if it was gone, or invisible.
    pub(super) state: Option<TrueComment>,
}

/// What the events of a comment are compared with.
#[derive(Clone, Copy)]
pub(super) struct CommentCheck<'o> {
    pub(super) thread: &'o ThreadStory,
    pub(super) watch: &'o EventWatch,
    /// The time before which a reader may not have known that the thread is watched.
    pub(super) certain_from_ms: i64,
    pub(super) end: Option<ReadingEnd>,
    pub(super) is_swept: bool,
    pub(super) overlap_ms: i64,
    pub(super) polls: &'o [i64],
    pub(super) expects: &'o dyn Fn(&TrueComment) -> bool,
}

impl CommentStory {
    pub(super) fn label(&self) -> String {
        format!("{:?} {}", self.kind, self.id)
    }

    /// Checks that each text was true, once, and not older than the one before.
    pub(super) fn check_delivered(
        &self,
        seen: &[&SeenChange],
        check: CommentCheck<'_>,
    ) -> Result<(), String> {
        let is_uniform = self.texts().all(|(_, text)| (check.expects)(text));
        let mut last: Option<&SeenChange> = None;
        let mut newest = None;
        for event in seen {
            match event {
                SeenChange::Said(text) => {
                    self.check_text(text, check)?;
                    let is_repeated = matches!(last, Some(SeenChange::Said(last))
                        if (&last.body, &last.review_state) == (&text.body, &text.review_state));
                    if is_uniform && (is_repeated || text.is_created != last.is_none()) {
                        return Err(self.error("delivered twice, or as the wrong change", seen));
                    }
                    if newest > Some(&text.updated_at) && self.is_ordered() {
                        return Err(self.error("an older text came after a newer one", seen));
                    }
                    newest = newest.max(Some(&text.updated_at));
                }
                SeenChange::Withdrawn { .. } => {
                    let was_gone = self.versions.iter().any(|version| version.state.is_none());
                    if !was_gone && self.is_visible && !check.thread.came_late {
                        return Err(self.error("withdrawn, but it was never gone", seen));
                    }
                    if is_uniform && !matches!(last, Some(SeenChange::Said(_))) {
                        return Err(self.error("withdrawn twice, or before it was delivered", seen));
                    }
                }
                SeenChange::State(_) => {}
            }
            last = Some(event);
        }
        Ok(())
    }

    fn check_text(&self, text: &SeenText, check: CommentCheck<'_>) -> Result<(), String> {
        let mut matching = self.texts().filter(|(version, state)| is_text(version, state, text));
        let Some((version, _)) = matching.clone().next() else {
            return Err(format!("{}: this text was invented: {text:?}", self.label()));
        };
        if !check.watch.floor.includes(floor_to_second(version.updated_ms)) {
            return Err(format!("{}: this text is older than the watch: {text:?}", self.label()));
        }
        if !matching.any(|(_, state)| (check.expects)(state)) {
            return Err(format!("{}: this text is not for the consumer: {text:?}", self.label()));
        }
        Ok(())
    }

    /// Checks that what must have been delivered was.
    pub(super) fn check_complete(
        &self,
        seen: &[&SeenChange],
        check: CommentCheck<'_>,
    ) -> Result<(), String> {
        self.check_polled_texts(seen, check)?;
        let last_seen = seen.last();
        let Some(last) = self.versions.last() else { return Ok(()) };
        let is_gone = last.state.is_none() && check.thread.is_visible;
        if is_gone {
            let is_uniform = self.texts().all(|(_, text)| (check.expects)(text));
            let is_due = check.is_swept && is_uniform && check.end.is_none();
            return if is_due && matches!(last_seen, Some(SeenChange::Said(_))) {
                Err(self.error("gone, but not withdrawn", seen))
            } else {
                Ok(())
            };
        }
        let Some(text) = last.state.as_ref().filter(|_| self.is_due(last, check)) else {
            return Ok(());
        };
        let is_delivered = matches!(last_seen, Some(SeenChange::Said(said))
            if is_same_text(text, said) || self.may_be_outdated(check));
        if is_delivered { Ok(()) } else { Err(self.error("its final text is missing", seen)) }
    }

    /// Returns true if the present text must have been delivered.
    fn is_due(&self, last: &CommentVersion, check: CommentCheck<'_>) -> bool {
        let second = floor_to_second(last.updated_ms);
        let late_ms = last.listed_ms.max(self.unlisted_until_ms).saturating_sub(last.at_ms);
        let is_findable = check.is_swept
            || (late_ms <= check.overlap_ms && !self.came_late && !check.thread.came_late);
        // an account that was deleted can change who counts as the author
        let mut same = self.texts().filter(|(version, _)| version.updated_ms == last.updated_ms);
        self.is_visible
            && check.watch.floor.includes(second)
            && check.end.is_none_or(|end| second < end.earliest)
            && is_findable
            && last.at_ms >= check.certain_from_ms
            && same.all(|(_, text)| (check.expects)(text))
    }

    /// Returns true if an older text is enough: nothing leads to an edited review before the next sweep.
    fn may_be_outdated(&self, check: CommentCheck<'_>) -> bool {
        self.kind == CommentKind::Review && !check.is_swept
    }

    /// Checks the texts that stood in the lists when a perfect reader polled.
    fn check_polled_texts(
        &self,
        seen: &[&SeenChange],
        check: CommentCheck<'_>,
    ) -> Result<(), String> {
        for poll_ms in check.polls.iter().copied().filter(|ms| *ms >= check.watch.active_ms) {
            let has_end = check.thread.has_end(check.watch);
            if self.unlisted_until_ms > poll_ms || has_end && check.thread.was_closed_by(poll_ms) {
                continue;
            }
            let listed = self.versions.iter().rev().find(|version| version.listed_ms <= poll_ms);
            let Some((version, text)) =
                listed.and_then(|found| Some((found, found.state.as_ref()?)))
            else {
                continue;
            };
            let is_due = check.watch.floor.includes(floor_to_second(version.updated_ms))
                && poll_ms >= check.certain_from_ms
                && self.kind != CommentKind::Review
                && (check.expects)(text);
            let mut said = seen.iter().filter_map(|event| match event {
                SeenChange::Said(said) => Some(said),
                SeenChange::Withdrawn { .. } | SeenChange::State(_) => None,
            });
            if is_due && !said.any(|said| is_same_text(text, said)) {
                let at = format_rfc3339(poll_ms);
                return Err(self.error(&format!("its text at the poll of {at} is missing"), seen));
            }
        }
        Ok(())
    }

    /// Returns the states in which it was visible.
    fn texts(&self) -> impl Iterator<Item = (&CommentVersion, &TrueComment)> + Clone {
        self.versions.iter().filter_map(|version| Some((version, version.state.as_ref()?)))
    }

    /// Returns true if its times never went back, as they do after a clock did.
    fn is_ordered(&self) -> bool {
        self.texts().map(|(version, _)| version.updated_ms).is_sorted()
    }

    fn error(&self, what: &str, seen: &[&SeenChange]) -> String {
        let texts: Vec<_> = self.versions.iter().map(describe_version).collect();
        format!("{}: {what}\n  delivered {seen:?}\n  true {texts:?}", self.label())
    }
}

fn describe_version(version: &CommentVersion) -> String {
    let at = format_rfc3339(version.updated_ms);
    match &version.state {
        Some(text) => format!("{at} {:?}", text.body),
        None => format!("gone since {}", format_rfc3339(version.at_ms)),
    }
}

fn is_text(version: &CommentVersion, state: &TrueComment, text: &SeenText) -> bool {
    is_same_text(state, text) && format_rfc3339(version.updated_ms) == text.updated_at
}

fn is_same_text(state: &TrueComment, text: &SeenText) -> bool {
    let is_verdict = text.review_state.is_none() || text.review_state == state.review_state;
    state.body == text.body && is_verdict
}
