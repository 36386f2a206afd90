//! Hostile texts stay text.

use std::collections::BTreeSet;

use hw_rules::bluesky::post::Post;

use crate::browser::{BrowserPage, open_page, search_url};
use crate::fixture::{WebFixture, sample_comment};
use crate::post_fixture::{PostFixture, post_at, with_links};

const HOSTILE_TEXTS: [&str; 34] = [
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    "<img src=\"https://evil.example/x.png\" onerror=\"alert(1)\">",
    "<svg/onload=alert(1)>",
    "<iframe src=\"https://evil.example\"></iframe>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVa\tScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "<javascript:alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "![x](javascript:alert(1))",
    "[![x](https://evil.example/a.svg)](javascript:alert(1))",
    "<!-- <script>alert(1)</script> -->",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<style>body{display:none}</style>",
    "<form action=\"https://evil.example\"><input name=q autofocus onfocus=alert(1)></form>",
    "> - [x](https://a.example \"\\\" onmouseover=alert(1)\")",
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "<div hx-get=\"/search\" hx-trigger=\"load\" hx-on:click=\"alert(1)\" sse-connect=\"/events\">x</div>",
    "<details open ontoggle=alert(1)><summary onclick=alert(1) style=x>x</summary></details>",
    "<a href=\"//evil.example\" target=_top>x</a> <a href=\"/health?only=problems\">y</a> <a href=#main>z</a>",
    "<img src=\"javascript:alert(1)\" alt=\"<script>alert(1)</script>\"> <img srcset=//evil.example/x>",
    "<input type=checkbox checked onfocus=alert(1) autofocus> <p class=\"note note-bad\" id=main>x</p>",
    "<li id=\"fn-1\" onclick=alert(1)>x</li> <a id=\"fn-\"onclick=alert(1) href=\"#fn-x\" accesskey=x>y</a>",
    "a[^<img>]\n\n[^<img>]: <script>alert(1)</script>",
    "<td align=\"center;x\" colspan=\"1e9\"><video src=data:text/html,x poster=//evil.example/p></video>",
    "@ada\" onmouseover=alert(1) #1\"><script>alert(1)</script> acme/pump#1<img src=x onerror=alert(1)>",
    "<p title=\"<!--\"><img title=\"--><img src=x onerror=alert(1)>\"> <!--><script>alert(1)</script>-->",
    "<https://github.com/acme/pump/issues/1#x\"onclick=alert(1)> https://github.com/acme/pump/issues/1#<script>",
];

const HOSTILE_LINKS: [&str; 6] = [
    "javascript:alert(1)",
    "JaVaScRiPt://example.com/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "//evil.example/",
    "https://one.test/\" onmouseover=alert(1) x=\"",
    "https://one.test/<script>",
];

/// Elements that our own templates and the sanitizer write.
const ALLOWED_ELEMENTS: &str = "html head meta title link script body a header nav p span main div template form label \
    input button kbd section h1 h2 h3 h4 h5 h6 ul ol li dl dt dd code pre article mark time b q em strong del \
    blockquote hr br table thead tbody tr th td sub sup \
    details summary s i u ins";

/// Attributes that our own templates and the sanitizer write; [`is_own_element`] restricts `hx-…`.
const ALLOWED_ATTRIBUTES: &str = "lang charset name content rel type href src defer class id role aria-label aria-current \
    aria-hidden aria-controls aria-describedby aria-labelledby aria-pressed data-state data-name tabindex action \
    method for value placeholder autocomplete autocapitalize spellcheck enterkeyhint autofocus datetime scope title \
    start align colspan rowspan open dir hx-ext sse-connect hx-get hx-target hx-sync hx-indicator hx-trigger hx-include";

#[tokio::test]
async fn hostile_texts_are_rendered_as_text_on_every_page() {
    let fixture = WebFixture::new();
    let mut number = 0;
    for text in HOSTILE_TEXTS {
        number += 1;
        fixture.add_issue(number, &format!("needle {text}"), &format!("needle {text}\n\n{text}"));
        fixture.add_comments(vec![sample_comment(number, number, text)]);
    }
    let all = HOSTILE_TEXTS.join("\n\n");
    fixture.add_issue(100, &all, &all);
    fixture.fail_issues(HOSTILE_TEXTS[1]);
    let router = hw_web::build_router(fixture.site_options());
    let mut paths: Vec<String> =
        (1..=number).map(|number| format!("/threads/acme/pump/{number}")).collect();
    paths.extend(
        ["/threads/acme/pump/100", "/health", "/?q=needle", "/search?q=needle"].map(str::to_owned),
    );
    paths.extend(
        HOSTILE_TEXTS.iter().flat_map(|text| [search_url("/", text), search_url("/search", text)]),
    );
    for path in paths {
        let page = open_page(&router, &path).await;
        assert_eq!(page.status, 200, "{path}");
        assert_harmless(&page, &path);
    }
    let page = open_page(&router, "/threads/acme/pump/1").await;
    assert!(
        page.element_text("#body").contains("<script>alert(1)</script>"),
        "readers still see it"
    );
}

