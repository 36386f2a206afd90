//! Real-world samples of Markdown, each rendered on a thread page: texts that a reader sees, and texts that are hidden.
//!
//! The samples are in `tests/markdown_samples`, where the browser tests read them, too.

use crate::browser::{BrowserPage, open_page};
use crate::fixture::WebFixture;

/// A sample and the expected content of its page.
struct MarkdownSample {
    name: &'static str,
    /// Selectors within the body, each with a part of the element's text.
    shows: &'static [(&'static str, &'static str)],
    /// Texts that must not be visible.
    hides: &'static [&'static str],
}

const MARKDOWN_SAMPLES: [MarkdownSample; 34] = [
    MarkdownSample {
        name: "dependabot",
        shows: &[
            ("details > summary", "Release notes"),
            ("details blockquote li", "Resolve unexpected_cfgs warning"),
            ("a[href='/threads/acme/pump/12']", "#12"),
            ("details a code", "911a0dd"),
            ("a[href^='https://docs.github.com']", "image: Dependabot compatibility score"),
            ("li code", "@dependabot rebase"),
        ],
        hides: &["<details>", "<li>", "dependabot-automerge", "<br"],
    },
    MarkdownSample {
        name: "renovate",
        shows: &[
            ("td code", "1.38.0"),
            ("td a[href^='https://docs.renovatebot.com']", "image: age"),
            ("td a[href^='https://developer.mend.io']", "image: confidence"),
            ("details h2 a code", "v1.39.0"),
            ("details li a", "#6562"),
            ("li.task-list-item", "☐ If you want to rebase"),
        ],
        hides: &["renovate-debug", "rebase-check", "<summary>"],
    },
    MarkdownSample {
        name: "issue-form",
        shows: &[
            ("h2", "What happened?"),
            ("p > br", ""),
            ("em", "No response"),
            ("pre code", "panicked at"),
            ("li.task-list-item", "☑ I agree"),
            ("li.task-list-item", "☐ I have searched"),
        ],
        hides: &["###", "[x]", "```"],
    },
    MarkdownSample {
        name: "template-comments",
        shows: &[("strong", "Describe the bug"), ("p", "It drips.")],
        hides: &["Thank you", "clear and concise", "-->"],
    },
    MarkdownSample { name: "line-breaks", shows: &[("p > br + code", "code")], hides: &[] },
    MarkdownSample {
        name: "suggestion",
        shows: &[("pre > code.language-suggestion", "let pressure")],
        hides: &["```"],
    },
    MarkdownSample {
        name: "nested-lists",
        shows: &[
            ("ol > li > ul > li > ul > li", "innermost"),
            ("ol > li > ul > li > p", "a paragraph of"),
            ("ol > li > pre", "make pump"),
        ],
        hides: &[],
    },
    MarkdownSample {
        name: "table-with-code",
        shows: &[
            ("td[align=left] code", "--a | b"),
            ("td[align=center] code", "Vec<u8>"),
            ("td[align=right] strong", "bold"),
            ("td del", "gone"),
            ("table[tabindex='0']", "1,000"),
        ],
        hides: &["---"],
    },
    MarkdownSample {
        name: "emoji",
        shows: &[("p", "🚀 shipped 🎉 👍 but not :not_an_emoji:"), ("code", ":rocket:")],
        hides: &[":tada:"],
    },
    MarkdownSample {
        name: "right-to-left",
        shows: &[("p", "שלום עולם"), ("p", "مرحبا"), ("ul[dir=auto] > li", "פריט")],
        hides: &[],
    },
    MarkdownSample {
        name: "details-with-code",
        shows: &[
            ("details[open] > summary > code", "log"),
            ("summary:not(:has(a))", "log of #12"),
            ("details pre", "mismatched types <T>"),
            ("details td", "2"),
        ],
        hides: &["<details", "```"],
    },
    MarkdownSample {
        name: "nested-details",
        shows: &[("details > details > summary", "inner"), ("details > details > p", "inner text")],
        hides: &["</details>"],
    },
    MarkdownSample {
        name: "task-list",
        shows: &[
            ("li.task-list-item", "☑ done"),
            ("li.task-list-item a[href='/threads/acme/pump/12']", "#12"),
            ("li li.task-list-item", "☑ nested"),
        ],
        hides: &["[ ]", "[x]"],
    },
    MarkdownSample {
        name: "alerts",
        shows: &[
            (".markdown-alert-note > .markdown-alert-title", "Note"),
            (".markdown-alert-warning em", "gap"),
            (".markdown-alert-warning li", "really"),
            (".markdown-alert-caution", "No way back."),
            ("blockquote", "an ordinary quotation"),
        ],
        hides: &["[!"],
    },
    MarkdownSample {
        name: "footnotes",
        shows: &[
            ("sup a[href='#body-fn-1']", "1"),
            ("section.footnotes li#body-fn-noise", "90 dB"),
            ("section.footnotes a[href='#body-fnref-1']", "↩"),
            ("section.footnotes a[href='/threads/acme/pump/12']", "#12"),
        ],
        hides: &["[^"],
    },
    MarkdownSample {
        name: "images",
        shows: &[
            ("a[href='https://example.com/chart.png']", "image: A chart"),
            ("a[href='https://github.com/user-attachments/assets/1']", "image: Screenshot 2026"),
            ("a[href='https://example.com/no-alt.png']", "image"),
        ],
        hides: &["<img", "!["],
    },
    MarkdownSample {
        name: "picture",
        shows: &[("p[align=center] a[href='https://example.com/light.svg']", "image: The logo")],
        hides: &["<picture", "<source", "dark.svg"],
    },
    MarkdownSample {
        name: "html-table",
        shows: &[
            ("table th", "Before"),
            ("td pre", "old()"),
            ("td a[href='https://example.com/after.png']", "image: after"),
            ("td[colspan='2'] b", "cells"),
        ],
        hides: &["<td", "```"],
    },
    MarkdownSample {
        name: "html-lists",
        shows: &[("ol > li", "one"), ("ol > li > i", "emphasis"), ("dl > dd", "meaning")],
        hides: &["<li"],
    },
    MarkdownSample {
        name: "inline-html",
        shows: &[
            ("kbd", "Ctrl"),
            ("sub", "2"),
            ("sup", "2"),
            ("p br", ""),
            ("ins", "new"),
            ("s", "old"),
            ("q", "said"),
        ],
        hides: &["<kbd>", "<sub>"],
    },
    MarkdownSample {
        name: "autolinks",
        shows: &[
            ("a[href='http://www.example.com/path']", "www.example.com/path"),
            ("a[href='https://example.com/a_b_c?x=1&y=2']", "https://example.com/a_b_c?x=1&y=2"),
            ("a[href='mailto:ada@example.com']", "ada@example.com"),
        ],
        hides: &[],
    },
    MarkdownSample {
        name: "references",
        shows: &[
            ("a[href='/threads/acme/pump/12']", "#12"),
            ("a[href='/threads/acme/pump/12']", "acme/pump#12"),
            ("a[href='/threads/acme/pump/12?at=issuecomment-7#issuecomment-7']", "#12 (comment)"),
            (
                "a[href='https://github.com/other/repo/pull/5']",
                "https://github.com/other/repo/pull/5",
            ),
            ("p", "part of #999 and other/repo#5."),
        ],
        hides: &["https://github.com/acme"],
    },
    MarkdownSample {
        name: "mentions",
        shows: &[
            ("a[href='/?q=author%3Aada-l']", "@ada-l"),
            ("a[href='/?q=author%3Abob']", "@bob"),
            ("p", "Not @babel/core"),
            ("code", "@code"),
        ],
        hides: &[],
    },
    MarkdownSample {
        name: "generics",
        shows: &[("p", "A Vec<String> and Option<T> in prose, a < b && c > d, a <custom-element>")],
        hides: &[],
    },
    MarkdownSample {
        name: "email-quote",
        shows: &[("blockquote > blockquote br", ""), ("blockquote > p", "It does not.")],
        hides: &["> "],
    },
    MarkdownSample {
        name: "code-blocks",
        shows: &[("pre", "+ new line"), ("pre", "tildes ```"), ("pre", "indented <b>code</b>")],
        hides: &["~~~"],
    },
    MarkdownSample {
        name: "headings",
        shows: &[
            ("h2", "Title"),
            ("h3", "Skipped a level"),
            ("h3", "Setext"),
            ("h2", "In HTML"),
            ("h3", "Deep"),
        ],
        hides: &["#"],
    },
    MarkdownSample {
        name: "release-notes",
        shows: &[
            ("h2", "What's Changed"),
            ("li a[href='/threads/acme/pump/12']", "#12"),
            ("li a[href='https://github.com/other/repo/pull/7']", "https://github.com/other"),
            ("li a[href='/?q=author%3Abob-b']", "@bob-b"),
            ("a[href='https://github.com/acme/pump/compare/v1...v2']", "https://github.com"),
        ],
        hides: &[],
    },
    MarkdownSample {
        name: "coverage-bot",
        shows: &[
            ("h2", "Codecov Report"),
            ("p", "❌ Patch coverage"),
            ("td a", "5 Missing ⚠"),
            ("details pre", "#12      +/-"),
            ("sub", "📢"),
        ],
        hides: &[":x:", ":warning:"],
    },
    MarkdownSample {
        name: "unclosed-html",
        shows: &[("details summary", "Never closed"), ("details b", "bold to the end")],
        hides: &["<b>"],
    },
    MarkdownSample {
        name: "chinese-japanese",
        shows: &[("strong", "粗体"), ("em", "強調"), ("a[href='/threads/acme/pump/12']", "#12")],
        hides: &["**"],
    },
    MarkdownSample {
        name: "html-document",
        shows: &[
            ("h2", "Steps"),
            ("p > code", "pump --start"),
            ("p a[href='/threads/acme/pump/12']", "#12"),
            ("pre", "raw   block\n#12"),
            ("div[align=center] sub", "sent from a phone"),
        ],
        hides: &["<p>"],
    },
    MarkdownSample {
        name: "attachments",
        shows: &[
            ("a[href='https://github.com/user-attachments/assets/0b1c']", "assets/0b1c"),
            ("a[href='https://github.com/user-attachments/assets/2']", "video"),
            ("a[href$='log.txt']", "log.txt"),
        ],
        hides: &["<video"],
    },
    MarkdownSample {
        name: "nothing-but-comments",
        shows: &[(".no-text", "No description.")],
        hides: &[],
    },
];

