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
        let markup = render_sample(body).to_string();
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
        assert_eq!(render_sample(body).to_string(), expected, "{body}");
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
        let markup = render_sample(body).to_string();
        assert!(markup.contains(&link), "{body}: {markup}");
    }
    for body in ["#13", "acme/valve#12", "`#12`", "```\n#12 @ada\n```", "<code>#12</code>"] {
        assert!(!render_sample(body).to_string().contains("<a"), "{body}");
    }
    let elsewhere = render_sample("https://ghe.example/acme/pump/issues/12").to_string();
    assert!(elsewhere.contains("href=\"https://ghe.example/acme/pump/issues/12\""), "{elsewhere}");
    let inside = render_sample("[about #12 and @ada](https://a.example)").to_string();
    assert_eq!(inside.matches("<a ").count(), 1, "{inside}");
}

#[test]
fn footnotes_have_ids_that_carry_the_name_of_the_body() {
    let markup = render_sample("a[^x]\n\n[^x]: b").to_string();
    for part in ["href=\"#body-fn-x\"", "id=\"body-fn-x\"", "href=\"#body-fnref-x\""] {
        assert!(markup.contains(part), "{part}: {markup}");
    }
    for body in ["<a id=main name=main>x</a>", "<li id=body>x</li>", "[x](#main)"] {
        let markup = render_sample(body).to_string();
        assert!(!markup.contains("id=") && !markup.contains("href"), "{markup}");
    }
}

#[test]
fn links_have_harmless_urls_only() {
    let rel = "rel=\"nofollow noopener noreferrer\"";
    for (body, expected) in [
        ("[x](https://a.example)", format!("<a href=\"https://a.example\" {rel}>x</a>")),
        ("see https://a.example/b, there", "<a href=\"https://a.example/b\"".to_owned()),
        ("<mailto:a@b.example>", "href=\"mailto:a@b.example\"".to_owned()),
    ] {
        let markup = render_sample(body).to_string();
        assert!(markup.contains(&expected), "{body}: {markup}");
    }
    for url in [
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
        let markup = render_sample(&format!("[x]({url}) <{url}>")).to_string();
        assert!(!markup.contains("href"), "{url}: {markup}");
    }
}

#[test]
fn images_become_links_with_their_text() {
    let markup = render_sample("![a *cat*](https://a.example/c.png)").to_string();
    assert!(markup.contains(">image: a cat</a>") && !markup.contains("<img"), "{markup}");
    let html =
        render_sample("<img width=20 alt=cat src=https://a.example/c.png> <img src=x>").to_string();
    assert!(html.contains("<a href=\"https://a.example/c.png\""), "{html}");
    assert!(html.contains(">image: cat</a>") && !html.contains("<img"), "{html}");
    let nested =
        render_sample("[![badge](https://a.example/b.svg)](https://a.example)").to_string();
    assert_eq!(nested.matches("<a ").count(), 1, "{nested}");
    assert!(nested.contains("image: badge"), "{nested}");
}

#[test]
fn headings_continue_those_of_the_page() {
    assert_eq!(
        render_sample("# a\n###### b\n<h1>c</h1>").to_string(),
        "<h2>a</h2>\n<h3>b</h3>\n<h2>c</h2>\n"
    );
}

#[test]
fn code_is_left_alone() {
    let markup =
        render_sample("`https://a.example` \n\n```html\n<b>https://a.example</b>\n```").to_string();
    assert!(!markup.contains("<a") && markup.contains("&lt;b&gt;"), "{markup}");
    assert!(!markup.contains("class"), "{markup}");
}

#[test]
fn tasks_tables_and_lists_keep_their_shape() {
    let markup =
        render_sample("- [x] done\n- [ ] not\n\n|a|b|\n|:-|-:|\n|1|2|\n\n3. three\n").to_string();
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
fn invisible_characters_are_removed() {
    assert_eq!(render_sample("a\u{202e}b\u{e0041}c").to_string(), "<p>abc</p>\n");
}

#[test]
fn invisible_characters_are_removed_when_written_as_entities() {
    assert_eq!(render_sample("a&#x202e;b&ZeroWidthSpace;c&#917569;d").to_string(), "<p>abcd</p>\n");
    let markup =
        render_sample("[a&#x2066;b](https://x.example/&#x202e;c \"d&#8203;e\") ![f&rlm;g](https://x.example/&lrm;h)")
            .to_string();
    for part in ["https://x.example/c\"", "\"de\"", ">ab<", "https://x.example/h\"", "fg<"] {
        assert!(markup.contains(part), "{part}: {markup}");
    }
    assert!(!markup.contains("%E2%80"), "{markup}");
    assert_eq!(render_sample("👩&zwj;💻").to_string(), "<p>👩\u{200d}💻</p>\n");
}

#[test]
fn alerts_keep_their_title() {
    for (sign, word) in [("WARNING", "Warning"), ("note", "Note"), ("CAUTION", "Caution")] {
        let markup = render_sample(&format!("> [!{sign}]\n> mind the gap")).to_string();
        let class =
            format!("<div class=\"markdown-alert markdown-alert-{}\">", sign.to_lowercase());
        let title = format!("<p class=\"markdown-alert-title\">{word}</p>\n<p>mind the gap</p>");
        assert!(markup.contains(&class) && markup.contains(&title), "{markup}");
    }
}

#[test]
fn markdown_with_endless_nesting_is_rendered() {
    for body in [">".repeat(20_000), "[".repeat(20_000), "- ".repeat(5_000), "*a".repeat(20_000)] {
        let markup = render_sample(&format!("{body} end")).to_string();
        assert!(markup.contains("end"), "{}", body.len());
        assert!(markup.matches("<blockquote>").count() <= 40);
    }
}

#[test]
fn html_with_endless_nesting_is_rendered() {
    for tag in ["div", "details", "b", "blockquote", "h1"] {
        let body = format!("{}end", format!("<{tag}>").repeat(20_000));
        let markup = render_sample(&body).to_string();
        assert!(markup.contains("end"), "{tag}");
        assert!(markup.matches(&format!("<{tag}>")).count() <= 40, "{tag}");
    }
    let rows = format!("<table>{}</table>", "<tr><td>a<td><b>b</b>".repeat(100));
    assert_eq!(
        render_sample(&rows).to_string().matches("<b>").count(),
        100,
        "end tags may be left out"
    );
}

#[test]
fn markup_that_exceeds_the_limit_is_not_rendered() {
    assert!(render_markdown("*a*", sample_context(), 17).is_none());
    assert_eq!(
        render_markdown("*a*", sample_context(), 18).unwrap().to_string(),
        "<p><em>a</em></p>\n"
    );
    assert!(
        render_markdown("<https://a.example>", sample_context(), 70).is_none(),
        "the sanitizer adds to it"
    );
    assert!(render_markdown("@a @b", sample_context(), 60).is_none(), "references add to it");
}

fn render_sample(body: &str) -> SafeMarkup {
    render_markdown(body, sample_context(), usize::MAX).unwrap()
}

/// Returns the context of a body in `acme/pump`.
fn sample_context() -> BodyContext<'static> {
    static LINKS: LazyLock<ThreadLinks> =
        LazyLock::new(|| ThreadLinks::with_mirrored(&[("acme/pump", 12), ("acme/valve", 3)]));
    BodyContext { links: &LINKS, anchor: "body", top_heading: 2 }
}