#[tokio::test]
async fn hostile_posts_are_rendered_as_text_on_every_page() {
    let fixture = PostFixture::new();
    let hostile =
        HOSTILE_TEXTS.into_iter().chain(HOSTILE_LINKS).chain(["\u{202e}\u{0}\u{1b}[2J\u{200b}"]);
    let posts: Vec<Post> = (1..)
        .zip(hostile)
        .map(|(number, text)| {
            let post = post_at("alice", &format!("a{number}"), number, &format!("needle {text}"));
            with_links(post, &[&HOSTILE_LINKS[..], &[text]].concat())
        })
        .collect();
    fixture.read_feed("alice", &posts);
    let long = post_at("bob", "b1", 500, &"x".repeat(10_000));
    fixture.read_feed("bob", &[with_links(long, &[&format!("https://{}/", "y".repeat(10_000))])]);
    let router = fixture.router();
    for path in
        ["/posts", "/posts?after=3_1_bsky.app", "/trending", "/?q=needle", "/search?q=needle"]
    {
        let page = open_page(&router, path).await;
        assert_eq!(page.status, 200, "{path}");
        assert_harmless(&page, path);
        assert!(!page.text.contains(['\u{202e}', '\u{0}', '\u{1b}', '\u{200b}']), "{path}");
    }
    let page = open_page(&router, "/posts").await;
    assert!(page.text.contains("javascript:alert(1)"), "readers still see it");
    for text in HOSTILE_TEXTS {
        for path in [
            search_url("/posts", text).replace("?q=", "?account="),
            search_url("/posts", text).replace("?q=", "?after="),
        ] {
            let page = open_page(&router, &path).await;
            assert_eq!(page.status, 200, "{path}");
            assert_harmless(&page, &path);
        }
    }
}

#[tokio::test]
async fn hostile_urls_are_rendered_as_text_on_error_pages() {
    let fixture = WebFixture::new();
    let router = hw_web::build_router(fixture.site_options());
    for text in ["%3Cscript%3Ealert(1)%3C%2Fscript%3E", "%22%3E%3Cimg%20src=x%3E", "%00", "%FF"] {
        for path in [
            format!("/threads/acme/{text}/1"),
            format!("/threads/acme/pump/{text}"),
            format!("/{text}"),
        ] {
            let page = open_page(&router, &path).await;
            assert!([400, 404].contains(&page.status), "{path}: {}", page.status);
            assert_harmless(&page, &path);
        }
    }
}

/// Asserts that a page has only elements and attributes of ours, and loads nothing from other hosts.
fn assert_harmless(page: &BrowserPage, path: &str) {
    let elements: BTreeSet<&str> = ALLOWED_ELEMENTS.split_whitespace().collect();
    let attributes: BTreeSet<&str> = ALLOWED_ATTRIBUTES.split_whitespace().collect();
    for element in page.select_all("*") {
        let name = element.value().name();
        assert!(elements.contains(name), "{path}: <{name}>");
        for (attribute, value) in element.value().attrs() {
            assert!(attributes.contains(attribute), "{path}: <{name} {attribute}={value:?}>");
            match attribute {
                "href" => assert!(is_safe_link(name, value), "{path}: <{name} href={value:?}>"),
                "src" | "action" => assert!(value.starts_with('/'), "{path}: <{name} {value:?}>"),
                "hx-get" | "sse-connect" => {
                    assert!(
                        is_own_element(element.value().id(), name),
                        "{path}: <{name} {attribute}={value:?}>"
                    );
                }
                _ => {}
            }
        }
    }
    for script in page.select_all("script, style") {
        assert_eq!(script.inner_html(), "", "{path}: inline content");
    }
    for element in page.select_all(".prose *") {
        let mut attributes = element.value().attrs();
        assert!(!attributes.any(|(name, _)| name.starts_with("hx-")), "{path}");
    }
}

fn is_safe_link(name: &str, value: &str) -> bool {
    let is_local =
        value.starts_with(['#', '?']) || (value.starts_with('/') && !value.starts_with("//"));
    let is_web = value.starts_with("https://") || value.starts_with("http://");
    is_local || (name == "a" && (is_web || value.starts_with("mailto:")))
}

/// Checks whether our templates give the element `hx-get` or `sse-connect`.
fn is_own_element(id: Option<&str>, name: &str) -> bool {
    name == "body"
        || matches!(
            id,
            Some("q" | "search" | "results" | "thread" | "health" | "posts" | "trending")
        )
}

#[tokio::test]
async fn external_links_send_no_referrer() {
    let fixture = WebFixture::new();
    fixture.add_issue(1, "leak", "[a](https://a.example) https://b.example <mailto:c@d.example>");
    fixture.add_comments(vec![sample_comment(5, 1, "see http://e.example")]);
    let page =
        open_page(&hw_web::build_router(fixture.site_options()), "/threads/acme/pump/1").await;
    let outside: Vec<_> = page
        .select_all("a")
        .into_iter()
        .filter(|a| !a.attr("href").unwrap().starts_with(['/', '#', '?']))
        .collect();
    assert_eq!(outside.len(), 6, "four in texts, two to the source");
    for link in outside {
        let rel = link.attr("rel").unwrap_or_default();
        assert!(rel.contains("noopener") && rel.contains("noreferrer"), "{:?}", link.value());
    }
}
