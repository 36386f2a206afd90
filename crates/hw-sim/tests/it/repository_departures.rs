//! Repositories that are deleted, hidden, archived, restored or renamed.

use std::collections::BTreeMap;

use hw_rules::lane::PullItem;
use hw_sim::{ApiFault, WorldSpec};
use hw_sync::PullSummary;

use crate::harness::shortcuts::{USUAL_PULL, crash_at, first_repository_id, one_repository};
use crate::harness::{CheckLevel, HOST, SimFixture, TestPull, check_mirror, on_virtual_time};

#[test]
fn repository_that_is_deleted_is_removed_by_the_next_pull() {
    check_leaving(|fixture, id| {
        fixture
            .with_github(|github| github.world_mut().delete_repository(id, fixture.world_now_ms()));
    });
}

#[test]
fn repository_that_is_archived_or_hidden_is_removed_by_the_next_pull() {
    check_leaving(|fixture, id| {
        fixture.with_github(|github| {
            github.world_mut().archive_repository(id, fixture.world_now_ms());
        });
    });
    check_leaving(|fixture, id| {
        fixture
            .with_github(|github| github.world_mut().hide_repository(id, fixture.world_now_ms()));
    });
}

/// Makes a repository unavailable: the next pull removes it with all its items, and a later one restores it
/// completely.
fn check_leaving(leave: impl Fn(&SimFixture, i64)) {
    let fixture = SimFixture::new(&world_spec(), 1);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let (before, id) = (fixture.store.object_counts().unwrap(), repository_ids(&fixture)[1]);
        leave(&fixture, id);
        fixture.clock.advance_by(300_000).await;
        let pulled = fixture.pull(&USUAL_PULL).await.unwrap();
        assert_eq!(pulled.failures, []);
        assert_eq!(pulled.items[&PullItem::Repositories].removed, 1);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(fixture.store.object_counts().unwrap().issues, before.issues - 12);

        fixture.with_github(|github| {
            let now = fixture.world_now_ms();
            github.world_mut().show_repository(id, now);
            github.world_mut().unarchive_repository(id, now);
        });
        fixture.clock.advance_by(300_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn repository_deleted_while_it_is_read_is_removed_by_the_same_pull() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 2) };
    on_virtual_time(async {
        let gone = repository_ids(&fixture)[0];
        let mut pull = std::pin::pin!(fixture.pull(&USUAL_PULL));
        assert!(!fixture.poll_until_requests(&mut pull, 2).await, "its pages are still to come");
        let now = fixture.world_now_ms();
        fixture.with_github(|github| github.world_mut().delete_repository(gone, now));
        let pulled = pull.await.unwrap();
        assert_eq!(pulled.failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(fixture.store.repositories(HOST).unwrap().len(), 4);
    });
}

#[test]
fn repository_not_found_once_keeps_its_data() {
    let mut fired = 0;
    for after in 1..12 {
        let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 3) };
        on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            let before = fixture.store.object_counts().unwrap();
            for id in fixture
                .with_github(|github| github.world().truth().thread_ids(hw_sim::ThreadKind::Issue))
            {
                let now = fixture.world_now_ms();
                fixture.with_github(|github| {
                    github.world_mut().edit_issue(id, None, Some("edited"), now);
                });
            }
            fixture.clock.advance_by(300_000).await;
            let asked = fixture.with_github(|github| github.request_log().total);
            let mut pull = std::pin::pin!(fixture.pull(&USUAL_PULL));
            if fixture.poll_until_requests(&mut pull, asked + after).await {
                return;
            }
            fixture.with_github(|github| github.arm_fault(ApiFault::NotFoundOnce, 1));
            let pulled = pull.await.unwrap();
            assert_eq!(removed_count(&pulled), 0, "after {after}");
            assert_eq!(fixture.store.object_counts().unwrap(), before, "after {after}");
            assert_eq!(pulled.failures, [], "after {after}: read when it was found again");
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            fired += fixture.with_github(|github| {
                github.fired_faults().get(&ApiFault::NotFoundOnce).copied().unwrap_or(0)
            });
        });
    }
    assert!(fired > 3, "{fired} faults fired");
}

