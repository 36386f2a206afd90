//! Tests of two hosts with the same repository ids in one workspace.

use hw_rules::item::{CommentKind, ItemObservation, MirrorItem, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::login::Login;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::thread_address::ThreadAddress;
use hw_store::{
    CommentFilter, DatabaseLocation, IngestPage, LeasedStore, StoreReader, ThreadFilter,
};

use crate::fixture::{
    PUMP_ID, as_thread_mut, comment, issue, issues_page, open_store, repository, search_ids,
    stored_threads, threads_page,
};

const OTHER_HOST: &str = "ghe.example.com";

both![
    hosts_with_the_same_repository_id_are_kept_apart_in_lists,
    hosts_with_the_same_repository_id_are_kept_apart_in_search,
    hosts_with_the_same_thread_name_are_all_named,
    owner_filter_narrows_lists,
];

fn hosts_with_the_same_repository_id_are_kept_apart_in_lists(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_two_hosts(&store);
    for (owner, expected) in [("acme", 5), ("Other", 6)] {
        let repository = Some(format!("{owner}/pump"));
        let filter = ThreadFilter { repository: repository.clone(), ..ThreadFilter::default() };
        let ids: Vec<i64> = stored_threads(&store, ThreadKind::Issue, &filter)
            .iter()
            .map(|row| row.thread.id)
            .collect();
        assert_eq!(ids, [expected], "{owner}");
        let filter = CommentFilter { repository, ..CommentFilter::default() };
        assert_eq!(comment_ids(&store, &filter), [expected * 10], "{owner}");
    }
    let both = ThreadFilter { repository: Some("pump".into()), ..ThreadFilter::default() };
    assert_eq!(stored_threads(&store, ThreadKind::Issue, &both).len(), 2);
}

fn hosts_with_the_same_repository_id_are_kept_apart_in_search(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_two_hosts(&store);
    assert_eq!(search_ids(&store, "leaks repo:acme/pump"), [5]);
    assert_eq!(search_ids(&store, "leaks repo:other/pump"), [6]);
    assert_eq!(search_ids(&store, "leaks -repo:other/pump"), [5]);
    assert_eq!(search_ids(&store, "leaks repo:pump").len(), 2);
}

fn hosts_with_the_same_thread_name_are_all_named(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_two_hosts(&store);
    let mut twin = issue(5, 10, "leaks");
    as_thread_mut(&mut twin).url = format!("https://{OTHER_HOST}/other/pump/issues/5");
    store
        .ingest_page(&page_on_other_host(Surface::Threads(ThreadKind::Issue), vec![twin]))
        .unwrap();
    for (name, count) in [("pump#5", 2), ("acme/pump#5", 1), ("other/pump#5", 1), ("pump#6", 1)] {
        let urls = store.thread_urls(&ThreadAddress::parse(name).unwrap()).unwrap();
        assert_eq!(urls.len(), count, "{name}: {urls:?}");
    }
}

fn owner_filter_narrows_lists(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_two_hosts(&store);
    for (owner, expected) in [("ACME", vec![5]), ("other", vec![6]), ("nobody", vec![])] {
        let filter = ThreadFilter { owner: Some(owner.into()), ..ThreadFilter::default() };
        let rows = stored_threads(&store, ThreadKind::Issue, &filter);
        let ids: Vec<i64> = rows.iter().map(|row| row.thread.id).collect();
        assert_eq!(ids, expected, "{owner}");
        let filter = CommentFilter { owner: Some(owner.into()), ..CommentFilter::default() };
        let expected: Vec<i64> = expected.iter().map(|id| id * 10).collect();
        assert_eq!(comment_ids(&store, &filter), expected, "{owner}");
    }
}

/// Ingests `acme/pump` with issue 5, and `other/pump` on another host with the same repository id and issue 6. Each
/// issue has a comment.
fn ingest_two_hosts(store: &LeasedStore) {
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    let first_comment = comment(CommentKind::Conversation, 50, 5, 11, "drips");
    store.ingest_page(&threads_page(CommentKind::Conversation, vec![first_comment])).unwrap();
    let mut other = repository(PUMP_ID, "pump", 0);
    let MirrorItem::Repository(row) = &mut other.item else { panic!("expected a repository") };
    row.owner = "other".into();
    row.url = format!("https://{OTHER_HOST}/other/pump");
    let page = IngestPage {
        observations: vec![other],
        ..IngestPage::new(Lane::owner_repositories(OTHER_HOST, Login::from_known("other")), 100)
    };
    store.ingest_page(&page).unwrap();
    let mut other = issue(6, 12, "leaks");
    as_thread_mut(&mut other).url = format!("https://{OTHER_HOST}/other/pump/issues/6");
    store
        .ingest_page(&page_on_other_host(Surface::Threads(ThreadKind::Issue), vec![other]))
        .unwrap();
    let mut other = comment(CommentKind::Conversation, 60, 6, 13, "drips");
    let MirrorItem::Comment(row) = &mut other.item else { panic!("expected a comment") };
    row.url = format!("https://{OTHER_HOST}/other/pump/issues/6#issuecomment-60");
    store
        .ingest_page(&page_on_other_host(Surface::Comments(CommentKind::Conversation), vec![other]))
        .unwrap();
}

fn page_on_other_host(surface: Surface, observations: Vec<ItemObservation>) -> IngestPage {
    let lane = Lane::for_repository(RepositoryKey::new(OTHER_HOST, PUMP_ID), surface);
    IngestPage { observations, ..IngestPage::new(lane, 100) }
}

fn comment_ids(store: &StoreReader, filter: &CommentFilter) -> Vec<i64> {
    let mut ids = Vec::new();
    store
        .each_comment(filter, &mut |row| {
            ids.push(row.comment.id);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    ids
}
