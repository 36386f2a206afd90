//! The judge: compares what is held with what is true, as the simulated world tells it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hw_rules::OVERLAP_MS;
use hw_rules::lane::{Scope, Surface};
use hw_rules::time::{Mark, SourceTime};
use hw_sim::{GitHub, TrueIssue, Truth};
use hw_store::{IssueFilter, IssueRow, Store};

use super::{HOST, Scene};

/// An issue as both sides know it, ready to be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    node_id: String,
    number: i64,
    repository_id: i64,
    repository: String,
    url: String,
    title: String,
    body: String,
    state: String,
    state_reason: Option<String>,
    labels: Vec<String>,
    author: Option<String>,
    author_id: Option<i64>,
    created_at: String,
    updated_at: String,
    closed_at: Option<String>,
}

/// Whether deletions must have been noticed: only a sweep can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judge {
    CreationsAndEdits,
    Everything,
}

/// Compares the mirror's issues with the world's, for every repository that a reader follows now.
pub(crate) fn check_mirror(scene: &Scene, judge: Judge) -> Result<(), String> {
    let truth = scene.world(|github| github.world().truth());
    let held = held(&scene.store, &truth);
    let expected = scene.world(|github| expected(github, &truth, &held));
    check_repositories(scene, &truth)?;
    for (id, told) in &expected {
        match held.get(id) {
            None => return Err(format!("issue {id} is missing: {told:#?}")),
            Some(row) if row != told => {
                return Err(format!("issue {id} differs:\nheld {row:#?}\ntrue {told:#?}"));
            }
            Some(_) => {}
        }
    }
    let extra: Vec<i64> = held.keys().filter(|id| !expected.contains_key(id)).copied().collect();
    if judge == Judge::Everything && !extra.is_empty() {
        return Err(format!("held, but gone from the world: {extra:?}"));
    }
    Ok(())
}

fn is_followed(truth: &Truth, repository_id: i64) -> bool {
    let repository = truth.repositories.get(&repository_id);
    repository.is_some_and(|r| !r.is_archived && !r.is_fork && r.has_issues_enabled)
}

/// An account's deletion does not move `updated_at`: whoever was the author when we read is as true as
/// nobody, but nobody else is.
fn expected(github: &GitHub, truth: &Truth, held: &BTreeMap<i64, Told>) -> BTreeMap<i64, Told> {
    let issues = truth.issues.values().filter(|issue| is_followed(truth, issue.repository_id));
    let told = issues.map(|issue| {
        let mut told = told(issue);
        if let (None, Some(row)) = (&told.author, held.get(&issue.id))
            && was_author(github, issue.id, row)
        {
            (told.author, told.author_id) = (row.author.clone(), row.author_id);
        }
        (issue.id, told)
    });
    told.collect()
}

fn was_author(github: &GitHub, id: i64, row: &Told) -> bool {
    let history = github.world().history_of_issue(id);
    history.iter().any(|(_, then)| (&then.author, then.author_id) == (&row.author, row.author_id))
}

/// Every repository that is followed is held under its name, once.
fn check_repositories(scene: &Scene, truth: &Truth) -> Result<(), String> {
    let held = scene.store.repositories(HOST).map_err(|error| error.to_string())?;
    let held: BTreeMap<i64, (String, String)> =
        held.into_iter().map(|r| (r.id, (r.name, r.url))).collect();
    for (id, repository) in &truth.repositories {
        let told = (repository.name.clone(), repository.url.clone());
        if is_followed(truth, *id) && held.get(id) != Some(&told) {
            return Err(format!("repository {id}: held {:?}, true {told:?}", held.get(id)));
        }
    }
    Ok(())
}

