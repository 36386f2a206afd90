//! The oracle of events: what a reader of watched threads must have delivered, by the world's history alone.

mod comment_story;
mod seen_event;
#[cfg(test)]
mod tests;
mod thread_story;
mod watch;
mod world_stories;

use std::collections::BTreeMap;
use std::fmt;

use crate::oracle::TrueComment;
use crate::world::{CommentKind, World};
use comment_story::{CommentCheck, CommentStory};
pub use seen_event::{SeenChange, SeenEvent, SeenState, SeenText};
use thread_story::ThreadStory;
pub use watch::{EventFloor, EventWatch};
use watch::{ThreadWatch, watch_of};

/// The overlap of the windows of two reads, which finds what the lists show late.
const DEFAULT_OVERLAP_MS: i64 = 60_000;
const MAX_ERRORS: usize = 5;

/// The number of a thread, after the id of its repository.
type ThreadKey = (i64, i64);

/// The reference set of the events of some watches.
///
/// **Required**, once the reader has read everything after the last change:
///
/// - the final text of every comment, review and comment on a line, and a review's verdict, if it is not older than
///   the floor of its watch. The most specific watch counts: the thread's, else the one by label, else the repository's;
/// - first as created, later as edited;
/// - after a sweep ([`Self::after_sweep`]): that a delivered comment is gone, and what only a sweep finds: comments that
///   reached the lists later than the overlap, or that came back with old times, and edits of reviews;
/// - the final state of the thread, its last head and its labels, if they changed since the watch was active. A watch
///   on a repository may miss heads and labels of threads until an event mentioned them, but not that a thread was
///   opened, closed or merged;
/// - at [`Self::with_perfect_polls`]: every text that the lists showed at these times, except edits of reviews.
///
/// **Allowed**: every text and value that was true at any time, in the order of their seconds. Within a second any
/// order is allowed, as lagging replicas show it. A pull request ends with the delivered event that it was closed or
/// merged: what was said before must be delivered, what was said later and delivered earlier may be.
///
/// **Wrong**: a text or a value that was never true, or is older than the floor; the same text twice in a row; a newer
/// text before an older one; a withdrawal of what exists; anything after the end of a pull request, except what was
/// said before it and what the same look showed of its head and labels; an event of a thread that is not watched; a text that [`Self::expecting`] excludes.
///
/// Threads that moved to another repository are only checked for wrong events, as are threads whose label came and went.
/// Source issues are not covered.
pub struct EventOracle {
    watches: Vec<EventWatch>,
    threads: BTreeMap<ThreadKey, ThreadStory>,
    /// The comments of each thread.
    comments: BTreeMap<(CommentKind, i64), (ThreadKey, CommentStory)>,
    is_swept: bool,
    overlap_ms: i64,
    polls: Vec<i64>,
    expects: Box<dyn Fn(&TrueComment) -> bool>,
}

impl fmt::Debug for EventOracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventOracle")
            .field("watches", &self.watches)
            .field("threads", &self.threads.len())
            .field("comments", &self.comments.len())
            .finish_non_exhaustive()
    }
}

/// The events of one thread.
#[derive(Default)]
struct ThreadEvents<'e> {
    states: Vec<&'e SeenState>,
    is_ended: bool,
}

impl EventOracle {
    /// Copies the history of the repositories of these watches.
    #[must_use]
    pub fn new(world: &World, watches: Vec<EventWatch>) -> Self {
        let (threads, comments) = world_stories::collect_stories(world, &watches);
        Self {
            watches,
            threads,
            comments,
            is_swept: false,
            overlap_ms: DEFAULT_OVERLAP_MS,
            polls: Vec::new(),
            expects: Box::new(|_| true),
        }
    }

    /// Requires what a sweep finds as well.
    #[must_use]
    pub fn after_sweep(self) -> Self {
        Self { is_swept: true, ..self }
    }

    /// Requires what reaches the lists up to this much later than its own time.
    #[must_use]
    pub fn with_overlap_ms(self, overlap_ms: i64) -> Self {
        Self { overlap_ms, ..self }
    }

    /// Requires every text that the lists showed at these times; only for readers without faults or lag.
    #[must_use]
    pub fn with_perfect_polls(self, polls: &[i64]) -> Self {
        Self { polls: polls.to_vec(), ..self }
    }

    /// Expects only these versions of comments, for example by their author or their text.
    #[must_use]
    pub fn expecting(self, expects: impl Fn(&TrueComment) -> bool + 'static) -> Self {
        Self { expects: Box::new(expects), ..self }
    }

