//! Derives events from changes: one more consumer of `changes`, and the one function that every event comes from.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::event::{
    self as rule, EventChange, EventClass, EventIdentity, LastEvent, SeenContent, SourceRouting,
    ThreadFacts,
};
use hw_rules::event_policy::EventSender;
use hw_rules::item::{Comment, MirrorItem, ObjectId, Thread, ThreadDetails, ThreadKind};
use hw_rules::source_time::SourceInstant;
use hw_rules::version::{ContentDigest, ObservedAt};
use hw_rules::watch::{Watch, WatchId, WatchMode, WatchState};

use super::context::{EventContext, Place};
use super::emitted_objects::{self, EmittedObject, EmittedObjects};
use super::{Event, insert_events};
use crate::changes::{BatchChange, ChangeBatch, ItemChangeKind};
use crate::error::StoreError;
use crate::removed_items::RemovalReason;
use crate::transaction::Transaction;
use crate::watches::resolution::DERIVE_START;
use crate::watches::watched_threads::{self, ThreadRow, WatchedThread};

/// An item as an observation shows it, or as it was stored when it went.
pub(crate) struct SeenItem<'a> {
    pub(crate) item: &'a MirrorItem,
    /// Its URL under the current name of its repository.
    pub(crate) url: &'a str,
    pub(crate) sight: Sight,
}

/// How an item was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sight {
    /// It is there, with the time that orders its version.
    Present { updated_at: SourceInstant, observed_at: ObservedAt, is_same_text: bool },
    /// It was confirmed gone.
    Gone { observed_at: ObservedAt },
}

/// Derives the events of changes.
///
/// Without a watch nothing is read: the question about the lease says so.
pub(crate) fn derive_events(
    tx: &mut Transaction<'_>,
    batch: &ChangeBatch<'_>,
) -> Result<(), StoreError> {
    let is_relevant = |change: &BatchChange<'_>| {
        let kind = change.key.kind;
        (kind.is_thread() || kind.is_comment()) && is_said(change.kind)
    };
    if !batch.changes.iter().any(is_relevant) || !may_have_watches(tx)? {
        return Ok(());
    }
    // an archived or invisible repository says nothing about its texts
    let withdraws = batch.cause.is_some_and(|cause| cause.reason == RemovalReason::NotListed);
    let is_gone = |change: &BatchChange<'_>| change.kind == ItemChangeKind::Removed;
    let gone = batch.changes.iter().any(|change| is_relevant(change) && is_gone(change));
    let stored = if withdraws && gone { Some(batch.read_stored_items(tx)?) } else { None };
    let mut items = Vec::new();
    for change in batch.changes.iter().filter(|change| is_relevant(change)) {
        let Some(cell) = change.cell else { continue };
        if is_gone(change) {
            let item = stored.and_then(|stored| stored.get(&change.key));
            let (Some(item), Some(observed_at)) = (item, cell.tombstone) else { continue };
            let sight = Sight::Gone { observed_at };
            items.push(SeenItem { item, url: item_url(item), sight });
        } else if let (Some(text), Some(version)) = (change.text, &cell.version) {
            let sight = Sight::Present {
                updated_at: version.ordered_at,
                observed_at: version.observed_at,
                is_same_text: change.kind == ItemChangeKind::Bumped,
            };
            items.push(SeenItem { item: text.item, url: &text.url, sight });
        }
    }
    emit(tx, batch.host, &items)
}

/// Returns false for changes that no person made.
fn is_said(kind: ItemChangeKind) -> bool {
    match kind {
        ItemChangeKind::Created
        | ItemChangeKind::Edited
        | ItemChangeKind::Bumped
        | ItemChangeKind::Revived
        | ItemChangeKind::Removed => true,
        ItemChangeKind::Renamed | ItemChangeKind::Cleared => false,
    }
}

fn may_have_watches(tx: &mut Transaction<'_>) -> Result<bool, StoreError> {
    Ok(tx.lease_answer()?.is_none_or(|answer| answer.has_watches))
}

