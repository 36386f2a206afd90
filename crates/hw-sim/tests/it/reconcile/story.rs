//! Everything that can happen behind a reader's back, told as one story, and what must be true after it.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Key, Kind};
use hw_sim::{ThreadKind, Truth};

use super::{A_WHILE, delete, is_held};
use crate::harness::words::OK;
use crate::harness::{HOST, Scene, all_rows};

/// Whom it is about.
pub(super) struct Story {
    /// Five issues that are deleted, and where they were.
    spam: Vec<i64>,
    spammed: i64,
    /// An issue that goes from one repository to another.
    wanderer: i64,
    goal: i64,
    /// An issue that becomes a discussion.
    question: i64,
    /// An issue that lists are ten minutes late with.
    late: i64,
    renamed: i64,
    pub(super) archived: i64,
    pub(super) deleted: i64,
    /// The lanes at which something moves: of the spam, the wanderer's two, the question's two.
    moved: u64,
}

impl Story {
    /// Marks whom it is about, and pulls for the first time, before the late one shows.
    pub(super) async fn begin(scene: &Scene) -> Self {
        let truth = scene.world(|github| github.world().truth());
        let homes: Vec<i64> = truth.repositories.keys().copied().collect();
        let [spammed, left, goal, asked, renamed, archived, deleted] = homes[..] else {
            panic!("seven repositories, not {}", homes.len())
        };
        let (spam, wanderer) = (unmentioned(&truth, spammed, 5), unmentioned(&truth, left, 1)[0]);
        let question = unmentioned(&truth, asked, 1)[0];
        let start = scene.now();
        let late = scene.world(|github| {
            let world = github.world_mut();
            let late = world.create_issue(goal, "axolotl", "about the axolotl", start);
            world.show_late(ThreadKind::Issue, late, start + 600_000);
            late
        });
        let names = spam.iter().map(|id| (*id, "narwhal"));
        for (id, name) in names.chain([(wanderer, "zebrafish"), (question, "quokka")]) {
            scene.world(|github| github.world_mut().edit_issue(id, Some(name), None, start));
        }
        scene.clock.pass(120_000).await;
        // more than a page of changes, so that the late one is on no page that is read anyway
        let others: Vec<i64> = truth
            .of_kind(ThreadKind::Issue)
            .filter(|it| it.repository_id == goal)
            .map(|it| it.id)
            .collect();
        edit_all_and_later_one(scene, &others).await;
        scene.pull(&OK).await.unwrap();
        assert!(!is_held(scene, late), "no list shows it yet");
        Self { spam, spammed, wanderer, goal, question, late, renamed, archived, deleted, moved: 5 }
    }

    /// Everything happens, and some time later the late one shows.
    pub(super) async fn goes_on(&self, scene: &Scene) {
        scene.clock.pass(A_WHILE).await;
        self.spam.iter().for_each(|id| delete(scene, *id));
        let now = scene.now();
        scene.world(|github| {
            let world = github.world_mut();
            world.transfer_issue(self.wanderer, self.goal, now);
            world.convert_to_discussion(self.question, now);
            world.rename_repository(self.renamed, "walrus", now);
            world.archive_repository(self.archived, now);
            world.delete_repository(self.deleted, now);
        });
        scene.clock.pass(A_WHILE).await;
    }

    /// One more goes where others went, and another comes: as many as before are listed.
    pub(super) async fn goes_on_unseen(&self, scene: &Scene) {
        let truth = scene.world(|github| github.world().truth());
        let gone = unmentioned(&truth, self.spammed, 1)[0];
        delete(scene, gone);
        let now = scene.now();
        scene.world(|github| github.world_mut().create_issue(self.spammed, "new", "b", now));
        scene.clock.pass(A_WHILE).await;
    }

