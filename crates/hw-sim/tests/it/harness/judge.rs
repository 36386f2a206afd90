//! The judge: compares what is held with what is true, as the simulated world tells it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use hw_rules::OVERLAP_MS;
use hw_rules::clean::storable;
use hw_rules::item::{Discussion, Kind, PullRequest, Sort, Thread};
use hw_rules::lane::{Scope, Surface};
use hw_rules::time::{Mark, SourceTime};
use hw_sim::{GitHub, ThreadKind, TrueThread, Truth};
use hw_store::{Store, ThreadFilter, ThreadRow};

use super::{HOST, Scene};

/// A kind in the words of both sides.
const KINDS: [(Kind, ThreadKind); 3] = [
    (Kind::Issue, ThreadKind::Issue),
    (Kind::PullRequest, ThreadKind::PullRequest),
    (Kind::Discussion, ThreadKind::Discussion),
];

/// A thread as both sides know it, ready to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    repository: String,
    thread: Thread,
    /// Its times to the letter: as times they are equal when they name one instant.
    times: Vec<String>,
}

impl Told {
    fn new(repository: String, thread: Thread) -> Self {
        let merged_at = match &thread.sort {
            Sort::PullRequest(pull) => pull.merged_at.as_ref(),
            Sort::Issue | Sort::Discussion(_) => None,
        };
        let times = [Some(&thread.created_at), Some(&thread.updated_at), thread.closed_at.as_ref()];
        let times = times.into_iter().chain([merged_at]).flatten();
        Self { repository, times: times.map(|it| it.as_str().to_owned()).collect(), thread }
    }
}

/// Whether deletions must have been noticed: only a sweep can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judge {
    CreationsAndEdits,
    Everything,
}

/// Compares the mirror with the world, for every repository and every listing that a reader follows now.
pub(crate) fn check_mirror(scene: &Scene, judge: Judge) -> Result<(), String> {
    let truth = scene.world(|github| github.world().truth());
    check_repositories(scene, &truth, judge)?;
    for (kind, of) in KINDS {
        let held = held(&scene.store, kind, judge, &truth)?;
        let mut expected = scene.world(|github| expected(github, &truth, of, &held, judge));
        if judge == Judge::CreationsAndEdits {
            excuse_shown_again(&truth, of, &held, &mut expected);
            scene.world(|github| excuse_old_versions(github, &truth, of, &held, &mut expected));
        }
        check_kind(kind, &held, &expected, judge)?;
    }
    Ok(())
}

fn check_kind(
    kind: Kind,
    held: &BTreeMap<i64, Told>,
    expected: &BTreeMap<i64, Told>,
    judge: Judge,
) -> Result<(), String> {
    let name = kind.name();
    for (id, told) in expected {
        match held.get(id) {
            None => return Err(format!("{name} {id} is missing: {told:#?}")),
            Some(row) if row != told => {
                return Err(format!("{name} {id} differs:\nheld {row:#?}\ntrue {told:#?}"));
            }
            Some(_) => {}
        }
    }
    let extra: Vec<i64> = held.keys().filter(|id| !expected.contains_key(id)).copied().collect();
    if judge == Judge::Everything && !extra.is_empty() {
        return Err(format!("{name}: held, but gone from the world: {extra:?}"));
    }
    Ok(())
}

/// Leaves out threads that were hidden and are shown again where just as many others went since: the listing is
/// as long as it was, and none of its times moved, so only a sweep can tell.
fn excuse_shown_again(
    truth: &Truth,
    kind: ThreadKind,
    held: &BTreeMap<i64, Told>,
    expected: &mut BTreeMap<i64, Told>,
) {
    let mut gone: BTreeMap<i64, usize> = BTreeMap::new();
    for told in held.iter().filter(|(id, _)| !expected.contains_key(id)).map(|(_, told)| told) {
        *gone.entry(told.thread.repository_id).or_default() += 1;
    }
    let shown_again = truth.of_kind(kind).filter(|thread| thread.is_shown_again);
    for thread in shown_again.filter(|thread| !held.contains_key(&thread.id)) {
        let gone = gone.entry(thread.repository_id).or_default();
        if *gone > 0 && expected.remove(&thread.id).is_some() {
            *gone -= 1;
        }
    }
}

