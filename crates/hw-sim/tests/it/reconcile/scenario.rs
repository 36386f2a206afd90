//! One scenario with every change that can happen between two pulls, and the expected state after it.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{self, ObjectId, ObjectKind};
use hw_sim::{GroundTruth, ThreadKind, TrueThread};

use super::{LISTS_SETTLE_MS, delete_issue, is_stored};
use crate::harness::shortcuts::USUAL_PULL;
use crate::harness::{HOST, SimFixture, stored_rows};

/// The items that the scenario changes.
pub(super) struct ReconcileScenario {
    /// Five issues that are deleted.
    spam: Vec<i64>,
    spam_repository: i64,
    /// An issue that is transferred to another repository.
    transferred: i64,
    destination: i64,
    /// An issue that becomes a discussion.
    converted: i64,
    /// An issue that appears in lists ten minutes late.
    late: i64,
    renamed: i64,
    pub(super) archived: i64,
    pub(super) deleted: i64,
    /// The number of lanes that change: one of the spam, two of the transfer, two of the conversion.
    moved_lanes: u64,
}

impl ReconcileScenario {
    /// Chooses the items and pulls for the first time, before the late issue is listed.
    pub(super) async fn pull_first(fixture: &SimFixture) -> Self {
        let truth = fixture.with_github(|github| github.world().truth());
        let ids: Vec<i64> = truth.repositories.keys().copied().collect();
        let [spam_repository, origin, destination, discussed, renamed, archived, deleted] = ids[..]
        else {
            panic!("seven repositories, not {}", ids.len())
        };
        let (spam, transferred) = (
            unmentioned_issues(&truth, spam_repository, 5),
            unmentioned_issues(&truth, origin, 1)[0],
        );
        let converted = unmentioned_issues(&truth, discussed, 1)[0];
        let start = fixture.world_now_ms();
        let late = fixture.with_github(|github| {
            let world = github.world_mut();
            let late = world.create_issue(destination, "axolotl", "about the axolotl", start);
            world.delay_listing(ThreadKind::Issue, late, start + 600_000);
            late
        });
        let names = spam.iter().map(|id| (*id, "narwhal"));
        for (id, name) in names.chain([(transferred, "zebrafish"), (converted, "quokka")]) {
            fixture
                .with_github(|github| github.world_mut().edit_issue(id, Some(name), None, start));
        }
        fixture.clock.advance_by(120_000).await;
        // more than a page of changes, so that the late issue is on no page that a plain pull reads
        let others: Vec<i64> = truth
            .threads_of_kind(ThreadKind::Issue)
            .filter(|issue| issue.repository_id == destination)
            .map(|issue| issue.id)
            .collect();
        edit_all_and_later_one(fixture, &others).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        assert!(!is_stored(fixture, late), "no list shows it yet");
        Self {
            spam,
            spam_repository,
            transferred,
            destination,
            converted,
            late,
            renamed,
            archived,
            deleted,
            moved_lanes: 5,
        }
    }

