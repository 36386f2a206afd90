//! Tests of the search engine: its hits, their order, and its reports about them.

use std::collections::BTreeSet;

use hw_rules::item::{CommentKind, ItemObservation, ThreadKind};
use hw_rules::lane::Surface;
use hw_rules::missing::{Missing, RepositoryLanes};
use hw_rules::snippet::SnippetPiece;
use hw_store::{
    DatabaseLocation, IngestPage, MatchCount, RankedMatches, SearchEngine, SearchRequest,
    SearchResults, StoreReader, Workspace,
};

use crate::fixture::{
    as_thread_mut, comment, issue, issue_in, issues_page, open_store, organization_lane,
    repository, search_hits, search_ids, source_time, threads_page,
};

mod filters;
mod query_algebra;
mod query_texts;

both![
    search_ranks_a_title_above_a_body,
    search_ranks_repositories_higher_where_the_viewer_wrote,
    search_counts_a_match_in_a_comment_for_its_thread,
    search_finds_comments_by_type,
    search_reopens_a_database_that_was_replaced,
    search_ranks_only_the_newest_above_a_cap_and_reports_it,
    search_is_not_flooded_by_a_busy_thread,
    search_counts_a_thread_once_for_any_number_of_comments,
    search_puts_a_thread_named_by_address_first,
    search_reports_incomplete_lists,
];

fn search_ranks_a_title_above_a_body(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut titled = issue(5, 10, "x");
    as_thread_mut(&mut titled).title = "title leaks".into();
    let mut bodied = issue(6, 20, "x");
    as_thread_mut(&mut bodied).body = "body leaks".into();
    store.ingest_page(&issues_page(vec![titled, bodied])).unwrap();
    assert_eq!(search_ids(&store, "leaks"), [5, 6]);
}

fn search_ranks_repositories_higher_where_the_viewer_wrote(location: &DatabaseLocation) {
    let store = open_store(location);
    let page =
        IngestPage { viewer: Some("Ada".into()), ..IngestPage::new(organization_lane(), 100) };
    store
        .ingest_page(&IngestPage { observations: vec![repository(2, "valve", 0)], ..page })
        .unwrap();
    let in_pump = with_author(issue(6, 30, "leaks"), "bob");
    let in_valve = with_author(issue_in(2, "valve", 7, 20, "leaks"), "bob");
    store.ingest_page(&issues_page(vec![in_pump, in_valve])).unwrap();
    assert_eq!(search_ids(&store, "leaks"), [6, 7], "the newest of equals");
    let by_viewer = with_author(issue_in(2, "valve", 8, 10, "mine"), "ada");
    store.ingest_page(&issues_page(vec![by_viewer])).unwrap();
    assert_eq!(search_ids(&store, "leaks"), [7, 6]);
}

fn search_counts_a_match_in_a_comment_for_its_thread(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks"), issue(6, 11, "drips")])).unwrap();
    for (id, text) in [(50, "it drips and drips"), (51, "leaks too"), (52, "drips")] {
        let comment = comment(CommentKind::Conversation, id, 5, 12 + id, text);
        store.ingest_page(&threads_page(CommentKind::Conversation, vec![comment])).unwrap();
    }
    let drips = search_hits(&store, "drips", 10);
    let found: BTreeSet<_> = drips.iter().map(|hit| (hit.type_name(), hit.id)).collect();
    assert_eq!((found, drips.len()), ([("issue", 5), ("issue", 6)].into(), 2), "each thread once");
    let by_comment = drips.iter().find(|hit| hit.id == 5).unwrap();
    let matched = by_comment.matched_comment.as_ref().unwrap();
    assert!(matched.url.contains("#issuecomment-5"), "{matched:?}");
    assert!(marked_texts(&by_comment.snippet).contains(&"drips".to_owned()));
    assert_eq!(by_comment.title, "title leaks");
    assert_eq!(
        search_hits(&store, "title leaks", 10)[0].matched_comment,
        None,
        "the thread's own words"
    );
    // a comment whose thread is not stored is a hit of its own
    let lost = comment(CommentKind::Conversation, 53, 99, 90, "lonely");
    store.ingest_page(&threads_page(CommentKind::Conversation, vec![lost])).unwrap();
    assert_eq!(search_hits(&store, "lonely", 10)[0].type_name(), "comment");
}

fn search_finds_comments_by_type(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "drips")])).unwrap();
    let comments = [50, 51].map(|id| comment(CommentKind::Conversation, id, 5, id, "drips"));
    store.ingest_page(&threads_page(CommentKind::Conversation, comments.into())).unwrap();
    let hits = search_hits(&store, "type:comment drips", 10);
    let found: Vec<_> = hits.iter().map(|hit| (hit.type_name(), hit.id, hit.number)).collect();
    assert_eq!(found, [("comment", 51, 5), ("comment", 50, 5)]);
    assert!(
        hits[0].url.contains('#')
            && hits[0].title == "title drips"
            && hits[0].matched_comment.is_none()
    );
}

fn search_reopens_a_database_that_was_replaced(location: &DatabaseLocation) {
    let DatabaseLocation::File(path) = location else { return };
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "before")])).unwrap();
    let engine = SearchEngine::new(Workspace::at_location(location.clone()));
    assert_eq!(engine.search(&SearchRequest::new("before")).unwrap().hits.len(), 1);
    drop(store);
    let moved = path.with_extension("moved");
    std::fs::rename(path, &moved).unwrap();
    assert!(engine.search(&SearchRequest::new("before")).is_err(), "the file is gone");
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "after")])).unwrap();
    for (word, count) in [("before", 0), ("after", 1)] {
        assert_eq!(engine.search(&SearchRequest::new(word)).unwrap().hits.len(), count, "{word}");
    }
}

