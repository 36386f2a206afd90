use proptest::prelude::*;

use super::*;

#[test]
fn links_come_from_facets_embeds_and_text() {
    let text = "Read this: example.com/a… and https://b.example/x?utm_source=bsky.";
    let facets = [facet(text, "example.com/a…", "https://www.example.com/a?id=1")];
    let embeds = ["https://EXAMPLE.com/a?id=1#top".to_owned()];
    let links = extract_links(text, &facets, &embeds);
    let found: Vec<_> = links.iter().map(|link| (link.origin, link.normal.as_str())).collect();
    assert_eq!(
        found,
        [
            (LinkOrigin::Facet, "https://example.com/a?id=1"),
            (LinkOrigin::Embed, "https://example.com/a?id=1"),
            (LinkOrigin::Text, "https://b.example/x"),
        ]
    );
    assert_eq!(links[0].url, "https://www.example.com/a?id=1");
}

#[test]
fn links_in_text_end_where_the_sentence_goes_on() {
    for (text, urls) in [
        ("see https://a.example/b.", vec!["https://a.example/b"]),
        ("(https://a.example/b)", vec!["https://a.example/b"]),
        ("https://a.example/b_(c)!", vec!["https://a.example/b_(c)"]),
        ("<https://a.example/b>", vec!["https://a.example/b"]),
        ("“https://a.example/b”", vec!["https://a.example/b"]),
        ("HTTP://a.example", vec!["http://a.example/"]),
        (
            "https://a.example/b https://c.example/d",
            vec!["https://a.example/b", "https://c.example/d"],
        ),
        (
            "https://a.example/b\nhttps://c.example",
            vec!["https://a.example/b", "https://c.example/"],
        ),
        ("読む https://a.example/b。", vec!["https://a.example/b"]),
        ("https://a.example/very-lo…", vec![]),
        ("https://a.example/very-lo...", vec![]),
        ("xhttps://a.example git+https://b.example", vec![]),
        ("https:// :// http://", vec![]),
        ("ftp://a.example javascript://a.example", vec![]),
        ("a.example/b", vec![]),
    ] {
        let links = extract_links(text, &[], &[]);
        assert_eq!(links.iter().map(|link| &link.url).collect::<Vec<_>>(), urls, "{text}");
    }
}

#[test]
fn links_below_a_facet_are_not_searched_in_the_text() {
    let text = "https://a.example/b and https://c.example";
    let links =
        extract_links(text, &[facet(text, "https://a.example/b", "https://a.example/bc")], &[]);
    let urls: Vec<&str> = links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(urls, ["https://a.example/bc", "https://c.example/"]);
}

#[test]
fn links_of_facets_that_mark_nothing_are_ignored() {
    for (start, end) in [(0, 0), (5, 2), (0, 100), (1, 2), (2, 4), (usize::MAX, usize::MAX)] {
        let facet = LinkFacet { start, end, url: "https://a.example".into() };
        assert_eq!(extract_links("aé text", &[facet], &[]), [], "{start}..{end}");
    }
}

#[test]
fn links_of_other_schemes_are_ignored() {
    let text = "click here";
    for url in ["javascript:alert(1)", "data:text/html,x", "at://did:plc:a", "vbscript:x", ""] {
        let links = extract_links(text, &[facet(text, "here", url)], &[url.to_owned()]);
        assert_eq!(links, [], "{url}");
    }
}

#[test]
fn links_are_listed_once_for_each_origin_and_not_without_end() {
    let text = "https://a.example https://www.a.example/ https://a.example/#x";
    assert_eq!(extract_links(text, &[], &[]).len(), 1);
    let many: String = (0..1_000).map(|number| format!("https://a.example/{number} ")).collect();
    assert_eq!(extract_links(&many, &[], &[]).len(), MAX_LINKS);
}

#[test]
fn links_longer_than_an_address_can_be_are_ignored() {
    let longest = format!("https://a.example/{}", "a".repeat(MAX_URL_BYTES - 18));
    assert_eq!(extract_links(&longest, &[], &[]).len(), 1);
    let brackets = format!("https://a.example/{}", ")".repeat(1 << 20));
    for text in [format!("{longest}a"), brackets] {
        let links = extract_links(&format!("{text} https://b.example"), &[], &[]);
        assert_eq!(links.iter().map(|link| &link.url).collect::<Vec<_>>(), ["https://b.example/"]);
    }
}

#[test]
fn link_origins_have_names_of_their_own() {
    for origin in LinkOrigin::ALL {
        assert_eq!(LinkOrigin::from_name(origin.name()), Some(origin));
    }
}

proptest! {
    #[test]
    fn links_of_any_text_and_facets_are_links_of_the_web(
        text in "(https?://|[a-z.…é()\\[\\] /:]|\\PC){0,60}",
        places in prop::collection::vec((0_usize..80, 0_usize..80, "\\PC{0,20}"), 0..5),
    ) {
        let facets: Vec<LinkFacet> =
            places.into_iter().map(|(start, end, url)| LinkFacet { start, end, url }).collect();
        for link in extract_links(&text, &facets, &[]) {
            prop_assert!(link.url.starts_with("http://") || link.url.starts_with("https://"));
        }
    }
}

/// Marks the first occurrence of a part of the text.
fn facet(text: &str, part: &str, url: &str) -> LinkFacet {
    let start = text.find(part).unwrap();
    LinkFacet { start, end: start + part.len(), url: url.to_owned() }
}
