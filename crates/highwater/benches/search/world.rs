//! A mirror of made-up texts, in which it is known how common a word is.

use std::path::Path;

use hw_rules::coverage::Coverage;
use hw_rules::item::{
    Comment, Discussion, Item, Kind, Observation, PullRequest, Repository, Sort, Thread,
};
use hw_rules::lane::{Lane, Surface};
use hw_rules::time::{Mark, SourceTime};
use hw_rules::version::Seen;
use hw_store::{IngestPage, Lease, Place, Store};

pub(crate) const PAGE: usize = 1_000;
pub(crate) const HOST: &str = "github.com";
pub(crate) const REPOSITORIES: usize = 200;
/// The newest text was updated then.
const NOW_S: i64 = 1_767_323_045;
const SECONDS_APART: i64 = 60;

/// Words that are in 30 % of all texts.
pub(crate) const COMMON: usize = 8;
/// Words that are in 2 to 8 %.
pub(crate) const MEDIUM: usize = 20;
/// Each text has one of these.
pub(crate) const RARE: usize = 10_000;

/// Makes a mirror of so many texts, unless it is there.
pub(crate) fn made(path: &Path, documents: usize) -> Store {
    let store = Store::open(&Place::File(path.to_owned())).unwrap();
    let counts = store.counts().unwrap();
    let held = counts.issues + counts.pull_requests + counts.discussions + counts.comments;
    if held != 0 {
        return store;
    }
    let lease = lease(&store);
    store.ingest(&lease, &repositories()).unwrap();
    for number in 0..documents / PAGE {
        let pages = pages(number * PAGE..(number + 1) * PAGE);
        store.ingest_all(&lease, &pages).unwrap();
        if number.is_multiple_of(100) {
            eprintln!("made {} of {documents} texts", number * PAGE);
        }
    }
    store
}

pub(crate) fn lease(store: &Store) -> Lease {
    store.take_lease("pull", "bench", 0, i64::MAX / 2).unwrap().unwrap()
}

fn repositories() -> IngestPage {
    let observations = (0..REPOSITORIES).map(|id| observed(0, Item::Repository(repository(id))));
    IngestPage {
        observations: observations.collect(),
        coverage: Some(Coverage::default()),
        viewer: Some("viewer".into()),
        ..IngestPage::of(Lane::repositories(HOST, "acme"), 100)
    }
}

fn repository(id: usize) -> Repository {
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
        created_at: time(NOW_S),
        updated_at: time(NOW_S),
    }
}

/// The pages of some texts, one for each listing they are in.
pub(crate) fn pages(ids: std::ops::Range<usize>) -> Vec<IngestPage> {
    let mut by_lane: std::collections::BTreeMap<Lane, Vec<Observation>> =
        std::collections::BTreeMap::new();
    for id in ids {
        let (surface, item) = text(id);
        let repository = i64::try_from(home(id)).unwrap();
        let lane = Lane::of_repository(HOST, repository, surface);
        by_lane.entry(lane).or_default().push(observed(id, item));
    }
    let page = |(lane, observations)| IngestPage {
        observations,
        coverage: Some(Coverage::default()),
        ..IngestPage::of(lane, 100)
    };
    by_lane.into_iter().map(page).collect()
}

fn home(id: usize) -> usize {
    id / PAGE % REPOSITORIES
}

fn observed(id: usize, item: Item) -> Observation {
    let request = i64::try_from(id).unwrap();
    Observation { item, seen: Seen::at((NOW_S + 1) * 1_000, request) }
}

fn text(id: usize) -> (Surface, Item) {
    let mut dice = fastrand::Rng::with_seed(id as u64 + 1);
    match id % 10 {
        0 => (Surface::IssueComments, Item::Comment(comment(id, &mut dice))),
        1 => {
            let talk = Discussion { category: "General".into(), is_answered: None };
            (Surface::Discussions, Item::Thread(thread(id, Sort::Discussion(talk), &mut dice)))
        }
        2..=4 => {
            let merged_at = None;
            let change =
                PullRequest { is_draft: false, merged_at, head_ref: "main".into(), closes: vec![] };
            (Surface::PullRequests, Item::Thread(thread(id, Sort::PullRequest(change), &mut dice)))
        }
        _ => (Surface::Issues, Item::Thread(thread(id, Sort::Issue, &mut dice))),
    }
}

fn thread(id: usize, sort: Sort, dice: &mut fastrand::Rng) -> Thread {
    let is_open = dice.u32(..10) < 4;
    let repository = home(id);
    // in every fourth repository the viewer has written something
    let is_viewers = repository.is_multiple_of(4) && dice.u32(..100) == 0;
    let author = if is_viewers { "viewer".to_owned() } else { format!("user-{}", dice.u32(..300)) };
    let number = i64::try_from(id).unwrap();
    Thread {
        id: number,
        node_id: format!("T_{id}"),
        number,
        repository_id: i64::try_from(repository).unwrap(),
        url: format!("https://github.com/acme/repo-{repository}/issues/{id}"),
        title: words(6, dice),
        body: body(dice),
        state: if is_open { "OPEN" } else { "CLOSED" }.to_owned(),
        state_reason: None,
        labels: vec![format!("label {}", dice.u32(..20))],
        author: Some(author),
        author_id: Some(1),
        created_at: created(id, dice),
        updated_at: updated(id),
        closed_at: (!is_open).then(|| updated(id)),
        sort,
    }
}

fn comment(id: usize, dice: &mut fastrand::Rng) -> Comment {
    let repository = home(id);
    Comment {
        kind: Kind::IssueComment,
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
        body: body(dice),
        state: None,
        path: None,
        line: None,
        author: Some(format!("user-{}", dice.u32(..300))),
        author_id: Some(1),
        created_at: updated(id),
        updated_at: updated(id),
    }
}

/// Newest first, as a walk reads them.
fn updated(id: usize) -> SourceTime {
    time(NOW_S - i64::try_from(id).unwrap() * SECONDS_APART)
}

fn created(id: usize, dice: &mut fastrand::Rng) -> SourceTime {
    let age = dice.i64(0..2 * 365 * 86_400);
    time(NOW_S - i64::try_from(id).unwrap() * SECONDS_APART - age)
}

fn time(seconds: i64) -> SourceTime {
    SourceTime::parse(&Mark(seconds * 1_000).to_string()).unwrap()
}

/// A kilobyte: the words that are looked for, among many that are not.
fn body(dice: &mut fastrand::Rng) -> String {
    let mut body = words(100, dice);
    for word in 0..COMMON {
        if dice.u32(..100) < 30 {
            body.push_str(&format!(" common{word}"));
        }
    }
    for word in 0..MEDIUM {
        let percent = 2 + u32::try_from(word % 7).unwrap();
        if dice.u32(..100) < percent {
            body.push_str(&format!(" medium{word}"));
        }
    }
    body.push_str(&format!(" rare{} foo-bar{}", dice.usize(..RARE), dice.usize(..RARE)));
    body
}

/// Words of which few are common and most are rare.
fn words(count: usize, dice: &mut fastrand::Rng) -> String {
    let word = |dice: &mut fastrand::Rng| {
        let rank = (dice.f64().powi(4) * 200_000.0) as u32;
        format!("word{rank}")
    };
    let words: Vec<String> = (0..count).map(|_| word(dice)).collect();
    words.join(" ")
}