fn item_url(item: &MirrorItem) -> &str {
    match item {
        MirrorItem::Repository(repository) => &repository.url,
        MirrorItem::Thread(thread) => &thread.url,
        MirrorItem::Comment(comment) => &comment.url,
        MirrorItem::Post(post) => post.uri.as_str(),
    }
}

/// Emits what these items say, and remembers it.
pub(crate) fn emit(
    tx: &mut Transaction<'_>,
    host: &str,
    items: &[SeenItem<'_>],
) -> Result<(), StoreError> {
    if items.is_empty() {
        return Ok(());
    }
    let Some(context) = EventContext::read(tx, host, items)? else { return Ok(()) };
    let mut emission = Emission {
        context,
        events: Vec::new(),
        emitted: EmittedObjects::new(),
        changed_rows: BTreeSet::new(),
    };
    // a comment may belong to a thread of the same page: its labels and its end count
    for seen in items {
        if let MirrorItem::Thread(thread) = seen.item {
            emission.observe_thread(thread, seen);
        }
    }
    for seen in items {
        if let MirrorItem::Comment(comment) = seen.item {
            emission.observe_comment(comment, seen);
        }
    }
    emission.store(tx)
}

/// The events of some items, and what they change.
struct Emission {
    context: EventContext,
    events: Vec<Event>,
    emitted: EmittedObjects,
    changed_rows: BTreeSet<(Place, WatchId)>,
}

/// Something to emit, with what it is said about.
#[derive(Clone, Copy)]
struct Draft<'a> {
    watch: WatchId,
    change: EventChange,
    class: EventClass,
    content: SeenContent,
    row: &'a ThreadRow,
}

impl Emission {
    fn store(mut self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        self.events.sort_by(|a, b| {
            let order = |event: &Event| (event.updated_at.instant(), event.object.object_id());
            order(a).cmp(&order(b))
        });
        insert_events(tx, &self.events)?;
        emitted_objects::store_emitted(tx, &self.context.host, &self.emitted)?;
        let context = &self.context;
        let rows: Vec<_> = self
            .changed_rows
            .iter()
            .filter_map(|(place, watch)| context.row(*place, *watch))
            .collect();
        watched_threads::store_rows(tx, &rows)
    }

    fn last(&self, key: ObjectId) -> Option<&EmittedObject> {
        self.emitted.get(&key).or_else(|| self.context.emitted.get(&key))
    }

    /// Emits the changes of a thread's state, and remembers its facts for all its watches.
    fn observe_thread(&mut self, thread: &Thread, seen: &SeenItem<'_>) {
        let place = (thread.repository_id, thread.number);
        let (updated_at, observed_at) = match seen.sight {
            Sight::Present { updated_at, observed_at, .. } => (updated_at, observed_at),
            Sight::Gone { observed_at } => {
                return self.withdraw(thread.key(), seen, &thread.labels, observed_at);
            }
        };
        let known = self.context.rows(place).iter().filter_map(|row| row.facts.as_ref());
        let before = known.max_by_key(|facts| facts.updated_at).cloned();
        if before.as_ref().is_some_and(|before| updated_at < before.updated_at) {
            return;
        }
        let facts = ThreadFacts::from_thread(thread, updated_at).with_known(before.as_ref());
        let watch = self.context.watch_for(place, &thread.labels).cloned();
        if watch.as_ref().is_some_and(|watch| watch.state == WatchState::Paused) {
            return;
        }
        if let Some(watch) = &watch {
            let row = self.context.row(place, watch.id).cloned();
            let mut row = row.unwrap_or_else(|| new_row(watch, place, thread.kind()));
            row.thread.kind = thread.kind();
            let floor = row.thread.floor.or(watch.floor).unwrap_or(SourceInstant::BEGINNING);
            let changes = if emits_states(watch, &row.thread) {
                rule::state_changes(before.as_ref(), &facts, floor)
            } else {
                Vec::new()
            };
            for change in changes {
                let content = state_content(change.name());
                let content = SeenContent { updated_at, observed_at, content };
                let change = EventChange::State(change);
                let class = EventClass::Feedback;
                let row = &row;
                self.push(seen, Draft { watch: watch.id, change, class, content, row });
            }
            self.context.put_row(place, row);
        }
        self.remember_thread(thread, place, &facts, observed_at);
    }

