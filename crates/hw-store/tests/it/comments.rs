use std::ops::ControlFlow;

use hw_rules::coverage::Coverage;
use hw_rules::item::{CommentKind, ItemObservation, MirrorItem, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::login::Login;
use hw_rules::principal::Principal;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::since_walk::SinceWalk;
use hw_rules::source_time::SourceInstant;
use hw_rules::thread_address::ThreadAddress;
use hw_rules::walk::ListingFloor;
use hw_store::{
    CommentFilter, CommentRow, DatabaseLocation, Etag, IngestCounts, IngestPage, LeasedStore,
    SkippedRows, StoreError, StoreReader,
};

use crate::fixture::{
    HOST, PUMP_ID, comment, comment_fragment, comment_path, finish_chores, lane_for_kind,
    observed_at, open_store, pump_repository, repositories_page, search_hits, search_ids, thread,
    threads_page, with_observed_at,
};

both![
    comments_of_each_kind_are_stored_unchanged_and_found,
    comments_are_removed_with_their_thread_and_can_return,
    comments_are_removed_with_their_repository,
    rename_moves_comments_and_their_search_rows,
    comment_ids_are_independent_between_kinds,
    comment_queue_contains_changed_threads_once_their_comments_are_followed,
    comment_queue_keeps_a_thread_that_was_read_too_early,
    comments_of_a_thread_that_appears_behind_an_open_walk_are_swept,
    etag_is_stored_per_principal_and_removed_with_its_rows,
    comment_filter_selects_by_repository_thread_and_author,
    comment_pages_add_up_to_the_list,
    comment_excerpts_have_the_start_of_a_body_and_its_full_length,
];

fn comments_of_a_thread_that_appears_behind_an_open_walk_are_swept(location: &DatabaseLocation) {
    for (newest, is_swept) in [(None, false), (Some(SourceInstant(50_000)), true)] {
        let store = open_store(location);
        let lane = Lane::for_repository(
            RepositoryKey::new(HOST, PUMP_ID),
            Surface::Comments(CommentKind::Conversation),
        );
        let walk = SinceWalk { newest, ..SinceWalk::from_floor(ListingFloor::Beginning) };
        let coverage = Coverage { since: Some(walk), ..Coverage::default() };
        let page = IngestPage { coverage: Some(coverage), ..IngestPage::new(lane.clone(), 100) };
        store.ingest_page(&page).unwrap();
        // it was created at second 0, and transferred just now
        let late = thread(ThreadKind::Issue, 5, 60, "transferred");
        store.ingest_page(&threads_page(ThreadKind::Issue, vec![late])).unwrap();
        let is_due = store.lane_state(&lane).unwrap().sweep_due_ms.is_some();
        assert_eq!(is_due, is_swept, "a walk that has read up to {newest:?}");
        store.clear_lane(&lane_for_kind(ThreadKind::Issue)).unwrap();
        finish_chores(&store);
        store.release_duty().unwrap();
    }
}

fn comment_excerpts_have_the_start_of_a_body_and_its_full_length(location: &DatabaseLocation) {
    let store = open_store(location);
    store
        .ingest_page(&threads_page(
            ThreadKind::Issue,
            vec![thread(ThreadKind::Issue, 5, 9, "leak")],
        ))
        .unwrap();
    for (id, body) in [(10, "short\0 text"), (11, "twelve bytes"), (12, "elevenbytes\u{e9}")] {
        let mut comment = comment(CommentKind::Conversation, id, 5, 10 + id, "");
        as_comment_mut(&mut comment).body = body.to_owned();
        store.ingest_page(&threads_page(CommentKind::Conversation, vec![comment])).unwrap();
    }
    let outline = store.thread_outline(&thread_address(5)).unwrap().unwrap();
    let ids: Vec<i64> = outline.comments.iter().map(|comment| comment.id).collect();
    assert_eq!(ids, [10, 11, 12]);
    let excerpts = store.comment_excerpts(&outline.row, &[12, 10, 77], 12).unwrap();
    assert_eq!(excerpts.skipped, SkippedRows(0));
    let mut bodies: Vec<_> = excerpts
        .rows
        .iter()
        .map(|excerpt| (excerpt.row.comment.body.as_str(), excerpt.body_bytes))
        .collect();
    bodies.sort_unstable();
    assert_eq!(bodies, [("elevenbytes", 13), ("short\0 text", 11)]);
    assert!(store.thread_outline(&thread_address(6)).unwrap().is_none());
}

fn comments_of_each_kind_are_stored_unchanged_and_found(location: &DatabaseLocation) {
    let store = open_store(location);
    store
        .ingest_page(&threads_page(
            ThreadKind::Issue,
            vec![thread(ThreadKind::Issue, 5, 9, "leak")],
        ))
        .unwrap();
    for (id, kind) in (10..).zip(CommentKind::ALL) {
        let mut observation = comment(kind, id, 5, 10, "drips\0");
        as_comment_mut(&mut observation).body = format!("drips{id}\0 here");
        let page = threads_page(kind, vec![observation.clone()]);
        let counts = store.ingest_page(&page).unwrap();
        assert_eq!(counts, IngestCounts { created: 1, ..IngestCounts::default() });
        assert_eq!(store.ingest_page(&page).unwrap().unchanged, 1);
        let hits = search_hits(&store, &format!("type:comment drips{id}"), 9);
        let [hit] = hits.as_slice() else { panic!("expected one hit, got {hits:?}") };
        assert_eq!((hit.kind, hit.id, hit.title.as_str()), (kind.into(), id, "title leak"));
        let stored: Vec<_> =
            all_comments(&store).into_iter().filter(|row| row.comment.kind == kind).collect();
        assert_eq!(stored.len(), 1);
        assert_eq!(MirrorItem::Comment(stored[0].comment.clone()), observation.item);
    }
    assert_eq!(store.object_counts().unwrap().comments, 4);
}

fn comments_are_removed_with_their_thread_and_can_return(location: &DatabaseLocation) {
    let store = open_store(location);
    let kind = ThreadKind::PullRequest;
    store
        .ingest_page(&threads_page(kind, vec![thread(kind, 5, 9, "a"), thread(kind, 6, 9, "b")]))
        .unwrap();
    for kind in CommentKind::ALL {
        let comments = vec![comment(kind, 1, 5, 10, "gone"), comment(kind, 2, 6, 10, "stays")];
        store.ingest_page(&threads_page(kind, comments)).unwrap();
    }
    confirm_gone(&store, kind, 5);
    let left: Vec<_> = all_comments(&store).into_iter().map(|row| row.comment.id).collect();
    assert_eq!(left, [2, 2, 2, 2]);
    assert_eq!(search_ids(&store, "gone"), Vec::<i64>::new());
    let again = with_observed_at(comment(CommentKind::Review, 1, 5, 10, "gone"), 99);
    let done = store.ingest_page(&threads_page(CommentKind::Review, vec![again])).unwrap();
    assert_eq!(done.revived, 1, "a later observation revives it");
}

fn comments_are_removed_with_their_repository(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&repositories_page(vec![pump_repository("pump", 1)])).unwrap();
    finish_chores(&store);
    for kind in CommentKind::ALL {
        store.ingest_page(&threads_page(kind, vec![comment(kind, 1, 5, 10, "x")])).unwrap();
    }
    let lane = Lane::owner_repositories(HOST, Login::from_known("acme"));
    store.remove_repositories(&lane, &[(PUMP_ID, observed_at(50))], false).unwrap();
    finish_chores(&store);
    assert_eq!((all_comments(&store), search_ids(&store, "x")), (vec![], vec![]));
}

