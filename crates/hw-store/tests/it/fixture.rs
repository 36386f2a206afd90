//! Builds stores, pages and items for the tests.

use std::ops::ControlFlow;
use std::sync::Arc;

use hw_rules::chunk_size::MAX_CHUNK_ROWS;
use hw_rules::coverage::Coverage;
use hw_rules::duty::DutyName;
use hw_rules::item::{
    AuthorKind, Comment, CommentKind, DiscussionDetails, ItemObservation, MirrorItem, ObjectKey,
    ObjectKind, PullRequestDetails, Repository, Thread, ThreadDetails, ThreadKind,
};
use hw_rules::lane::{Lane, Surface};
use hw_rules::login::Login;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_store::{
    ChoreChunk, DatabaseLocation, Hit, IngestPage, Lease, LeasedStore, SearchEngine, SearchRequest,
    StoreError, StoreReader, StoreWriter, ThreadFilter, ThreadRow, WorkerIdentity, Workspace,
};

pub(crate) use crate::databases::{
    FileDatabase, SchemaDatabase, count_search_rows, execute_raw, query_raw,
};

pub(crate) const HOST: &str = "github.com";
pub(crate) const PUMP_ID: i64 = 1;

/// A script that undoes the migration from leases to duties.
pub(crate) const UNDO_DUTIES: &str = "drop table duties; drop table workers;
    create table leases (
        name text primary key, owner text, epoch bigint not null,
        taken_at_ms bigint not null, expires_ms bigint not null)";

/// A script that undoes the migration that added watches and events.
pub(crate) const UNDO_EVENTS: &str =
    "drop view github_comment_poll_cursors; drop view feedback_events;
     drop view issue_comment_cursors; drop table watches; drop table watched_threads;
     drop table moved_threads; drop table events; drop table emitted_objects; drop table consumers;
     drop table deliveries;
     delete from migrations where number >= 18";

/// Undoes the migration that added the reasons to follow a repository.
pub(crate) const UNDO_REASONS: &str =
    "drop table lane_uses; drop table follows; drop table discovery_pages;
     drop view poll_state; drop table accounts; drop table account_names; drop table posts;
     drop table post_links; drop table poll_rounds; alter table lanes drop column account;
     delete from migrations where number >= 14";

/// Returns a script that undoes the migration that added the kind and the association of authors.
pub(crate) fn undo_author_columns() -> String {
    const THREADS: [&str; 3] = ["discussions", "issues", "pull_requests"];
    const COMMENTS: [&str; 4] =
        ["issue_comments", "review_comments", "reviews", "discussion_comments"];
    let mut script =
        vec![UNDO_EVENTS.to_owned(), UNDO_REASONS.to_owned(), "drop view comments".to_owned()];
    script.extend(THREADS.map(|table| format!("drop index {table}_unfilled")));
    for table in THREADS.iter().chain(&COMMENTS) {
        script.push(format!("alter table {table} drop column author_kind"));
        script.push(format!("alter table {table} drop column association"));
    }
    script.push("alter table pull_requests drop column head_sha".to_owned());
    // the migration replaces it
    script.push("create view comments as select id from issues".to_owned());
    script.push("delete from migrations where number >= 13".to_owned());
    script.join(";")
}

/// Returns the duty of a pull.
pub(crate) fn pull_duty() -> DutyName {
    DutyName::pull(HOST)
}

/// Returns the identity of a worker on the machine of the same name.
pub(crate) fn worker_identity(id: &str) -> WorkerIdentity {
    WorkerIdentity {
        id: id.to_owned(),
        machine: id.to_owned(),
        process: 7,
        version: "1".to_owned(),
        role: "pull".to_owned(),
    }
}

/// Opens a store that contains `acme/pump`, and takes its lease.
pub(crate) fn open_store(location: &DatabaseLocation) -> LeasedStore {
    let store = StoreWriter::open(location).unwrap();
    let store = store.claim_duty(&pull_duty(), "me", 0).unwrap().unwrap();
    store.ingest_page(&repositories_page(vec![pump_repository("pump", 0)])).unwrap();
    store
}

/// Returns a store that crashes at one point, with the same lease.
pub(crate) fn crash_at(store: &LeasedStore, point: &'static str) -> LeasedStore {
    let writer = store.writer().with_crash_hook(Arc::new(move |at| at == point));
    writer.with_lease(store.lease().clone())
}

/// Closes the store, and opens its database again with the same lease.
pub(crate) fn reopen(store: LeasedStore, location: &DatabaseLocation) -> LeasedStore {
    let lease = store.lease().clone();
    drop(store);
    StoreWriter::open(location).unwrap().with_lease(lease)
}

/// Opens the database in each of the ways that reject one they cannot use, and returns the errors.
pub(crate) fn refusals_to_open(location: &DatabaseLocation) -> Vec<StoreError> {
    let errors = [
        StoreWriter::open(location).err(),
        StoreWriter::open_without_refetch(location).err(),
        StoreReader::open(location).err(),
    ];
    errors.map(|error| error.expect("the database is refused")).into()
}

