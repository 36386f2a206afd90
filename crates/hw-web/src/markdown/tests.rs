use super::*;

#[test]
fn html_that_is_not_formatting_comes_out_as_text() {
    for body in [
        "<script>alert(1)</script>",
        "<style>*{}</style>",
        "<svg/onload=alert(1)>",
        "- <iframe src=//evil.example></iframe>",
        "a Vec<String> here",
        "<title>x",
    ] {
        let markup = prose(body).to_string();
        assert!(markup.contains("&lt;"), "{body}: {markup}");
        for tag in ["<script", "<style", "<svg", "<iframe", "<string", "<title"] {
            assert!(!markup.to_lowercase().contains(tag), "{markup}");
        }
    }
}

#[test]
fn html_that_is_formatting_is_kept_without_attributes() {
    for (body, expected) in [
        ("a <b onclick=x>b</b>", "<p>a <b>b</b></p>\n"),
        ("H<sub>2</sub>O x<sup id=main>2</sup>", "<p>H<sub>2</sub>O x<sup>2</sup></p>\n"),
        ("<kbd>Ctrl</kbd>+<kbd>C</kbd>", "<p><kbd>Ctrl</kbd>+<kbd>C</kbd></p>\n"),
        ("a<br>b", "<p>a<br>b</p>\n"),
        ("<div style=x hx-get=/ class=note-bad>a</div>", "<div>a</div>\n"),
        ("a <!-- hidden --> b", "<p>a  b</p>\n"),
        ("<center><font color=red>a</font></center>", "a\n"),
    ] {
        assert_eq!(prose(body).to_string(), expected, "{body}");
    }
}

#[test]
fn references_lead_to_mirrored_threads_and_nowhere_else() {
    let rel = "rel=\"nofollow noopener noreferrer\"";
    for (body, href, text) in [
        ("fixes #12", "/threads/acme/pump/12", "#12"),
        ("see acme/valve#3", "/threads/acme/valve/3", "acme/valve#3"),
        ("https://github.com/acme/pump/issues/12", "/threads/acme/pump/12", "#12"),
        ("https://github.com/acme/valve/pull/3", "/threads/acme/valve/3", "acme/valve#3"),
        (
            "https://github.com/acme/pump/issues/12#issuecomment-7",
            "/threads/acme/pump/12?at=issuecomment-7#issuecomment-7",
            "#12 (comment)",
        ),
        ("[x](https://redirect.github.com/acme/pump/issues/12)", "/threads/acme/pump/12", "x"),
        ("<p>in HTML #12</p>", "/threads/acme/pump/12", "#12"),
        ("@ada!", "/?q=author%3Aada", "@ada"),
    ] {
        let link = format!("<a href=\"{href}\" {rel}>{text}</a>");
        let markup = prose(body).to_string();
        assert!(markup.contains(&link), "{body}: {markup}");
    }
    for body in ["#13", "acme/valve#12", "`#12`", "```\n#12 @ada\n```", "<code>#12</code>"] {
        assert!(!prose(body).to_string().contains("<a"), "{body}");
    }
    let elsewhere = prose("https://ghe.example/acme/pump/issues/12").to_string();
    assert!(elsewhere.contains("href=\"https://ghe.example/acme/pump/issues/12\""), "{elsewhere}");
    let inside = prose("[about #12 and @ada](https://a.example)").to_string();
    assert_eq!(inside.matches("<a ").count(), 1, "{inside}");
}

#[test]
fn footnotes_have_ids_that_carry_the_name_of_the_body() {
    let markup = prose("a[^x]\n\n[^x]: b").to_string();
    for part in ["href=\"#body-fn-x\"", "id=\"body-fn-x\"", "href=\"#body-fnref-x\""] {
        assert!(markup.contains(part), "{part}: {markup}");
    }
    for body in ["<a id=main name=main>x</a>", "<li id=body>x</li>", "[x](#main)"] {
        let markup = prose(body).to_string();
        assert!(!markup.contains("id=") && !markup.contains("href"), "{markup}");
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
    assert!(markup.contains(">image: a cat</a>") && !markup.contains("<img"), "{markup}");
    let html = prose("<img width=20 alt=cat src=https://a.example/c.png> <img src=x>").to_string();
    assert!(html.contains("<a href=\"https://a.example/c.png\""), "{html}");
    assert!(html.contains(">image: cat</a>") && !html.contains("<img"), "{html}");
    let nested = prose("[![badge](https://a.example/b.svg)](https://a.example)").to_string();
    assert_eq!(nested.matches("<a ").count(), 1, "{nested}");
    assert!(nested.contains("image: badge"), "{nested}");
}

#[test]
fn headings_continue_those_of_the_page() {
    assert_eq!(
        prose("# a\n###### b\n<h1>c</h1>").to_string(),
        "<h2>a</h2>\n<h3>b</h3>\n<h2>c</h2>\n"
    );
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
    for part in [
        "<li class=\"task-list-item\">☑ done",
        "☐ not",
        "<table tabindex=\"0\">",
        "<td align=\"right\">2</td>",
        "<ol start=\"3\" dir=\"auto\">",
    ] {
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
        let class =
            format!("<div class=\"markdown-alert markdown-alert-{}\">", sign.to_lowercase());
        let title = format!("<p class=\"markdown-alert-title\">{word}</p>\n<p>mind the gap</p>");
        assert!(markup.contains(&class) && markup.contains(&title), "{markup}");
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
fn html_that_nests_without_end_is_shown() {
    for tag in ["div", "details", "b", "blockquote", "h1"] {
        let body = format!("{}end", format!("<{tag}>").repeat(20_000));
        let markup = prose(&body).to_string();
        assert!(markup.contains("end"), "{tag}");
        assert!(markup.matches(&format!("<{tag}>")).count() <= 40, "{tag}");
    }
    let rows = format!("<table>{}</table>", "<tr><td>a<td><b>b</b>".repeat(100));
    assert_eq!(prose(&rows).to_string().matches("<b>").count(), 100, "end tags may be left out");
}

#[test]
fn markup_that_would_be_too_long_is_not_made() {
    let bounded = |body: &str, max_bytes| render_markdown(body, context(), max_bytes);
    assert!(bounded("*a*", 17).is_none());
    assert_eq!(bounded("*a*", 18).unwrap().to_string(), "<p><em>a</em></p>\n");
    assert!(bounded("<https://a.example>", 70).is_none(), "the sanitizer adds to it");
    assert!(bounded("@a @b", 60).is_none(), "references add to it");
}

fn prose(body: &str) -> Prose {
    render_markdown(body, context(), usize::MAX).unwrap()
}

/// A body of `acme/pump#1`.
fn context() -> BodyContext<'static> {
    static LINKS: LazyLock<ThreadLinks> =
        LazyLock::new(|| ThreadLinks::with_mirrored(&[("acme/pump", 12), ("acme/valve", 3)]));
    BodyContext { links: &LINKS, anchor: "body", top_heading: 2 }
}
