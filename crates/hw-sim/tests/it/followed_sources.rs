//! Sources: organizations, users and single repositories that share a workspace.

use hw_rules::followed_source::FollowedSource;
use hw_sim::{OwnerKind, OwnerSpec, WorldSpec};
use hw_sync::remove_source::{SourceRemoval, remove_source};

use crate::harness::shortcuts::{FULL_PULL, SWEEP_PULL, USUAL_PULL};
use crate::harness::{
    CheckLevel, HOST, SimFixture, TestPull, check_comments, check_mirror, on_virtual_time,
};

#[test]
fn sources_of_all_kinds_share_a_workspace() {
    let fixture = SimFixture::new(&world_spec(), 1).with_sources(&["carol", "bob/pump"]);
    on_virtual_time(async {
        assert_eq!(fixture.pull(&FULL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(stored_names(&fixture), ["acme/gauge", "acme/pump", "bob/pump", "carol/pump"]);
        // a pull that names nothing reads what is followed
        let alone = SimFixture { sources: Vec::new(), ..fixture };
        let summary = alone.pull(&USUAL_PULL).await.unwrap();
        assert_eq!(summary.sources, ["acme", "bob/pump", "carol"]);
    });
}

#[test]
fn unchanged_single_repository_costs_one_request() {
    let fixture = followed_alone("bob/pump");
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        fixture.clock.advance_by(600_000).await;
        fixture.pull(&USUAL_PULL).await.unwrap();
        let before = fixture.with_github(|github| github.request_log().total);
        fixture.pull(&USUAL_PULL).await.unwrap();
        let requests = fixture.with_github(|github| github.request_log().total) - before;
        assert_eq!(requests, 1);
    });
}

#[test]
fn single_repository_is_followed_through_renames_transfers_and_archiving() {
    let fixture = followed_alone("bob/pump");
    let id = *fixture.single_ids.first().unwrap();
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.with_github(|github| {
            let world = github.world_mut();
            let now = fixture.world_now_ms();
            world.rename_repository(id, "piston", now);
            world.transfer_repository(id, "carol", now + 1_000);
            world.archive_repository(id, now + 2_000);
        });
        fixture.clock.advance_by(60_000).await;
        assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        assert_eq!(stored_names(&fixture), ["carol/piston"]);
    });
}

#[test]
fn single_repository_whose_name_another_one_takes_is_followed_under_its_new_name() {
    let fixture = followed_alone("acme/pump");
    let id = *fixture.single_ids.first().unwrap();
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.with_github(|github| {
            let now = fixture.world_now_ms();
            github.world_mut().rename_repository(id, "piston", now);
            github.world_mut().create_repository("pump", now + 1_000);
        });
        for _ in 0..2 {
            fixture.clock.advance_by(60_000).await;
            assert_eq!(fixture.pull(&USUAL_PULL).await.unwrap().failures, []);
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            assert_eq!(stored_names(&fixture), ["acme/piston"]);
        }
    });
}

#[test]
fn source_that_does_not_exist_stops_no_other_and_is_not_followed() {
    for unknown in ["nobody", "bob/nothing"] {
        let mut fixture = SimFixture::new(&world_spec(), 4);
        fixture.sources.push(FollowedSource::from_stored(unknown));
        on_virtual_time(async {
            let summary = fixture.pull(&USUAL_PULL).await.unwrap();
            let failed: Vec<&str> =
                summary.failures.iter().map(|failure| failure.scope.as_str()).collect();
            assert_eq!(failed, [unknown]);
            check_mirror(&fixture, CheckLevel::Everything).unwrap();
            let followed = fixture.store.sources().unwrap();
            assert_eq!(followed.len(), 1, "{followed:?}");
        });
    }
}

#[test]
fn owner_that_cannot_be_listed_loses_nothing() {
    let fixture = SimFixture::new(&world_spec(), 5).with_sources(&["carol"]);
    on_virtual_time(async {
        fixture.pull(&USUAL_PULL).await.unwrap();
        fixture.with_github(|github| github.world_mut().hide_owner("carol"));
        fixture.clock.advance_by(60_000).await;
        let summary = fixture.pull(&SWEEP_PULL).await.unwrap();
        assert_eq!(summary.failures.len(), 1, "{:?}", summary.failures);
        assert_eq!(summary.failures[0].scope, "carol");
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let failed = fixture.store.failed_pulls().unwrap();
        let failed: Vec<&str> = failed.iter().map(|failed| failed.source.as_str()).collect();
        assert_eq!(failed, ["carol"], "answers say what may be missing");
    });
}

#[test]
fn removed_source_takes_along_only_what_no_other_source_follows() {
    let fixture = SimFixture::new(&world_spec(), 6).with_sources(&["carol", "acme/pump"]);
    on_virtual_time(async {
        fixture.pull(&FULL_PULL).await.unwrap();
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        let acme = FollowedSource::from_stored("acme");
        let removal = remove_source(
            &fixture.store,
            &*fixture.clock,
            &fixture.next_worker("test"),
            HOST,
            &acme,
        )
        .await;
        assert_eq!(removal.unwrap(), SourceRemoval::Removed { repositories: 1 });
        assert_eq!(stored_names(&fixture), ["acme/pump", "carol/pump"]);
        let again = remove_source(
            &fixture.store,
            &*fixture.clock,
            &fixture.next_worker("test"),
            HOST,
            &acme,
        )
        .await;
        assert_eq!(again.unwrap(), SourceRemoval::NotFollowed);
        let sources = fixture.sources.iter().filter(|source| **source != acme).cloned().collect();
        let fixture = SimFixture { sources, ..fixture };
        let full = TestPull { reconcile: true, ..FULL_PULL };
        assert_eq!(fixture.pull(&full).await.unwrap().failures, []);
        check_mirror(&fixture, CheckLevel::Everything).unwrap();
        check_comments(&fixture, CheckLevel::Everything).unwrap();
    });
}

/// Returns a world in which this repository is the only source.
fn followed_alone(name: &str) -> SimFixture {
    let mut fixture = SimFixture::new(&world_spec(), 2).with_sources(&[name]);
    fixture.sources.remove(0);
    fixture
}

fn stored_names(fixture: &SimFixture) -> Vec<String> {
    let stored = fixture.store.repositories(HOST).unwrap();
    let mut names: Vec<String> =
        stored.iter().map(|stored| format!("{}/{}", stored.owner, stored.name)).collect();
    names.sort_unstable();
    names
}

fn world_spec() -> WorldSpec {
    WorldSpec {
        other_owners: vec![
            OwnerSpec { login: "carol".to_owned(), kind: OwnerKind::User, repositories: 1 },
            OwnerSpec { login: "bob".to_owned(), kind: OwnerKind::User, repositories: 1 },
        ],
        ..WorldSpec::small()
    }
}
