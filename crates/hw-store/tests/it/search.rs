use hw_store::DatabaseLocation;

use crate::fixture::{
    as_thread_mut, count_search_rows, issue, issues_page, open_store, search_hits, search_ids,
    with_observed_at,
};

both![
    search_rows_appear_and_follow_edits,
    search_requires_every_word_and_puts_the_newest_first,
    search_finds_words_with_symbols_and_text_without_spaces,
    search_does_not_match_facets_as_words,
    search_rows_stay_single_after_an_edit_within_one_second,
    search_rows_of_one_second_do_not_replace_each_other,
    search_finds_the_start_of_a_huge_body,
    search_finds_scripts_and_signs_as_written,
    search_truncates_huge_words_names_and_queries_alike,
];

fn search_rows_appear_and_follow_edits(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    let [hit] = search_hits(&store, "LEAKS", 10).try_into().unwrap();
    let url = "https://github.com/acme/pump/issues/5".to_owned();
    let kind = hw_rules::item::ThreadKind::Issue;
    assert_eq!(
        (hit.kind, hit.id, hit.url, hit.title),
        (kind.into(), 5, url, "title leaks".to_owned())
    );
    store.ingest_page(&issues_page(vec![issue(5, 11, "drips")])).unwrap();
    assert_eq!((search_ids(&store, "leaks"), search_ids(&store, "drips")), (vec![], vec![5]));
    assert_eq!(count_search_rows(location), 1, "the old row is gone");
}

fn search_requires_every_word_and_puts_the_newest_first(location: &DatabaseLocation) {
    let store = open_store(location);
    let page =
        vec![issue(7, 30, "leaks oil"), issue(6, 20, "leaks air"), issue(5, 10, "leaks gas")];
    store.ingest_page(&issues_page(page)).unwrap();
    assert_eq!(search_ids(&store, "leaks"), [7, 6, 5]);
    assert_eq!(search_ids(&store, "oil leaks"), [7]);
    store.ingest_page(&issues_page(vec![issue(5, 40, "leaks gas")])).unwrap();
    assert_eq!(search_ids(&store, "leaks"), [5, 7, 6], "an update moves it to the top");
    assert_eq!(search_hits(&store, "leaks", 1).len(), 1);
    assert_eq!((search_ids(&store, "ada pump"), search_ids(&store, "")), (vec![5, 7, 6], vec![]));
    assert_eq!(search_ids(&store, "\" OR * ( - :"), Vec::<i64>::new(), "symbols mean nothing");
}

fn search_finds_words_with_symbols_and_text_without_spaces(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "C++ 検索 Größe v1.2e5")])).unwrap();
    for query in ["c++", "検", "索", "größe", "v1.2e5", "1", "2e5"] {
        let expected = if query == "1" { vec![] } else { vec![5] };
        assert_eq!(search_ids(&store, query), expected, "{query}");
    }
}

fn search_does_not_match_facets_as_words(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    for query in ["typeissue", "repopump", "typ*", "standing*", "https", "issue"] {
        assert_eq!(search_ids(&store, query), Vec::<i64>::new(), "{query}");
    }
}

fn search_rows_stay_single_after_an_edit_within_one_second(location: &DatabaseLocation) {
    let store = open_store(location);
    for second in 10..14 {
        let edit = with_observed_at(issue(5, 10, &format!("leaks {second}")), second);
        store.ingest_page(&issues_page(vec![edit])).unwrap();
        assert_eq!(search_ids(&store, "leaks"), [5]);
        assert_eq!(search_ids(&store, &second.to_string()), [5]);
    }
}

fn search_rows_of_one_second_do_not_replace_each_other(location: &DatabaseLocation) {
    let store = open_store(location);
    let far = 1 << 20;
    let page = vec![issue(5, 10, "leaks"), issue(5 + far, 10, "leaks"), issue(6, 10, "leaks")];
    store.ingest_page(&issues_page(page)).unwrap();
    store.ingest_page(&issues_page(vec![issue(5 + 2 * far, 10, "leaks")])).unwrap();
    let mut ids = search_ids(&store, "leaks");
    ids.sort_unstable();
    assert_eq!(ids, [5, 6, 5 + far, 5 + 2 * far]);
}

fn search_finds_the_start_of_a_huge_body(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut huge = issue(5, 10, "x");
    let issue = as_thread_mut(&mut huge);
    let words: Vec<_> = (0..200_000).map(|n| format!("w{n}-x")).collect();
    issue.body = format!("begin {} end {}", words.join(" "), "y".repeat(5_000));
    let length = issue.body.len();
    store.ingest_page(&issues_page(vec![huge])).unwrap();
    assert_eq!(crate::fixture::issue_bodies(&store)[0].len(), length);
    assert_eq!((search_ids(&store, "begin w1"), search_ids(&store, "end")), (vec![5], vec![]));
}

fn search_finds_scripts_and_signs_as_written(location: &DatabaseLocation) {
    let store = open_store(location);
    let texts = ["हि", "ही", "x²", "½", "Ⓐ", "naïve", "µs", "μs", "ไทย", "Ünï"];
    let page = (0..).zip(texts).map(|(id, text)| issue(id, 10 + id, text)).collect();
    store.ingest_page(&issues_page(page)).unwrap();
    for (id, text) in (0..).zip(texts) {
        assert_eq!(search_ids(&store, text), [id], "{text}");
    }
    for part in ["ह", "x", "1", "2", "na", "s", "ไ"] {
        let whole = format!("{part} ");
        assert_eq!(search_ids(&store, &whole), Vec::<i64>::new(), "{part}");
    }
}

fn search_truncates_huge_words_names_and_queries_alike(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut huge = issue(5, 10, "x");
    let issue = as_thread_mut(&mut huge);
    let many: Vec<_> = (0..3_000).map(|n| format!("w{n}")).collect();
    issue.body = format!("{} {}", "y".repeat(5_000), many.join(" "));
    issue.title = "日本語".repeat(100_000);
    issue.author = Some("z".repeat(3_000));
    issue.labels = vec!["\u{1f600}".repeat(3_000); 3];
    store.ingest_page(&issues_page(vec![huge])).unwrap();
    let queries = ["y".repeat(5_000), "z".repeat(3_000), "日本".to_owned(), many.join(" ")];
    for query in queries {
        assert_eq!(search_ids(&store, &query), [5], "{query:.9}…");
    }
    assert_eq!(
        search_ids(&store, &format!("{} v", many.join(" "))),
        [5],
        "words beyond the limit are ignored"
    );
}