fn rename_moves_comments_and_their_search_rows(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&repositories_page(vec![pump_repository("pump", 1)])).unwrap();
    finish_chores(&store);
    for kind in CommentKind::ALL {
        store.ingest_page(&threads_page(kind, vec![comment(kind, 1, 5, 10, "x")])).unwrap();
    }
    store.ingest_page(&repositories_page(vec![pump_repository("valve", 20)])).unwrap();
    finish_chores(&store);
    for row in all_comments(&store) {
        assert_eq!(row.repository, "valve");
        let (path, fragment) = (comment_path(row.comment.kind), comment_fragment(row.comment.kind));
        let url = format!("https://github.com/acme/valve/{path}/5#{fragment}1");
        assert_eq!(row.comment.url, url);
    }
    assert_eq!(search_ids(&store, "said type:comment repo:valve").len(), 4);
    assert_eq!(search_ids(&store, "said type:comment repo:pump"), Vec::<i64>::new());
}

fn comment_ids_are_independent_between_kinds(location: &DatabaseLocation) {
    let store = open_store(location);
    for kind in CommentKind::ALL {
        store.ingest_page(&threads_page(kind, vec![comment(kind, 1, 5, 10, "same")])).unwrap();
    }
    assert_eq!((all_comments(&store).len(), search_ids(&store, "same").len()), (4, 4));
    store.clear_lane(&lane_for_kind(CommentKind::Review)).unwrap();
    finish_chores(&store);
    assert_eq!((all_comments(&store).len(), search_ids(&store, "same").len()), (3, 3));
}

