//! Compares the stored repositories and threads with the simulated world.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use hw_rules::OVERLAP_MS;
use hw_rules::item::{
    self, AuthorKind, DiscussionDetails, PullRequestDetails, Thread, ThreadDetails,
};
use hw_rules::lane::{Scope, Surface};
use hw_rules::repository_key::RepositoryId;
use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::source_time::SourceTime;
use hw_sim::{GroundTruth, SimulatedGitHub, ThreadKind, TrueThread};
use hw_store::{StoreReader, ThreadFilter, ThreadRow};

use super::{HOST, SimFixture};

/// The thread kinds, as the store and the simulator name them.
const KINDS: [(item::ThreadKind, ThreadKind); 3] = [
    (item::ThreadKind::Issue, ThreadKind::Issue),
    (item::ThreadKind::PullRequest, ThreadKind::PullRequest),
    (item::ThreadKind::Discussion, ThreadKind::Discussion),
];

/// A thread in a form that the store and the world share.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ComparableThread {
    repository: String,
    thread: Thread,
    closes: Vec<i64>,
    /// Its times as text: as times, two spellings of one instant are equal.
    times: Vec<String>,
}

impl ComparableThread {
    fn new(repository: String, thread: Thread, closes: Vec<i64>) -> Self {
        let merged_at = match &thread.details {
            ThreadDetails::PullRequest(pull) => pull.merged_at.as_ref(),
            ThreadDetails::Issue | ThreadDetails::Discussion(_) => None,
        };
        let times = [Some(&thread.created_at), Some(&thread.updated_at), thread.closed_at.as_ref()];
        let times = times.into_iter().chain([merged_at]).flatten();
        let times = times.map(|time| time.as_str().to_owned()).collect();
        Self { repository, times, thread, closes }
    }
}

/// The extent of a comparison: only a sweep notices deletions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CheckLevel {
    CreationsAndEdits,
    Everything,
    /// Everything but the columns that no digest covers: damage there is found when the item is observed again.
    Digested,
}

impl CheckLevel {
    /// Returns true if deletions are compared, too.
    pub(crate) fn is_final(self) -> bool {
        match self {
            Self::CreationsAndEdits => false,
            Self::Everything | Self::Digested => true,
        }
    }
}

/// Compares the mirror with the world, for every followed repository and every enabled listing.
pub(crate) fn check_mirror(fixture: &SimFixture, level: CheckLevel) -> Result<(), String> {
    let truth = fixture.followed_truth();
    check_repositories(fixture, &truth, level)?;
    for (kind, simulated) in KINDS {
        let stored = stored_threads(&fixture.store, kind, level, &truth)?;
        let mut expected = fixture
            .with_github(|github| expected_threads(github, &truth, simulated, &stored, level));
        if level == CheckLevel::CreationsAndEdits {
            excuse_unhidden(&truth, simulated, &stored, &mut expected);
            fixture.with_github(|github| {
                excuse_old_versions(github, &truth, simulated, &stored, &mut expected);
            });
        }
        check_kind(kind, &stored, &expected, level)?;
    }
    Ok(())
}

fn check_kind(
    kind: item::ThreadKind,
    stored: &BTreeMap<i64, ComparableThread>,
    expected: &BTreeMap<i64, ComparableThread>,
    level: CheckLevel,
) -> Result<(), String> {
    let name = kind.name();
    for (id, expected) in expected {
        match stored.get(id) {
            None => return Err(format!("{name} {id} is missing: {expected:#?}")),
            Some(row) if row != expected => {
                return Err(format!("{name} {id} differs:\nstored {row:#?}\ntrue {expected:#?}"));
            }
            Some(_) => {}
        }
    }
    let extra: Vec<i64> = stored.keys().filter(|id| !expected.contains_key(id)).copied().collect();
    if level.is_final() && !extra.is_empty() {
        return Err(format!("{name}: stored, but gone from the world: {extra:?}"));
    }
    Ok(())
}

/// Drops threads that were hidden and are visible again if as many others are gone: the length and the times of
/// the listing are unchanged, so only a sweep notices.
fn excuse_unhidden(
    truth: &GroundTruth,
    kind: ThreadKind,
    stored: &BTreeMap<i64, ComparableThread>,
    expected: &mut BTreeMap<i64, ComparableThread>,
) {
    let mut gone: BTreeMap<i64, usize> = BTreeMap::new();
    for (_, row) in stored.iter().filter(|(id, _)| !expected.contains_key(id)) {
        *gone.entry(row.thread.repository_id).or_default() += 1;
    }
    let visible_again = truth.threads_of_kind(kind).filter(|thread| thread.was_hidden);
    for thread in visible_again.filter(|thread| !stored.contains_key(&thread.id)) {
        let gone = gone.entry(thread.repository_id).or_default();
        if *gone > 0 && expected.remove(&thread.id).is_some() {
            *gone -= 1;
        }
    }
}