fn told(issue: &TrueIssue) -> Told {
    let mut labels = issue.labels.clone();
    labels.sort_unstable();
    Told {
        node_id: issue.node_id.clone(),
        number: issue.number,
        repository_id: issue.repository_id,
        repository: issue.repository.clone(),
        url: issue.url.clone(),
        // text that is not a body cannot hold U+0000 in every store
        title: issue.title.replace('\0', "\u{fffd}"),
        body: issue.body.clone(),
        state: issue.state.clone(),
        state_reason: issue.state_reason.clone(),
        labels,
        author: issue.author.clone(),
        author_id: issue.author_id,
        created_at: issue.created_at.clone(),
        updated_at: issue.updated_at.clone(),
        closed_at: issue.closed_at.clone(),
    }
}

fn held(store: &Store, truth: &Truth) -> BTreeMap<i64, Told> {
    let mut held = BTreeMap::new();
    each(store, |row| {
        if is_followed(truth, row.repository_id) {
            let id = row.id;
            let told = Told {
                node_id: row.node_id,
                number: row.number,
                repository_id: row.repository_id,
                repository: row.repository,
                url: row.url,
                title: row.title,
                body: row.body,
                state: row.state,
                state_reason: row.state_reason,
                labels: row.labels,
                author: row.author,
                author_id: row.author_id,
                created_at: row.created_at.into(),
                updated_at: row.updated_at.into(),
                closed_at: row.closed_at.map(String::from),
            };
            assert!(held.insert(id, told).is_none(), "issue {id} is held twice");
        }
    });
    held
}

fn each(store: &Store, mut look: impl FnMut(IssueRow)) {
    let mut visit = |row| {
        look(row);
        ControlFlow::Continue(())
    };
    store.each_issue(&IssueFilter::default(), &mut visit).unwrap();
}

/// What is watched while the trouble goes on: no text ever gives way to an older one.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    newest: BTreeMap<i64, SourceTime>,
}

impl Watch {
    /// Looks at everything held now.
    pub(crate) fn look(&mut self, scene: &Scene) -> Result<(), String> {
        let mut wrong = Vec::new();
        scene.world(|github| {
            each(&scene.store, |row| wrong.extend(self.look_at(&row, github)));
        });
        wrong.extend(claims_too_much(scene));
        wrong.into_iter().next().map_or(Ok(()), Err)
    }

    fn look_at(&mut self, row: &IssueRow, github: &GitHub) -> Option<String> {
        let before = self.newest.insert(row.id, row.updated_at.clone());
        if before.as_ref().is_some_and(|before| row.updated_at < *before) {
            return Some(format!("issue {}: {before:?} gave way to {}", row.id, row.updated_at));
        }
        let history = github.world().history_of_issue(row.id);
        let was_said = history.iter().any(|(_, version)| {
            version.updated_at == row.updated_at.as_str() && version.body == row.body
        });
        (!was_said).then(|| format!("issue {} holds what nobody said: {:?}", row.id, row.body))
    }
}

/// Whether a lane claims to hold what it does not: within [from, through − overlap] every issue must be
/// there in its present version, unless it was deleted.
fn claims_too_much(scene: &Scene) -> Option<String> {
    let truth = scene.world(|github| github.world().truth());
    let mut held: BTreeMap<i64, String> = BTreeMap::new();
    each(&scene.store, |row| drop(held.insert(row.id, row.updated_at.into())));
    let waiting: Vec<String> =
        scene.store.quarantined().unwrap().into_iter().map(|held| held.lane).collect();
    for (lane, state, _) in scene.store.lanes().unwrap() {
        let (Surface::Issues, Scope::Repository(repository)) = (lane.surface, &lane.scope) else {
            continue;
        };
        let (Some(from), Some(through)) = (state.coverage.from, state.coverage.through) else {
            continue;
        };
        let claimed = |at: Mark| !from.is_above(at) && at < through.minus(OVERLAP_MS);
        let issues = truth.issues.values().filter(|issue| issue.repository_id == *repository);
        for issue in issues {
            let at = SourceTime::parse(&issue.updated_at).unwrap().mark();
            let is_excused = waiting.contains(&lane.to_string());
            if !is_excused && claimed(at) && held.get(&issue.id) != Some(&issue.updated_at) {
                return Some(format!("{lane} claims {} of issue {}", issue.updated_at, issue.id));
            }
        }
    }
    None
}