    /// Makes all changes, and waits until the late issue is listed.
    pub(super) async fn make_changes(&self, fixture: &SimFixture) {
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
        self.spam.iter().for_each(|id| delete_issue(fixture, *id));
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            let world = github.world_mut();
            world.transfer_issue(self.transferred, self.destination, now);
            world.convert_to_discussion(self.converted, now);
            world.rename_repository(self.renamed, "walrus", now);
            world.archive_repository(self.archived, now);
            world.delete_repository(self.deleted, now);
        });
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
    }

    /// Deletes one more issue and creates another, so that the list keeps its length.
    pub(super) async fn make_unlisted_changes(&self, fixture: &SimFixture) {
        let truth = fixture.with_github(|github| github.world().truth());
        let gone = unmentioned_issues(&truth, self.spam_repository, 1)[0];
        delete_issue(fixture, gone);
        let now = fixture.world_now_ms();
        fixture.with_github(|github| {
            github.world_mut().create_issue(self.spam_repository, "new", "b", now)
        });
        fixture.clock.advance_by(LISTS_SETTLE_MS).await;
    }

    /// Checks the stored state of each changed item.
    pub(super) fn check_store(&self, fixture: &SimFixture) {
        for id in self.spam.iter().chain([&self.transferred, &self.converted]) {
            let cell = fixture
                .store
                .cell(HOST, ObjectId { kind: ObjectKind::Thread(item::ThreadKind::Issue), id: *id })
                .unwrap();
            assert!(!cell.is_present() && cell.tombstone.is_some(), "issue {id} has a tombstone");
        }
        let truth = fixture.with_github(|github| github.world().truth());
        let moved = thread_titled(&truth, ThreadKind::Issue, "zebrafish");
        let discussion = thread_titled(&truth, ThreadKind::Discussion, "quokka");
        assert_eq!(hit_keys(fixture, "narwhal"), []);
        assert_eq!(
            hit_keys(fixture, "zebrafish"),
            [(ObjectKind::Thread(item::ThreadKind::Issue), moved.id)]
        );
        assert_eq!(
            hit_keys(fixture, "quokka"),
            [(ObjectKind::Thread(item::ThreadKind::Discussion), discussion.id)]
        );
        assert_eq!(
            hit_keys(fixture, "axolotl"),
            [(ObjectKind::Thread(item::ThreadKind::Issue), self.late)]
        );
        let rows = stored_rows(&fixture.store);
        let row =
            rows.iter().find(|row| row.id == moved.id && row.kind() == item::ThreadKind::Issue);
        assert_eq!(row.unwrap().repository_id, self.destination);
        assert_eq!(moved.repository_id, self.destination);
        let repositories = fixture.store.repositories(HOST).unwrap();
        let names: BTreeMap<i64, &str> =
            repositories.iter().map(|repository| (repository.id, &*repository.name)).collect();
        assert_eq!((repositories.len(), names.len()), (5, 5));
        assert_eq!(names[&self.renamed], "walrus");
        assert!(!names.contains_key(&self.archived) && !names.contains_key(&self.deleted));
    }

    /// Counts the listing, the pages of ids, a lookup for the suspects of three lanes, one for two repositories, one
    /// for the late issue, a lookup of the closing references of all open pull requests, and a first page for each lane
    /// that changed. An empty lane still has one page.
    pub(super) fn max_requests(&self, fixture: &SimFixture) -> u64 {
        let truth = fixture.with_github(|github| github.world().truth());
        let page = u64::from(fixture.largest_page);
        let mut counts: BTreeMap<(i64, ThreadKind), u64> = BTreeMap::new();
        for repository in truth.repositories.values().filter(|repository| !repository.is_archived) {
            counts.extend(ThreadKind::ALL.map(|kind| ((repository.id, kind), 0)));
        }
        for thread in truth.threads.values() {
            *counts.entry((thread.repository_id, thread.kind)).or_default() += 1;
        }
        let inventories: u64 = counts.values().map(|count| count.div_ceil(page).max(1)).sum();
        let repositories = truth.repositories.len() as u64;
        let listing = repositories.div_ceil(page.min(33));
        let issue_lookups = 3;
        let (repository_lookups, late_issue_lookups) = (1, 1);
        let pulls = truth.threads_of_kind(ThreadKind::PullRequest);
        let open_pulls = pulls.filter(|pull| pull.state == "OPEN").count() as u64;
        let closing_references = open_pulls.div_ceil(page);
        listing
            + inventories
            + issue_lookups
            + repository_lookups
            + late_issue_lookups
            + closing_references
            + self.moved_lanes
    }
}

/// Returns issues that no pull request names: deleting a named one changes no time of the pull request.
fn unmentioned_issues(truth: &GroundTruth, repository: i64, count: usize) -> Vec<i64> {
    let mentioned: BTreeSet<i64> = truth
        .threads_of_kind(ThreadKind::PullRequest)
        .filter(|thread| thread.repository_id == repository)
        .filter_map(|thread| thread.pull_request.as_ref())
        .flat_map(|pull| pull.mentioned_issues.clone())
        .collect();
    let unmentioned: Vec<i64> = truth
        .threads_of_kind(ThreadKind::Issue)
        .filter(|issue| issue.repository_id == repository && !mentioned.contains(&issue.number))
        .map(|issue| issue.id)
        .take(count)
        .collect();
    assert_eq!(unmentioned.len(), count, "too few issues that no pull request names");
    unmentioned
}

fn thread_titled<'a>(truth: &'a GroundTruth, kind: ThreadKind, title: &str) -> &'a TrueThread {
    truth.threads_of_kind(kind).find(|thread| thread.title == title).unwrap()
}

fn hit_keys(fixture: &SimFixture, query: &str) -> Vec<(ObjectKind, i64)> {
    super::search_hits(&fixture.store, query).into_iter().map(|hit| (hit.kind, hit.id)).collect()
}

/// Edits these issues, and later the first of them again: a short page then reaches below the watermark.
pub(super) async fn edit_all_and_later_one(fixture: &SimFixture, ids: &[i64]) {
    for ids in [ids, &ids[..1]] {
        let now = fixture.world_now_ms();
        for id in ids {
            fixture.with_github(|github| {
                github.world_mut().edit_issue(*id, None, Some("edited"), now);
            });
        }
        fixture.clock.advance_by(100_000).await;
    }
}
