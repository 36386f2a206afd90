//! The reasons for which repositories are followed, and the uses of lanes.

use std::collections::BTreeSet;

use hw_rules::follow_reason::{FollowReason, LaneUse};
use hw_rules::item::{CommentKind, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::missing::Missing;
use hw_rules::repository_key::RepositoryKey;
use hw_store::{DatabaseLocation, IngestPage, LeasedStore, StoreReader, StoreWriter};

use crate::fixture::{
    HOST, PUMP_ID, UNDO_EVENTS, UNDO_REASONS, comment, execute_raw, finish_chores, issue,
    issue_bodies, issue_lane, issues_page, lane_for_kind, observed_at, open_store,
    organization_lane, pump_repository, query_raw, repositories_page, repository, threads_page,
};

both![
    follows_name_the_mirror_for_each_listed_repository,
    follows_of_an_older_version_name_the_mirror,
    follows_keep_the_texts_of_a_repository_until_no_reason_is_left,
    follows_keep_a_repository_whose_source_is_removed,
    follows_keep_a_linked_repository_when_the_mirror_lets_it_go,
    follows_list_a_repository_again_when_the_mirror_does,
    follows_beyond_the_mirror_are_those_of_the_same_host,
    lane_uses_of_a_watch_do_not_count_as_pulled,
    lane_uses_of_the_mirror_begin_with_its_first_check,
];

const COMMENTS: Surface = Surface::Comments(CommentKind::Conversation);
const LATER: i64 = 1_000;

fn follows_name_the_mirror_for_each_listed_repository(location: &DatabaseLocation) {
    let store = open_store(location);
    let pipe = repository(2, "pipe", 0);
    store.ingest_page(&repositories_page(vec![pump_repository("pump", 0), pipe])).unwrap();
    assert_eq!(stored_reasons(location), ["1 mirror", "2 mirror"]);
    let gone = [(2, observed_at(LATER))];
    assert_eq!(store.remove_repositories(&organization_lane(), &gone, false).unwrap().removed, 1);
    assert_eq!(stored_reasons(location), ["1 mirror"]);
}

fn follows_of_an_older_version_name_the_mirror(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    store.release_duty().unwrap();
    drop(store);
    execute_raw(location, UNDO_EVENTS);
    execute_raw(location, UNDO_REASONS);
    let store = StoreWriter::open(location).unwrap();
    assert_eq!(stored_reasons(location), ["1 mirror"]);
    assert_eq!(store.lanes_used_by(LaneUse::Mirror).unwrap(), store.lanes().unwrap());
    assert_eq!(store.repositories(HOST).unwrap().len(), 1);
}

fn follows_keep_the_texts_of_a_repository_until_no_reason_is_left(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    watch_pump(location);
    let gone = [(PUMP_ID, observed_at(LATER))];
    assert_eq!(store.remove_repositories(&organization_lane(), &gone, false).unwrap().removed, 1);
    finish_chores(&store);
    assert_eq!(store.repositories(HOST).unwrap(), [], "it is no longer mirrored");
    assert_eq!(issue_bodies(&store), ["body leaks"]);
    assert_eq!(stored_reasons(location), ["1 watch"]);
    assert_eq!(store.remove_unfollowed(HOST).unwrap().removed, 0, "it is watched");
    execute_raw(location, "delete from follows");
    assert_eq!(store.remove_unfollowed(HOST).unwrap().removed, 1);
    finish_chores(&store);
    assert!(issue_bodies(&store).is_empty());
    assert_eq!(store.object_counts().unwrap().repositories, 0);
}

fn follows_keep_a_repository_whose_source_is_removed(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    let pump = RepositoryKey::new(HOST, PUMP_ID);
    assert!(!store.release_repository(&pump).unwrap(), "only the mirror follows it");
    assert_eq!(store.repositories(HOST).unwrap().len(), 1);
    watch_pump(location);
    assert!(store.release_repository(&pump).unwrap());
    assert_eq!(store.repositories(HOST).unwrap(), []);
    assert_eq!(issue_bodies(&store), ["body leaks"]);
}

fn follows_keep_a_linked_repository_when_the_mirror_lets_it_go(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    let (pump, lane) = (RepositoryKey::new(HOST, PUMP_ID), issue_lane());
    store.follow_repository(&pump, FollowReason::Links).unwrap();
    store.follow_lanes(&[&lane], LaneUse::Links).unwrap();
    let reasons = BTreeSet::from([FollowReason::Mirror, FollowReason::Links]);
    assert_eq!(store.follow_reasons(&pump).unwrap(), reasons);
    let gone = [(PUMP_ID, observed_at(LATER))];
    store.remove_repositories(&organization_lane(), &gone, false).unwrap();
    assert_eq!(store.remove_unfollowed(HOST).unwrap().removed, 0, "it is linked");
    finish_chores(&store);
    assert_eq!(store.follow_reasons(&pump).unwrap(), BTreeSet::from([FollowReason::Links]));
    assert!(is_used(&store, &lane, LaneUse::Links) && !is_used(&store, &lane, LaneUse::Mirror));
    assert_eq!(store.repositories(HOST).unwrap(), [], "it is no longer mirrored");
    assert_eq!(issue_bodies(&store), ["body leaks"]);
}

fn follows_list_a_repository_again_when_the_mirror_does(location: &DatabaseLocation) {
    let store = open_store(location);
    watch_pump(location);
    let gone = [(PUMP_ID, observed_at(LATER))];
    store.remove_repositories(&organization_lane(), &gone, false).unwrap();
    store.ingest_page(&repositories_page(vec![pump_repository("pump", 0)])).unwrap();
    assert_eq!(store.repositories(HOST).unwrap().len(), 1, "although nothing of it changed");
    assert_eq!(stored_reasons(location), ["1 mirror", "1 watch"]);
}

fn follows_beyond_the_mirror_are_those_of_the_same_host(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    let is_followed = |host| store.is_followed_beyond_mirror(host).unwrap();
    assert!(!is_followed(HOST), "only the mirror follows it");
    watch_pump(location);
    assert_eq!([HOST, "elsewhere"].map(is_followed), [true, false]);
    execute_raw(location, "delete from follows where reason <> 'mirror'");
    assert!(!is_followed(HOST));
    let watch = LaneUse::Watch.name();
    execute_raw(location, &format!("insert into lane_uses select id, '{watch}' from lanes"));
    assert_eq!([HOST, "elsewhere"].map(is_followed), [true, false]);
}

/// A watch reads the comments of one repository; the mirror pulls none.
fn lane_uses_of_a_watch_do_not_count_as_pulled(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&repositories_page(vec![repository(2, "pipe", 0)])).unwrap();
    let issues = Surface::Threads(ThreadKind::Issue);
    store
        .follow_lanes(
            &[&issue_lane(), &Lane::for_repository(RepositoryKey::new(HOST, 2), issues)],
            LaneUse::Mirror,
        )
        .unwrap();
    let drips = comment(CommentKind::Conversation, 5, 3, 10, "drips");
    store.ingest_page(&threads_page(CommentKind::Conversation, vec![drips])).unwrap();
    assert_eq!(unread_comments(&store), 1, "the mirror began to pull comments");
    hand_comments_to_a_watch(location);
    assert_eq!(unread_comments(&store), 0);
    let missing = store.completeness(&[COMMENTS], None).unwrap().missing;
    assert!(missing.contains(&Missing::NeverPulledComments), "{missing:?}");
}

