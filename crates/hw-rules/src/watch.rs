//! Watches: the threads and repositories whose comments and changes become events.
//!
//! Something said in a thread is emitted by one watch only, the most specific one: the thread's own, else one by label,
//! else the repository's.

use std::fmt;
use std::str::FromStr;

use crate::followed_source::RepositoryName;
use crate::item::ThreadKind;
use crate::login::Login;
use crate::repository_key::{Host, RepositoryId, RepositoryKey};
use crate::source_time::{SourceInstant, SourceTime};

/// Identifies a watch. A removed watch's id is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub i64);

impl fmt::Display for WatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is watched: a thread, the threads with a label, or all threads of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchSubject {
    pub repository: RepositoryName,
    /// The thread's number; none for a whole repository.
    pub number: Option<i64>,
    /// Only the threads with this label, in any case.
    pub label: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected owner/repo#12 or owner/repo, got {0:?}")]
pub struct ParseSubjectError(pub String);

impl WatchSubject {
    /// Returns true if both select the same threads.
    pub fn is_same(&self, other: &Self) -> bool {
        let labels = (self.label.as_deref(), other.label.as_deref());
        self.repository.is_same(&other.repository)
            && self.number == other.number
            && match labels {
                (Some(label), Some(other)) => is_same_label(label, other),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            }
    }
}

/// Parses `owner/repo#12` and `owner/repo`. The label comes from elsewhere.
impl FromStr for WatchSubject {
    type Err = ParseSubjectError;

    fn from_str(text: &str) -> Result<Self, ParseSubjectError> {
        parse_subject(text.trim())
            .ok_or_else(|| ParseSubjectError(crate::safe_text::truncate_echo(text).into_owned()))
    }
}

fn parse_subject(text: &str) -> Option<WatchSubject> {
    let (repository, number) = match text.rsplit_once('#') {
        Some((repository, number)) => (repository, Some(parse_number(number)?)),
        None => (text, None),
    };
    let (owner, name) = repository.split_once('/')?;
    let owner: Login = owner.parse().ok()?;
    let is_name = !name.is_empty()
        && name != "."
        && name != ".."
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    is_name.then(|| WatchSubject {
        repository: RepositoryName::new(owner, name),
        number,
        label: None,
    })
}

fn parse_number(text: &str) -> Option<i64> {
    // `parse` would also accept a sign
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().ok()? } else { 0 };
    (number > 0).then_some(number)
}

/// Formats the subject as it is written, without its label.
impl fmt::Display for WatchSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.repository.fmt(f)?;
        self.number.map_or(Ok(()), |number| write!(f, "#{number}"))
    }
}

/// The point from which a watch emits events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchStart {
    /// From the beginning of each thread.
    Beginning,
    /// From the time at which the watch was added.
    Now,
    At(SourceInstant),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected start, now or an RFC 3339 time, got {0:?}")]
pub struct ParseStartError(pub String);

impl WatchStart {
    /// Returns the start of a watch for which the user named none: the beginning of a pull request, else the present.
    pub fn default_for(kind: Option<ThreadKind>, mode: WatchMode) -> Self {
        match (kind, mode) {
            (Some(ThreadKind::PullRequest), WatchMode::Feedback) => Self::Beginning,
            _ => Self::Now,
        }
    }

    /// Returns the earliest update that a watch emits.
    ///
    /// The service may learn of a watch long after it was added. What was said in between counts, so its age is subtracted
    /// from the source's time. Both times of the age are our own; a clock that was set back makes it zero.
    pub fn floor(self, source_now: SourceInstant, created_ms: i64, now_ms: i64) -> SourceInstant {
        match self {
            Self::Beginning => SourceInstant::BEGINNING,
            Self::Now => source_now.minus_ms(now_ms.saturating_sub(created_ms).max(0)),
            Self::At(instant) => instant,
        }
    }
}

impl FromStr for WatchStart {
    type Err = ParseStartError;

    fn from_str(text: &str) -> Result<Self, ParseStartError> {
        match text {
            "start" => Ok(Self::Beginning),
            "now" => Ok(Self::Now),
            other => SourceTime::parse(other)
                .map(|time| Self::At(time.instant()))
                .map_err(|_| ParseStartError(crate::safe_text::truncate_echo(other).into_owned())),
        }
    }
}

/// Formats the start as it is written and stored.
impl fmt::Display for WatchStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beginning => f.write_str("start"),
            Self::Now => f.write_str("now"),
            Self::At(instant) => instant.fmt(f),
        }
    }
}

/// What a watch is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchMode {
    Feedback,
    /// Only the commands in comments count.
    CommandsOnly,
}

impl WatchMode {
    pub const ALL: [Self; 2] = [Self::Feedback, Self::CommandsOnly];