/// Accepts an older version of a thread that was edited, hidden and made visible again: the edit became visible
/// later than any list may lag and changed no time, so only a sweep notices.
fn excuse_old_versions(
    github: &SimulatedGitHub,
    truth: &GroundTruth,
    kind: ThreadKind,
    stored: &BTreeMap<i64, ComparableThread>,
    expected: &mut BTreeMap<i64, ComparableThread>,
) {
    for thread in truth.threads_of_kind(kind).filter(|thread| thread.was_hidden) {
        let (Some(row), Some(expected)) = (stored.get(&thread.id), expected.get_mut(&thread.id))
        else {
            continue;
        };
        let is_older = row.thread.updated_at < expected.thread.updated_at;
        let history = github.world().thread_history(kind, thread.id);
        let has_existed = history.iter().any(|(_, version)| {
            version.updated_at == row.thread.updated_at.as_str() && version.body == row.thread.body
        });
        if is_older && has_existed {
            expected.clone_from(row);
        }
    }
}

/// Decides whether a pull follows this repository: it exists and belongs to a source.
fn is_followed(truth: &GroundTruth, repository_id: i64) -> bool {
    truth.repositories.contains_key(&repository_id)
}

/// Decides whether a listing of this kind exists: with the feature disabled, items are neither read nor removed.
fn is_listed(truth: &GroundTruth, kind: ThreadKind, repository_id: i64) -> bool {
    let is_enabled = truth.repositories.get(&repository_id).is_some_and(|found| match kind {
        ThreadKind::Issue => found.has_issues_enabled,
        ThreadKind::PullRequest => true,
        ThreadKind::Discussion => found.has_discussions_enabled,
    });
    is_enabled && is_followed(truth, repository_id)
}

/// Checks that every followed repository is stored with its name and URL and, at the level `Everything`, that no
/// other repository is stored.
fn check_repositories(
    fixture: &SimFixture,
    truth: &GroundTruth,
    level: CheckLevel,
) -> Result<(), String> {
    let stored = fixture.store.repositories(HOST).map_err(|error| error.to_string())?;
    let stored: BTreeMap<i64, _> = stored
        .into_iter()
        .map(|row| {
            let updated_at = String::from(row.updated_at);
            let features = (row.has_issues_enabled, row.has_discussions_enabled);
            (row.id, (row.name, row.url, features, updated_at))
        })
        .collect();
    for (id, repository) in &truth.repositories {
        let expected = (
            repository.name.clone(),
            repository.url.clone(),
            (repository.has_issues_enabled, repository.has_discussions_enabled),
            repository.updated_at.clone(),
        );
        if is_followed(truth, *id) && stored.get(id) != Some(&expected) {
            return Err(format!("repository {id}: stored {:?}, true {expected:?}", stored.get(id)));
        }
    }
    let extra: Vec<i64> = stored.keys().filter(|id| !is_followed(truth, **id)).copied().collect();
    if level.is_final() && !extra.is_empty() {
        return Err(format!("repository: stored, but not followed: {extra:?}"));
    }
    Ok(())
}

/// Returns the threads of the world, adjusted for two changes that leave `updated_at` alone.
///
/// A deleted account: the stored author may be the one that was read, but no other.
/// Issues that leave the list an open pull request closes: see [`excuse_closes`].
fn expected_threads(
    github: &SimulatedGitHub,
    truth: &GroundTruth,
    kind: ThreadKind,
    stored: &BTreeMap<i64, ComparableThread>,
    level: CheckLevel,
) -> BTreeMap<i64, ComparableThread> {
    let threads =
        truth.threads_of_kind(kind).filter(|thread| is_listed(truth, kind, thread.repository_id));
    let adjusted = threads.map(|thread| {
        let mut expected = comparable_thread(thread);
        if let Some(row) = stored.get(&thread.id) {
            excuse_author(&mut expected.thread, &row.thread, github);
            if level == CheckLevel::Digested {
                excuse_undigested(&mut expected.thread, &row.thread);
            }
            let strict_closes =
                level.is_final() && github.world().were_issues_always_visible(thread.repository_id);
            excuse_closes(&mut expected.closes, &row.closes, thread, strict_closes);
        }
        (thread.id, expected)
    });
    adjusted.collect()
}