/// Returns a store whose lease another owner has taken since.
pub(crate) fn with_older_lease(store: &LeasedStore) -> LeasedStore {
    let lease = store.lease().clone();
    store.with_lease(Lease { epoch: lease.epoch - 1, ..lease })
}

/// Runs all pending chores. A chore that never ends fails the test.
pub(crate) fn finish_chores(store: &LeasedStore) {
    for _ in 0..1_000 {
        if store.run_chore(MAX_CHUNK_ROWS).unwrap() == ChoreChunk::NothingLeft {
            return;
        }
    }
    panic!("a chore does not end");
}

pub(crate) fn issue_lane() -> Lane {
    Lane::repository_issues(RepositoryKey::new(HOST, PUMP_ID))
}

pub(crate) fn organization_lane() -> Lane {
    Lane::owner_repositories(HOST, Login::from_known("acme"))
}

/// Builds a page of issues without coverage.
pub(crate) fn issues_page(observations: Vec<ItemObservation>) -> IngestPage {
    ingest_page(issue_lane(), observations, None)
}

pub(crate) fn repositories_page(observations: Vec<ItemObservation>) -> IngestPage {
    ingest_page(organization_lane(), observations, None)
}

/// Builds a page of issues that advances the watermark.
pub(crate) fn issues_page_through(observations: Vec<ItemObservation>, second: i64) -> IngestPage {
    ingest_page(issue_lane(), observations, Some(coverage_through(second)))
}

fn ingest_page(
    lane: Lane,
    observations: Vec<ItemObservation>,
    coverage: Option<Coverage>,
) -> IngestPage {
    let checked_lanes = vec![(lane.clone(), 1_000)];
    IngestPage { checked_lanes, observations, coverage, ..IngestPage::new(lane, 100) }
}

/// Returns the lane of `acme/pump` that lists items of this kind.
pub(crate) fn lane_for_kind(kind: impl Into<ObjectKind>) -> Lane {
    let kind = kind.into();
    let surface = Surface::ALL.into_iter().find(|surface| surface.kind() == kind);
    Lane::for_repository(RepositoryKey::new(HOST, PUMP_ID), surface.unwrap())
}

/// Builds a page of items of one kind without coverage.
pub(crate) fn threads_page(
    kind: impl Into<ObjectKind>,
    observations: Vec<ItemObservation>,
) -> IngestPage {
    ingest_page(lane_for_kind(kind), observations, None)
}

pub(crate) fn coverage_through(second: i64) -> Coverage {
    Coverage { through: Some(SourceInstant(second * 1_000)), ..Coverage::default() }
}

/// Builds an issue of `acme/pump` that was updated and observed at `second`.
pub(crate) fn issue(id: i64, second: i64, text: &str) -> ItemObservation {
    issue_in(PUMP_ID, "pump", id, second, text)
}

pub(crate) fn issue_in(
    repository: i64,
    name: &str,
    id: i64,
    second: i64,
    text: &str,
) -> ItemObservation {
    thread_in_repository(ThreadKind::Issue, repository, name, id, second, text)
}

/// Builds a thread of `acme/pump` that was updated and observed at `second`.
pub(crate) fn thread(kind: ThreadKind, id: i64, second: i64, text: &str) -> ItemObservation {
    thread_in_repository(kind, PUMP_ID, "pump", id, second, text)
}

pub(crate) fn thread_in_repository(
    kind: ThreadKind,
    repository: i64,
    name: &str,
    id: i64,
    second: i64,
    text: &str,
) -> ItemObservation {
    let (part, prefix, details) = details_for_kind(kind);
    let thread = Thread {
        id,
        node_id: format!("{prefix}_{id}"),
        number: id,
        repository_id: repository,
        url: format!("https://github.com/acme/{name}/{part}/{id}"),
        title: format!("title {text}"),
        body: format!("body {text}"),
        state: "OPEN".to_owned(),
        state_reason: None,
        labels: vec!["bug".to_owned(), "help wanted".to_owned()],
        author: Some("ada".to_owned()),
        author_id: Some(7),
        author_kind: Some(AuthorKind::User),
        association: Some("MEMBER".to_owned()),
        created_at: source_time(0),
        updated_at: source_time(second),
        closed_at: None,
        details,
    };
    ItemObservation { item: MirrorItem::Thread(thread), observed_at: observed_at(second) }
}

/// Returns the URL part, the prefix of node ids and the details of a kind.
fn details_for_kind(kind: ThreadKind) -> (&'static str, &'static str, ThreadDetails) {
    match kind {
        ThreadKind::Issue => ("issues", "I", ThreadDetails::Issue),
        ThreadKind::PullRequest => {
            let (merged_at, head_ref) = (Some(source_time(3)), "fix/leak".to_owned());
            let head_sha = Some("5ca1ab1e".repeat(5));
            let details = PullRequestDetails { is_draft: true, merged_at, head_ref, head_sha };
            ("pull", "PR", ThreadDetails::PullRequest(details))
        }
        ThreadKind::Discussion => {
            let details =
                DiscussionDetails { category: "Q&A".to_owned(), is_answered: Some(false) };
            ("discussions", "D", ThreadDetails::Discussion(details))
        }
    }
}

