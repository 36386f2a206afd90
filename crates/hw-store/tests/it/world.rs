//! The words the stories are told with.

use std::ops::ControlFlow;
use std::sync::Arc;

use hw_rules::coverage::Coverage;
use hw_rules::item::{
    Comment, Discussion, Item, Key, Kind, Observation, PullRequest, Repository, Sort, Thread,
};
use hw_rules::lane::{Lane, Surface};
use hw_rules::time::{Mark, SourceTime};
use hw_rules::version::Seen;
use hw_store::{
    Hit, IngestPage, Lease, Place, Search, SearchEngine, Store, ThreadFilter, ThreadRow, Workspace,
};

pub(crate) use crate::places::{File, Schema, raw, rows, search_rows};

pub(crate) const HOST: &str = "github.com";
pub(crate) const PUMP: i64 = 1;

/// A store with a lease, and `acme/pump` in it.
pub(crate) fn open(place: &Place) -> (Store, Lease) {
    let store = Store::open(place).unwrap();
    let lease = store.take_lease("pull", "me", 0, 5_000).unwrap().unwrap();
    store.ingest(&lease, &repositories(vec![pump("pump", 0)])).unwrap();
    (store, lease)
}

/// The same store, crashing at one point.
pub(crate) fn crashing_at(store: &Store, point: &'static str) -> Store {
    store.clone().with_interrupts(Arc::new(move |at| at == point))
}

pub(crate) fn lane() -> Lane {
    Lane::issues(HOST, PUMP)
}

pub(crate) fn organization() -> Lane {
    Lane::repositories(HOST, "acme")
}

/// A page of issues that moves no watermark.
pub(crate) fn issues(observations: Vec<Observation>) -> IngestPage {
    page(lane(), observations, None)
}

pub(crate) fn repositories(observations: Vec<Observation>) -> IngestPage {
    page(organization(), observations, None)
}

/// A page of issues with the watermark it justifies.
pub(crate) fn issues_through(observations: Vec<Observation>, second: i64) -> IngestPage {
    page(lane(), observations, Some(through(second)))
}

fn page(lane: Lane, observations: Vec<Observation>, coverage: Option<Coverage>) -> IngestPage {
    let looked_at = vec![(lane.clone(), 1_000)];
    IngestPage { looked_at, observations, coverage, ..IngestPage::of(lane, 100) }
}

/// The lane of `acme/pump` where threads of this kind are listed.
pub(crate) fn lane_of(kind: Kind) -> Lane {
    let listed_there = |surface: &Surface| surface.kind() == kind;
    Lane::of_repository(HOST, PUMP, Surface::ALL.into_iter().find(listed_there).unwrap())
}

/// A page of threads of one kind that moves no watermark.
pub(crate) fn threads(kind: Kind, observations: Vec<Observation>) -> IngestPage {
    page(lane_of(kind), observations, None)
}

pub(crate) fn through(second: i64) -> Coverage {
    Coverage { through: Some(Mark(second * 1_000)), ..Coverage::default() }
}

/// An issue of `acme/pump`, updated and seen then, with this title and body.
pub(crate) fn issue(id: i64, second: i64, text: &str) -> Observation {
    issue_of(PUMP, "pump", id, second, text)
}

pub(crate) fn issue_of(
    repository: i64,
    name: &str,
    id: i64,
    second: i64,
    text: &str,
) -> Observation {
    thread_of(Kind::Issue, repository, name, id, second, text)
}

/// A thread of `acme/pump`, updated and seen then, with this title and body.
pub(crate) fn thread(kind: Kind, id: i64, second: i64, text: &str) -> Observation {
    thread_of(kind, PUMP, "pump", id, second, text)
}

pub(crate) fn thread_of(
    kind: Kind,
    repository: i64,
    name: &str,
    id: i64,
    second: i64,
    text: &str,
) -> Observation {
    let (part, letter, sort) = sort(kind);
    let thread = Thread {
        id,
        node_id: format!("{letter}_{id}"),
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
        created_at: time(0),
        updated_at: time(second),
        closed_at: None,
        sort,
    };
    Observation { item: Item::Thread(thread), seen: seen(second) }
}

