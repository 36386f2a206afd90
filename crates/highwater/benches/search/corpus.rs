//! Generates a mirror of random texts in which the frequency of each word is known.

use std::path::Path;

use hw_rules::coverage::Coverage;
use hw_rules::duty::DutyName;
use hw_rules::item::{
    Comment, CommentKind, DiscussionDetails, ItemObservation, MirrorItem, PullRequestDetails,
    Repository, Thread, ThreadDetails, ThreadKind,
};
use hw_rules::lane::{Lane, Surface};
use hw_rules::login::Login;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_store::{DatabaseLocation, IngestPage, LeasedStore, StoreWriter};

pub(crate) const TEXTS_PER_PAGE: usize = 1_000;
pub(crate) const HOST: &str = "github.com";
pub(crate) const REPOSITORIES: usize = 200;
/// The time of the newest update.
const NOW_S: i64 = 1_767_323_045;
const SECONDS_APART: i64 = 60;

/// Number of words that occur in 30 % of all texts.
pub(crate) const COMMON_WORDS: usize = 8;
/// Number of words that occur in 2 to 8 % of all texts.
pub(crate) const MEDIUM_WORDS: usize = 20;
/// Number of words of which each text has one.
pub(crate) const RARE_WORDS: usize = 10_000;

/// Opens the mirror, or creates one with this many texts.
pub(crate) fn open_or_create(path: &Path, documents: usize) -> StoreWriter {
    let store = StoreWriter::open(&DatabaseLocation::File(path.to_owned())).unwrap();
    let counts = store.object_counts().unwrap();
    let stored = counts.issues + counts.pull_requests + counts.discussions + counts.comments;
    if stored != 0 {
        return store;
    }
    let leased = claim_pull(&store);
    leased.ingest_page(&repository_page()).unwrap();
    for number in 0..documents / TEXTS_PER_PAGE {
        let pages = new_pages(number * TEXTS_PER_PAGE..(number + 1) * TEXTS_PER_PAGE);
        leased.ingest_pages(&pages).unwrap();
        if number.is_multiple_of(100) {
            eprintln!("made {} of {documents} texts", number * TEXTS_PER_PAGE);
        }
    }
    leased.release_duty().unwrap();
    store
}

pub(crate) fn claim_pull(store: &StoreWriter) -> LeasedStore {
    store.claim_duty(&DutyName::pull("github.com"), "bench", 0).unwrap().unwrap()
}

fn repository_page() -> IngestPage {
    let observations =
        (0..REPOSITORIES).map(|id| new_observation(0, MirrorItem::Repository(new_repository(id))));
    IngestPage {
        observations: observations.collect(),
        coverage: Some(Coverage::default()),
        viewer: Some("viewer".into()),
        ..IngestPage::new(Lane::owner_repositories(HOST, Login::from_known("acme")), 100)
    }
}

fn new_repository(id: usize) -> Repository {
    Repository {
        id: i64::try_from(id).unwrap(),
        node_id: format!("R_{id}"),
        owner: "acme".into(),
        name: format!("repo-{id}"),
        url: format!("https://github.com/acme/repo-{id}"),
        is_archived: false,
        is_fork: false,
        has_issues_enabled: true,
        has_discussions_enabled: true,
        created_at: source_time(NOW_S),
        updated_at: source_time(NOW_S),
    }
}

/// Returns the pages of some texts, one for each lane.
pub(crate) fn new_pages(ids: std::ops::Range<usize>) -> Vec<IngestPage> {
    let mut by_lane: std::collections::BTreeMap<Lane, Vec<ItemObservation>> =
        std::collections::BTreeMap::new();
    for id in ids {
        let (surface, item) = new_item(id);
        let repository = i64::try_from(repository_index(id)).unwrap();
        let lane = Lane::for_repository(RepositoryKey::new(HOST, repository), surface);
        by_lane.entry(lane).or_default().push(new_observation(id, item));
    }
    let pages = by_lane.into_iter().map(|(lane, observations)| IngestPage {
        observations,
        coverage: Some(Coverage::default()),
        ..IngestPage::new(lane, 100)
    });
    pages.collect()
}

fn repository_index(id: usize) -> usize {
    id / TEXTS_PER_PAGE % REPOSITORIES
}

fn new_observation(id: usize, item: MirrorItem) -> ItemObservation {
    let request = i64::try_from(id).unwrap();
    ItemObservation { item, observed_at: ObservedAt::new((NOW_S + 1) * 1_000, request) }
}

