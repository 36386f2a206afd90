//! Watches, their threads, and the consumers of their events.

use hw_rules::format::group_digits;
use hw_rules::source_time::SourceInstant;
use hw_rules::thread_status::ThreadStatus;
use hw_rules::watch::{Watch, WatchMode, WatchState};
use hw_store::{ConsumerRow, WatchedThread};

use super::event_selection::EventSelection;
use super::thread_count;
use crate::format::{DisplayTime, element_id, format_line, format_name, kind_label};
use crate::title::{TitlePart, title_parts};

pub(super) struct WatchView {
    /// The id of its element.
    pub(super) id: String,
    pub(super) name: String,
    /// The events of what is watched.
    pub(super) href: String,
    pub(super) kind: String,
    pub(super) state: &'static str,
    pub(super) tone: &'static str,
    /// From when on it emits.
    pub(super) start: String,
    pub(super) thread_count: String,
    pub(super) problem: Option<String>,
    /// What needs attention comes first.
    pub(super) rank: u8,
}

impl WatchView {
    pub(super) fn new(watch: &Watch, threads: usize) -> Self {
        let (tone, rank) = match watch.state {
            WatchState::Gone | WatchState::Failed => ("failing", 0),
            WatchState::Unresolved | WatchState::Bootstrapping => ("behind", 1),
            WatchState::Active if watch.problem.is_some() => ("failing", 0),
            WatchState::Active => ("ok", 2),
            WatchState::Paused => ("paused", 3),
        };
        Self {
            id: format!("watch-{}", watch.id),
            name: format_line(&watch.subject.to_string()),
            href: EventSelection::of_subject(watch.subject.clone()).page_url(None),
            kind: describe_kind(watch),
            state: watch.state.name(),
            tone,
            start: match watch.floor {
                None => "—".to_owned(),
                Some(SourceInstant::BEGINNING) => "the start".to_owned(),
                Some(floor) => DisplayTime::new(floor).text,
            },
            thread_count: thread_count(threads),
            problem: watch.problem.as_deref().map(format_line),
            rank,
        }
    }
}

fn describe_kind(watch: &Watch) -> String {
    let mut kind = match (watch.kind, &watch.subject.label, watch.source_issue) {
        (Some(kind), ..) => kind_label(kind.into()).to_owned(),
        (None, Some(label), _) => format!("threads with label {}", format_name(label)),
        (None, None, Some(issue)) => format!("source issue #{issue}"),
        (None, None, None) if watch.subject.number.is_some() => "thread".to_owned(),
        (None, None, None) => "all threads".to_owned(),
    };
    if watch.mode == WatchMode::CommandsOnly {
        kind.push_str(", commands only");
    }
    kind
}

pub(super) struct WatchedThreadView {
    /// The id of its element.
    pub(super) id: String,
    pub(super) address: String,
    pub(super) href: String,
    pub(super) title: Vec<TitlePart>,
    pub(super) status: &'static str,
    pub(super) tone: &'static str,
    pub(super) progress: &'static str,
    /// What is still read comes first.
    pub(super) rank: u8,
}

impl WatchedThreadView {
    pub(super) fn new(watch: &Watch, thread: &WatchedThread) -> Self {
        let repository = &watch.subject.repository;
        let (status, tone, rank) = match thread.status.status {
            ThreadStatus::AwaitingFeedback => ("awaiting feedback", "ok", 1),
            ThreadStatus::Blocked => ("blocked", "behind", 0),
            ThreadStatus::Closed => ("closed", "paused", 2),
            ThreadStatus::Merged => ("merged", "paused", 2),
        };
        let is_complete = thread.is_bootstrapped && thread.is_derived;
        Self {
            id: format!("thread-{}-{}", watch.id, thread.number),
            address: format_line(&format!("{repository}#{}", thread.number)),
            href: format!("/threads/{repository}/{}", thread.number),
            title: title_parts(thread.title.as_deref().unwrap_or("not read yet")),
            status,
            tone: if is_complete { tone } else { "behind" },
            progress: if is_complete { "complete" } else { "still being read" },
            rank,
        }
    }
}

pub(super) struct ConsumerView {
    /// The id of its element.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) unread: String,
    pub(super) leased: String,
    pub(super) dead: String,
    pub(super) tone: &'static str,
}

impl ConsumerView {
    pub(super) fn new(consumer: &ConsumerRow) -> Self {
        Self {
            id: format!("consumer-{}", element_id(&consumer.name)),
            name: format_name(&consumer.name),
            unread: group_digits(consumer.unread),
            leased: group_digits(consumer.leased + consumer.waiting),
            dead: group_digits(consumer.dead),
            tone: if consumer.dead > 0 { "failing" } else { "ok" },
        }
    }
}