/// Returns the kind of thread in a comment's URL, as GitHub spells it.
pub(crate) fn comment_path(kind: CommentKind) -> &'static str {
    match kind {
        CommentKind::Conversation => "issues",
        CommentKind::ReviewComment | CommentKind::Review => "pull",
        CommentKind::DiscussionComment => "discussions",
    }
}

/// Returns the start of the fragment in a comment's URL.
pub(crate) fn comment_fragment(kind: CommentKind) -> &'static str {
    match kind {
        CommentKind::Conversation => "issuecomment-",
        CommentKind::ReviewComment => "discussion_r",
        CommentKind::Review => "pullrequestreview-",
        CommentKind::DiscussionComment => "discussioncomment-",
    }
}

/// Builds a comment on a thread of `acme/pump` that was updated and observed at `second`.
pub(crate) fn comment(
    kind: CommentKind,
    id: i64,
    thread: i64,
    second: i64,
    text: &str,
) -> ItemObservation {
    let comment = Comment {
        kind,
        id,
        node_id: format!("C_{}_{id}", kind.name()),
        repository_id: PUMP_ID,
        thread,
        reply_to: Some(3),
        review_id: None,
        url: format!(
            "https://github.com/acme/pump/{}/{thread}#{}{id}",
            comment_path(kind),
            comment_fragment(kind)
        ),
        body: format!("said {text}"),
        state: Some("APPROVED".to_owned()).filter(|_| kind == CommentKind::Review),
        path: None,
        line: None,
        author: Some("ada".to_owned()),
        author_id: Some(7),
        author_kind: Some(AuthorKind::User),
        association: Some("MEMBER".to_owned()),
        created_at: source_time(0),
        updated_at: source_time(second),
    };
    ItemObservation { item: MirrorItem::Comment(comment), observed_at: observed_at(second) }
}

/// Returns the observed thread.
pub(crate) fn as_thread_mut(observation: &mut ItemObservation) -> &mut Thread {
    match &mut observation.item {
        MirrorItem::Thread(thread) => thread,
        MirrorItem::Repository(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => {
            panic!("expected a thread")
        }
    }
}

/// Changes the time of an observation.
pub(crate) fn with_observed_at(mut observation: ItemObservation, second: i64) -> ItemObservation {
    observation.observed_at = observed_at(second);
    observation
}

/// Builds the repository 1 under a name.
pub(crate) fn pump_repository(name: &str, second: i64) -> ItemObservation {
    repository(PUMP_ID, name, second)
}

pub(crate) fn repository(id: i64, name: &str, second: i64) -> ItemObservation {
    let repository = Repository {
        id,
        node_id: format!("R_{id}"),
        owner: "acme".to_owned(),
        name: name.to_owned(),
        url: format!("https://github.com/acme/{name}"),
        is_archived: false,
        is_fork: false,
        has_issues_enabled: true,
        has_discussions_enabled: false,
        created_at: source_time(0),
        updated_at: source_time(second),
    };
    ItemObservation { item: MirrorItem::Repository(repository), observed_at: observed_at(second) }
}

pub(crate) fn source_time(second: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(second * 1_000).to_string()).unwrap()
}

pub(crate) fn observed_at(second: i64) -> ObservedAt {
    ObservedAt::new(second * 1_000, second)
}

pub(crate) fn issue_key(id: i64) -> ObjectKey {
    ObjectKey::new(HOST, ThreadKind::Issue, id)
}

/// Returns all stored issues.
pub(crate) fn stored_issues(store: &StoreReader) -> Vec<ThreadRow> {
    stored_threads(store, ThreadKind::Issue, &ThreadFilter::default())
}

/// Returns the stored threads of one kind that match a filter.
pub(crate) fn stored_threads(
    store: &StoreReader,
    kind: ThreadKind,
    filter: &ThreadFilter,
) -> Vec<ThreadRow> {
    let mut rows = Vec::new();
    store
        .each_thread(kind, filter, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })
        .unwrap();
    rows
}

/// Returns the bodies of all stored issues.
pub(crate) fn issue_bodies(store: &StoreReader) -> Vec<String> {
    stored_issues(store).into_iter().map(|row| row.thread.body).collect()
}

/// Returns the ids of a search's hits, best first.
pub(crate) fn search_ids(store: &StoreReader, query: &str) -> Vec<i64> {
    search_hits(store, query, 10).into_iter().map(|hit| hit.id).collect()
}

/// Returns the hits of a search, best first.
pub(crate) fn search_hits(store: &StoreReader, query: &str, limit: u64) -> Vec<Hit> {
    let engine = SearchEngine::new(Workspace::from_store(store.clone()));
    engine.search(&SearchRequest { limit, ..SearchRequest::new(query) }).unwrap().hits
}