fn comment_queue_contains_changed_threads_once_their_comments_are_followed(
    location: &DatabaseLocation,
) {
    let store = open_store(location);
    let lane = lane_for_kind(CommentKind::Review);
    store.ingest_page(&pull_requests_page(&[1, 2], 10)).unwrap();
    assert_eq!(due_thread_ids(&store, &lane), Vec::<i64>::new(), "not followed yet");
    store.follow_thread_comments(&lane).unwrap();
    assert_eq!(due_thread_ids(&store, &lane), [1, 2]);
    assert!(store.lanes_with_due_threads().unwrap().contains(&lane));
    ingest_read_threads(&store, &lane, &[(1, 500), (2, 500)]);
    assert_eq!(due_thread_ids(&store, &lane), Vec::<i64>::new());
    store.ingest_page(&pull_requests_page(&[1, 2], 10)).unwrap();
    assert_eq!(due_thread_ids(&store, &lane), Vec::<i64>::new(), "no changes");
    store.ingest_page(&pull_requests_page(&[2, 3], 20)).unwrap();
    assert_eq!(due_thread_ids(&store, &lane), [2, 3]);
    let issues = vec![thread(ThreadKind::Issue, 9, 20, "x")];
    store.ingest_page(&threads_page(ThreadKind::Issue, issues)).unwrap();
    confirm_gone(&store, ThreadKind::PullRequest, 3);
    assert_eq!(due_thread_ids(&store, &lane), [2], "a removed thread is not read");
}

fn comment_queue_keeps_a_thread_that_was_read_too_early(location: &DatabaseLocation) {
    let store = open_store(location);
    let lane = lane_for_kind(CommentKind::DiscussionComment);
    let moved = vec![thread(ThreadKind::Discussion, 1, 100, "x")];
    store.ingest_page(&threads_page(ThreadKind::Discussion, moved)).unwrap();
    store.follow_thread_comments(&lane).unwrap();
    ingest_read_threads(&store, &lane, &[(1, 160)]);
    assert_eq!(due_thread_ids(&store, &lane), [1], "another comment may be written in that second");
    ingest_read_threads(&store, &lane, &[(1, 161)]);
    assert_eq!(due_thread_ids(&store, &lane), Vec::<i64>::new());
}

fn etag_is_stored_per_principal_and_removed_with_its_rows(location: &DatabaseLocation) {
    let store = open_store(location);
    let lane = lane_for_kind(CommentKind::Conversation);
    let etag =
        Etag { principal: user(1), value: "\"abc\"".into(), sent_at: Some(SourceInstant(7_000)) };
    let page = IngestPage { etag: Some(etag.clone()), ..IngestPage::new(lane.clone(), 100) };
    store.ingest_page(&page).unwrap();
    assert_eq!(store.lane_etag(&lane, &user(1)).unwrap(), Some(etag));
    assert_eq!(store.lane_etag(&lane, &user(2)).unwrap(), None);
    store.ingest_page(&IngestPage::new(lane.clone(), 100)).unwrap();
    assert!(
        store.lane_etag(&lane, &user(1)).unwrap().is_some(),
        "a page without an ETag removes none"
    );
    store.clear_lane(&lane).unwrap();
    finish_chores(&store);
    assert_eq!(store.lane_etag(&lane, &user(1)).unwrap(), None, "its rows are gone");
}

