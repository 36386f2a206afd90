//! A workspace with something in it, and the site over it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hw_rules::coverage::Coverage;
use hw_rules::item::{Comment, Item, Kind, Observation, Repository, Sort, Thread};
use hw_rules::lane::{Lane, Surface};
use hw_rules::time::{Mark, SourceTime};
use hw_rules::version::Seen;
use hw_rules::walk::{Floor, Walk};
use hw_store::{Failure, IngestPage, Lease, Place, Store, Workspace};
use hw_web::{Hosts, Site, Tick};
use tempfile::TempDir;
use tokio::sync::watch;

pub(crate) const HOST: &str = "127.0.0.1:8080";
const SOURCE: &str = "github.com";

/// A workspace on disk that a test writes to.
pub(crate) struct World {
    pub(crate) store: Store,
    lease: Lease,
    place: Place,
    _folder: TempDir,
}

impl World {
    /// With `acme/pump` in it, whose issues and their comments are read to the end.
    pub(crate) fn new() -> Self {
        let world = Self::without_comments();
        world.keep(&page(Lane::of_repository(SOURCE, 1, Surface::IssueComments), Vec::new()));
        world
    }

    /// The same, by somebody who has chosen threads alone.
    pub(crate) fn without_comments() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::File(folder.path().join("acme.db"));
        let store = Store::open(&place).unwrap();
        let lease = store.take_lease("pull", "me", 0, 5_000).unwrap().unwrap();
        let world = Self { store, lease, place, _folder: folder };
        let organization = Lane::repositories(SOURCE, "acme");
        world.keep(&page(organization, vec![seen(Item::Repository(pump()))]));
        for surface in Surface::THREADS {
            world.keep(&page(Lane::of_repository(SOURCE, 1, surface), Vec::new()));
        }
        world
    }

    fn keep(&self, page: &IngestPage) {
        self.store.ingest(&self.lease, page).unwrap();
    }

    /// An issue of `acme/pump`.
    pub(crate) fn issue(&self, number: i64, title: &str, body: &str) {
        let issue = issue(number, title, body);
        self.keep(&page(Lane::issues(SOURCE, 1), vec![seen(Item::Thread(issue))]));
    }

    /// Something said about it.
    pub(crate) fn comments(&self, comments: Vec<Comment>) {
        let lane = Lane::of_repository(SOURCE, 1, Surface::IssueComments);
        let said = comments.into_iter().map(|it| seen(Item::Comment(it))).collect();
        self.keep(&page(lane, said));
    }

    /// The last reading of the issues failed.
    pub(crate) fn fail(&self, message: &str) {
        let failure =
            Failure { due_ms: 0, failures: 3, page_size: 100, message: message.to_owned() };
        self.store.postpone(&self.lease, &Lane::issues(SOURCE, 1), failure).unwrap();
    }

    /// A walk through a list of `acme/pump` that has not come to its end.
    pub(crate) fn interrupt(&self, surface: Surface) {
        let lane = Lane::of_repository(SOURCE, 1, surface);
        let walk = Walk { stop: Floor::Beginning, head: None, cursor: None };
        let coverage = Coverage { walk: Some(walk), ..Coverage::default() };
        self.keep(&IngestPage { coverage: Some(coverage), ..IngestPage::of(lane, 100) });
    }

    /// A repository that was listed, and of which nothing was read.
    pub(crate) fn repository(&self, id: i64, name: &str) {
        let node_id = format!("R_{id}");
        let url = format!("https://github.com/acme/{name}");
        let repository = Repository { id, node_id, name: name.to_owned(), url, ..pump() };
        let organization = Lane::repositories(SOURCE, "acme");
        self.keep(&page(organization, vec![seen(Item::Repository(repository))]));
    }

    /// Ends the pull that writes.
    pub(crate) fn release(&self) {
        self.store.release_lease(&self.lease).unwrap();
    }

    /// As many lanes of repositories that are not held.
    pub(crate) fn lanes(&self, count: i64) {
        for id in 0..count {
            self.keep(&page(Lane::issues(SOURCE, 1_000 + id), Vec::new()));
        }
    }

    /// The site over it, as another process would read it.
    pub(crate) fn site(&self) -> Site {
        site(Workspace::at(self.place.clone()))
    }
}

/// A site whose workspace was never pulled.
pub(crate) fn empty_site() -> Site {
    site(Workspace::at(Place::File("no/such/place/acme.db".into())))
}

pub(crate) fn site(workspace: Workspace) -> Site {
    let (close, closing) = hw_web::closing();
    // it ends with the test
    std::mem::forget::<watch::Sender<()>>(close);
    Site {
        find: Arc::new(move || Ok(workspace.clone())),
        hosts: Hosts::of(HOST.parse::<SocketAddr>().unwrap(), &[]),
        now_ms: Arc::new(|| 1_000_000),
        ticker: Arc::new(ticker),
        closing,
    }
}

#[expect(clippy::disallowed_methods, reason = "the rhythm of a test is real time")]
fn ticker() -> Tick {
    Box::pin(tokio::time::sleep(Duration::from_millis(5)))
}

fn page(lane: Lane, observations: Vec<Observation>) -> IngestPage {
    let looked_at = vec![(lane.clone(), 100_000)];
    let coverage = Coverage {
        from: Some(Floor::Beginning),
        through: Some(Mark(100_000)),
        ..Coverage::default()
    };
    IngestPage { looked_at, observations, coverage: Some(coverage), ..IngestPage::of(lane, 100) }
}

fn seen(item: Item) -> Observation {
    Observation { item, seen: Seen::at(100_000, 1) }
}

fn pump() -> Repository {
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
        created_at: time(0),
        updated_at: time(0),
    }
}

fn issue(number: i64, title: &str, body: &str) -> Thread {
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
        created_at: time(0),
        updated_at: time(1),
        closed_at: None,
        sort: Sort::Issue,
    }
}

/// Something said in the conversation of an issue.
pub(crate) fn comment(id: i64, thread: i64, body: &str) -> Comment {
    Comment {
        kind: Kind::IssueComment,
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
        created_at: time(id),
        updated_at: time(id),
    }
}

fn time(second: i64) -> SourceTime {
    SourceTime::parse(&Mark(second * 1_000).to_string()).unwrap()
}
