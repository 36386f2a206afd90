//! Events: what a watched thread says, once for each change.
//!
//! An event depends on what was last emitted for its object, never on what the mirror happened to hold: a refetch, a second
//! lane, a renamed login or a moved `updated_at` emits nothing twice. Its content is the text and, for a review, the
//! verdict.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::command_line;
use crate::event_policy::{EventPolicy, EventSender};
use crate::item::{Comment, ObjectKey, Thread, ThreadDetails, ThreadKind, encode_optional};
use crate::source_clock::{DATE_TOLERANCE_MS, SAFE_BACKFILL_MS};
use crate::source_time::{SourceInstant, SourceTime};
use crate::version::{ContentDigest, ObservedAt};
use crate::watch::{WatchId, WatchMode};

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventChange {
    /// Nothing was emitted for it before.
    Created,
    Edited,
    /// What was emitted is gone.
    Withdrawn,
    /// The state of a thread changed.
    State(StateChange),
}

/// A change of a thread's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateChange {
    Opened,
    Closed,
    Reopened,
    Merged,
    /// The source branch has another newest commit.
    HeadMoved,
    Labeled,
}

impl EventChange {
    /// Returns the name in tables and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Edited => "edited",
            Self::Withdrawn => "withdrawn",
            Self::State(_) => "state",
        }
    }

    /// Returns the change of a thread's state.
    pub fn state_change(self) -> Option<StateChange> {
        match self {
            Self::State(change) => Some(change),
            Self::Created | Self::Edited | Self::Withdrawn => None,
        }
    }

    /// Returns the change with this name, and this change of state.
    pub fn from_names(name: &str, state_change: Option<&str>) -> Option<Self> {
        match (name, state_change) {
            ("state", Some(change)) => StateChange::from_name(change).map(Self::State),
            (name, None) => [Self::Created, Self::Edited, Self::Withdrawn]
                .into_iter()
                .find(|c| c.name() == name),
            (_, Some(_)) => None,
        }
    }
}

impl StateChange {
    pub const ALL: [Self; 6] =
        [Self::Opened, Self::Closed, Self::Reopened, Self::Merged, Self::HeadMoved, Self::Labeled];

    pub fn name(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Closed => "closed",
            Self::Reopened => "reopened",
            Self::Merged => "merged",
            Self::HeadMoved => "head_moved",
            Self::Labeled => "labeled",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|change| change.name() == name)
    }
}

/// What an event is for its consumers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventClass {
    Feedback,
    /// A comment with a command line. It is listed, and not delivered.
    Command,
    /// A comment on a source issue, before a pull request closes it.
    Followup,
    /// Written by our own account.
    Own,
    Ignored(IgnoredReason),
}

/// Why an event is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IgnoredReason {
    Bot,
    /// Its author is not on the list of allowed authors.
    NotAllowed,
    /// A pull request closes the source issue; the talk is there.
    Redirect,
    /// Only commands count in this thread.
    CommandsOnly,
}

impl EventClass {
    /// The names of all classes.
    pub const NAMES: [&str; 5] = ["feedback", "command", "followup", "own", "ignored"];
    /// The names of those that are delivered to consumers.
    pub const DELIVERED: [&str; 2] = ["feedback", "followup"];

    pub fn name(self) -> &'static str {
        match self {
            Self::Feedback => "feedback",
            Self::Command => "command",
            Self::Followup => "followup",
            Self::Own => "own",
            Self::Ignored(_) => "ignored",
        }
    }

    /// Returns the reason for which it is ignored.
    pub fn reason(self) -> Option<IgnoredReason> {
        match self {
            Self::Ignored(reason) => Some(reason),
            Self::Feedback | Self::Command | Self::Followup | Self::Own => None,
        }
    }

    /// Returns the class with this name and this reason.
    pub fn from_names(name: &str, reason: Option<&str>) -> Option<Self> {
        match (name, reason) {
            ("ignored", Some(reason)) => IgnoredReason::from_name(reason).map(Self::Ignored),
            (name, None) => [Self::Feedback, Self::Command, Self::Followup, Self::Own]
                .into_iter()
                .find(|class| class.name() == name),
            (_, Some(_)) => None,
        }
    }

    /// Returns true if consumers get the event.
    pub fn is_delivered(self) -> bool {
        Self::DELIVERED.contains(&self.name())
    }
}