fn comment_filter_selects_by_repository_thread_and_author(location: &DatabaseLocation) {
    let store = open_store(location);
    let kind = CommentKind::Conversation;
    let mut by_bob = comment(kind, 2, 5, 10, "b");
    as_comment_mut(&mut by_bob).author = Some("Bob".to_owned());
    let comments = vec![comment(kind, 1, 5, 10, "a"), by_bob, comment(kind, 3, 6, 10, "c")];
    store.ingest_page(&threads_page(kind, comments)).unwrap();
    let any = CommentFilter::default;
    for (filter, expected) in [
        (CommentFilter { thread: Some(5), ..any() }, vec![1, 2]),
        (CommentFilter { authors: vec!["bob".into()], ..any() }, vec![2]),
        (CommentFilter { repository: Some("pump".into()), ..any() }, vec![1, 2, 3]),
        (CommentFilter { repository: Some("valve".into()), ..any() }, vec![]),
        (CommentFilter { limit: Some(1), ..any() }, vec![1]),
    ] {
        let rows = filtered_comments(&store, &filter);
        let ids: Vec<_> = rows.into_iter().map(|row| row.comment.id).collect();
        assert_eq!(ids, expected, "{filter:?}");
    }
}

fn comment_pages_add_up_to_the_list(location: &DatabaseLocation) {
    let store = open_store(location);
    store
        .ingest_page(&threads_page(
            ThreadKind::Issue,
            vec![thread(ThreadKind::Issue, 5, 9, "leak")],
        ))
        .unwrap();
    // four kinds with the same ids, all of the same second except the last id
    for kind in CommentKind::ALL {
        let comments = [(1, 10), (2, 10), (3, 20)]
            .map(|(id, second)| comment(kind, id, 5, second, "drips"))
            .to_vec();
        store.ingest_page(&threads_page(kind, comments)).unwrap();
    }
    let whole = all_comments(&store);
    for (size, limit) in [(1, None), (5, None), (12, None), (50, None), (2, Some(7))] {
        let (mut read, filter) = (Vec::new(), CommentFilter { limit, ..CommentFilter::default() });
        store
            .each_comment_in_pages(&filter, size, &mut |row| {
                read.push(row);
                Ok::<(), StoreError>(())
            })
            .unwrap();
        let count = limit.map_or(12, |limit| usize::try_from(limit).unwrap());
        assert_eq!(read, whole[..count], "pages of {size}");
    }
}

fn confirm_gone(store: &LeasedStore, kind: ThreadKind, id: i64) {
    let lane = lane_for_kind(kind);
    let began = observed_at(40);
    let page = hw_store::SweepPage { began_at: began, rows: vec![], next: None, complete: true };
    store.stage_sweep_page(&lane, &page).unwrap();
    store.finish_sweep(&lane, &[(id, observed_at(41))], true).unwrap();
}

fn pull_requests_page(ids: &[i64], second: i64) -> IngestPage {
    let rows = ids.iter().map(|id| thread(ThreadKind::PullRequest, *id, second, "x")).collect();
    threads_page(ThreadKind::PullRequest, rows)
}

/// Records that the comments of threads were read, beginning at these seconds.
fn ingest_read_threads(store: &LeasedStore, lane: &Lane, threads: &[(i64, i64)]) {
    let read_threads = threads.iter().map(|(id, second)| (*id, second * 1_000)).collect();
    let page = IngestPage { read_threads, ..IngestPage::new(lane.clone(), 100) };
    store.ingest_page(&page).unwrap();
}

fn due_thread_ids(store: &StoreReader, lane: &Lane) -> Vec<i64> {
    assert!(matches!(
        lane.surface,
        Surface::Comments(CommentKind::Review) | Surface::Comments(CommentKind::DiscussionComment)
    ));
    store.due_threads(lane, 0, 100).unwrap().into_iter().map(|thread| thread.id).collect()
}

fn as_comment_mut(observation: &mut ItemObservation) -> &mut hw_rules::item::Comment {
    match &mut observation.item {
        MirrorItem::Comment(comment) => comment,
        MirrorItem::Repository(_) | MirrorItem::Thread(_) | MirrorItem::Post(_) => {
            panic!("expected a comment")
        }
    }
}

fn all_comments(store: &StoreReader) -> Vec<CommentRow> {
    filtered_comments(store, &CommentFilter::default())
}

fn filtered_comments(store: &StoreReader, filter: &CommentFilter) -> Vec<CommentRow> {
    let mut rows = Vec::new();
    store
        .each_comment(filter, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })
        .unwrap();
    rows
}

fn thread_address(number: i64) -> ThreadAddress {
    ThreadAddress::parse(&format!("acme/pump#{number}")).unwrap()
}

fn user(id: i64) -> Principal {
    Principal::from_user(HOST, id)
}