fn lane_uses_of_the_mirror_begin_with_its_first_check(location: &DatabaseLocation) {
    let store = open_store(location);
    let lane = lane_for_kind(CommentKind::Conversation);
    store.follow_lanes(&[&lane], LaneUse::Mirror).unwrap();
    // the end of a turn says nothing: a watch reads its lanes in turns, too
    let checks: [fn(&LeasedStore, &Lane); 2] = [
        |store, lane| store.follow_lanes(&[lane], LaneUse::Mirror).unwrap(),
        |store, lane| {
            let checked_lanes = vec![(lane.clone(), 1_000)];
            let page = IngestPage { checked_lanes, ..IngestPage::new(organization_lane(), 100) };
            store.ingest_page(&page).unwrap();
        },
    ];
    for check in checks {
        hand_comments_to_a_watch(location);
        assert!(!is_mirrored(&store, &lane));
        check(&store, &lane);
        assert!(is_mirrored(&store, &lane));
    }
}

/// Leaves the lanes of comments to a watch.
fn hand_comments_to_a_watch(location: &DatabaseLocation) {
    let (watch, surface) = (LaneUse::Watch.name(), COMMENTS.name());
    execute_raw(
        location,
        &format!(
            "delete from lane_uses where use = '{watch}';
             update lane_uses set use = '{watch}'
              where lane_id in (select id from lanes where surface = '{surface}')"
        ),
    );
}

fn is_mirrored(store: &StoreReader, lane: &Lane) -> bool {
    is_used(store, lane, LaneUse::Mirror)
}

fn is_used(store: &StoreReader, lane: &Lane, lane_use: LaneUse) -> bool {
    store.lanes_used_by(lane_use).unwrap().iter().any(|(used, ..)| used == lane)
}

/// Returns the number of lists of comments that are reported as never pulled.
fn unread_comments(store: &StoreReader) -> usize {
    let surfaces = [Surface::Threads(ThreadKind::Issue), COMMENTS];
    let missing = store.completeness(&surfaces, None).unwrap().missing;
    missing.iter().filter(|missing| matches!(missing, Missing::NeverPulledLanes(_))).count()
}

fn watch_pump(location: &DatabaseLocation) {
    let reason = FollowReason::Watch.name();
    let sql = format!("insert into follows values ('{HOST}', {PUMP_ID}, '{reason}')");
    execute_raw(location, &sql);
}

/// Returns the id of each followed repository with a reason.
fn stored_reasons(location: &DatabaseLocation) -> Vec<String> {
    let columns = "cast(repository_id as text) || ' ' || reason";
    query_raw(location, &format!("select {columns} from follows order by 1")).concat()
}
