//! Real-world shapes of Markdown, each rendered in a thread page: what a reader sees, and what not.
//!
//! The texts are in `tests/shapes`, where the browser tests read them, too.

use scraper::ElementRef;

use crate::browser::{Page, open};
use crate::world::World;

/// A text and what its page must have: selectors within the body, each with a part of what it says.
struct Shape {
    name: &'static str,
    shows: &'static [(&'static str, &'static str)],
    /// Parts of the visible text that must not be there.
    hides: &'static [&'static str],
}

const SHAPES: [Shape; 34] = [
    Shape {
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
    Shape {
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
    Shape {
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
    Shape {
        name: "template-comments",
        shows: &[("strong", "Describe the bug"), ("p", "It drips.")],
        hides: &["Thank you", "clear and concise", "-->"],
    },
    Shape { name: "line-breaks", shows: &[("p > br + code", "code")], hides: &[] },
    Shape {
        name: "suggestion",
        shows: &[("pre > code.language-suggestion", "let pressure")],
        hides: &["```"],
    },
    Shape {
        name: "nested-lists",
        shows: &[
            ("ol > li > ul > li > ul > li", "innermost"),
            ("ol > li > ul > li > p", "a paragraph of"),
            ("ol > li > pre", "make pump"),
        ],
        hides: &[],
    },
    Shape {
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
    Shape {
        name: "emoji",
        shows: &[("p", "🚀 shipped 🎉 👍 but not :not_an_emoji:"), ("code", ":rocket:")],
        hides: &[":tada:"],
    },
    Shape {
        name: "right-to-left",
        shows: &[("p", "שלום עולם"), ("p", "مرحبا"), ("ul[dir=auto] > li", "פריט")],
        hides: &[],
    },
    Shape {
        name: "details-with-code",
        shows: &[
            ("details[open] > summary > code", "log"),
            ("summary:not(:has(a))", "log of #12"),
            ("details pre", "mismatched types <T>"),
            ("details td", "2"),
        ],
        hides: &["<details", "```"],
    },
    Shape {
        name: "nested-details",
        shows: &[("details > details > summary", "inner"), ("details > details > p", "inner text")],
        hides: &["</details>"],
    },
    Shape {
        name: "task-list",
        shows: &[
            ("li.task-list-item", "☑ done"),
            ("li.task-list-item a[href='/threads/acme/pump/12']", "#12"),
            ("li li.task-list-item", "☑ nested"),
        ],
        hides: &["[ ]", "[x]"],
    },
    Shape {
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
    Shape {
        name: "footnotes",
        shows: &[
            ("sup a[href='#body-fn-1']", "1"),
            ("section.footnotes li#body-fn-noise", "90 dB"),
            ("section.footnotes a[href='#body-fnref-1']", "↩"),
            ("section.footnotes a[href='/threads/acme/pump/12']", "#12"),
        ],
        hides: &["[^"],
    },
    Shape {
        name: "images",
        shows: &[
            ("a[href='https://example.com/chart.png']", "image: A chart"),
            ("a[href='https://github.com/user-attachments/assets/1']", "image: Screenshot 2026"),
            ("a[href='https://example.com/no-alt.png']", "image"),
        ],
        hides: &["<img", "!["],
    },
    Shape {
        name: "picture",
        shows: &[("p[align=center] a[href='https://example.com/light.svg']", "image: The logo")],
        hides: &["<picture", "<source", "dark.svg"],
    },
    Shape {
        name: "html-table",
        shows: &[
            ("table th", "Before"),
            ("td pre", "old()"),
            ("td a[href='https://example.com/after.png']", "image: after"),
            ("td[colspan='2'] b", "cells"),
        ],
        hides: &["<td", "```"],
    },
    Shape {
        name: "html-lists",
        shows: &[("ol > li", "one"), ("ol > li > i", "emphasis"), ("dl > dd", "meaning")],
        hides: &["<li"],
    },
    Shape {
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
    Shape {
        name: "autolinks",
        shows: &[
            ("a[href='http://www.example.com/path']", "www.example.com/path"),
            ("a[href='https://example.com/a_b_c?x=1&y=2']", "https://example.com/a_b_c?x=1&y=2"),
            ("a[href='mailto:ada@example.com']", "ada@example.com"),
        ],
        hides: &[],
    },
    Shape {
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
    Shape {
        name: "mentions",
        shows: &[
            ("a[href='/?q=author%3Aada-l']", "@ada-l"),
            ("a[href='/?q=author%3Abob']", "@bob"),
            ("p", "Not @babel/core"),
            ("code", "@code"),
        ],
        hides: &[],
    },
    Shape {
        name: "generics",
        shows: &[("p", "A Vec<String> and Option<T> in prose, a < b && c > d, a <custom-element>")],
        hides: &[],
    },
    Shape {
        name: "email-quote",
        shows: &[("blockquote > blockquote br", ""), ("blockquote > p", "It does not.")],
        hides: &["> "],
    },
    Shape {
        name: "code-blocks",
        shows: &[("pre", "+ new line"), ("pre", "tildes ```"), ("pre", "indented <b>code</b>")],
        hides: &["~~~"],
    },
    Shape {
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
    Shape {
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
    Shape {
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
    Shape {
        name: "unclosed-html",
        shows: &[("details summary", "Never closed"), ("details b", "bold to the end")],
        hides: &["<b>"],
    },
    Shape {
        name: "chinese-japanese",
        shows: &[("strong", "粗体"), ("em", "強調"), ("a[href='/threads/acme/pump/12']", "#12")],
        hides: &["**"],
    },
    Shape {
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
    Shape {
        name: "attachments",
        shows: &[
            ("a[href='https://github.com/user-attachments/assets/0b1c']", "assets/0b1c"),
            ("a[href='https://github.com/user-attachments/assets/2']", "video"),
            ("a[href$='log.txt']", "log.txt"),
        ],
        hides: &["<video"],
    },
    Shape {
        name: "nothing-but-comments",
        shows: &[(".silent", "Nothing was written")],
        hides: &[],
    },
];

#[tokio::test]
async fn shapes_of_real_texts_are_shown_as_github_shows_them() {
    let world = World::new();
    world.issue(12, "Mirrored", "");
    for (number, shape) in (100..).zip(&SHAPES) {
        world.issue(number, shape.name, &source(shape.name));
    }
    let router = hw_web::router(world.site());
    let mut wrong = Vec::new();
    for (number, shape) in (100..).zip(&SHAPES) {
        let page = open(&router, &format!("/threads/acme/pump/{number}")).await;
        let body = &page.all("#body")[0];
        let visible: String = body.text().collect();
        let missing = shape.shows.iter().filter(|(selector, text)| !shows(&page, selector, text));
        let shown = shape.hides.iter().filter(|hidden| visible.contains(**hidden));
        let mut mistakes: Vec<String> = missing.map(|it| format!("misses {it:?}")).collect();
        mistakes.extend(shown.map(|it| format!("shows {it:?}")));
        if !mistakes.is_empty() {
            wrong.push(format!("{}: {}\n{}", shape.name, mistakes.join(", "), body.inner_html()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test]
async fn shapes_have_headings_without_a_gap_in_their_levels() {
    let world = World::new();
    let all: String = SHAPES.iter().map(|shape| source(shape.name) + "\n\n").collect();
    world.issue(7, "All of them", &all);
    world
        .comments(vec![crate::world::comment(1, 7, &all), crate::world::comment(2, 7, "###### x")]);
    let page = open(&hw_web::router(world.site()), "/threads/acme/pump/7").await;
    let mut above = 0;
    for heading in page.all("#thread :is(h1, h2, h3, h4, h5, h6)") {
        let level: usize = heading.value().name()[1..].parse().unwrap();
        assert!(level <= above + 1, "<h{level}> after <h{above}>: {}", heading.inner_html());
        above = level;
    }
    assert_eq!(above, 3, "the heading of a comment is below the one that counts them");
}

fn source(name: &str) -> String {
    let path = format!("{}/tests/shapes/{name}.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Whether an element within the body says something.
fn shows(page: &Page, selector: &str, text: &str) -> bool {
    let words = |element: &ElementRef<'_>| element.text().collect::<String>();
    page.all(&format!("#body {selector}")).iter().any(|it| words(it).contains(text))
}