/// Lets an older version stand of what was edited, hidden and shown again: the edit became visible later than any
/// list may lag, and moved nothing when it did, so only a sweep can tell.
fn excuse_old_versions(
    github: &GitHub,
    truth: &Truth,
    kind: ThreadKind,
    held: &BTreeMap<i64, Told>,
    expected: &mut BTreeMap<i64, Told>,
) {
    for thread in truth.of_kind(kind).filter(|thread| thread.is_shown_again) {
        let (Some(row), Some(told)) = (held.get(&thread.id), expected.get_mut(&thread.id)) else {
            continue;
        };
        let is_older = row.thread.updated_at < told.thread.updated_at;
        let history = github.world().history_of(kind, thread.id);
        let was_said = history.iter().any(|(_, version)| {
            version.updated_at == row.thread.updated_at.as_str() && version.body == row.thread.body
        });
        if is_older && was_said {
            told.clone_from(row);
        }
    }
}

/// Whether a reader follows this repository: it is there, and neither archived nor a fork.
fn is_followed(truth: &Truth, repository_id: i64) -> bool {
    truth.repositories.get(&repository_id).is_some_and(|it| !it.is_archived && !it.is_fork)
}

/// Whether there is a listing of this kind: what is switched off is neither read nor removed.
fn is_listed(truth: &Truth, kind: ThreadKind, repository_id: i64) -> bool {
    let switched_on = truth.repositories.get(&repository_id).is_some_and(|it| match kind {
        ThreadKind::Issue => it.has_issues_enabled,
        ThreadKind::PullRequest => true,
        ThreadKind::Discussion => it.has_discussions_enabled,
    });
    switched_on && is_followed(truth, repository_id)
}

/// Every repository that is followed is held under its name and address; once everything must have
/// been noticed, no other is held.
fn check_repositories(scene: &Scene, truth: &Truth, judge: Judge) -> Result<(), String> {
    let held = scene.store.repositories(HOST).map_err(|error| error.to_string())?;
    let held: BTreeMap<i64, _> = held
        .into_iter()
        .map(|r| {
            let updated_at = String::from(r.updated_at);
            (r.id, (r.name, r.url, r.has_issues_enabled, r.has_discussions_enabled, updated_at))
        })
        .collect();
    for (id, repository) in &truth.repositories {
        let told = (
            repository.name.clone(),
            repository.url.clone(),
            repository.has_issues_enabled,
            repository.has_discussions_enabled,
            repository.updated_at.clone(),
        );
        if is_followed(truth, *id) && held.get(id) != Some(&told) {
            return Err(format!("repository {id}: held {:?}, true {told:?}", held.get(id)));
        }
    }
    let extra: Vec<i64> = held.keys().filter(|id| !is_followed(truth, **id)).copied().collect();
    if judge == Judge::Everything && !extra.is_empty() {
        return Err(format!("repository: held, but not to be followed: {extra:?}"));
    }
    Ok(())
}

/// What is true, with two excuses for what moves no `updated_at`.
///
/// An account's deletion: whoever was the author when we read is as true as nobody, but nobody else is.
/// The going of issues that a pull request closes: see [`excuse_closes`].
fn expected(
    github: &GitHub,
    truth: &Truth,
    kind: ThreadKind,
    held: &BTreeMap<i64, Told>,
    judge: Judge,
) -> BTreeMap<i64, Told> {
    let threads = truth.of_kind(kind).filter(|it| is_listed(truth, kind, it.repository_id));
    let told = threads.map(|thread| {
        let mut told = told(thread);
        if let Some(row) = held.get(&thread.id) {
            excuse_author(&mut told.thread, &row.thread, github);
            let strict_closes = judge == Judge::Everything
                && github.world().issues_always_shown(thread.repository_id);
            excuse_closes(&mut told.thread, &row.thread, thread, strict_closes);
        }
        (thread.id, told)
    });
    told.collect()
}

