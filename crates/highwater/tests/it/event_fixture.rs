//! A workspace with a watched issue, whose comments are events.

use std::path::Path;
use std::process::Output;

use hw_rules::duty::DutyName;
use hw_rules::followed_source::RepositoryName;
use hw_rules::item::{
    Comment, CommentKind, ItemObservation, MirrorItem, Repository, Thread, ThreadDetails,
    ThreadKind,
};
use hw_rules::lane::{Lane, Surface};
use hw_rules::login::Login;
use hw_rules::repository_key::{Host, RepositoryId, RepositoryKey};
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_rules::watch::{WatchId, WatchMode, WatchSubject};
use hw_store::{
    DatabaseLocation, IngestPage, LeasedStore, NewWatch, ResolvedThread, StoreWriter,
    WatchResolution,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::fixture::{program_command, success_stdout};

const HOST: &str = "github.com";
const REPOSITORY: i64 = 1;
const START_OF_2026_MS: i64 = 1_767_225_600_000;

/// A workspace that watches `acme/pump#7`.
pub(crate) struct EventFixture {
    pub(crate) store: LeasedStore,
    watch: WatchId,
    home: TempDir,
}

impl EventFixture {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let location = DatabaseLocation::File(home.path().join("db").join("acme.db"));
        let store = StoreWriter::open(&location).unwrap();
        let store = store.claim_duty(&DutyName::pull(HOST), "me", 0).unwrap().unwrap();
        let organization = Lane::owner_repositories(HOST, Login::from_known("acme"));
        ingest(&store, organization, vec![MirrorItem::Repository(repository())]);
        let issues = Lane::repository_issues(RepositoryKey::new(HOST, REPOSITORY));
        ingest(&store, issues, vec![MirrorItem::Thread(issue(7))]);
        let watch = watch_issue(&store, 7);
        Self { store, watch, home }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn watch(&self) -> WatchId {
        self.watch
    }

    /// Has bob write a comment in the watched issue.
    pub(crate) fn say(&self, id: i64, body: &str) {
        self.ingest_comment(comment(id, body));
    }

    pub(crate) fn ingest_comment(&self, comment: Comment) {
        let key = RepositoryKey::new(HOST, REPOSITORY);
        let lane = Lane::for_repository(key, Surface::Comments(CommentKind::Conversation));
        ingest(&self.store, lane, vec![MirrorItem::Comment(comment)]);
    }

    /// Runs `highwater events …` in this home.
    pub(crate) fn events(&self, args: &[&str]) -> Output {
        self.run("events", args)
    }

    pub(crate) fn run(&self, command: &str, args: &[&str]) -> Output {
        program_command(&[command]).env("HIGHWATER_HOME", self.home()).args(args).output().unwrap()
    }

    /// Reads the next events of a consumer.
    pub(crate) fn read(&self, consumer: &str) -> Vec<Value> {
        json_lines(&self.events(&["read", "--consumer", consumer]))
    }
}

/// Parses the JSON lines of a run that succeeded.
pub(crate) fn json_lines(output: &Output) -> Vec<Value> {
    success_stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Watches an issue from its beginning, as the service would.
fn watch_issue(store: &LeasedStore, number: i64) -> WatchId {
    let name = RepositoryName::from_known("acme", "pump");
    let subject = WatchSubject { repository: name.clone(), number: Some(number), label: None };
    let new = NewWatch {
        host: Host::from(HOST),
        subject,
        mode: WatchMode::Feedback,
        start: None,
        source_issue: None,
    };
    let id = store.add_watch(&new, 0).unwrap().watch.id;
    let thread = ResolvedThread {
        number,
        kind: ThreadKind::Issue,
        node_id: format!("I_{number}"),
        title: "A leak".to_owned(),
    };
    let resolution = WatchResolution {
        repository_id: RepositoryId(REPOSITORY),
        repository: name,
        thread: Some(thread),
        source_issue: None,
        // above the issue itself, so that only comments are events
        floor: SourceInstant(START_OF_2026_MS + 1_000),
    };
    store.resolve_watch(id, &resolution).unwrap();
    while !store.derive_stored_events(id, 100).unwrap() {}
    id
}

fn ingest(store: &LeasedStore, lane: Lane, items: Vec<MirrorItem>) {
    let observations = items
        .into_iter()
        .map(|item| ItemObservation {
            item,
            observed_at: ObservedAt::new(START_OF_2026_MS + 3_600_000, 1),
        })
        .collect();
    store.ingest_page(&IngestPage { observations, ..IngestPage::new(lane, 100) }).unwrap();
}

fn repository() -> Repository {
    Repository {
        id: REPOSITORY,
        node_id: "R_1".to_owned(),
        owner: "acme".to_owned(),
        name: "pump".to_owned(),
        url: "https://github.com/acme/pump".to_owned(),
        is_archived: false,
        is_fork: false,
        has_issues_enabled: true,
        has_discussions_enabled: false,
        created_at: time_at(0),
        updated_at: time_at(0),
    }
}

fn issue(number: i64) -> Thread {
    Thread {
        id: number,
        node_id: format!("I_{number}"),
        number,
        repository_id: REPOSITORY,
        url: format!("https://github.com/acme/pump/issues/{number}"),
        title: "A leak".to_owned(),
        body: "It drips.".to_owned(),
        state: "OPEN".to_owned(),
        state_reason: None,
        labels: Vec::new(),
        author: Some("ada".to_owned()),
        author_id: Some(7),
        author_kind: None,
        association: None,
        created_at: time_at(0),
        updated_at: time_at(0),
        closed_at: None,
        details: ThreadDetails::Issue,
    }
}

/// Creates a comment by bob, written in this second of 2026.
pub(crate) fn comment(id: i64, body: &str) -> Comment {
    Comment {
        kind: CommentKind::Conversation,
        id,
        node_id: format!("C_{id}"),
        repository_id: REPOSITORY,
        thread: 7,
        reply_to: None,
        review_id: None,
        url: format!("https://github.com/acme/pump/issues/7#issuecomment-{id}"),
        body: body.to_owned(),
        state: None,
        path: None,
        line: None,
        author: Some("bob".to_owned()),
        author_id: Some(8),
        author_kind: None,
        association: Some("MEMBER".to_owned()),
        created_at: time_at(id),
        updated_at: time_at(id),
    }
}

pub(crate) fn time_at(second: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(START_OF_2026_MS + second * 1_000).to_string()).unwrap()
}
