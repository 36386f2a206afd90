//! The search engine: what is found, in which order, and what is said about it.

use std::collections::BTreeSet;

use hw_rules::item::{Kind, Observation};
use hw_rules::snippet::Piece;
use hw_store::{
    Found, IngestPage, Lease, Matches, Place, Ranked, Search, SearchEngine, Store, Workspace,
};

use crate::world::{
    comment, found, hits, issue, issue_of, issues, open, organization, repository, thread,
    thread_in, threads, time,
};

both![
    a_title_counts_more_than_a_body,
    where_the_viewer_has_written_something_counts_twice,
    a_word_with_symbols_prefers_what_has_it_literally,
    phrases_and_prefixes_are_found,
    a_word_that_is_being_typed_is_found_by_its_beginning,
    each_filter_narrows,
    filters_of_one_sort_widen_and_labels_narrow,
    dates_are_compared_as_instants,
    an_owner_tells_two_repositories_apart,
    filters_alone_show_the_newest,
    a_match_in_a_comment_counts_for_its_thread,
    comments_are_found_for_themselves,
    filters_of_threads_hold_for_matches_in_comments,
    comments_can_be_narrowed_by_what_their_threads_are,
    without_words_only_threads_are_shown,
    symbols_are_found_wherever_they_stand,
    a_database_that_was_replaced_is_opened_anew,
    above_a_cap_the_newest_are_ranked_and_the_answer_says_so,
    nasty_queries_find_what_contains_them,
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

fn a_word_with_symbols_prefers_what_has_it_literally(place: &Place) {
    let (store, lease) = open(place);
    let page =
        vec![issue(5, 10, "the foo-bar"), issue(6, 20, "bar and foo"), issue(7, 30, "foo alone")];
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, "foo-bar"), [5, 6]);
    assert_eq!(found(&store, "foo_bar").len(), 2);
}

fn phrases_and_prefixes_are_found(place: &Place) {
    let (store, lease) = open(place);
    let page =
        vec![issue(5, 10, "oil-pump leaks again"), issue(6, 20, "leaks oil"), issue(7, 30, "leak")];
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, "\"pump leaks again\""), [5], "a literal form parts no phrase");
    assert_eq!(found(&store, "\"leaks oil\""), [6]);
    assert_eq!(found(&store, "\"oil again\""), Vec::<i64>::new());
    assert_eq!(ids(&store, "leak*"), [5, 6, 7].into());
    assert_eq!(ids(&store, "lea* agai*"), [5].into());
}

fn a_word_that_is_being_typed_is_found_by_its_beginning(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaking"), issue(6, 5, "leak")])).unwrap();
    let typed = Search { unfinished: true, ..Search::new("leak") };
    let ids = |search| engine(&store).search(search).unwrap().hits.into_iter().map(|it| it.id);
    assert_eq!(ids(&typed).collect::<Vec<_>>(), [6, 5], "the whole word first");
    assert_eq!(ids(&Search::new("leak")).collect::<Vec<_>>(), [6]);
    let hits = engine(&store).search(&typed).unwrap().hits;
    assert!(
        hits.iter().all(|hit| !marks(&hit.marked_title).is_empty()),
        "both are marked: {hits:?}"
    );
}