fn excuse_author(told: &mut Thread, row: &Thread, github: &GitHub) {
    if told.author.is_some() || row.author.is_none() {
        return;
    }
    let history = github.world().history_of(of(told.kind()), told.id);
    let held = (&row.author, row.author_id);
    if history.iter().any(|(_, then)| (&then.author, then.author_id) == held) {
        (told.author, told.author_id) = (row.author.clone(), row.author_id);
    }
}

/// Lets the numbers stand that can have been read of a pull request.
///
/// An issue that is deleted, transferred or switched off leaves the list and moves no time, so the list
/// held may be longer than the true one, but never beyond what the pull request ever named. It is shorter
/// only where issues were out of sight when it was read: `strict_closes` says that they never were.
fn excuse_closes(told: &mut Thread, row: &Thread, thread: &TrueThread, strict_closes: bool) {
    let (Sort::PullRequest(told), Sort::PullRequest(row), Some(pull)) =
        (&mut told.sort, &row.sort, &thread.pull_request)
    else {
        return;
    };
    let named = row.closes.iter().all(|number| pull.mentions.contains(number));
    let complete = pull.closing_issues.iter().all(|number| row.closes.contains(number));
    if named && (complete || !strict_closes) {
        told.closes.clone_from(&row.closes);
    }
}

fn told(thread: &TrueThread) -> Told {
    let time = |text: &String| SourceTime::parse(text).unwrap();
    let mut labels: Vec<String> = thread.labels.iter().map(|label| storable(label)).collect();
    labels.sort_unstable();
    let sort = match (&thread.pull_request, &thread.talk) {
        (Some(pull), _) => Sort::PullRequest(PullRequest {
            is_draft: pull.is_draft,
            merged_at: pull.merged_at.as_ref().map(time),
            head_ref: pull.head_ref_name.clone(),
            closes: pull.closing_issues.clone(),
        }),
        (None, Some(talk)) => Sort::Discussion(Discussion {
            category: talk.category.clone(),
            is_answered: talk.is_answered,
        }),
        (None, None) => Sort::Issue,
    };
    let told = Thread {
        id: thread.id,
        node_id: thread.node_id.clone(),
        number: thread.number,
        repository_id: thread.repository_id,
        url: thread.url.clone(),
        // text that is not a body cannot hold U+0000 in every store
        title: storable(&thread.title),
        body: thread.body.clone(),
        state: thread.state.clone(),
        state_reason: thread.state_reason.clone(),
        labels,
        author: thread.author.clone(),
        author_id: thread.author_id,
        created_at: time(&thread.created_at),
        updated_at: time(&thread.updated_at),
        closed_at: thread.closed_at.as_ref().map(time),
        sort,
    };
    Told::new(thread.repository.clone(), told)
}

/// What is held of the listings that are followed. Once everything must have been noticed, nothing is
/// held of a repository that is not.
fn held(
    store: &Store,
    kind: Kind,
    judge: Judge,
    truth: &Truth,
) -> Result<BTreeMap<i64, Told>, String> {
    let (mut held, mut left_behind) = (BTreeMap::new(), BTreeSet::new());
    each(store, kind, |row| {
        let (id, repository) = (row.thread.id, row.thread.repository_id);
        assert_eq!(row.thread.kind(), kind, "{} {id} is of another kind", kind.name());
        if !is_followed(truth, repository) {
            left_behind.insert(id);
        } else if is_listed(truth, of(kind), repository) {
            let twice = held.insert(id, Told::new(row.repository, row.thread)).is_some();
            assert!(!twice, "{} {id} is held twice", kind.name());
        }
    });
    if judge == Judge::Everything && !left_behind.is_empty() {
        let name = kind.name();
        return Err(format!("{name}: held of a repository that is not followed: {left_behind:?}"));
    }
    Ok(held)
}