    /// Each by name.
    pub(super) fn check(&self, scene: &Scene) {
        for id in self.spam.iter().chain([&self.wanderer, &self.question]) {
            let cell = scene.store.cell(HOST, Key { kind: Kind::Issue, id: *id }).unwrap();
            assert!(!cell.is_present() && cell.gone.is_some(), "issue {id} has a tombstone");
        }
        let hits = |word: &str| -> Vec<(Kind, i64)> {
            super::hits(&scene.store, word).into_iter().map(|hit| (hit.kind, hit.id)).collect()
        };
        let truth = scene.world(|github| github.world().truth());
        let named = |kind, name: &str| {
            let mut found = truth.of_kind(kind).filter(|it| it.title == name);
            let it = found.next().unwrap();
            (it.id, it.repository_id)
        };
        let (moved, home) = named(ThreadKind::Issue, "zebrafish");
        let (talk, _) = named(ThreadKind::Discussion, "quokka");
        assert_eq!(hits("narwhal"), []);
        assert_eq!(hits("zebrafish"), [(Kind::Issue, moved)]);
        assert_eq!(hits("quokka"), [(Kind::Discussion, talk)]);
        assert_eq!(hits("axolotl"), [(Kind::Issue, self.late)]);
        let rows = all_rows(&scene.store);
        let under =
            |id: i64| rows.iter().find(|it| it.id == id && it.kind() == Kind::Issue).unwrap();
        assert_eq!((under(moved).repository_id, home), (self.goal, self.goal));
        let held = scene.store.repositories(HOST).unwrap();
        let names: BTreeMap<i64, &str> = held.iter().map(|it| (it.id, &*it.name)).collect();
        assert_eq!((held.len(), names.len()), (5, 5));
        assert_eq!(names[&self.renamed], "walrus");
        assert!(!names.contains_key(&self.archived) && !names.contains_key(&self.deleted));
    }

    /// The listing, the pages of ids, a look at the suspects of three lanes and at two repositories, one for
    /// the late one, and a first page for each lane that moved. A lane that is empty still has one page.
    pub(super) fn most_requests(&self, scene: &Scene) -> u64 {
        let truth = scene.world(|github| github.world().truth());
        let page = u64::from(scene.largest_page);
        let mut counts: BTreeMap<(i64, ThreadKind), u64> = BTreeMap::new();
        for repository in truth.repositories.values().filter(|it| !it.is_archived) {
            counts.extend(ThreadKind::ALL.map(|kind| ((repository.id, kind), 0)));
        }
        for thread in truth.threads.values() {
            *counts.entry((thread.repository_id, thread.kind)).or_default() += 1;
        }
        let rolls: u64 = counts.values().map(|count| count.div_ceil(page).max(1)).sum();
        let repositories = truth.repositories.len() as u64;
        let listing = repositories.div_ceil(page.min(33));
        let looks_at_issues = 3;
        let (look_at_repositories, fetch_the_late_one) = (1, 1);
        listing + rolls + looks_at_issues + look_at_repositories + fetch_the_late_one + self.moved
    }
}

/// Issues that no pull request names: the going of one moves no time of the pull request that closes it.
fn unmentioned(truth: &Truth, repository: i64, count: usize) -> Vec<i64> {
    let is_home = |it: &&hw_sim::TrueThread| it.repository_id == repository;
    let pulls = truth.of_kind(ThreadKind::PullRequest).filter(is_home);
    let mentioned: BTreeSet<i64> =
        pulls.flat_map(|it| it.pull_request.iter().flat_map(|it| it.mentions.clone())).collect();
    let issues = truth.of_kind(ThreadKind::Issue).filter(is_home);
    let free: Vec<i64> =
        issues.filter(|it| !mentioned.contains(&it.number)).map(|it| it.id).take(count).collect();
    assert_eq!(free.len(), count, "there are issues that nobody closes");
    free
}

/// Edits these, and a while later the first of them again: a short page then reaches below what was read.
pub(super) async fn edit_all_and_later_one(scene: &Scene, ids: &[i64]) {
    for ids in [ids, &ids[..1]] {
        let now = scene.now();
        for id in ids {
            scene.world(|github| github.world_mut().edit_issue(*id, None, Some("edited"), now));
        }
        scene.clock.pass(100_000).await;
    }
}
