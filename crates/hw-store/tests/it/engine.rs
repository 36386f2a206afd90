//! The search engine: what is found, in which order, and what is said about it.

use std::collections::BTreeSet;

use hw_rules::item::{Kind, Observation};
use hw_rules::snippet::Piece;
use hw_store::{Found, IngestPage, Matches, Place, Ranked, Search, SearchEngine, Store, Workspace};

use crate::world::{
    comment, found, hits, issue, issue_of, issues, open, organization, repository, thread_in,
    threads, time,
};

mod algebra;
mod filters;
mod texts;

both![
    a_title_counts_more_than_a_body,
    where_the_viewer_has_written_something_counts_twice,
    a_match_in_a_comment_counts_for_its_thread,
    comments_are_found_for_themselves,
    a_database_that_was_replaced_is_opened_anew,
    above_a_cap_the_newest_are_ranked_and_the_answer_says_so,
    a_busy_thread_hides_no_other,
    a_thread_is_one_match_however_often_it_is_said_there,
    the_thread_that_is_named_comes_first,
    an_answer_says_what_may_be_missing,
];

fn a_title_counts_more_than_a_body(place: &Place) {
    let (store, lease) = open(place);
    let mut titled = issue(5, 10, "x");
    thread_in(&mut titled).title = "title leaks".into();
    let mut bodied = issue(6, 20, "x");
    thread_in(&mut bodied).body = "body leaks".into();
    store.ingest(&lease, &issues(vec![titled, bodied])).unwrap();
    assert_eq!(found(&store, "leaks"), [5, 6]);
}

fn where_the_viewer_has_written_something_counts_twice(place: &Place) {
    let (store, lease) = open(place);
    let page = IngestPage { viewer: Some("Ada".into()), ..IngestPage::of(organization(), 100) };
    store
        .ingest(&lease, &IngestPage { observations: vec![repository(2, "valve", 0)], ..page })
        .unwrap();
    let by = |mut said: Observation, author: &str| {
        thread_in(&mut said).author = Some(author.into());
        said
    };
    let theirs = by(issue(6, 30, "leaks"), "bob");
    let beside = by(issue_of(2, "valve", 7, 20, "leaks"), "bob");
    store.ingest(&lease, &issues(vec![theirs, beside])).unwrap();
    assert_eq!(found(&store, "leaks"), [6, 7], "the newest of equals");
    store.ingest(&lease, &issues(vec![by(issue_of(2, "valve", 8, 10, "mine"), "ada")])).unwrap();
    assert_eq!(found(&store, "leaks"), [7, 6]);
}

fn a_match_in_a_comment_counts_for_its_thread(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks"), issue(6, 11, "drips")])).unwrap();
    for (id, text) in [(50, "it drips and drips"), (51, "leaks too"), (52, "drips")] {
        let said = comment(Kind::IssueComment, id, 5, 12 + id, text);
        store.ingest(&lease, &threads(Kind::IssueComment, vec![said])).unwrap();
    }
    let drips = hits(&store, "drips", 10);
    let shown: BTreeSet<_> = drips.iter().map(|hit| (hit.type_name(), hit.id)).collect();
    assert_eq!((shown, drips.len()), ([("issue", 5), ("issue", 6)].into(), 2), "each thread once");
    let by_comment = drips.iter().find(|hit| hit.id == 5).unwrap();
    let said = by_comment.said.as_ref().unwrap();
    assert!(said.url.contains("#issue_comment-5"), "{said:?}");
    assert!(marks(&by_comment.snippet).contains(&"drips".to_owned()));
    assert_eq!(by_comment.title, "title leaks");
    assert_eq!(hits(&store, "title leaks", 10)[0].said, None, "the thread's own words");
    // a comment whose thread is not held stands for itself
    let lost = comment(Kind::IssueComment, 53, 99, 90, "lonely");
    store.ingest(&lease, &threads(Kind::IssueComment, vec![lost])).unwrap();
    assert_eq!(hits(&store, "lonely", 10)[0].type_name(), "comment");
}

fn comments_are_found_for_themselves(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "drips")])).unwrap();
    let said = [50, 51].map(|id| comment(Kind::IssueComment, id, 5, id, "drips"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.into())).unwrap();
    let hits = hits(&store, "type:comment drips", 10);
    let shown: Vec<_> = hits.iter().map(|hit| (hit.type_name(), hit.id, hit.number)).collect();
    assert_eq!(shown, [("comment", 51, 5), ("comment", 50, 5)]);
    assert!(hits[0].url.contains('#') && hits[0].title == "title drips" && hits[0].said.is_none());
}

fn a_database_that_was_replaced_is_opened_anew(place: &Place) {
    let Place::File(path) = place else { return };
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "before")])).unwrap();
    let engine = SearchEngine::over(Workspace::at(place.clone()));
    let found = |word: &str| engine.search(&Search::new(word)).map(|found| found.hits.len());
    assert_eq!(found("before").unwrap(), 1);
    drop(store);
    let moved = path.with_extension("moved");
    std::fs::rename(path, &moved).unwrap();
    assert!(found("before").is_err(), "it is gone");
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "after")])).unwrap();
    assert_eq!((found("before").unwrap(), found("after").unwrap()), (0, 1));
}