    pub fn name(self) -> &'static str {
        match self {
            Self::Feedback => "feedback",
            Self::CommandsOnly => "commands",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// How far a watch has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchState {
    /// Nobody has looked up its thread or repository yet.
    Unresolved,
    /// It emits, and what was said before is still being read.
    Bootstrapping,
    Active,
    Paused,
    /// Its thread or repository is gone, or no longer visible.
    Gone,
    /// It cannot be resolved.
    Failed,
}

impl WatchState {
    pub const ALL: [Self; 6] = [
        Self::Unresolved,
        Self::Bootstrapping,
        Self::Active,
        Self::Paused,
        Self::Gone,
        Self::Failed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::Bootstrapping => "bootstrapping",
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Gone => "gone",
            Self::Failed => "failed",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Returns true if changes become events.
    pub fn emits(self) -> bool {
        matches!(self, Self::Bootstrapping | Self::Active)
    }

    /// Returns true if the watch decides about its threads. A paused one does, by emitting nothing.
    pub fn selects(self) -> bool {
        self.emits() || self == Self::Paused
    }
}

/// A stored watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    pub id: WatchId,
    pub host: Host,
    pub subject: WatchSubject,
    /// None until the watch is resolved.
    pub repository_id: Option<RepositoryId>,
    /// The kind of the watched thread, once it is known.
    pub kind: Option<ThreadKind>,
    pub mode: WatchMode,
    /// The start that the user named.
    pub start: Option<WatchStart>,
    /// The earliest update that becomes an event; none until the watch is resolved.
    pub floor: Option<SourceInstant>,
    /// The issue whose comments are follow-ups until a pull request closes it.
    pub source_issue: Option<i64>,
    pub state: WatchState,
    /// What is wrong with it.
    pub problem: Option<String>,
    pub created_ms: i64,
}

impl Watch {
    pub fn repository(&self) -> Option<RepositoryKey> {
        self.repository_id.map(|id| RepositoryKey { host: self.host.clone(), id })
    }

    /// Returns true if the watch covers all threads of its repository, or those with a label.
    pub fn covers_many(&self) -> bool {
        self.subject.number.is_none() && self.source_issue.is_none()
    }

    /// Returns true if the watch covers its source issue, and the pull requests that close it, and no other thread.
    pub fn follows_source_issue(&self) -> bool {
        self.subject.number.is_none() && self.source_issue.is_some()
    }

    /// Returns true if its thread is read whole when the watch begins, because it covers what was said before.
    pub fn is_read_whole(&self) -> bool {
        let start = self.start.unwrap_or(WatchStart::default_for(self.kind, self.mode));
        let is_one_thread = self.subject.number.is_some() || self.follows_source_issue();
        is_one_thread && start != WatchStart::Now
    }

    /// Returns how specific the watch is for a thread; none if it does not cover the thread.
    fn specificity(&self, thread: &WatchedPlace<'_>) -> Option<Specificity> {
        if self.repository_id != Some(thread.repository.id) || self.host != thread.repository.host {
            return None;
        }
        let WatchSubject { number, label, .. } = &self.subject;
        if *number == Some(thread.number) {
            return Some(Specificity::Thread);
        }
        match (number, label, self.source_issue) {
            (_, _, Some(source_issue)) => {
                let is_covered = source_issue == thread.number || thread.joined.contains(&self.id);
                is_covered.then_some(Specificity::SourceIssue)
            }
            (Some(_), _, None) => None,
            (None, Some(label), None) => {
                let has_label = thread.labels.iter().any(|other| is_same_label(label, other));
                has_label.then_some(Specificity::Label)
            }
            (None, None, None) => Some(Specificity::Repository),
        }
    }
}

/// A thread, as far as watches select it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedPlace<'a> {
    pub repository: RepositoryKey,
    pub number: i64,
    pub labels: &'a [String],
    /// The watches that the thread joined because it closes their source issue.
    pub joined: &'a [WatchId],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Specificity {
    Repository,
    Label,
    SourceIssue,
    Thread,
}

/// Returns the watch that emits what is said in a thread: the most specific one and, among equals, the oldest.
pub fn watch_for<'a>(watches: &'a [Watch], thread: &WatchedPlace<'_>) -> Option<&'a Watch> {
    let selecting = watches.iter().filter(|watch| watch.state.selects());
    let covering = selecting.filter_map(|watch| Some((watch.specificity(thread)?, watch)));
    let best =
        covering.max_by_key(|(specificity, watch)| (*specificity, std::cmp::Reverse(watch.id)));
    best.map(|(_, watch)| watch)
}