/// Where its URL differs, how its node ids begin, and what only this kind has.
fn sort(kind: Kind) -> (&'static str, &'static str, Sort) {
    match kind {
        Kind::Repository
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::Review
        | Kind::DiscussionComment => panic!("{} is no thread", kind.name()),
        Kind::Issue => ("issues", "I", Sort::Issue),
        Kind::PullRequest => {
            let (merged_at, head_ref) = (Some(time(3)), "fix/leak".to_owned());
            let closes = vec![4, 2];
            let said = PullRequest { is_draft: true, merged_at, head_ref, closes };
            ("pull", "PR", Sort::PullRequest(said))
        }
        Kind::Discussion => {
            let said = Discussion { category: "Q&A".to_owned(), is_answered: Some(false) };
            ("discussions", "D", Sort::Discussion(said))
        }
    }
}

/// Something said in the thread of that number of `acme/pump`, updated and seen then.
pub(crate) fn comment(kind: Kind, id: i64, thread: i64, second: i64, text: &str) -> Observation {
    let comment = Comment {
        kind,
        id,
        node_id: format!("C_{}_{id}", kind.name()),
        repository_id: PUMP,
        thread,
        reply_to: Some(3),
        review_id: None,
        url: format!("https://github.com/acme/pump/issues/{thread}#{}-{id}", kind.name()),
        body: format!("said {text}"),
        state: Some("APPROVED".to_owned()).filter(|_| kind == Kind::Review),
        path: None,
        line: None,
        author: Some("ada".to_owned()),
        author_id: Some(7),
        created_at: time(0),
        updated_at: time(second),
    };
    Observation { item: Item::Comment(comment), seen: seen(second) }
}

/// The thread that was observed.
pub(crate) fn thread_in(observation: &mut Observation) -> &mut Thread {
    match &mut observation.item {
        Item::Thread(thread) => thread,
        Item::Repository(_) | Item::Comment(_) => panic!("a thread was made"),
    }
}

/// The same observation, looked at another time.
pub(crate) fn seen_at(mut observation: Observation, second: i64) -> Observation {
    observation.seen = seen(second);
    observation
}

/// The repository 1 under a name.
pub(crate) fn pump(name: &str, second: i64) -> Observation {
    repository(PUMP, name, second)
}

pub(crate) fn repository(id: i64, name: &str, second: i64) -> Observation {
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
        created_at: time(0),
        updated_at: time(second),
    };
    Observation { item: Item::Repository(repository), seen: seen(second) }
}

pub(crate) fn time(second: i64) -> SourceTime {
    SourceTime::parse(&Mark(second * 1_000).to_string()).unwrap()
}

pub(crate) fn seen(second: i64) -> Seen {
    Seen::at(second * 1_000, second)
}

pub(crate) fn issue_key(id: i64) -> Key {
    Key { kind: Kind::Issue, id }
}

/// All issues held.
pub(crate) fn held(store: &Store) -> Vec<ThreadRow> {
    held_of(store, Kind::Issue, &ThreadFilter::default())
}

/// The threads of one kind that a view shows.
pub(crate) fn held_of(store: &Store, kind: Kind, filter: &ThreadFilter) -> Vec<ThreadRow> {
    let mut rows = Vec::new();
    let mut each = |row| {
        rows.push(row);
        ControlFlow::Continue(())
    };
    store.each_thread(kind, filter, &mut each).unwrap();
    rows
}

/// The bodies of all issues held.
pub(crate) fn bodies(store: &Store) -> Vec<String> {
    held(store).into_iter().map(|row| row.thread.body).collect()
}

/// The ids a search finds, best first.
pub(crate) fn found(store: &Store, query: &str) -> Vec<i64> {
    hits(store, query, 10).into_iter().map(|hit| hit.id).collect()
}

/// What a search finds, best first.
pub(crate) fn hits(store: &Store, query: &str, limit: u64) -> Vec<Hit> {
    let engine = SearchEngine::over(Workspace::over(store.clone()));
    engine.search(&Search { limit, ..Search::new(query) }).unwrap().hits
}