fn new_item(id: usize) -> (Surface, MirrorItem) {
    let mut rng = fastrand::Rng::with_seed(id as u64 + 1);
    match id % 10 {
        0 => (
            Surface::Comments(CommentKind::Conversation),
            MirrorItem::Comment(new_comment(id, &mut rng)),
        ),
        1 => {
            let details = DiscussionDetails { category: "General".into(), is_answered: None };
            (
                Surface::Threads(ThreadKind::Discussion),
                MirrorItem::Thread(new_thread(id, ThreadDetails::Discussion(details), &mut rng)),
            )
        }
        2..=4 => {
            let details = PullRequestDetails {
                is_draft: false,
                merged_at: None,
                head_ref: "main".into(),
                head_sha: None,
            };
            (
                Surface::Threads(ThreadKind::PullRequest),
                MirrorItem::Thread(new_thread(id, ThreadDetails::PullRequest(details), &mut rng)),
            )
        }
        _ => (
            Surface::Threads(ThreadKind::Issue),
            MirrorItem::Thread(new_thread(id, ThreadDetails::Issue, &mut rng)),
        ),
    }
}

fn new_thread(id: usize, sort: ThreadDetails, rng: &mut fastrand::Rng) -> Thread {
    let is_open = rng.u32(..10) < 4;
    let repository = repository_index(id);
    // the viewer wrote something in every fourth repository
    let is_viewers = repository.is_multiple_of(4) && rng.u32(..100) == 0;
    let author = if is_viewers { "viewer".to_owned() } else { format!("user-{}", rng.u32(..300)) };
    let number = i64::try_from(id).unwrap();
    Thread {
        id: number,
        node_id: format!("T_{id}"),
        number,
        repository_id: i64::try_from(repository).unwrap(),
        url: format!("https://github.com/acme/repo-{repository}/issues/{id}"),
        title: random_words(6, rng),
        body: random_body(rng),
        state: if is_open { "OPEN" } else { "CLOSED" }.to_owned(),
        state_reason: None,
        labels: vec![format!("label {}", rng.u32(..20))],
        author: Some(author),
        author_id: Some(1),
        author_kind: None,
        association: None,
        created_at: created_at(id, rng),
        updated_at: updated_at(id),
        closed_at: (!is_open).then(|| updated_at(id)),
        details: sort,
    }
}

fn new_comment(id: usize, rng: &mut fastrand::Rng) -> Comment {
    let repository = repository_index(id);
    Comment {
        kind: CommentKind::Conversation,
        id: i64::try_from(id).unwrap(),
        node_id: format!("C_{id}"),
        repository_id: i64::try_from(repository).unwrap(),
        thread: i64::try_from(id + 5).unwrap(),
        reply_to: None,
        review_id: None,
        url: format!(
            "https://github.com/acme/repo-{repository}/issues/{}#issuecomment-{id}",
            id + 5
        ),
        body: random_body(rng),
        state: None,
        path: None,
        line: None,
        author: Some(format!("user-{}", rng.u32(..300))),
        author_id: Some(1),
        author_kind: None,
        association: None,
        created_at: updated_at(id),
        updated_at: updated_at(id),
    }
}

/// Returns the time of a text; the newest come first, as a walk reads them.
fn updated_at(id: usize) -> SourceTime {
    source_time(NOW_S - i64::try_from(id).unwrap() * SECONDS_APART)
}

fn created_at(id: usize, rng: &mut fastrand::Rng) -> SourceTime {
    let age = rng.i64(0..2 * 365 * 86_400);
    source_time(NOW_S - i64::try_from(id).unwrap() * SECONDS_APART - age)
}

fn source_time(seconds: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(seconds * 1_000).to_string()).unwrap()
}

/// Returns a kilobyte of text: the words of the queries among many others.
fn random_body(rng: &mut fastrand::Rng) -> String {
    let mut body = random_words(100, rng);
    for word in 0..COMMON_WORDS {
        if rng.u32(..100) < 30 {
            body.push_str(&format!(" common{word}"));
        }
    }
    for word in 0..MEDIUM_WORDS {
        let percent = 2 + u32::try_from(word % 7).unwrap();
        if rng.u32(..100) < percent {
            body.push_str(&format!(" medium{word}"));
        }
    }
    body.push_str(&format!(" rare{} foo-bar{}", rng.usize(..RARE_WORDS), rng.usize(..RARE_WORDS)));
    body
}

/// Returns words of which few are common and most are rare.
pub(crate) fn random_words(count: usize, rng: &mut fastrand::Rng) -> String {
    let words = (0..count).map(|_| {
        let rank = (rng.f64().powi(4) * 200_000.0) as u32;
        format!("word{rank}")
    });
    words.collect::<Vec<_>>().join(" ")
}