fn excuse_author(expected: &mut Thread, row: &Thread, github: &SimulatedGitHub) {
    if expected.author.is_some() || row.author.is_none() {
        return;
    }
    let history = github.world().thread_history(simulated_kind(expected.kind()), expected.id);
    let has_existed = history.iter().map(|(_, then)| comparable_thread(then).thread).any(|then| {
        (&then.author, then.author_id, &then.author_kind, &then.association)
            == (&row.author, row.author_id, &row.author_kind, &row.association)
    });
    if has_existed {
        (expected.author, expected.author_id) = (row.author.clone(), row.author_id);
        expected.author_kind.clone_from(&row.author_kind);
        expected.association.clone_from(&row.association);
    }
}

/// Accepts the columns that no digest covers as they are.
fn excuse_undigested(expected: &mut Thread, row: &Thread) {
    expected.author_kind.clone_from(&row.author_kind);
    expected.association.clone_from(&row.association);
    if let (ThreadDetails::PullRequest(expected), ThreadDetails::PullRequest(row)) =
        (&mut expected.details, &row.details)
    {
        expected.head_sha.clone_from(&row.head_sha);
    }
}

/// Accepts the closed issues that can have been read with a pull request.
///
/// An issue that is deleted, transferred or disabled leaves the list and changes no time, so the stored list
/// may be longer than the true one, but never names an issue that the pull request never named. It is shorter
/// only if issues were hidden when it was read; `strict_closes` means that they never were.
fn excuse_closes(expected: &mut Vec<i64>, row: &[i64], thread: &TrueThread, strict_closes: bool) {
    let Some(pull) = thread.pull_request.as_ref().filter(|_| thread.closed_at.is_none()) else {
        return;
    };
    let named = row.iter().all(|number| pull.mentioned_issues.contains(number));
    let complete = pull.closing_issues.iter().all(|number| row.contains(number));
    if named && (complete || !strict_closes) {
        *expected = row.to_vec();
    }
}

fn comparable_thread(thread: &TrueThread) -> ComparableThread {
    let mut labels: Vec<String> =
        thread.labels.iter().map(|label| sanitize_for_storage(label)).collect();
    labels.sort_unstable();
    let sort = match (&thread.pull_request, &thread.discussion) {
        (Some(pull), _) => ThreadDetails::PullRequest(PullRequestDetails {
            is_draft: pull.is_draft,
            merged_at: pull.merged_at.as_deref().map(parse_time),
            head_ref: pull.head_ref_name.clone(),
            head_sha: Some(pull.head_ref_oid.clone()),
        }),
        (None, Some(discussion)) => ThreadDetails::Discussion(DiscussionDetails {
            category: discussion.category.clone(),
            is_answered: discussion.is_answered,
        }),
        (None, None) => ThreadDetails::Issue,
    };
    let row = Thread {
        id: thread.id,
        node_id: thread.node_id.clone(),
        number: thread.number,
        repository_id: thread.repository_id,
        url: thread.url.clone(),
        // not every store accepts U+0000 in a text that is not a body
        title: sanitize_for_storage(&thread.title),
        body: thread.body.clone(),
        state: thread.state.clone(),
        state_reason: thread.state_reason.clone(),
        labels,
        author: thread.author.clone(),
        author_id: thread.author_id,
        author_kind: thread.author_type.as_deref().map(AuthorKind::from_name),
        association: Some(thread.author_association.clone()),
        created_at: parse_time(&thread.created_at),
        updated_at: parse_time(&thread.updated_at),
        closed_at: thread.closed_at.as_deref().map(parse_time),
        details: sort,
    };
    ComparableThread::new(thread.repository.clone(), row, closes_if_open(thread))
}

/// Returns the issues that an open pull request closes; those of other threads are not stored.
fn closes_if_open(thread: &TrueThread) -> Vec<i64> {
    let open = thread.pull_request.as_ref().filter(|_| thread.closed_at.is_none());
    open.map(|pull| pull.closing_issues.clone()).unwrap_or_default()
}

fn parse_time(text: &str) -> SourceTime {
    SourceTime::parse(text).unwrap()
}

/// Returns the stored threads of followed listings. At the level `Everything`, a thread of any other repository
/// is an error.
fn stored_threads(
    store: &StoreReader,
    kind: item::ThreadKind,
    level: CheckLevel,
    truth: &GroundTruth,
) -> Result<BTreeMap<i64, ComparableThread>, String> {
    let (mut stored, mut left_behind) = (BTreeMap::new(), BTreeSet::new());
    for_each_thread(store, kind, |row| {
        let (id, repository) = (row.thread.id, row.thread.repository_id);
        assert_eq!(row.thread.kind(), kind, "{} {id} is of another kind", kind.name());
        if !is_followed(truth, repository) {
            left_behind.insert(id);
        } else if is_listed(truth, simulated_kind(kind), repository) {
            let row = ComparableThread::new(row.repository, row.thread, row.closes);
            let is_duplicate = stored.insert(id, row).is_some();
            assert!(!is_duplicate, "{} {id} is stored twice", kind.name());
        }
    });
    if level.is_final() && !left_behind.is_empty() {
        let name = kind.name();
        return Err(format!(
            "{name}: stored for a repository that is not followed: {left_behind:?}"
        ));
    }
    Ok(stored)
}