fn search_ranks_only_the_newest_above_a_cap_and_reports_it(location: &DatabaseLocation) {
    let store = open_store(location);
    for page in 0..3 {
        let ids = page * 1_000..(page + 1) * 1_000;
        let issues =
            ids.map(|id| issue(id, id + 10, if id == 3 { "leaks leaks leaks" } else { "leaks" }));
        store.ingest_page(&issues_page(issues.collect())).unwrap();
    }
    let SearchResults { hits, matches, ranked_matches, .. } =
        search_engine(&store).search(&SearchRequest::new("leaks")).unwrap();
    assert_eq!((matches, ranked_matches), (MatchCount::AtLeast(800), RankedMatches::Newest));
    assert_eq!(
        hits.iter().map(|hit| hit.id).collect::<Vec<_>>(),
        (2_990..3_000).rev().collect::<Vec<_>>()
    );
    let old = format!("leaks updated:<={}", source_time(700));
    let SearchResults { hits, matches, ranked_matches, .. } =
        search_engine(&store).search(&SearchRequest::new(old)).unwrap();
    assert_eq!(
        (matches, ranked_matches, hits[0].id),
        (MatchCount::AtLeast(691), RankedMatches::All, 3),
        "filters come before the cap"
    );
}

fn search_is_not_flooded_by_a_busy_thread(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page((5..9).map(|id| issue(id, id, "drips")).collect())).unwrap();
    for page in 1..4 {
        let ids = page * 1_000..page * 1_000 + 700;
        let comments = ids.map(|id| comment(CommentKind::Conversation, id, 5, id, "drips drips"));
        let page = threads_page(CommentKind::Conversation, comments.collect());
        store.ingest_page(&page).unwrap();
    }
    let SearchResults { hits, matches, ranked_matches, .. } =
        search_engine(&store).search(&SearchRequest::new("drips")).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [5, 8, 7, 6]);
    assert_eq!((matches, ranked_matches), (MatchCount::Exactly(4), RankedMatches::All));
    // comments do not match by the names of their repository and their author
    let ada: Vec<_> = search_engine(&store)
        .search(&SearchRequest::new("ada"))
        .unwrap()
        .hits
        .into_iter()
        .map(|hit| hit.matched_comment)
        .collect();
    assert_eq!(ada, [None, None, None, None]);
}

fn search_counts_a_thread_once_for_any_number_of_comments(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "drips"), issue(6, 11, "x")])).unwrap();
    let comments = [(50, 5), (51, 5), (60, 6)]
        .map(|(id, thread)| comment(CommentKind::Conversation, id, thread, id, "drips"));
    store.ingest_page(&threads_page(CommentKind::Conversation, comments.into())).unwrap();
    for (query, count) in
        [("drips", 2), ("drips type:issue", 2), ("drips state:open", 2), ("drips type:comment", 3)]
    {
        let found = search_engine(&store).search(&SearchRequest::new(query)).unwrap();
        assert_eq!(found.matches, MatchCount::Exactly(count), "{query}");
        assert_eq!(found.hits.len() as u64, count, "{query}");
    }
}

fn search_puts_a_thread_named_by_address_first(location: &DatabaseLocation) {
    let store = open_store(location);
    let mention = issue(6, 20, "acme pump 5, see https://github.com/acme/pump/issues/5");
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks"), mention])).unwrap();
    for query in ["acme/pump#5", "pump#5", "https://github.com/acme/pump/issues/5#issuecomment-1"] {
        let found = search_engine(&store).search(&SearchRequest::new(query)).unwrap();
        assert_eq!(found.hits[0].id, 5, "{query}");
        assert_eq!(found.matches, MatchCount::Exactly(found.hits.len() as u64), "{query}");
    }
    assert_eq!(search_ids(&store, "https://ghe.example/acme/pump/issues/5"), Vec::<i64>::new());
}

fn search_reports_incomplete_lists(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    let missing =
        search_engine(&store).search(&SearchRequest::new("leaks")).unwrap().completeness.missing;
    let issues =
        RepositoryLanes::new(Surface::Threads(ThreadKind::Issue), vec!["acme/pump".to_owned()])
            .unwrap();
    let expected = [Missing::IncompleteLanes(issues)];
    assert_eq!(missing, expected, "pull requests are excluded on purpose");
    // a change invalidates the cache
    let engine = search_engine(&store);
    let before = engine.search(&SearchRequest::new("")).unwrap().completeness;
    store.ingest_page(&crate::fixture::issues_page_through(vec![], 10)).unwrap();
    let after = engine.search(&SearchRequest::new("")).unwrap().completeness;
    assert!(before != after && after.missing.is_empty(), "{after:?}");
}

fn search_engine(store: &StoreReader) -> SearchEngine {
    SearchEngine::new(Workspace::from_store(store.clone()))
}

fn hit_ids(store: &StoreReader, query: &str) -> BTreeSet<i64> {
    search_hits(store, query, 100).into_iter().map(|hit| hit.id).collect()
}

fn marked_texts(pieces: &[SnippetPiece]) -> Vec<String> {
    pieces.iter().filter(|piece| piece.is_match).map(|piece| piece.text.clone()).collect()
}

fn with_author(mut observation: ItemObservation, author: &str) -> ItemObservation {
    as_thread_mut(&mut observation).author = Some(author.into());
    observation
}
