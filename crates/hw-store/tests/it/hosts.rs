//! Two hosts whose repository ids coincide, in one workspace.

use hw_rules::address::ThreadAddress;
use hw_rules::item::{Item, Kind, Observation};
use hw_rules::lane::{Lane, Surface};
use hw_store::{CommentFilter, IngestPage, Lease, Place, Store, ThreadFilter};

use crate::world::{
    PUMP, comment, found, held_of, issue, issues, open, repository, thread_in, threads,
};

const OTHER_HOST: &str = "ghe.example.com";

both![
    hosts_with_the_same_repository_id_are_kept_apart_in_lists,
    hosts_with_the_same_repository_id_are_kept_apart_in_search,
    hosts_with_the_same_thread_name_are_all_named,
    lists_are_narrowed_to_one_owner,
];

fn hosts_with_the_same_repository_id_are_kept_apart_in_lists(place: &Place) {
    let (store, lease) = open(place);
    fill(&store, &lease);
    for (owner, expected) in [("acme", 5), ("Other", 6)] {
        let repository = Some(format!("{owner}/pump"));
        let filter = ThreadFilter { repository: repository.clone(), ..ThreadFilter::default() };
        let ids: Vec<i64> =
            held_of(&store, Kind::Issue, &filter).iter().map(|row| row.thread.id).collect();
        assert_eq!(ids, [expected], "{owner}");
        let filter = CommentFilter { repository, ..CommentFilter::default() };
        assert_eq!(comment_ids(&store, &filter), [expected * 10], "{owner}");
    }
    let both = ThreadFilter { repository: Some("pump".into()), ..ThreadFilter::default() };
    assert_eq!(held_of(&store, Kind::Issue, &both).len(), 2);
}

fn hosts_with_the_same_repository_id_are_kept_apart_in_search(place: &Place) {
    let (store, lease) = open(place);
    fill(&store, &lease);
    assert_eq!(found(&store, "leaks repo:acme/pump"), [5]);
    assert_eq!(found(&store, "leaks repo:other/pump"), [6]);
    assert_eq!(found(&store, "leaks -repo:other/pump"), [5]);
    assert_eq!(found(&store, "leaks repo:pump").len(), 2);
}

fn hosts_with_the_same_thread_name_are_all_named(place: &Place) {
    let (store, lease) = open(place);
    fill(&store, &lease);
    let mut twin = issue(5, 10, "leaks");
    thread_in(&mut twin).url = format!("https://{OTHER_HOST}/other/pump/issues/5");
    store.ingest(&lease, &on_other_host(Surface::Issues, vec![twin])).unwrap();
    for (name, count) in [("pump#5", 2), ("acme/pump#5", 1), ("other/pump#5", 1), ("pump#6", 1)] {
        let urls = store.thread_urls(&ThreadAddress::parse(name).unwrap()).unwrap();
        assert_eq!(urls.len(), count, "{name}: {urls:?}");
    }
}

fn lists_are_narrowed_to_one_owner(place: &Place) {
    let (store, lease) = open(place);
    fill(&store, &lease);
    for (owner, expected) in [("ACME", vec![5]), ("other", vec![6]), ("nobody", vec![])] {
        let filter = ThreadFilter { owner: Some(owner.into()), ..ThreadFilter::default() };
        let rows = held_of(&store, Kind::Issue, &filter);
        let ids: Vec<i64> = rows.iter().map(|row| row.thread.id).collect();
        assert_eq!(ids, expected, "{owner}");
        let filter = CommentFilter { owner: Some(owner.into()), ..CommentFilter::default() };
        let expected: Vec<i64> = expected.iter().map(|id| id * 10).collect();
        assert_eq!(comment_ids(&store, &filter), expected, "{owner}");
    }
}

/// `acme/pump` with issue 5, and on another host `other/pump` with the same repository id and issue 6; a
/// comment in each.
fn fill(store: &Store, lease: &Lease) {
    store.ingest(lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    let said = comment(Kind::IssueComment, 50, 5, 11, "drips");
    store.ingest(lease, &threads(Kind::IssueComment, vec![said])).unwrap();
    let mut other = repository(PUMP, "pump", 0);
    let Item::Repository(row) = &mut other.item else { panic!("a repository was made") };
    row.owner = "other".into();
    row.url = format!("https://{OTHER_HOST}/other/pump");
    let page = IngestPage {
        observations: vec![other],
        ..IngestPage::of(Lane::repositories(OTHER_HOST, "other"), 100)
    };
    store.ingest(lease, &page).unwrap();
    let mut other = issue(6, 12, "leaks");
    thread_in(&mut other).url = format!("https://{OTHER_HOST}/other/pump/issues/6");
    store.ingest(lease, &on_other_host(Surface::Issues, vec![other])).unwrap();
    let mut said = comment(Kind::IssueComment, 60, 6, 13, "drips");
    let Item::Comment(row) = &mut said.item else { panic!("a comment was made") };
    row.url = format!("https://{OTHER_HOST}/other/pump/issues/6#issuecomment-60");
    store.ingest(lease, &on_other_host(Surface::IssueComments, vec![said])).unwrap();
}

fn on_other_host(surface: Surface, observations: Vec<Observation>) -> IngestPage {
    let lane = Lane::of_repository(OTHER_HOST, PUMP, surface);
    IngestPage { observations, ..IngestPage::of(lane, 100) }
}

fn comment_ids(store: &Store, filter: &CommentFilter) -> Vec<i64> {
    let mut ids = Vec::new();
    let mut each = |row: hw_store::CommentRow| {
        ids.push(row.comment.id);
        std::ops::ControlFlow::Continue(())
    };
    store.each_comment(filter, &mut each).unwrap();
    ids
}