fn each_filter_narrows(place: &Place) {
    let (store, lease) = open(place);
    fill(&store, &lease);
    for (filter, expected) in [
        ("type:issue", vec![5, 6]),
        ("type:pr", vec![7]),
        ("type:discussion", vec![8]),
        ("repo:PUMP", vec![5, 7, 8]),
        ("repo:valve", vec![6]),
        ("author:Bob", vec![6]),
        ("author:@ada", vec![5, 7, 8]),
        ("state:open", vec![5, 8]),
        ("state:closed", vec![6]),
        ("state:merged", vec![7]),
        ("label:\"Help Wanted\"", vec![5, 7, 8]),
        ("label:odd", vec![6]),
        ("label:help", vec![]),
        ("repo:pump type:pr state:merged author:ada", vec![7]),
        ("repo:pump type:pr state:open", vec![]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        assert_eq!(ids(&store, &format!("leaks {filter}")), expected, "{filter}");
        assert_eq!(ids(&store, filter), expected, "{filter} alone");
    }
}

fn filters_of_one_sort_widen_and_labels_narrow(place: &Place) {
    let (store, lease) = open(place);
    fill(&store, &lease);
    assert_eq!(ids(&store, "type:pr type:discussion leaks"), [7, 8].into());
    assert_eq!(ids(&store, "author:ada author:bob leaks").len(), 4);
    assert_eq!(ids(&store, "label:bug label:\"help wanted\" leaks"), [5, 7, 8].into());
    assert_eq!(ids(&store, "label:bug label:odd leaks"), [6].into());
    assert_eq!(ids(&store, "label:\"help wanted\" label:odd leaks"), BTreeSet::new());
}

fn dates_are_compared_as_instants(place: &Place) {
    let (store, lease) = open(place);
    let day = 20_089 * 86_400; // 2025-01-01
    let made = |id: i64, created: i64, updated: i64| {
        let mut made = issue(id, updated, "leaks");
        thread_in(&mut made).created_at = time(created);
        made
    };
    let page =
        vec![made(5, day - 1, day), made(6, day, day + 86_400), made(7, day + 3_600, day + 90_000)];
    store.ingest(&lease, &issues(page)).unwrap();
    for (filter, expected) in [
        ("created:2025-01-01", vec![6, 7]),
        ("created:<2025-01-01", vec![5]),
        ("created:>=2025-01-01", vec![6, 7]),
        ("created:>2025-01-01", vec![]),
        ("created:<=2025-01-01T01:00:00+01:00", vec![5, 6]),
        ("created:>2025-01-01T00:00:00Z", vec![7]),
        ("created:2024-12-31..2025-01-01T00:00:00Z", vec![5, 6]),
        ("updated:2025-01-01", vec![5]),
        ("updated:>2025-01-01", vec![6, 7]),
        ("updated:<=2025-01-02T00:00:00Z", vec![5, 6]),
        ("updated:>=2025-01-02T00:00:01Z created:<2026-01-01", vec![7]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        assert_eq!(ids(&store, &format!("leaks {filter}")), expected, "{filter}");
        assert_eq!(ids(&store, filter), expected, "{filter} alone");
    }
}

fn an_owner_tells_two_repositories_apart(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    assert_eq!(found(&store, "leaks repo:Acme/pump"), [5]);
    assert_eq!(found(&store, "leaks repo:other/pump"), Vec::<i64>::new());
}

fn filters_alone_show_the_newest(place: &Place) {
    let (store, lease) = open(place);
    let page = (5..30).map(|id| issue(id, id, "leaks")).collect();
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, "type:issue"), (20..30).rev().collect::<Vec<_>>());
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

fn filters_of_threads_hold_for_matches_in_comments(place: &Place) {
    let (store, lease) = open(place);
    let mut closed = issue(6, 11, "x");
    thread_in(&mut closed).state = "CLOSED".into();
    thread_in(&mut closed).labels = vec!["odd".into()];
    store.ingest(&lease, &issues(vec![issue(5, 10, "x"), closed])).unwrap();
    let said =
        [(50, 5), (60, 6)].map(|(id, thread)| comment(Kind::IssueComment, id, thread, id, "drips"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.into())).unwrap();
    for (filter, expected) in [
        ("state:open", vec![5]),
        ("state:closed", vec![6]),
        ("label:odd", vec![6]),
        ("type:issue", vec![5, 6]),
        ("type:pr", vec![]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        let search = Search { limit: 100, ..Search::new(format!("drips {filter}")) };
        let Found { hits, matches, .. } = engine(&store).search(&search).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.id).collect::<BTreeSet<_>>(), expected, "{filter}");
        assert_eq!(matches, Matches::Exactly(expected.len() as u64), "{filter}");
    }
}