fn simulated_kind(kind: item::ThreadKind) -> ThreadKind {
    let pair = KINDS.into_iter().find(|(ours, _)| *ours == kind);
    pair.expect("only threads are compared").1
}

fn for_each_thread(store: &StoreReader, kind: item::ThreadKind, mut visit: impl FnMut(ThreadRow)) {
    store
        .each_thread(kind, &ThreadFilter::default(), &mut |row| {
            visit(row);
            ControlFlow::Continue(())
        })
        .unwrap();
}

/// Returns every stored thread, kind by kind.
pub(crate) fn stored_rows(store: &StoreReader) -> Vec<Thread> {
    let mut rows = Vec::new();
    for (kind, _) in KINDS {
        for_each_thread(store, kind, |row| rows.push(row.thread));
    }
    rows
}

/// Watches the store between pulls: no text is ever replaced by an older one.
#[derive(Debug, Default)]
pub(crate) struct RegressionWatch {
    newest: BTreeMap<(item::ThreadKind, i64), SourceTime>,
}

impl RegressionWatch {
    /// Compares everything stored now with the previous call.
    pub(crate) fn check_rows(&mut self, fixture: &SimFixture) -> Result<(), String> {
        let mut errors = Vec::new();
        fixture.with_github(|github| {
            for (kind, _) in KINDS {
                for_each_thread(&fixture.store, kind, |row| {
                    errors.extend(self.check_row(&row, github));
                });
            }
        });
        errors.extend(find_false_claim(fixture));
        errors.into_iter().next().map_or(Ok(()), Err)
    }

    fn check_row(&mut self, row: &ThreadRow, github: &SimulatedGitHub) -> Option<String> {
        let thread = &row.thread;
        let (key, kind) = (thread.key(), thread.kind());
        let before = self.newest.insert((kind, thread.id), thread.updated_at.clone());
        if before.as_ref().is_some_and(|before| thread.updated_at < *before) {
            return Some(format!("{key}: {before:?} was replaced by {}", thread.updated_at));
        }
        let history = github.world().thread_history(simulated_kind(kind), thread.id);
        let has_existed = history.iter().any(|(_, version)| {
            version.updated_at == thread.updated_at.as_str()
                && version.body == thread.body
                && sanitize_for_storage(&version.title) == thread.title
                && version.state == thread.state
        });
        (!has_existed)
            .then(|| format!("{key} stores a version that never existed: {:?}", thread.body))
    }
}

/// Finds a thread that a lane claims but does not store: within [from, through − overlap] every thread must be
/// stored in its present version, unless it was deleted.
fn find_false_claim(fixture: &SimFixture) -> Option<String> {
    let truth = fixture.followed_truth();
    let mut listed: BTreeMap<(ThreadKind, i64), Vec<&TrueThread>> = BTreeMap::new();
    for thread in truth.threads.values() {
        listed.entry((thread.kind, thread.repository_id)).or_default().push(thread);
    }
    let mut stored: BTreeMap<(ThreadKind, i64), String> = BTreeMap::new();
    for (kind, simulated) in KINDS {
        for_each_thread(&fixture.store, kind, |row| {
            stored.insert((simulated, row.thread.id), row.thread.updated_at.into());
        });
    }
    let waiting = fixture.store.lanes_with_quarantine().unwrap();
    for (lane, state, _) in fixture.store.lanes().unwrap() {
        let Scope::Repository(RepositoryId(repository)) = lane.scope else { continue };
        let (Some(from), Some(through)) = (state.coverage.from, state.coverage.through) else {
            continue;
        };
        let Surface::Threads(kind) = lane.surface else { continue };
        if waiting.contains(&lane) {
            continue;
        }
        let kind = simulated_kind(kind);
        for thread in listed.get(&(kind, repository)).into_iter().flatten() {
            let at = SourceTime::parse(&thread.updated_at).unwrap().instant();
            let is_claimed = !from.is_above(at) && at < through.minus_ms(OVERLAP_MS);
            if is_claimed && stored.get(&(kind, thread.id)) != Some(&thread.updated_at) {
                let kind = lane.surface.kind().name();
                let (at, id) = (&thread.updated_at, thread.id);
                return Some(format!("{lane} claims {at} of {kind} {id}"));
            }
        }
    }
    None
}