fn of(kind: Kind) -> ThreadKind {
    let pair = KINDS.into_iter().find(|(ours, _)| *ours == kind);
    pair.expect("only threads are asked for").1
}

fn each(store: &Store, kind: Kind, mut look: impl FnMut(ThreadRow)) {
    let mut visit = |row| {
        look(row);
        ControlFlow::Continue(())
    };
    store.each_thread(kind, &ThreadFilter::default(), &mut visit).unwrap();
}

/// Every thread that is held, kind by kind.
pub(crate) fn all_rows(store: &Store) -> Vec<Thread> {
    let mut rows = Vec::new();
    for (kind, _) in KINDS {
        each(store, kind, |row| rows.push(row.thread));
    }
    rows
}

/// What is watched while the trouble goes on: no text ever gives way to an older one.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    newest: BTreeMap<(Kind, i64), SourceTime>,
}

impl Watch {
    /// Looks at everything held now.
    pub(crate) fn look(&mut self, scene: &Scene) -> Result<(), String> {
        let mut wrong = Vec::new();
        scene.world(|github| {
            for (kind, _) in KINDS {
                each(&scene.store, kind, |row| wrong.extend(self.look_at(&row, github)));
            }
        });
        wrong.extend(claims_too_much(scene));
        wrong.into_iter().next().map_or(Ok(()), Err)
    }

    fn look_at(&mut self, row: &ThreadRow, github: &GitHub) -> Option<String> {
        let thread = &row.thread;
        let (key, kind) = (thread.key(), thread.kind());
        let before = self.newest.insert((kind, thread.id), thread.updated_at.clone());
        if before.as_ref().is_some_and(|before| thread.updated_at < *before) {
            return Some(format!("{key}: {before:?} gave way to {}", thread.updated_at));
        }
        let history = github.world().history_of(of(kind), thread.id);
        let was_said = history.iter().any(|(_, version)| {
            version.updated_at == thread.updated_at.as_str()
                && version.body == thread.body
                && storable(&version.title) == thread.title
                && version.state == thread.state
        });
        (!was_said).then(|| format!("{key} holds what nobody said: {:?}", thread.body))
    }
}

/// Whether a lane claims to hold what it does not: within [from, through − overlap] every thread must be
/// there in its present version, unless it was deleted.
fn claims_too_much(scene: &Scene) -> Option<String> {
    let truth = scene.world(|github| github.world().truth());
    let mut listed: BTreeMap<(ThreadKind, i64), Vec<&TrueThread>> = BTreeMap::new();
    for thread in truth.threads.values() {
        listed.entry((thread.kind, thread.repository_id)).or_default().push(thread);
    }
    let mut held: BTreeMap<(ThreadKind, i64), String> = BTreeMap::new();
    for (kind, of) in KINDS {
        each(&scene.store, kind, |row| {
            held.insert((of, row.thread.id), row.thread.updated_at.into());
        });
    }
    let waiting: BTreeSet<String> =
        scene.store.quarantined().unwrap().into_iter().map(|held| held.lane).collect();
    for (lane, state, _) in scene.store.lanes().unwrap() {
        let Scope::Repository(repository) = lane.scope else { continue };
        let (Some(from), Some(through)) = (state.coverage.from, state.coverage.through) else {
            continue;
        };
        if !Surface::THREADS.contains(&lane.surface) || waiting.contains(&lane.to_string()) {
            continue;
        }
        let kind = of(lane.surface.kind());
        let claimed = |at: Mark| !from.is_above(at) && at < through.minus(OVERLAP_MS);
        for thread in listed.get(&(kind, repository)).into_iter().flatten() {
            let at = SourceTime::parse(&thread.updated_at).unwrap().mark();
            if claimed(at) && held.get(&(kind, thread.id)) != Some(&thread.updated_at) {
                let what = lane.surface.kind().name();
                let (at, id) = (&thread.updated_at, thread.id);
                return Some(format!("{lane} claims {at} of {what} {id}"));
            }
        }
    }
    None
}