fn comments_can_be_narrowed_by_what_their_threads_are(place: &Place) {
    let (store, lease) = open(place);
    let mut closed = thread(Kind::PullRequest, 6, 11, "drips");
    thread_in(&mut closed).state = "CLOSED".into();
    store.ingest(&lease, &issues(vec![issue(5, 10, "drips")])).unwrap();
    store.ingest(&lease, &threads(Kind::PullRequest, vec![closed])).unwrap();
    let said =
        [(50, 5), (60, 6)].map(|(id, thread)| comment(Kind::IssueComment, id, thread, id, "drips"));
    store.ingest(&lease, &threads(Kind::IssueComment, said.into())).unwrap();
    for (filter, expected) in [
        ("type:comment", vec![50, 60]),
        ("type:comment state:open", vec![50]),
        ("type:comment state:closed", vec![60]),
        ("type:comment label:bug", vec![50, 60]),
        ("type:comment label:odd", vec![]),
        ("type:issue type:comment", vec![5, 50, 60]),
        ("type:issue type:comment state:closed", vec![60]),
    ] {
        let expected: BTreeSet<i64> = expected.into_iter().collect();
        assert_eq!(ids(&store, &format!("drips {filter}")), expected, "{filter}");
        assert_eq!(ids(&store, filter), expected, "{filter} alone");
    }
}

fn without_words_only_threads_are_shown(place: &Place) {
    let (store, lease) = open(place);
    let mut theirs = issue(5, 10, "x");
    thread_in(&mut theirs).author = Some("bob".into());
    store.ingest(&lease, &issues(vec![theirs, issue(6, 11, "x")])).unwrap();
    let said = comment(Kind::IssueComment, 50, 5, 50, "by ada");
    store.ingest(&lease, &threads(Kind::IssueComment, vec![said])).unwrap();
    assert_eq!(found(&store, "author:ada"), [6], "not where she said something");
    assert_eq!(ids(&store, "author:ada by"), [5].into(), "but with words");
}

fn symbols_are_found_wherever_they_stand(place: &Place) {
    let (store, lease) = open(place);
    let page = vec![issue(5, 10, "error: x"), issue(6, 11, "C++ is"), issue(7, 12, "plain")];
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, ":"), [5]);
    assert_eq!(found(&store, "++"), [6]);
    assert_eq!(found(&store, "plain ?"), [7], "beside words they are no condition");
    assert_eq!(found(&store, "plain & body"), [7]);
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
    assert_eq!((matches, ranked), (Matches::MoreThan(800), Ranked::Newest(800)));
    assert_eq!(
        hits.iter().map(|hit| hit.id).collect::<Vec<_>>(),
        (2_990..3_000).rev().collect::<Vec<_>>()
    );
    let old = format!("leaks updated:<={}", time(700));
    let Found { hits, matches, ranked, .. } = engine(&store).search(&Search::new(old)).unwrap();
    assert_eq!(
        (matches, ranked, hits[0].id),
        (Matches::Exactly(691), Ranked::All, 3),
        "filters come before the cap"
    );
}

fn nasty_queries_find_what_contains_them(place: &Place) {
    let (store, lease) = open(place);
    let nasty = nasty();
    let page = nasty
        .iter()
        .zip(100..)
        .map(|(text, id)| issue(id, id, &format!("this {text} there")))
        .collect();
    store.ingest(&lease, &issues(page)).unwrap();
    for (text, id) in nasty.iter().zip(100..) {
        let found: Vec<i64> = hits(&store, text, 50).into_iter().map(|hit| hit.id).collect();
        let expected = !text.is_empty();
        assert_eq!(found.contains(&id), expected, "{text:.50?}: {found:?}");
    }
}