    /// Compares the events of all watches, each once, in the order in which they were made.
    ///
    /// # Errors
    /// Names the objects whose events are missing or wrong.
    pub fn check(&self, delivered: impl Iterator<Item = SeenEvent>) -> Result<(), String> {
        let delivered: Vec<SeenEvent> = delivered.collect();
        let mut errors = Vec::new();
        let mut by_thread: BTreeMap<ThreadKey, ThreadEvents<'_>> = BTreeMap::new();
        let mut by_comment: BTreeMap<(CommentKind, i64), Vec<&SeenChange>> = BTreeMap::new();
        for event in &delivered {
            let key = (event.repository_id, event.number);
            errors.extend(self.check_place(event, by_thread.get(&key)).err());
            let thread = by_thread.entry(key).or_default();
            match &event.change {
                SeenChange::State(state) => {
                    thread.states.push(state);
                    thread.is_ended |= matches!(state, SeenState::Closed | SeenState::Merged);
                }
                change @ (SeenChange::Said(_) | SeenChange::Withdrawn { .. }) => {
                    let key = change.comment_key().expect("only states have no comment");
                    by_comment.entry(key).or_default().push(change);
                }
            }
        }
        let no_events = ThreadEvents::default();
        for (key, story) in &self.threads {
            let events = by_thread.get(key).unwrap_or(&no_events);
            if let ThreadWatch::Watched(watch) = watch_of(&self.watches, story) {
                errors.extend(story.check_states(watch, &events.states).err());
            }
        }
        for (key, (thread, story)) in &self.comments {
            let seen = by_comment.get(key).map_or(&[][..], Vec::as_slice);
            let is_ended = by_thread.get(thread).is_some_and(|events| events.is_ended);
            errors.extend(self.check_comment(*thread, story, seen, is_ended).err());
        }
        if errors.is_empty() {
            return Ok(());
        }
        let count = errors.len();
        errors.truncate(MAX_ERRORS);
        Err(format!("{count} wrong events:\n{}", errors.join("\n")))
    }

    /// Checks that an event belongs to a watched thread, and is not one after its end.
    fn check_place(
        &self,
        event: &SeenEvent,
        before: Option<&ThreadEvents<'_>>,
    ) -> Result<(), String> {
        let Some(thread) = self.threads.get(&(event.repository_id, event.number)) else {
            return Err(format!("no such thread is in a watched repository: {event:?}"));
        };
        let watch = match watch_of(&self.watches, thread) {
            ThreadWatch::Unwatched => {
                return Err(format!("{} is not watched: {event:?}", thread.label()));
            }
            ThreadWatch::Uncertain => return Ok(()),
            ThreadWatch::Watched(watch) | ThreadWatch::WatchedSince(watch, _) => watch,
        };
        let comment = event.change.comment_key();
        let is_here = comment.is_none_or(|comment| {
            let home = self.comments.get(&comment);
            home.is_some_and(|(home, story)| {
                story.came_late || *home == (event.repository_id, event.number)
            })
        });
        if !is_here {
            return Err(format!("{}: no such comment was ever here: {event:?}", thread.label()));
        }
        if !before.is_some_and(|events| events.is_ended) {
            return Ok(());
        }
        let Some(end) = thread.reading_end(watch, true) else { return Ok(()) };
        let is_late = match &event.change {
            SeenChange::Said(text) => text.updated_at > crate::format_rfc3339(end.latest),
            SeenChange::Withdrawn { .. } => true,
            // checked with the other states
            SeenChange::State(_) => false,
        };
        if is_late {
            return Err(format!(
                "{}: after the end of the pull request: {event:?}",
                thread.label()
            ));
        }
        Ok(())
    }

    fn check_comment(
        &self,
        thread: ThreadKey,
        story: &CommentStory,
        seen: &[&SeenChange],
        is_ended: bool,
    ) -> Result<(), String> {
        let thread = &self.threads[&thread];
        let (watch, certain_from_ms) = match watch_of(&self.watches, thread) {
            ThreadWatch::Watched(watch) => (watch, i64::MIN),
            ThreadWatch::WatchedSince(watch, since_ms) => (watch, since_ms),
            ThreadWatch::Uncertain | ThreadWatch::Unwatched => return Ok(()),
        };
        let check = CommentCheck {
            thread,
            watch,
            certain_from_ms,
            end: thread.reading_end(watch, is_ended),
            is_swept: self.is_swept,
            overlap_ms: self.overlap_ms,
            polls: &self.polls,
            expects: &self.expects,
        };
        let on_thread = |wrong| format!("{}: {wrong}", thread.label());
        story.check_delivered(seen, check).map_err(on_thread)?;
        story.check_complete(seen, check).map_err(on_thread)
    }
}