#[test]
fn repository_brake_stops_removal_when_all_are_not_found() {
    let fixture = SimFixture::new(&world_spec(), 4);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let before = fixture.store.object_counts().unwrap();
        for id in fixture
            .with_github(|github| github.world().truth().thread_ids(hw_sim::ThreadKind::Issue))
        {
            let now = fixture.world_now_ms();
            fixture
                .with_github(|github| github.world_mut().edit_issue(id, None, Some("edited"), now));
        }
        fixture.clock.advance_by(300_000).await;
        fixture.with_github(|github| github.set_nodes_hidden(true));
        let braked = fixture.pull(&USUAL_PULL).await.unwrap();
        let is_braked =
            braked.failures.iter().any(|failure| failure.message.contains("5 of 5 repositories"));
        assert!(is_braked, "{:?}", braked.failures);
        assert_eq!(fixture.store.object_counts().unwrap(), before);
        fixture.with_github(|github| github.set_nodes_hidden(false));
        fixture.clock.advance_by(300_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn repository_without_siblings_is_removed_only_when_allowed() {
    let fixture = SimFixture::new(&one_repository(9), 9);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let (id, now) = (first_repository_id(&fixture), fixture.world_now_ms());
        fixture.with_github(|github| github.world_mut().delete_repository(id, now));
        fixture.clock.advance_by(300_000).await;
        let unconfirmed = fixture.pull(&USUAL_PULL).await.unwrap();
        assert!(
            unconfirmed.failures[0].message.contains("GitHub did not confirm"),
            "{unconfirmed:?}"
        );
        assert!(unconfirmed.failures[0].message.ends_with(&unconfirmed.failures[0].items.names[0]));
        assert_eq!(fixture.store.object_counts().unwrap().issues, 9);
        fixture.pull(&TestPull { allow_mass_removal: true, ..USUAL_PULL }).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn repository_brake_stops_two_removals_until_allowed() {
    let fixture = SimFixture::new(&world_spec(), 5);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let before = fixture.store.object_counts().unwrap();
        for id in &repository_ids(&fixture)[1..3] {
            fixture.with_github(|github| {
                github.world_mut().delete_repository(*id, fixture.world_now_ms());
            });
        }
        fixture.clock.advance_by(300_000).await;
        let braked = fixture.pull(&USUAL_PULL).await.unwrap();
        assert!(braked.failures[0].message.contains("2 of 5 repositories"), "{braked:?}");
        assert_eq!(fixture.store.object_counts().unwrap(), before);
        let allowed = TestPull { allow_mass_removal: true, ..USUAL_PULL };
        assert_eq!(removed_count(&fixture.pull(&allowed).await.unwrap()), 2);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn repository_removal_survives_a_crash() {
    for point in ["gone: looked again", "remove repositories: before commit"] {
        let fixture = SimFixture::new(&world_spec(), 6);
        on_virtual_time(async {
            fixture.pull(&USUAL_PULL).await.unwrap();
            let (id, now) = (repository_ids(&fixture)[1], fixture.world_now_ms());
            fixture.with_github(|github| github.world_mut().delete_repository(id, now));
            fixture.clock.advance_by(300_000).await;
            let crash = TestPull { crash_hook: Some(crash_at(point, 1)), ..USUAL_PULL };
            fixture.pull(&crash).await.unwrap_err();
            fixture.clock.advance_by(10_000).await;
            fixture.pull(&USUAL_PULL).await.unwrap();
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
        });
    }
}

#[test]
fn repository_name_taken_over_by_another_mixes_nothing() {
    let fixture = SimFixture { largest_page: 5, ..SimFixture::new(&world_spec(), 7) };
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        let (old, now) = (repository_ids(&fixture)[0], fixture.world_now_ms());
        let name =
            fixture.with_github(|github| github.world().truth().repositories[&old].name.clone());
        let new = fixture.with_github(|github| {
            let world = github.world_mut();
            world.rename_repository(old, "moved-away", now);
            let new = world.create_repository(&name, now + 1_000);
            for n in 0..7 {
                world.create_issue(new, &format!("of the new one {n}"), "b", now + 2_000);
            }
            new
        });
        fixture.clock.advance_by(300_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let stored = fixture.store.repositories(HOST).unwrap();
        let names: BTreeMap<i64, String> =
            stored.into_iter().map(|repository| (repository.id, repository.name)).collect();
        assert_eq!((&*names[&old], &names[&new]), ("moved-away", &name));
    });
}

#[test]
fn first_page_that_failed_among_others_is_read_alone() {
    let spec = WorldSpec { repositories: 4, issues: 5, ..WorldSpec::small() };
    let fixture = SimFixture::new(&spec, 9);
    on_virtual_time(async {
        let ids: Vec<i64> = fixture
            .with_github(|github| github.world().truth().repositories.keys().copied().collect());
        let mut pull = std::pin::pin!(fixture.pull(&USUAL_PULL));
        assert!(
            !fixture.poll_until_requests(&mut pull, 1).await,
            "the first pages are still to come"
        );
        fixture.with_github(|github| {
            github.world_mut().hide_repository(ids[1], fixture.world_now_ms());
        });
        assert!(!fixture.poll_until_requests(&mut pull, 2).await, "they share a request");
        fixture.with_github(|github| {
            github.world_mut().show_repository(ids[1], fixture.world_now_ms());
        });
        assert_eq!(pull.await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn repository_that_fails_does_not_stop_the_others() {
    let fixture = SimFixture::new(&world_spec(), 8);
    on_virtual_time(async {
        let bad = repository_ids(&fixture)[2];
        let (store, client) = fixture.open_process(None);
        let broken =
            fixture.with_github(|github| github.world().truth().repositories[&bad].node_id.clone());
        fixture.with_github(|github| github.set_broken_node(Some(&broken)));
        let pulled = hw_sync::pull::run_pull(&store, &client, &fixture.build_pull(&USUAL_PULL))
            .await
            .unwrap();
        assert!(!pulled.failures.is_empty(), "the repository is named");
        let name =
            fixture.with_github(|github| github.world().truth().repositories[&bad].name.clone());
        assert!(pulled.failures.iter().all(|failure| failure.scope.contains(&name)), "{pulled:?}");
        let stored = fixture.store.object_counts().unwrap();
        assert_eq!((stored.repositories, stored.issues), (5, 4 * 12), "the others are complete");
        fixture.with_github(|github| github.set_broken_node(None));
        fixture.clock.advance_by(3_600_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
    });
}

fn removed_count(summary: &PullSummary) -> u64 {
    summary.total_tally().removed
}

fn repository_ids(fixture: &SimFixture) -> Vec<i64> {
    fixture.with_github(|github| github.world().truth().repositories.keys().copied().collect())
}

fn world_spec() -> WorldSpec {
    WorldSpec {
        repositories: 5,
        issues: 12,
        pull_requests: 6,
        discussions: 3,
        no_archives_or_forks: true,
        ..WorldSpec::small()
    }
}
