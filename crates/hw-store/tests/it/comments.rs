use std::ops::ControlFlow;

use hw_rules::address::ThreadAddress;
use hw_rules::item::{Item, Kind, Observation};
use hw_rules::lane::{Lane, Surface};
use hw_rules::time::Mark;
use hw_store::{
    CommentFilter, CommentRow, Error, Etag, IngestPage, Ingested, Place, SkippedRows, Store,
};

use crate::world::{
    HOST, PUMP, comment, found, hits, lane_of, open, pump, repositories, seen, seen_at, thread,
    threads,
};

both![
    each_sort_of_comment_is_kept_as_it_was_said_and_found,
    a_comment_goes_with_its_thread_and_may_come_back,
    a_comment_goes_with_its_repository,
    a_rename_carries_comments_and_their_search_rows,
    two_sorts_of_comments_may_share_an_id,
    a_thread_that_moved_is_noted_once_its_talk_is_followed,
    a_talk_that_was_read_too_early_stays_due,
    a_name_for_a_page_is_kept_with_its_rows_and_for_one_principal,
    a_filter_finds_comments_by_repository_thread_and_author,
    pages_together_are_the_list,
    excerpts_have_the_beginning_of_a_body_and_its_whole_length,
];

fn excerpts_have_the_beginning_of_a_body_and_its_whole_length(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &threads(Kind::Issue, vec![thread(Kind::Issue, 5, 9, "leak")])).unwrap();
    for (id, body) in [(10, "short\0 text"), (11, "twelve bytes"), (12, "elevenbytes\u{e9}")] {
        let mut said = comment(Kind::IssueComment, id, 5, 10 + id, "");
        said_in(&mut said).body = body.to_owned();
        store.ingest(&lease, &threads(Kind::IssueComment, vec![said])).unwrap();
    }
    let outline = store.thread_outline(&address(5)).unwrap().unwrap();
    let ids: Vec<i64> = outline.comments.iter().map(|it| it.id).collect();
    assert_eq!(ids, [10, 11, 12]);
    let excerpts = store.comment_excerpts(&outline.row, &[12, 10, 77], 12).unwrap();
    assert_eq!(excerpts.skipped, SkippedRows(0));
    let mut bodies: Vec<_> =
        excerpts.rows.iter().map(|it| (it.row.comment.body.as_str(), it.body_bytes)).collect();
    bodies.sort_unstable();
    assert_eq!(bodies, [("elevenbytes", 13), ("short\0 text", 11)]);
    assert!(store.thread_outline(&address(6)).unwrap().is_none());
}

fn each_sort_of_comment_is_kept_as_it_was_said_and_found(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &threads(Kind::Issue, vec![thread(Kind::Issue, 5, 9, "leak")])).unwrap();
    for (id, kind) in (10..).zip(Kind::COMMENTS) {
        let mut said = comment(kind, id, 5, 10, "drips\0");
        said_in(&mut said).body = format!("drips{id}\0 here");
        let done = store.ingest(&lease, &threads(kind, vec![said.clone()])).unwrap();
        assert_eq!(done, Ingested { created: 1, ..Ingested::default() });
        assert_eq!(store.ingest(&lease, &threads(kind, vec![said.clone()])).unwrap().unchanged, 1);
        let hits = hits(&store, &format!("type:comment drips{id}"), 9);
        let [hit] = hits.as_slice() else { panic!("one is found, not {hits:?}") };
        assert_eq!((hit.kind, hit.id, hit.title.as_str()), (kind, id, "title leak"));
        let held: Vec<_> = all(&store).into_iter().filter(|row| row.comment.kind == kind).collect();
        assert_eq!(held.len(), 1);
        assert_eq!(Item::Comment(held[0].comment.clone()), said.item);
    }
    assert_eq!(store.counts().unwrap().comments, 4);
}

fn a_comment_goes_with_its_thread_and_may_come_back(place: &Place) {
    let (store, lease) = open(place);
    let kind = Kind::PullRequest;
    store
        .ingest(&lease, &threads(kind, vec![thread(kind, 5, 9, "a"), thread(kind, 6, 9, "b")]))
        .unwrap();
    for kind in Kind::COMMENTS {
        let said = vec![comment(kind, 1, 5, 10, "gone"), comment(kind, 2, 6, 10, "stays")];
        store.ingest(&lease, &threads(kind, said)).unwrap();
    }
    bury(&store, &lease, kind, 5);
    let left: Vec<_> = all(&store).into_iter().map(|row| row.comment.id).collect();
    assert_eq!(left, [2, 2, 2, 2]);
    assert_eq!(found(&store, "gone"), Vec::<i64>::new());
    let again = seen_at(comment(Kind::Review, 1, 5, 10, "gone"), 99);
    let done = store.ingest(&lease, &threads(Kind::Review, vec![again])).unwrap();
    assert_eq!(done.revived, 1, "a later look revives");
}