#[tokio::test]
async fn markdown_samples_are_rendered_as_on_github() {
    let fixture = WebFixture::new();
    fixture.add_issue(12, "Mirrored", "");
    for (number, sample) in (100..).zip(&MARKDOWN_SAMPLES) {
        fixture.add_issue(number, sample.name, &read_sample(sample.name));
    }
    let router = hw_web::build_router(fixture.site_options());
    let mut wrong = Vec::new();
    for (number, sample) in (100..).zip(&MARKDOWN_SAMPLES) {
        let page = open_page(&router, &format!("/threads/acme/pump/{number}")).await;
        let body = &page.select_all("#body")[0];
        let visible: String = body.text().collect();
        let missing =
            sample.shows.iter().filter(|(selector, text)| !shows_text(&page, selector, text));
        let unexpected = sample.hides.iter().filter(|hidden| visible.contains(**hidden));
        let mut mistakes: Vec<String> =
            missing.map(|expected| format!("misses {expected:?}")).collect();
        mistakes.extend(unexpected.map(|text| format!("shows {text:?}")));
        if !mistakes.is_empty() {
            wrong.push(format!("{}: {}\n{}", sample.name, mistakes.join(", "), body.inner_html()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test]
async fn markdown_samples_have_headings_without_skipped_levels() {
    let fixture = WebFixture::new();
    let all: String =
        MARKDOWN_SAMPLES.iter().map(|sample| read_sample(sample.name) + "\n\n").collect();
    fixture.add_issue(7, "All of them", &all);
    fixture.add_comments(vec![
        crate::fixture::sample_comment(1, 7, &all),
        crate::fixture::sample_comment(2, 7, "###### x"),
    ]);
    let page =
        open_page(&hw_web::build_router(fixture.site_options()), "/threads/acme/pump/7").await;
    let mut above = 0;
    for heading in page.select_all("#thread :is(h1, h2, h3, h4, h5, h6)") {
        let level: usize = heading.value().name()[1..].parse().unwrap();
        assert!(level <= above + 1, "<h{level}> after <h{above}>: {}", heading.inner_html());
        above = level;
    }
    assert_eq!(above, 3, "headings of comments are below the heading that counts them");
}

fn read_sample(name: &str) -> String {
    let path = format!("{}/tests/markdown_samples/{name}.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Checks whether an element within the body contains a text.
fn shows_text(page: &BrowserPage, selector: &str, text: &str) -> bool {
    let elements = page.select_all(&format!("#body {selector}"));
    elements.iter().any(|element| element.text().collect::<String>().contains(text))
}
