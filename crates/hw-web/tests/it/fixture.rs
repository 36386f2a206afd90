//! A workspace with some content, and the site that serves it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hw_rules::coverage::Coverage;
use hw_rules::duty::DutyName;
use hw_rules::item::{
    Comment, CommentKind, ItemObservation, MirrorItem, Repository, Thread, ThreadDetails,
};
use hw_rules::lane::{Lane, Surface};
use hw_rules::login::Login;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_rules::walk::{ListingFloor, NewestFirstWalk};
use hw_store::{
    DatabaseLocation, IngestPage, LeasedStore, StoreWriter, TurnFailure, WorkerHandle,
    WorkerIdentity, Workspace, WorkspaceHandle,
};
use hw_web::{AllowedHosts, SiteOptions, TickFuture};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const HOST: &str = "127.0.0.1:8080";
/// The machine that serves the pages.
pub(crate) const MACHINE: &str = "here";
const SOURCE: &str = "github.com";

/// A workspace on disk that a test writes to.
pub(crate) struct WebFixture {
    pub(crate) store: LeasedStore,
    location: DatabaseLocation,
    /// Shows that its process runs.
    _worker: WorkerHandle,
    _folder: TempDir,
}

fn worker_identity() -> WorkerIdentity {
    WorkerIdentity {
        id: "me".to_owned(),
        machine: "here".to_owned(),
        process: 7,
        version: "1".to_owned(),
        role: "pull".to_owned(),
    }
}

impl WebFixture {
    /// Creates a workspace with `acme/pump`, whose issues and their comments are read to the end.
    pub(crate) fn new() -> Self {
        let fixture = Self::without_comments();
        fixture.ingest_page(&complete_page(
            Lane::for_repository(
                RepositoryKey::new(SOURCE, 1),
                Surface::Comments(CommentKind::Conversation),
            ),
            Vec::new(),
        ));
        fixture
    }

    /// Creates a workspace with `acme/pump`, into which only threads were pulled.
    pub(crate) fn without_comments() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = DatabaseLocation::File(folder.path().join("acme.db"));
        let store = StoreWriter::open(&location).unwrap();
        let worker = store.register_worker(&worker_identity(), 0).unwrap();
        let store = store.claim_duty(&DutyName::pull("github.com"), "me", 0).unwrap().unwrap();
        let fixture = Self { store, location, _worker: worker, _folder: folder };
        let organization = Lane::owner_repositories(SOURCE, Login::from_known("acme"));
        fixture.ingest_page(&complete_page(
            organization,
            vec![observe_item(MirrorItem::Repository(pump_repository()))],
        ));
        for surface in Surface::THREADS {
            fixture.ingest_page(&complete_page(
                Lane::for_repository(RepositoryKey::new(SOURCE, 1), surface),
                Vec::new(),
            ));
        }
        fixture
    }

    fn ingest_page(&self, page: &IngestPage) {
        self.store.ingest_page(page).unwrap();
    }

    /// Adds an issue to `acme/pump`.
    pub(crate) fn add_issue(&self, number: i64, title: &str, body: &str) {
        let issue = sample_issue(number, title, body);
        self.ingest_page(&complete_page(
            Lane::repository_issues(RepositoryKey::new(SOURCE, 1)),
            vec![observe_item(MirrorItem::Thread(issue))],
        ));
    }

    /// Adds comments to issues of `acme/pump`.
    pub(crate) fn add_comments(&self, comments: Vec<Comment>) {
        let lane = Lane::for_repository(
            RepositoryKey::new(SOURCE, 1),
            Surface::Comments(CommentKind::Conversation),
        );
        let observations = comments
            .into_iter()
            .map(|comment| observe_item(MirrorItem::Comment(comment)))
            .collect();
        self.ingest_page(&complete_page(lane, observations));
    }

    /// Records that the last update of the issues failed.
    pub(crate) fn fail_issues(&self, message: &str) {
        let failure =
            TurnFailure { due_ms: 0, failures: 3, page_size: 100, message: message.to_owned() };
        self.store
            .postpone_lane(&Lane::repository_issues(RepositoryKey::new(SOURCE, 1)), failure)
            .unwrap();
    }

    /// Records an unfinished walk through a list of `acme/pump`.
    pub(crate) fn interrupt_walk(&self, surface: Surface) {
        let lane = Lane::for_repository(RepositoryKey::new(SOURCE, 1), surface);
        let walk = NewestFirstWalk { stop: ListingFloor::Beginning, head: None, cursor: None };
        let coverage = Coverage { walk: Some(walk), ..Coverage::default() };
        self.ingest_page(&IngestPage { coverage: Some(coverage), ..IngestPage::new(lane, 100) });
    }

    /// Adds a repository of which only the name was read.
    pub(crate) fn add_repository(&self, id: i64, name: &str) {
        let node_id = format!("R_{id}");
        let url = format!("https://github.com/acme/{name}");
        let repository =
            Repository { id, node_id, name: name.to_owned(), url, ..pump_repository() };
        let organization = Lane::owner_repositories(SOURCE, Login::from_known("acme"));
        self.ingest_page(&complete_page(
            organization,
            vec![observe_item(MirrorItem::Repository(repository))],
        ));
    }

    /// Ends the pull of the fixture.
    pub(crate) fn release_duty(&self) {
        self.store.release_duty().unwrap();
    }

    /// Adds lanes of repositories that are not stored.
    pub(crate) fn add_lanes(&self, count: i64) {
        for id in 0..count {
            self.ingest_page(&complete_page(
                Lane::repository_issues(RepositoryKey::new(SOURCE, 1_000 + id)),
                Vec::new(),
            ));
        }
    }

    /// Returns the options of a site that reads the workspace as another process would.
    pub(crate) fn site_options(&self) -> SiteOptions {
        site_options_for(Workspace::at_location(self.location.clone()))
    }
}