fn above_a_cap_the_newest_are_ranked_and_the_answer_says_so(place: &Place) {
    let (store, lease) = open(place);
    for page in 0..3 {
        let ids = page * 1_000..(page + 1) * 1_000;
        let said =
            ids.map(|id| issue(id, id + 10, if id == 3 { "leaks leaks leaks" } else { "leaks" }));
        store.ingest(&lease, &issues(said.collect())).unwrap();
    }
    let Found { hits, matches, ranked, .. } = engine(&store).search(&Search::new("leaks")).unwrap();
    assert_eq!((matches, ranked), (Matches::AtLeast(800), Ranked::Newest));
    assert_eq!(
        hits.iter().map(|hit| hit.id).collect::<Vec<_>>(),
        (2_990..3_000).rev().collect::<Vec<_>>()
    );
    let old = format!("leaks updated:<={}", time(700));
    let Found { hits, matches, ranked, .. } = engine(&store).search(&Search::new(old)).unwrap();
    assert_eq!(
        (matches, ranked, hits[0].id),
        (Matches::AtLeast(691), Ranked::All, 3),
        "filters come before the cap"
    );
}

fn a_busy_thread_hides_no_other(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues((5..9).map(|id| issue(id, id, "drips")).collect())).unwrap();
    for page in 1..4 {
        let ids = page * 1_000..page * 1_000 + 700;
        let said = ids.map(|id| comment(Kind::IssueComment, id, 5, id, "drips drips"));
        store.ingest(&lease, &threads(Kind::IssueComment, said.collect())).unwrap();
    }
    let Found { hits, matches, ranked, .. } = engine(&store).search(&Search::new("drips")).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [5, 8, 7, 6]);
    assert_eq!((matches, ranked), (Matches::Exactly(4), Ranked::All));
    // what is said there does not match by the names of its repository and its author
    let ada: Vec<_> = engine(&store)
        .search(&Search::new("ada"))
        .unwrap()
        .hits
        .into_iter()
        .map(|hit| hit.said)
        .collect();
    assert_eq!(ada, [None, None, None, None]);
}

fn a_thread_is_one_match_however_often_it_is_said_there(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "drips"), issue(6, 11, "x")])).unwrap();
    let said = [(50, 5), (51, 5), (60, 6)]
        .map(|(id, thread)| comment(Kind::IssueComment, id, thread, id, "drips"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.into())).unwrap();
    for (query, count) in
        [("drips", 2), ("drips type:issue", 2), ("drips state:open", 2), ("drips type:comment", 3)]
    {
        let found = engine(&store).search(&Search::new(query)).unwrap();
        assert_eq!(found.matches, Matches::Exactly(count), "{query}");
        assert_eq!(found.hits.len() as u64, count, "{query}");
    }
}

fn the_thread_that_is_named_comes_first(place: &Place) {
    let (store, lease) = open(place);
    let talk = issue(6, 20, "acme pump 5, see https://github.com/acme/pump/issues/5");
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks"), talk])).unwrap();
    for query in ["acme/pump#5", "pump#5", "https://github.com/acme/pump/issues/5#issuecomment-1"] {
        let found = engine(&store).search(&Search::new(query)).unwrap();
        assert_eq!(found.hits[0].id, 5, "{query}");
        assert_eq!(found.matches, Matches::Exactly(found.hits.len() as u64), "{query}");
    }
    assert_eq!(found(&store, "https://ghe.example/acme/pump/issues/5"), Vec::<i64>::new());
}

fn an_answer_says_what_may_be_missing(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    let missing = engine(&store).search(&Search::new("leaks")).unwrap().behind.missing;
    assert!(
        missing.iter().any(|it| it == "the issues of acme/pump are not complete yet"),
        "{missing:?}"
    );
    assert_eq!(missing.len(), 1, "pull requests were left out on purpose: {missing:?}");
    // what was remembered is asked anew after a change
    let engine = engine(&store);
    let before = engine.search(&Search::new("")).unwrap().behind;
    store.ingest(&lease, &crate::world::issues_through(vec![], 10)).unwrap();
    let after = engine.search(&Search::new("")).unwrap().behind;
    assert!(
        before != after && !after.missing.iter().any(|it| it.contains("the issues of")),
        "{after:?}"
    );
}

fn engine(store: &Store) -> SearchEngine {
    SearchEngine::over(Workspace::over(store.clone()))
}

fn ids(store: &Store, query: &str) -> BTreeSet<i64> {
    hits(store, query, 100).into_iter().map(|hit| hit.id).collect()
}

fn marks(pieces: &[Piece]) -> Vec<String> {
    pieces.iter().filter(|it| it.is_match).map(|it| it.text.clone()).collect()
}