    /// Stores what a thread shows in the rows of all its watches.
    fn remember_thread(
        &mut self,
        thread: &Thread,
        place: Place,
        facts: &ThreadFacts,
        observed_at: ObservedAt,
    ) {
        let EventContext { watches, threads, .. } = &mut self.context;
        for row in threads.entry(place).or_default() {
            let watch = watches.iter().find(|watch| watch.id == row.thread.watch_id);
            let Some(watch) = watch.filter(|watch| watch.state.emits()) else { continue };
            row.thread.kind = thread.kind();
            row.thread.node_id = Some(thread.node_id.clone());
            row.thread.title = Some(thread.title.clone());
            row.thread.labels.clone_from(&facts.labels);
            row.thread.status = row.thread.status.observe(thread, watch.mode);
            row.facts = Some(facts.clone());
            row.seen_at = Some(SourceInstant(observed_at.at_ms));
            self.changed_rows.insert((place, watch.id));
        }
    }

    fn observe_comment(&mut self, comment: &Comment, seen: &SeenItem<'_>) {
        let place = (comment.repository_id, comment.thread);
        let labels = self.known_labels(place);
        let (updated_at, observed_at, is_same_text) = match seen.sight {
            Sight::Present { updated_at, observed_at, is_same_text } => {
                (updated_at, observed_at, is_same_text)
            }
            Sight::Gone { observed_at } => {
                return self.withdraw(comment.key(), seen, &labels, observed_at);
            }
        };
        // only its author sees a review that is not submitted
        if comment.state.as_deref() == Some(PENDING_REVIEW) {
            return;
        }
        let Some(watch) = self.emitting_watch(place, &labels) else { return };
        let row = self.context.row(place, watch.id).cloned();
        let is_new = row.is_none();
        let mut row = row.unwrap_or_else(|| {
            let kind = rule::thread_kind_of_url(seen.url).unwrap_or(ThreadKind::Issue);
            new_row(&watch, place, kind)
        });
        if row.thread.status.ended_before(updated_at) {
            return;
        }
        let content = rule::comment_content(comment);
        let content = SeenContent { updated_at, observed_at, content };
        let floor = row.thread.floor.or(watch.floor).unwrap_or(SourceInstant::BEGINNING);
        let last = self.last(comment.key()).cloned();
        let routing = source_routing(&row);
        let change = rule::change(last.as_ref().map(|last| &last.last), &content, floor);
        let change = change.filter(|change| match change {
            // a text of before the watch is not new because something moved its time
            EventChange::Created => !(is_same_text && comment.created_at.instant() < floor),
            EventChange::Edited => routing == SourceRouting::None,
            EventChange::Withdrawn | EventChange::State(_) => true,
        });
        let Some(change) = change else {
            return self.remember_sight(comment.key(), last, content, seen);
        };
        let sender = EventSender {
            login: comment.author.as_deref(),
            kind: comment.author_kind.as_ref(),
            is_own_account: self.context.is_own_account(comment.author.as_deref()),
        };
        let class =
            rule::classify(&sender, &comment.body, &self.context.policy, watch.mode, routing);
        if routing == SourceRouting::BeforePullRequest {
            let consumed = &mut row.thread.pre_pr_last_consumed_comment_id;
            *consumed = comment.id.max(*consumed);
        }
        self.push(seen, Draft { watch: watch.id, change, class, content, row: &row });
        if is_new || routing == SourceRouting::BeforePullRequest {
            row.seen_at = Some(SourceInstant(observed_at.at_ms));
            self.context.put_row(place, row);
            self.changed_rows.insert((place, watch.id));
        }
    }