fn a_comment_goes_with_its_repository(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &repositories(vec![pump("pump", 1)])).unwrap();
    for kind in Kind::COMMENTS {
        store.ingest(&lease, &threads(kind, vec![comment(kind, 1, 5, 10, "x")])).unwrap();
    }
    let lane = Lane::repositories(HOST, "acme");
    store.remove_repositories(&lease, &lane, &[(PUMP, seen(50))], false).unwrap();
    assert_eq!((all(&store), found(&store, "x")), (vec![], vec![]));
}

fn a_rename_carries_comments_and_their_search_rows(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &repositories(vec![pump("pump", 1)])).unwrap();
    for kind in Kind::COMMENTS {
        store.ingest(&lease, &threads(kind, vec![comment(kind, 1, 5, 10, "x")])).unwrap();
    }
    store.ingest(&lease, &repositories(vec![pump("valve", 20)])).unwrap();
    for row in all(&store) {
        assert_eq!(row.repository, "valve");
        let url = format!("https://github.com/acme/valve/issues/5#{}-1", row.comment.kind.name());
        assert_eq!(row.comment.url, url);
    }
    assert_eq!(found(&store, "said type:comment repo:valve").len(), 4);
    assert_eq!(found(&store, "said type:comment repo:pump"), Vec::<i64>::new());
}

fn two_sorts_of_comments_may_share_an_id(place: &Place) {
    let (store, lease) = open(place);
    for kind in Kind::COMMENTS {
        store.ingest(&lease, &threads(kind, vec![comment(kind, 1, 5, 10, "same")])).unwrap();
    }
    assert_eq!((all(&store).len(), found(&store, "same").len()), (4, 4));
    store.clear_lane(&lease, &lane_of(Kind::Review)).unwrap();
    assert_eq!((all(&store).len(), found(&store, "same").len()), (3, 3));
}

fn a_thread_that_moved_is_noted_once_its_talk_is_followed(place: &Place) {
    let (store, lease) = open(place);
    let lane = lane_of(Kind::Review);
    let pulls = |ids: &[i64], second| {
        let rows = ids.iter().map(|id| thread(Kind::PullRequest, *id, second, "x")).collect();
        threads(Kind::PullRequest, rows)
    };
    store.ingest(&lease, &pulls(&[1, 2], 10)).unwrap();
    assert_eq!(due(&store, &lane), Vec::<i64>::new(), "nobody follows it yet");
    store.follow_talks(&lease, &lane).unwrap();
    assert_eq!(due(&store, &lane), [1, 2]);
    assert!(store.lanes_with_talks().unwrap().contains(&lane));
    read(&store, &lease, &lane, &[(1, 500), (2, 500)]);
    assert_eq!(due(&store, &lane), Vec::<i64>::new());
    store.ingest(&lease, &pulls(&[1, 2], 10)).unwrap();
    assert_eq!(due(&store, &lane), Vec::<i64>::new(), "nothing moved");
    store.ingest(&lease, &pulls(&[2, 3], 20)).unwrap();
    assert_eq!(due(&store, &lane), [2, 3]);
    let issues = vec![thread(Kind::Issue, 9, 20, "x")];
    store.ingest(&lease, &threads(Kind::Issue, issues)).unwrap();
    bury(&store, &lease, Kind::PullRequest, 3);
    assert_eq!(due(&store, &lane), [2], "what is gone is not read");
}

fn a_talk_that_was_read_too_early_stays_due(place: &Place) {
    let (store, lease) = open(place);
    let lane = lane_of(Kind::DiscussionComment);
    let moved = vec![thread(Kind::Discussion, 1, 100, "x")];
    store.ingest(&lease, &threads(Kind::Discussion, moved)).unwrap();
    store.follow_talks(&lease, &lane).unwrap();
    read(&store, &lease, &lane, &[(1, 160)]);
    assert_eq!(due(&store, &lane), [1], "more may be said in that second");
    read(&store, &lease, &lane, &[(1, 161)]);
    assert_eq!(due(&store, &lane), Vec::<i64>::new());
}