impl IgnoredReason {
    pub const ALL: [Self; 4] = [Self::Bot, Self::NotAllowed, Self::Redirect, Self::CommandsOnly];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bot => "bot",
            Self::NotAllowed => "not_allowed",
            Self::Redirect => "redirect",
            Self::CommandsOnly => "commands_only",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// The content of an object that is or was emitted, with the times that order it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenContent {
    /// The time that orders it: `updated_at`, unless the source's clock had not reached that yet.
    pub updated_at: SourceInstant,
    pub observed_at: ObservedAt,
    pub content: ContentDigest,
}

/// What was last emitted for an object. It outlives its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastEvent {
    /// The content, with the times of the newest observation that showed it.
    pub seen: SeenContent,
    pub is_withdrawn: bool,
    pub class: EventClass,
}

impl SeenContent {
    fn order(&self) -> (SourceInstant, ObservedAt, ContentDigest) {
        (self.updated_at, self.observed_at, self.content)
    }

    /// Returns the content as an observation of this time can know it: a later time came from a wrong clock.
    fn as_known_at(&self, observed_at: ObservedAt) -> Self {
        let latest = SourceInstant(observed_at.at_ms).plus_ms(DATE_TOLERANCE_MS);
        let redated = latest.minus_ms(SAFE_BACKFILL_MS);
        let updated_at = if self.updated_at > latest { redated } else { self.updated_at };
        let mut observed_at = self.observed_at;
        if observed_at.at_ms > latest.0 {
            observed_at.at_ms = redated.0;
        }
        Self { updated_at, observed_at, content: self.content }
    }
}

/// Returns the event that an observation of a comment makes, given what was last emitted for it.
///
/// GitHub's clock ticks in seconds: of two texts with one `updated_at`, the one that was observed later is the newer one,
/// whether or not it was emitted before. What a lagging replica shows is older, and emits nothing.
pub fn change(
    last: Option<&LastEvent>,
    now: &SeenContent,
    floor: SourceInstant,
) -> Option<EventChange> {
    if now.updated_at < floor {
        return None;
    }
    let Some(last) = last else { return Some(EventChange::Created) };
    if is_older(last, now) || (last.seen.content == now.content && !last.is_withdrawn) {
        None
    } else {
        Some(EventChange::Edited)
    }
}

/// Returns true if an observation shows nothing newer than what was last emitted.
///
/// What was withdrawn can return as it was: a person restored it.
pub fn is_older(last: &LastEvent, now: &SeenContent) -> bool {
    match now.order().cmp(&last.seen.as_known_at(now.observed_at).order()) {
        Ordering::Less => true,
        Ordering::Equal => !last.is_withdrawn,
        Ordering::Greater => false,
    }
}

/// Returns the event of a comment that is gone: what was never emitted is not withdrawn either.
pub fn withdrawal(last: Option<&LastEvent>) -> Option<EventChange> {
    last.filter(|last| !last.is_withdrawn).map(|_| EventChange::Withdrawn)
}

/// Returns the content of a comment: its text and its verdict.
pub fn comment_content(comment: &Comment) -> ContentDigest {
    let [has_state, state] = encode_optional(comment.state.as_deref());
    ContentDigest::from_fields([comment.body.as_str(), has_state, state])
}

/// What events about a thread's state are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadFacts {
    /// The time that orders these facts.
    pub updated_at: SourceInstant,
    pub created_at: SourceInstant,
    pub is_open: bool,
    pub closed_at: Option<SourceInstant>,
    pub is_merged: bool,
    /// None if it has none, or if no answer has shown it yet.
    pub head_sha: Option<String>,
    pub labels: Vec<String>,
}

impl ThreadFacts {
    /// Returns the facts that a thread shows, ordered by this time.
    pub fn from_thread(thread: &Thread, updated_at: SourceInstant) -> Self {
        let (merged_at, head_sha) = match &thread.details {
            ThreadDetails::PullRequest(details) => {
                (details.merged_at.as_ref(), details.head_sha.clone())
            }
            ThreadDetails::Issue | ThreadDetails::Discussion(_) => (None, None),
        };
        let mut labels = thread.labels.clone();
        labels.sort();
        Self {
            updated_at,
            created_at: thread.created_at.instant(),
            is_open: thread.is_open(),
            closed_at: merged_at.or(thread.closed_at.as_ref()).map(SourceTime::instant),
            is_merged: merged_at.is_some() || thread.state == "MERGED",
            head_sha,
            labels,
        }
    }

    /// Returns the facts with what an answer did not show, as it was before.
    #[must_use]
    pub fn with_known(mut self, before: Option<&Self>) -> Self {
        if self.head_sha.is_none() {
            self.head_sha = before.and_then(|before| before.head_sha.clone());
        }
        self
    }

    fn ending(&self) -> StateChange {
        if self.is_merged { StateChange::Merged } else { StateChange::Closed }
    }
}