    /// Remembers a newer version that emits nothing: an older one that comes later must not count as an edit.
    fn remember_sight(
        &mut self,
        key: ObjectId,
        last: Option<EmittedObject>,
        content: SeenContent,
        seen: &SeenItem<'_>,
    ) {
        let Some(mut object) = last else { return };
        if rule::is_older(&object.last, &content) {
            return;
        }
        object.last.seen = content;
        if object.updated_at != *seen.item.updated_at() {
            object.updated_at = seen.item.updated_at().clone();
            object.repeats = 0;
        }
        self.emitted.insert(key, object);
    }

    /// Emits that something is gone, if it was emitted before.
    fn withdraw(
        &mut self,
        key: ObjectId,
        seen: &SeenItem<'_>,
        labels: &[String],
        gone_at: ObservedAt,
    ) {
        let Some(place) = seen.place() else { return };
        let Some(watch) = self.emitting_watch(place, labels) else { return };
        let Some(EmittedObject { last, .. }) = self.last(key).cloned() else { return };
        let row = self.context.row(place, watch.id).cloned();
        let kind = match seen.item {
            MirrorItem::Thread(thread) => Some(thread.kind()),
            MirrorItem::Repository(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
        };
        let kind = kind.or_else(|| rule::thread_kind_of_url(seen.url));
        let row = row.unwrap_or_else(|| new_row(&watch, place, kind.unwrap_or(ThreadKind::Issue)));
        if row.thread.status.status.is_terminal() {
            return;
        }
        let Some(change) = rule::withdrawal(Some(&last)) else { return };
        let draft =
            Draft { watch: watch.id, change, class: last.class, content: last.seen, row: &row };
        self.push(seen, draft);
        if let Some(event) = self.events.last_mut() {
            event.observed_at = SourceInstant(gone_at.at_ms);
        }
    }

    /// Returns the watch that emits what is said in a thread; none if it is paused.
    fn emitting_watch(&self, place: Place, labels: &[String]) -> Option<Watch> {
        let watch = self.context.watch_for(place, labels)?;
        watch.state.emits().then(|| watch.clone())
    }

    /// Returns a thread's labels, as far as they are known.
    fn known_labels(&self, place: Place) -> Vec<String> {
        let rows = self.context.rows(place).iter();
        let newest = rows.max_by_key(|row| row.facts.as_ref().map(|facts| facts.updated_at));
        newest.map(|row| row.thread.labels.clone()).unwrap_or_default()
    }

    /// Adds an event, and remembers it.
    fn push(&mut self, seen: &SeenItem<'_>, draft: Draft<'_>) {
        let Draft { watch, change, class, content, row } = draft;
        let key = seen.item.key();
        let updated_at = seen.item.updated_at();
        let repeats = self
            .last(key)
            .filter(|object| object.updated_at == *updated_at)
            .map_or(0, |object| object.repeats + 1);
        let object = key.at_host(&self.context.host);
        let identity = EventIdentity {
            watch,
            object: &object,
            updated_at,
            change,
            content: content.content,
            repeat: repeats,
        };
        let id = rule::event_id(&identity);
        let thread = &row.thread;
        let event_key = rule::event_key(thread.number, &object, updated_at);
        let place = EventPlace { id, key: event_key, watch, change, class, content, thread };
        self.events.push(build_event(seen, object, place));
        let emitted = EmittedObject {
            last: LastEvent {
                seen: content,
                is_withdrawn: change == EventChange::Withdrawn,
                class,
            },
            repository_id: thread.repository.id.0,
            number: thread.number,
            updated_at: updated_at.clone(),
            repeats,
        };
        self.emitted.insert(key, emitted);
    }
}

/// The state of a review that its author has not submitted.
const PENDING_REVIEW: &str = "PENDING";

/// Returns the row of a thread that its watch has not seen before.
///
/// A label can come late: what was said before it becomes events as well, from what is stored. A watch on a repository
/// passes over all its threads when it begins.
fn new_row(watch: &Watch, place: Place, kind: ThreadKind) -> ThreadRow {
    let repository = crate::watches::repository_key(&watch.host, place.0);
    let mut row = ThreadRow::new(WatchedThread::unseen(watch.id, repository, place.1, kind));
    if watch.subject.label.is_some() {
        row.derive_cursor = Some(DERIVE_START.to_owned());
        row.thread.is_derived = false;
        row.thread.is_bootstrapped = watch.floor != Some(SourceInstant::BEGINNING);
    }
    row
}

/// Returns true if changes of a thread's state are events.
fn emits_states(watch: &Watch, thread: &WatchedThread) -> bool {
    watch.mode == WatchMode::Feedback
        && thread.source_issue != Some(thread.number)
        && !thread.status.status.is_terminal()
}

fn source_routing(row: &ThreadRow) -> SourceRouting {
    if row.thread.source_issue != Some(row.thread.number) {
        SourceRouting::None
    } else if row.is_closed_by_pull {
        SourceRouting::AfterPullRequest
    } else {
        SourceRouting::BeforePullRequest
    }
}

fn state_content(name: &str) -> ContentDigest {
    ContentDigest::from_fields(["state", name])
}

/// What an event is about, besides its item.
struct EventPlace<'a> {
    id: String,
    key: String,
    watch: WatchId,
    change: EventChange,
    class: EventClass,
    content: SeenContent,
    thread: &'a WatchedThread,
}