fn a_name_for_a_page_is_kept_with_its_rows_and_for_one_principal(place: &Place) {
    let (store, lease) = open(place);
    let lane = lane_of(Kind::IssueComment);
    let etag =
        Etag { principal: "github.com/1".into(), value: "\"abc\"".into(), at: Some(Mark(7_000)) };
    let page = IngestPage { etag: Some(etag.clone()), ..IngestPage::of(lane.clone(), 100) };
    store.ingest(&lease, &page).unwrap();
    assert_eq!(store.etag(&lane, "github.com/1").unwrap(), Some(etag));
    assert_eq!(store.etag(&lane, "github.com/2").unwrap(), None);
    store.ingest(&lease, &IngestPage::of(lane.clone(), 100)).unwrap();
    assert!(store.etag(&lane, "github.com/1").unwrap().is_some(), "a page without one takes none");
    store.clear_lane(&lease, &lane).unwrap();
    assert_eq!(store.etag(&lane, "github.com/1").unwrap(), None, "its rows are gone");
}

fn a_filter_finds_comments_by_repository_thread_and_author(place: &Place) {
    let (store, lease) = open(place);
    let kind = Kind::IssueComment;
    let mut by_bob = comment(kind, 2, 5, 10, "b");
    said_in(&mut by_bob).author = Some("Bob".to_owned());
    let said = vec![comment(kind, 1, 5, 10, "a"), by_bob, comment(kind, 3, 6, 10, "c")];
    store.ingest(&lease, &threads(kind, said)).unwrap();
    let ids = |filter: CommentFilter| -> Vec<i64> {
        filtered(&store, &filter).into_iter().map(|row| row.comment.id).collect()
    };
    let any = CommentFilter::default;
    assert_eq!(ids(CommentFilter { thread: Some(5), ..any() }), [1, 2]);
    assert_eq!(ids(CommentFilter { authors: vec!["bob".into()], ..any() }), [2]);
    assert_eq!(ids(CommentFilter { repository: Some("pump".into()), ..any() }), [1, 2, 3]);
    assert_eq!(ids(CommentFilter { repository: Some("valve".into()), ..any() }), Vec::<i64>::new());
    assert_eq!(ids(CommentFilter { limit: Some(1), ..any() }), [1]);
}

fn pages_together_are_the_list(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &threads(Kind::Issue, vec![thread(Kind::Issue, 5, 9, "leak")])).unwrap();
    // four sorts with the same ids, all of one second but for the last
    for kind in Kind::COMMENTS {
        let said = |id| comment(kind, id, 5, if id == 3 { 20 } else { 10 }, "drips");
        store.ingest(&lease, &threads(kind, (1..=3).map(said).collect())).unwrap();
    }
    let whole = all(&store);
    for (size, limit) in [(1, None), (5, None), (12, None), (50, None), (2, Some(7))] {
        let (mut read, filter) = (Vec::new(), CommentFilter { limit, ..CommentFilter::default() });
        let mut each = |row: CommentRow| -> Result<(), Error> {
            read.push(row);
            Ok(())
        };
        store.each_comment_in_pages(&filter, size, &mut each).unwrap();
        let count = limit.map_or(12, |limit| usize::try_from(limit).unwrap());
        assert_eq!(read, whole[..count], "pages of {size}");
    }
}

fn bury(store: &Store, lease: &hw_store::Lease, kind: Kind, id: i64) {
    let lane = lane_of(kind);
    let began = seen(40);
    let page = hw_store::SweepPage { began, rows: vec![], next: None, complete: true };
    store.stage_sweep(lease, &lane, &page).unwrap();
    store.finish_sweep(lease, &lane, &[(id, seen(41))], true).unwrap();
}

fn read(store: &Store, lease: &hw_store::Lease, lane: &Lane, talks: &[(i64, i64)]) {
    let read_talks = talks.iter().map(|(id, second)| (*id, second * 1_000)).collect();
    store.ingest(lease, &IngestPage { read_talks, ..IngestPage::of(lane.clone(), 100) }).unwrap();
}

fn due(store: &Store, lane: &Lane) -> Vec<i64> {
    assert!(matches!(lane.surface, Surface::Reviews | Surface::DiscussionComments));
    store.due_talks(lane, 0, 100).unwrap().into_iter().map(|talk| talk.id).collect()
}

fn said_in(observation: &mut Observation) -> &mut hw_rules::item::Comment {
    match &mut observation.item {
        Item::Comment(comment) => comment,
        Item::Repository(_) | Item::Thread(_) => panic!("a comment was made"),
    }
}

fn all(store: &Store) -> Vec<CommentRow> {
    filtered(store, &CommentFilter::default())
}

fn filtered(store: &Store, filter: &CommentFilter) -> Vec<CommentRow> {
    let mut rows = Vec::new();
    let mut take = |row| {
        rows.push(row);
        ControlFlow::Continue(())
    };
    store.each_comment(filter, &mut take).unwrap();
    rows
}

fn address(number: i64) -> ThreadAddress {
    ThreadAddress::parse(&format!("acme/pump#{number}")).unwrap()
}