/// Returns the events about a thread's state between two observations. Older facts make none.
///
/// A thread that was not known before makes those whose time is known and not below the floor: it was opened, closed or
/// merged.
pub fn state_changes(
    before: Option<&ThreadFacts>,
    after: &ThreadFacts,
    floor: SourceInstant,
) -> Vec<StateChange> {
    let mut changes = Vec::new();
    let Some(before) = before else {
        if after.created_at >= floor {
            changes.push(StateChange::Opened);
        }
        if !after.is_open && after.closed_at.is_some_and(|closed_at| closed_at >= floor) {
            changes.push(after.ending());
        }
        return changes;
    };
    if after.updated_at < before.updated_at {
        return changes;
    }
    match (before.is_open, after.is_open) {
        (true, false) => changes.push(after.ending()),
        (false, true) => changes.push(StateChange::Reopened),
        (false, false) if after.is_merged && !before.is_merged => changes.push(StateChange::Merged),
        (true, true) | (false, false) => {}
    }
    if before.head_sha.is_some() && after.head_sha.is_some() && before.head_sha != after.head_sha {
        changes.push(StateChange::HeadMoved);
    }
    if before.labels != after.labels {
        changes.push(StateChange::Labeled);
    }
    changes
}

/// What comments on a source issue are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceRouting {
    /// The thread is not followed as a source issue.
    None,
    /// No pull request closes it yet.
    BeforePullRequest,
    AfterPullRequest,
}

/// Returns the class of a comment.
///
/// A comment with a command line is a command and nothing else, whoever wrote it: who may command is decided when
/// it is applied.
pub fn classify(
    sender: &EventSender<'_>,
    body: &str,
    policy: &EventPolicy,
    mode: WatchMode,
    routing: SourceRouting,
) -> EventClass {
    if policy.is_own(sender) {
        return EventClass::Own;
    }
    if command_line::has_command(body) {
        return EventClass::Command;
    }
    if mode == WatchMode::CommandsOnly {
        return EventClass::Ignored(IgnoredReason::CommandsOnly);
    }
    if let Some(reason) = policy.refusal(sender) {
        return EventClass::Ignored(reason);
    }
    match routing {
        SourceRouting::None => EventClass::Feedback,
        SourceRouting::BeforePullRequest => EventClass::Followup,
        SourceRouting::AfterPullRequest => EventClass::Ignored(IgnoredReason::Redirect),
    }
}

/// Returns an event's key: its thread, its object and the time of the change. Two edits of one second share a key.
pub fn event_key(number: i64, object: &ObjectKey, updated_at: &SourceTime) -> String {
    format!("{number}:{}:{}:{updated_at}", object.kind.name(), object.id)
}

/// What makes an event different from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventIdentity<'a> {
    pub watch: WatchId,
    pub object: &'a ObjectKey,
    pub updated_at: &'a SourceTime,
    pub change: EventChange,
    pub content: ContentDigest,
    /// How many events of the object came before it with the same `updated_at`: within one second a text can come back.
    pub repeat: i64,
}

/// Returns an event's id: 32 hexadecimal digits.
pub fn event_id(identity: &EventIdentity<'_>) -> String {
    let EventIdentity { watch, object, updated_at, change, content, repeat } = identity;
    let state_change = change.state_change().map(StateChange::name);
    let text = format!(
        "{watch}\n{object}\n{}\n{}\n{}\n{repeat}\n",
        updated_at.instant().0,
        change.name(),
        state_change.unwrap_or_default(),
    );
    let mut hash = Sha256::new();
    hash.update(text.as_bytes());
    hash.update(content.0);
    let mut id = String::with_capacity(32);
    for byte in hash.finalize().iter().take(16) {
        write!(id, "{byte:02x}").expect("writing to a string cannot fail");
    }
    id
}

/// Returns owner and name of the repository in the URL of a thread or comment; none if it has another form.
pub fn repository_of_url(url: &str) -> Option<String> {
    let path = url.split(['#', '?']).next()?;
    let mut parts = path.rsplit('/').skip(2);
    let (name, owner) = (parts.next()?, parts.next()?);
    Some(format!("{owner}/{name}"))
}

/// Returns the kind of the thread that a page with this URL shows; none if it does not say.
pub fn thread_kind_of_url(url: &str) -> Option<ThreadKind> {
    let path = url.split(['#', '?']).next()?;
    let kind = path.rsplit('/').nth(1)?;
    match kind {
        "issues" => Some(ThreadKind::Issue),
        "pull" | "pulls" => Some(ThreadKind::PullRequest),
        "discussions" => Some(ThreadKind::Discussion),
        _ => None,
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
