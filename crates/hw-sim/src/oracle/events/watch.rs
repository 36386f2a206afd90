//! Watches, as a test describes them, and which one a thread belongs to.

use super::thread_story::ThreadStory;

/// The time after a label was added until when a reader may not know it.
const LABEL_SETTLE_MS: i64 = 180_000;

/// A watch on a thread, on the threads with a label, or on all threads of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventWatch {
    pub repository_id: i64,
    /// `None` for all threads.
    pub number: Option<i64>,
    pub label: Option<String>,
    pub floor: EventFloor,
    /// The time before which the reader cannot have read the state of a thread.
    pub added_ms: i64,
    /// The time at which the reader knows the state of the threads; what changes later must be delivered.
    pub active_ms: i64,
    /// True if only commands count: no event is about the thread's state, and a pull request does not end.
    pub is_commands_only: bool,
}

/// The time from which on texts count, by the service's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventFloor {
    Beginning,
    At(i64),
}

impl EventFloor {
    /// Returns true if a text of this second counts.
    pub(super) fn includes(self, second_ms: i64) -> bool {
        match self {
            Self::Beginning => true,
            Self::At(floor_ms) => second_ms >= floor_ms,
        }
    }
}

impl EventWatch {
    /// Describes a watch on a thread that begins with its first text.
    #[must_use]
    pub fn from_beginning(repository_id: i64, number: i64, added_ms: i64, active_ms: i64) -> Self {
        Self {
            repository_id,
            number: Some(number),
            label: None,
            floor: EventFloor::Beginning,
            added_ms,
            active_ms,
            is_commands_only: false,
        }
    }

    /// Describes a watch on all threads of a repository that begins at this time.
    #[must_use]
    pub fn of_repository(repository_id: i64, floor_ms: i64, added_ms: i64, active_ms: i64) -> Self {
        Self {
            number: None,
            floor: EventFloor::At(floor_ms),
            ..Self::from_beginning(repository_id, 0, added_ms, active_ms)
        }
    }
}

/// The watch of a thread, as far as it is certain.
pub(super) enum ThreadWatch<'o> {
    Watched(&'o EventWatch),
    /// It belongs to the watch from this time on; before, a reader may have known that or not.
    WatchedSince(&'o EventWatch, i64),
    /// The label came and went, so that all its texts may be delivered or not.
    Uncertain,
    Unwatched,
}

/// Returns the most specific watch: the thread's own, then the one by label, then the repository's.
pub(super) fn watch_of<'o>(watches: &'o [EventWatch], thread: &ThreadStory) -> ThreadWatch<'o> {
    let here = || watches.iter().filter(|watch| watch.repository_id == thread.repository_id);
    if let Some(own) = here().find(|watch| watch.number == Some(thread.number)) {
        return ThreadWatch::Watched(own);
    }
    let wide = || here().filter(|watch| watch.number.is_none());
    let plain = wide().find(|watch| watch.label.is_none());
    let labeled = wide().filter_map(|watch| Some((watch, watch.label.as_deref()?)));
    for (watch, label) in labeled {
        let Some(label_times) = thread.label_times(label, watch.added_ms) else { continue };
        return match (label_times.since_ms, plain) {
            _ if label_times.was_always_there => ThreadWatch::Watched(watch),
            (Some(since_ms), None) => ThreadWatch::WatchedSince(watch, since_ms + LABEL_SETTLE_MS),
            (_, Some(_)) | (None, None) => ThreadWatch::Uncertain,
        };
    }
    plain.map_or(ThreadWatch::Unwatched, ThreadWatch::Watched)
}