fn build_event(
    seen: &SeenItem<'_>,
    object: hw_rules::item::ObjectKey,
    place: EventPlace<'_>,
) -> Event {
    let EventPlace { id, key, watch, change, class, content, thread } = place;
    let event = Event {
        id,
        watch_id: watch,
        repository: thread.repository.clone(),
        repository_name: rule::repository_of_url(seen.url).unwrap_or_default(),
        number: thread.number,
        thread_kind: thread.kind,
        title: thread.title.clone(),
        object,
        key,
        change,
        class,
        author: None,
        author_id: None,
        author_kind: None,
        association: None,
        body: String::new(),
        url: seen.url.to_owned(),
        path: None,
        line: None,
        reply_to: None,
        review_id: None,
        state: None,
        head_sha: None,
        labels: thread.labels.clone(),
        created_at: seen.item.updated_at().clone(),
        updated_at: seen.item.updated_at().clone(),
        content: content.content,
        observed_at: SourceInstant(content.observed_at.at_ms),
    };
    match seen.item {
        MirrorItem::Thread(thread) => with_thread(event, thread),
        MirrorItem::Comment(comment) => with_comment(event, comment),
        MirrorItem::Repository(_) | MirrorItem::Post(_) => event,
    }
}

fn with_thread(event: Event, thread: &Thread) -> Event {
    let head_sha = match &thread.details {
        ThreadDetails::PullRequest(details) => details.head_sha.clone(),
        ThreadDetails::Issue | ThreadDetails::Discussion(_) => None,
    };
    Event {
        thread_kind: thread.kind(),
        title: Some(thread.title.clone()),
        author: thread.author.clone(),
        author_id: thread.author_id,
        author_kind: thread.author_kind.clone(),
        association: thread.association.clone(),
        body: thread.body.clone(),
        state: Some(thread.state.clone()),
        head_sha,
        labels: thread.labels.clone(),
        created_at: thread.created_at.clone(),
        ..event
    }
}

fn with_comment(event: Event, comment: &Comment) -> Event {
    Event {
        author: comment.author.clone(),
        author_id: comment.author_id,
        author_kind: comment.author_kind.clone(),
        association: comment.association.clone(),
        body: comment.body.clone(),
        path: comment.path.clone(),
        line: comment.line,
        reply_to: comment.reply_to,
        review_id: comment.review_id,
        state: comment.state.clone(),
        created_at: comment.created_at.clone(),
        ..event
    }
}

/// The rows of comments and threads that are stored, as if they had just been seen.
pub(crate) fn stored_sights(
    cells: &BTreeMap<ObjectId, hw_rules::cells::ItemCell>,
    key: ObjectId,
) -> Option<Sight> {
    let version = cells.get(&key)?.version.as_ref()?;
    Some(Sight::Present {
        updated_at: version.ordered_at,
        observed_at: version.observed_at,
        is_same_text: false,
    })
}