fn an_answer_says_what_may_be_missing(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    let missing = engine(&store).search(&Search::new("leaks")).unwrap().behind.missing;
    assert!(
        missing.iter().any(|it| it == "the issues of acme/pump are not complete yet"),
        "{missing:?}"
    );
    assert!(
        missing.iter().any(|it| it == "no pull-requests were ever pulled into this workspace"),
        "{missing:?}"
    );
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

/// As many as a hundred for each seed.
#[test]
fn random_texts_are_queries_without_an_error() {
    let (store, lease) = open(&Place::Memory);
    let nasty = nasty();
    let page = nasty.iter().zip(100..).map(|(text, id)| issue(id, id, text)).collect();
    store.ingest(&lease, &issues(page)).unwrap();
    let engine = engine(&store);
    let seeds: u64 = option_env_seeds();
    for seed in 0..seeds * 100 {
        let query = random(&mut fastrand::Rng::with_seed(seed), &nasty);
        let search = Search { unfinished: seed % 2 == 0, ..Search::new(query.as_str()) };
        if let Err(error) = engine.search(&search) {
            panic!("seed {seed}: {query:?}: {error}");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a test takes is said from outside")]
fn option_env_seeds() -> u64 {
    std::env::var("HIGHWATER_SEEDS").ok().and_then(|it| it.parse().ok()).unwrap_or(20)
}

fn nasty() -> Vec<String> {
    let mut nasty: Vec<String> = [
        "foo-bar",
        "node.js",
        "C++",
        "#123",
        "@user",
        "it's",
        "\"unbalanced",
        "a AND",
        "OR",
        "NEAR(",
        "*",
        ":",
        "title:",
        "é",
        "e\u{301}",
        "検索",
        "한국어",
        "🚀",
        "👩\u{200d}👧",
        "x",
        "",
        "a* OR b",
        "^caret",
        "-minus",
        "{title}",
        "col:val",
        "'quoted'",
        "back\\slash",
        "semi;colon",
        "100%",
        "under_score",
        "NOT",
        "\u{202e}odd",
        "type:nonsense",
        "<b>bold</b>",
        "v1.2.3",
        "std::vec<int>",
        "a&b|c!",
        "<->",
        ":*",
    ]
    .map(str::to_owned)
    .into();
    nasty.push("ten kilobytes ".repeat(800));
    nasty.push((0..2_000).map(|n| format!("w{n} ")).collect());
    nasty
}

fn random(dice: &mut fastrand::Rng, nasty: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..dice.usize(..8) {
        match dice.u32(..6) {
            0 => text.push(dice.char(..)),
            1 => text.push(char::from(dice.u8(..128))),
            2 => text.push_str(&nasty[dice.usize(..nasty.len() - 2)]),
            3 => text.push_str(
                ["repo:", "created:>=", "label:\"", "type:", "..", "2025-01-01"][dice.usize(..6)],
            ),
            4 => text.push(
                ['"', '*', ' ', ':', '(', ')', '\'', '\\', '&', '|', '!', '<'][dice.usize(..12)],
            ),
            _ => text.push_str(["leaks", "foo", "bar ", " x ", "日本"][dice.usize(..5)]),
        }
    }
    text
}

/// Four threads that say "leaks".
fn fill(store: &Store, lease: &Lease) {
    store.ingest(lease, &crate::world::repositories(vec![repository(2, "valve", 0)])).unwrap();
    let mut other = issue_of(2, "valve", 6, 20, "leaks");
    let it = thread_in(&mut other);
    (it.author, it.state, it.labels) =
        (Some("bob".into()), "CLOSED".into(), vec!["odd".into(), "bug".into()]);
    let mut merged = thread(Kind::PullRequest, 7, 30, "leaks");
    thread_in(&mut merged).state = "MERGED".into();
    store.ingest(lease, &issues(vec![issue(5, 10, "leaks"), other])).unwrap();
    store.ingest(lease, &threads(Kind::PullRequest, vec![merged])).unwrap();
    store
        .ingest(lease, &threads(Kind::Discussion, vec![thread(Kind::Discussion, 8, 40, "leaks")]))
        .unwrap();
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