/// Compares labels as GitHub does: without their case.
fn is_same_label(label: &str, other: &str) -> bool {
    label.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watch_subject_survives_its_text() {
        for text in ["acme/pump#12", "acme/pump", "Acme/pump.rs#1"] {
            assert_eq!(text.parse::<WatchSubject>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "pump",
            "acme/",
            "/pump",
            "acme/pump#",
            "acme/pump#0",
            "acme/pump#-1",
            "acme/pump#x",
            "acme/pump/x",
            "acme/..",
            "a b/pump",
            "acme/pump#12#3",
        ] {
            assert!(text.parse::<WatchSubject>().is_err(), "{text}");
        }
        let labeled = WatchSubject { label: Some("Bug".to_owned()), ..subject("acme/pump") };
        let other = WatchSubject { label: Some("bug".to_owned()), ..subject("ACME/Pump") };
        assert!(labeled.is_same(&other) && !labeled.is_same(&subject("acme/pump")));
    }

    #[test]
    fn watch_start_survives_its_text_and_gives_a_floor() {
        for text in ["start", "now", "2026-01-02T03:04:05Z"] {
            assert_eq!(text.parse::<WatchStart>().unwrap().to_string(), text);
        }
        assert!("yesterday".parse::<WatchStart>().is_err());
        let source_now = SourceInstant(1_000_000);
        assert_eq!(WatchStart::Beginning.floor(source_now, 5, 9), SourceInstant::BEGINNING);
        assert_eq!(WatchStart::Now.floor(source_now, 100, 300), SourceInstant(999_800), "its age");
        assert_eq!(
            WatchStart::Now.floor(source_now, 300, 100),
            source_now,
            "our clock was set back"
        );
        assert_eq!(WatchStart::At(SourceInstant(7)).floor(source_now, 0, 0), SourceInstant(7));
    }

    #[test]
    fn watch_of_a_pull_request_starts_at_its_beginning_and_others_now() {
        let pull = Some(ThreadKind::PullRequest);
        let start = WatchStart::default_for(pull, WatchMode::Feedback);
        assert_eq!(start, WatchStart::Beginning);
        for (kind, mode) in [
            (pull, WatchMode::CommandsOnly),
            (Some(ThreadKind::Issue), WatchMode::Feedback),
            (None, WatchMode::Feedback),
        ] {
            assert_eq!(WatchStart::default_for(kind, mode), WatchStart::Now);
        }
    }

    #[test]
    fn watch_for_a_thread_is_the_most_specific_one() {
        let repository = watch(1, "acme/pump");
        let labeled = Watch {
            subject: WatchSubject { label: Some("Bug".to_owned()), ..subject("acme/pump") },
            ..watch(2, "acme/pump")
        };
        let source = Watch { source_issue: Some(7), ..watch(3, "acme/pump") };
        let thread = watch(4, "acme/pump#5");
        let later = watch(5, "acme/pump#5");
        let all = [later, thread, source, labeled, repository];
        for (number, labels, joined, expected) in [
            (5, vec!["bug"], vec![WatchId(3)], 4),
            (6, vec!["bug"], vec![], 2),
            (6, vec!["other"], vec![], 1),
            (7, vec!["bug"], vec![], 3),
            (8, vec!["bug"], vec![WatchId(3)], 3),
        ] {
            let found = find(&all, number, &labels, &joined);
            assert_eq!(found, Some(WatchId(expected)), "{number} {labels:?}");
        }
        assert_eq!(find(&all[..4], 9, &[], &[]), None);
        let elsewhere = Watch { repository_id: Some(RepositoryId(2)), ..watch(1, "acme/pump") };
        assert_eq!(find(&[elsewhere], 5, &[], &[]), None, "another repository");
    }

    #[test]
    fn watch_that_is_paused_keeps_its_thread_and_one_that_is_gone_does_not() {
        let repository = watch(1, "acme/pump");
        for (state, expected) in [
            (WatchState::Paused, 2),
            (WatchState::Bootstrapping, 2),
            (WatchState::Unresolved, 1),
            (WatchState::Gone, 1),
            (WatchState::Failed, 1),
        ] {
            let thread = Watch { state, ..watch(2, "acme/pump#5") };
            let found = find(&[repository.clone(), thread], 5, &[], &[]);
            assert_eq!(found, Some(WatchId(expected)), "{state:?}");
            assert_eq!(WatchState::from_name(state.name()), Some(state));
        }
        for mode in WatchMode::ALL {
            assert_eq!(WatchMode::from_name(mode.name()), Some(mode));
        }
    }

    fn find(
        watches: &[Watch],
        number: i64,
        labels: &[&str],
        joined: &[WatchId],
    ) -> Option<WatchId> {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let repository = RepositoryKey::new("github.com", 1);
        let place = WatchedPlace { repository, number, labels: &labels, joined };
        watch_for(watches, &place).map(|watch| watch.id)
    }

    fn subject(text: &str) -> WatchSubject {
        text.parse().unwrap()
    }

    fn watch(id: i64, text: &str) -> Watch {
        Watch {
            id: WatchId(id),
            host: Host::from("github.com"),
            subject: subject(text),
            repository_id: Some(RepositoryId(1)),
            kind: None,
            mode: WatchMode::Feedback,
            start: None,
            floor: Some(SourceInstant::BEGINNING),
            source_issue: None,
            state: WatchState::Active,
            problem: None,
            created_ms: 0,
        }
    }
}
