use hw_store::Place;

use crate::world::{found, hits, issue, issues, open, search_rows, seen_at, thread_in};

both![
    search_rows_appear_and_follow_edits,
    every_word_counts_and_the_newest_of_equals_comes_first,
    words_with_symbols_and_text_without_spaces_are_found,
    facets_are_no_words,
    an_edit_within_one_second_keeps_one_row,
    items_of_one_second_do_not_push_each_other_out,
    a_huge_body_is_kept_and_its_beginning_is_found,
    scripts_and_signs_are_found_as_they_are_written,
    huge_words_names_and_queries_are_cut_alike,
];

fn search_rows_appear_and_follow_edits(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaks")])).unwrap();
    let [hit] = hits(&store, "LEAKS", 10).try_into().unwrap();
    let url = "https://github.com/acme/pump/issues/5".to_owned();
    let kind = hw_rules::item::Kind::Issue;
    assert_eq!((hit.kind, hit.id, hit.url, hit.title), (kind, 5, url, "title leaks".to_owned()));
    store.ingest(&lease, &issues(vec![issue(5, 11, "drips")])).unwrap();
    assert_eq!((found(&store, "leaks"), found(&store, "drips")), (vec![], vec![5]));
    assert_eq!(search_rows(place), 1, "the old row is gone");
}

fn every_word_counts_and_the_newest_of_equals_comes_first(place: &Place) {
    let (store, lease) = open(place);
    let page =
        vec![issue(7, 30, "leaks oil"), issue(6, 20, "leaks air"), issue(5, 10, "leaks gas")];
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, "leaks"), [7, 6, 5]);
    assert_eq!(found(&store, "oil leaks"), [7]);
    store.ingest(&lease, &issues(vec![issue(5, 40, "leaks gas")])).unwrap();
    assert_eq!(found(&store, "leaks"), [5, 7, 6], "an update moves to the top");
    assert_eq!(hits(&store, "leaks", 1).len(), 1);
    assert_eq!((found(&store, "ada pump"), found(&store, "")), (vec![5, 7, 6], vec![]));
    assert_eq!(found(&store, "\" OR * ( - :"), Vec::<i64>::new(), "symbols mean nothing");
}

fn words_with_symbols_and_text_without_spaces_are_found(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "C++ 検索 Größe v1.2e5")])).unwrap();
    for query in ["c++", "検", "索", "größe", "v1.2e5", "1", "2e5"] {
        let expected = if query == "1" { vec![] } else { vec![5] };
        assert_eq!(found(&store, query), expected, "{query}");
    }
}

fn facets_are_no_words(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "x")])).unwrap();
    for query in ["typeissue", "repopump", "typ*", "standing*", "https", "issue"] {
        assert_eq!(found(&store, query), Vec::<i64>::new(), "{query}");
    }
}

fn an_edit_within_one_second_keeps_one_row(place: &Place) {
    let (store, lease) = open(place);
    for look in 10..14 {
        let seen = seen_at(issue(5, 10, &format!("leaks {look}")), look);
        store.ingest(&lease, &issues(vec![seen])).unwrap();
        assert_eq!(found(&store, "leaks"), [5]);
        assert_eq!(found(&store, &look.to_string()), [5]);
    }
}

fn items_of_one_second_do_not_push_each_other_out(place: &Place) {
    let (store, lease) = open(place);
    let far = 1 << 20;
    let page = vec![issue(5, 10, "leaks"), issue(5 + far, 10, "leaks"), issue(6, 10, "leaks")];
    store.ingest(&lease, &issues(page)).unwrap();
    store.ingest(&lease, &issues(vec![issue(5 + 2 * far, 10, "leaks")])).unwrap();
    let mut ids = found(&store, "leaks");
    ids.sort_unstable();
    assert_eq!(ids, [5, 6, 5 + far, 5 + 2 * far]);
}

fn a_huge_body_is_kept_and_its_beginning_is_found(place: &Place) {
    let (store, lease) = open(place);
    let mut huge = issue(5, 10, "x");
    let issue = thread_in(&mut huge);
    let words: Vec<_> = (0..200_000).map(|n| format!("w{n}-x")).collect();
    issue.body = format!("begin {} end {}", words.join(" "), "y".repeat(5_000));
    let length = issue.body.len();
    store.ingest(&lease, &issues(vec![huge])).unwrap();
    assert_eq!(crate::world::bodies(&store)[0].len(), length);
    assert_eq!((found(&store, "begin w1"), found(&store, "end")), (vec![5], vec![]));
}

fn scripts_and_signs_are_found_as_they_are_written(place: &Place) {
    let (store, lease) = open(place);
    let texts = ["हि", "ही", "x²", "½", "Ⓐ", "naïve", "µs", "μs", "ไทย", "Ünï"];
    let page = (0..).zip(texts).map(|(id, text)| issue(id, 10 + id, text)).collect();
    store.ingest(&lease, &issues(page)).unwrap();
    for (id, text) in (0..).zip(texts) {
        assert_eq!(found(&store, text), [id], "{text}");
    }
    for part in ["ह", "x", "1", "2", "na", "s", "ไ"] {
        let whole = format!("{part} ");
        assert_eq!(found(&store, &whole), Vec::<i64>::new(), "{part}");
    }
}

fn huge_words_names_and_queries_are_cut_alike(place: &Place) {
    let (store, lease) = open(place);
    let mut huge = issue(5, 10, "x");
    let issue = thread_in(&mut huge);
    let many: Vec<_> = (0..3_000).map(|n| format!("w{n}")).collect();
    issue.body = format!("{} {}", "y".repeat(5_000), many.join(" "));
    issue.title = "日本語".repeat(100_000);
    issue.author = Some("z".repeat(3_000));
    issue.labels = vec!["\u{1f600}".repeat(3_000); 3];
    store.ingest(&lease, &issues(vec![huge])).unwrap();
    let queries = ["y".repeat(5_000), "z".repeat(3_000), "日本".to_owned(), many.join(" ")];
    for query in queries {
        assert_eq!(found(&store, &query), [5], "{query:.9}…");
    }
    assert_eq!(
        found(&store, &format!("{} v", many.join(" "))),
        [5],
        "what is cut is not asked for"
    );
}
