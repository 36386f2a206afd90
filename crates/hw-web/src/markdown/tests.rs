use super::*;

#[test]
fn raw_html_comes_out_as_text() {
    for body in [
        "<script>alert(1)</script>",
        "a <b onclick=x>b</b>",
        "<img src=x onerror=alert(1)>",
        "<!-- hidden -->",
        "<style>*{}</style>",
        "<svg/onload=alert(1)>",
        "- <iframe src=//evil.example></iframe>",
    ] {
        let markup = prose(body).to_string();
        assert!(markup.contains("&lt;"), "{body}: {markup}");
        for tag in ["<script", "<b", "<img", "<!--", "<style", "<svg", "<iframe"] {
            assert!(!markup.contains(tag) || tag == "<b" && markup.contains("<br"), "{markup}");
        }
    }
}

#[test]
fn only_harmless_addresses_become_links() {
    let link = |markdown: &str| prose(markdown).to_string();
    let rel = "rel=\"nofollow noopener noreferrer\"";
    assert!(
        link("[x](https://a.example)")
            .contains(&format!("<a href=\"https://a.example\" {rel}>x</a>"))
    );
    assert!(link("see https://a.example/b, there").contains("<a href=\"https://a.example/b\""));
    assert!(link("<mailto:a@b.example>").contains("href=\"mailto:a@b.example\""));
    for address in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//evil.example",
        "/threads/a/b/1",
        "#main",
        "file:///etc/passwd",
    ] {
        let markup = link(&format!("[x]({address}) <{address}>"));
        assert!(!markup.contains("href"), "{address}: {markup}");
    }
}

#[test]
fn an_image_is_a_link_with_its_text_and_is_not_loaded() {
    let markup = prose("![a *cat*](https://a.example/c.png)").to_string();
    assert!(markup.contains(">image: a <em>cat</em></a>") && !markup.contains("<img"), "{markup}");
    let nested = prose("[![badge](https://a.example/b.svg)](https://a.example)").to_string();
    assert_eq!(nested.matches("<a ").count(), 1, "{nested}");
    assert!(nested.contains("image: badge"), "{nested}");
}

#[test]
fn headings_stay_below_those_of_the_page() {
    assert_eq!(prose("# a\n###### b").to_string(), "<h3>a</h3>\n<h6>b</h6>\n");
}

#[test]
fn code_is_left_alone() {
    let markup =
        prose("`https://a.example` \n\n```html\n<b>https://a.example</b>\n```").to_string();
    assert!(!markup.contains("<a") && markup.contains("&lt;b&gt;"), "{markup}");
    assert!(!markup.contains("class"), "{markup}");
}

#[test]
fn tasks_tables_and_lists_keep_their_shape() {
    let markup = prose("- [x] done\n- [ ] not\n\n|a|b|\n|:-|-:|\n|1|2|\n\n3. three\n").to_string();
    for part in
        ["<li>☑ done", "<li>☐ not", "<table tabindex=\"0\">", "<td>1</td>", "<ol start=\"3\">"]
    {
        assert!(markup.contains(part), "{part}: {markup}");
    }
    assert!(!markup.contains("style") && !markup.contains("<input"), "{markup}");
}

#[test]
fn what_cannot_be_seen_is_left_out() {
    assert_eq!(prose("a\u{202e}b\u{e0041}c").to_string(), "<p>abc</p>\n");
}

#[test]
fn what_cannot_be_seen_is_left_out_although_it_is_written_as_an_entity() {
    assert_eq!(prose("a&#x202e;b&ZeroWidthSpace;c&#917569;d").to_string(), "<p>abcd</p>\n");
    let markup =
        prose("[a&#x2066;b](https://x.example/&#x202e;c \"d&#8203;e\") ![f&rlm;g](https://x.example/&lrm;h)")
            .to_string();
    for part in ["https://x.example/c\"", "\"de\"", ">ab<", "https://x.example/h\"", "fg<"] {
        assert!(markup.contains(part), "{part}: {markup}");
    }
    assert!(!markup.contains("%E2%80"), "{markup}");
    assert_eq!(prose("👩&zwj;💻").to_string(), "<p>👩\u{200d}💻</p>\n");
}

#[test]
fn an_alert_keeps_its_word() {
    for (sign, word) in [("WARNING", "Warning"), ("note", "Note"), ("CAUTION", "Caution")] {
        let markup = prose(&format!("> [!{sign}]\n> mind the gap")).to_string();
        let expected = format!("<p><strong>{word}</strong></p>\n<p>mind the gap</p>");
        assert!(markup.contains("<blockquote>") && markup.contains(&expected), "{markup}");
    }
}

#[test]
fn a_text_that_nests_without_end_is_shown() {
    for body in [">".repeat(20_000), "[".repeat(20_000), "- ".repeat(5_000), "*a".repeat(20_000)] {
        let markup = prose(&format!("{body} end")).to_string();
        assert!(markup.contains("end"), "{}", body.len());
        assert!(markup.matches("<blockquote>").count() <= 40);
    }
}

#[test]
fn markup_that_would_be_too_long_is_not_made() {
    assert!(super::prose("*a*", 17).is_none());
    assert_eq!(super::prose("*a*", 18).unwrap().to_string(), "<p><em>a</em></p>\n");
    assert!(super::prose("<https://a.example>", 70).is_none(), "the sanitizer adds to it");
}

fn prose(body: &str) -> Prose {
    super::prose(body, usize::MAX).unwrap()
}