/// Returns a site whose workspace does not exist yet.
pub(crate) fn empty_site() -> SiteOptions {
    site_options_for(Workspace::at_location(DatabaseLocation::File("no/such/place/acme.db".into())))
}

pub(crate) fn site_options_for(workspace: Workspace) -> SiteOptions {
    SiteOptions {
        workspace: WorkspaceHandle::new(move || Ok(workspace.clone())),
        hosts: AllowedHosts::new(HOST.parse::<SocketAddr>().unwrap(), &[]),
        machine: MACHINE.to_owned(),
        now_ms: Arc::new(|| 1_000_000),
        ticker: Arc::new(sleep_tick),
        shutdown: CancellationToken::new(),
    }
}

#[expect(clippy::disallowed_methods, reason = "tests poll in real time")]
fn sleep_tick() -> TickFuture {
    Box::pin(tokio::time::sleep(Duration::from_millis(5)))
}

fn complete_page(lane: Lane, observations: Vec<ItemObservation>) -> IngestPage {
    let checked_lanes = vec![(lane.clone(), 100_000)];
    let coverage = Coverage {
        from: Some(ListingFloor::Beginning),
        through: Some(SourceInstant(100_000)),
        ..Coverage::default()
    };
    IngestPage {
        checked_lanes,
        observations,
        coverage: Some(coverage),
        ..IngestPage::new(lane, 100)
    }
}

fn observe_item(item: MirrorItem) -> ItemObservation {
    ItemObservation { item, observed_at: ObservedAt::new(100_000, 1) }
}

fn pump_repository() -> Repository {
    Repository {
        id: 1,
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

fn sample_issue(number: i64, title: &str, body: &str) -> Thread {
    Thread {
        id: number,
        node_id: format!("I_{number}"),
        number,
        repository_id: 1,
        url: format!("https://github.com/acme/pump/issues/{number}"),
        title: title.to_owned(),
        body: body.to_owned(),
        state: "OPEN".to_owned(),
        state_reason: None,
        labels: vec!["bug".to_owned(), "<b>bold</b>".to_owned()],
        author: Some("ada".to_owned()),
        author_id: Some(7),
        author_kind: None,
        association: None,
        created_at: time_at(0),
        updated_at: time_at(1),
        closed_at: None,
        details: ThreadDetails::Issue,
    }
}

/// Creates a comment on an issue.
pub(crate) fn sample_comment(id: i64, thread: i64, body: &str) -> Comment {
    Comment {
        kind: CommentKind::Conversation,
        id,
        node_id: format!("C_{id}"),
        repository_id: 1,
        thread,
        reply_to: None,
        review_id: None,
        url: format!("https://github.com/acme/pump/issues/{thread}#issuecomment-{id}"),
        body: body.to_owned(),
        state: None,
        path: None,
        line: None,
        author: Some("bob".to_owned()),
        author_id: Some(8),
        author_kind: None,
        association: None,
        created_at: time_at(id),
        updated_at: time_at(id),
    }
}

fn time_at(second: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(second * 1_000).to_string()).unwrap()
}
