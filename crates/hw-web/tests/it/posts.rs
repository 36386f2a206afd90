//! The pages of posts and of trending links, and posts among the search results.

use std::collections::BTreeSet;

use hw_rules::bluesky::post::{Post, PostReply};

use crate::browser::{BrowserPage, open_page};
use crate::fixture::WebFixture;
use crate::post_fixture::{PostFixture, did, post_at, repost_of, with_links};

const URL: &str = "https://bsky.app/profile/did:plc";

#[tokio::test]
async fn posts_are_shown_newest_first_with_their_accounts_and_links() {
    let fixture = PostFixture::new();
    let first = with_links(post_at("alice", "a1", 100, "first\nline"), &["https://one.test/"]);
    let mut reply = post_at("bob", "b1", 120, "an answer");
    reply.reply = Some(PostReply { parent: first.uri.clone(), root: first.uri.clone() });
    fixture.read_feed("alice", std::slice::from_ref(&first));
    fixture.read_feed("bob", &[reply, repost_of(&first, "bob", "r1")]);
    let page = open_page(&fixture.router(), "/posts").await;
    assert_eq!(page.status, 200);
    let heads: Vec<_> = texts(&page, ".post .hit-head");
    assert_eq!(
        heads,
        [
            "repost did:plc:bob 1970-01-01 00:02:40 UTC of a post by alice.test",
            "reply did:plc:bob 1970-01-01 00:02:00 UTC",
            "post alice.test 1970-01-01 00:01:40 UTC",
        ]
    );
    assert_eq!(page.select_all(".post-text")[0].inner_html(), "first\nline");
    let hrefs = hrefs(&page, ".post a");
    for href in [
        "/posts?account=did%3Aplc%3Abob",
        "/posts?account=alice.test",
        "https://one.test/",
        &format!("{URL}:alice/post/a1"),
        &format!("{URL}:bob/post/b1"),
    ] {
        assert!(hrefs.iter().any(|found| found == href), "{href}: {hrefs:?}");
    }
    assert!(texts(&page, ".post-links li").contains(&format!("reply to {URL}:alice/post/a1")));
    assert_eq!(page.element_text("nav a[aria-current]"), "Posts");
    assert!(page.element_text("#fresh").starts_with("Fresh through 1970-01-01 00:16:40 UTC"));
}

#[tokio::test]
async fn posts_are_filtered_by_account_and_kind() {
    let fixture = PostFixture::new();
    let first = post_at("alice", "a1", 100, "first");
    let mut reply = post_at("bob", "b1", 120, "answer");
    reply.reply = Some(PostReply { parent: first.uri.clone(), root: first.uri.clone() });
    fixture.read_feed("alice", std::slice::from_ref(&first));
    fixture.read_feed("bob", &[reply, repost_of(&first, "bob", "r1")]);
    let router = fixture.router();
    for (query, expected) in [
        ("?account=alice.test", &["first"][..]),
        ("?account=@Alice.Test", &["first"]),
        ("?account=https://bsky.app/profile/did:plc:bob", &["first", "answer"]),
        ("?reposts=no", &["answer", "first"]),
        ("?reposts=no&replies=no", &["first"]),
        ("?account=did:plc:bob&replies=no", &["first"]),
    ] {
        let page = open_page(&router, &format!("/posts{query}")).await;
        assert_eq!(texts(&page, ".post-text"), expected, "{query}");
    }
    let page = open_page(&router, "/posts?account=alice.test&reposts=no").await;
    let chips = hrefs(&page, "main .filters a");
    let expected = [
        "/posts?account=alice.test",
        "/posts?account=alice.test&reposts=no&replies=no",
        "/posts?reposts=no",
    ];
    assert_eq!(chips, expected);
    assert_eq!(page.element_text("main .filters a[aria-current]"), "without reposts");
    assert_eq!(page.select_all("#account")[0].attr("value"), Some("alice.test"));
    let live = page.select_all("#posts")[0].attr("hx-get").unwrap().to_owned();
    assert_eq!(live, "/posts?live=true&account=alice.test&reposts=no");
    let fragment = open_page(&router, &live).await;
    assert!(!fragment.has_element("#account") && fragment.has_element(".post"));
}

#[tokio::test]
async fn posts_pages_together_show_every_post_once() {
    let fixture = PostFixture::new();
    let posts: Vec<Post> =
        (0..120).map(|n| post_at("alice", &format!("a{n}"), n / 3, &format!("text {n}"))).collect();
    fixture.read_feed("alice", &posts);
    let router = fixture.router();
    let (mut seen, mut path, mut pages) = (Vec::new(), "/posts".to_owned(), 0);
    loop {
        let page = open_page(&router, &path).await;
        seen.extend(texts(&page, ".post-text"));
        pages += 1;
        assert_eq!(page.has_element("#newest"), pages > 1);
        match hrefs(&page, "#older").pop() {
            Some(next) => path = next,
            None => break,
        }
    }
    assert_eq!((pages, seen.len()), (3, 120));
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 120);
    assert_eq!(texts(&open_page(&router, "/posts?after=x").await, ".post-text").len(), 50);
}

#[tokio::test]
async fn posts_and_trending_explain_what_is_missing() {
    let fixture = PostFixture::new();
    let router = fixture.router();
    let page = open_page(&router, "/posts").await;
    assert!(page.element_text("#no-posts").contains("No stored post matches."));
    let page = open_page(&router, "/posts?account=carol.test").await;
    let expected = "No posts by carol.test are stored. If this workspace does not follow it yet: highwater bluesky add HANDLE";
    assert!(page.element_text("#no-posts").contains(expected), "{}", page.text);
    let page = open_page(&router, "/trending?hours=6").await;
    assert!(page.element_text("#no-links").contains("No links were shared in the last 6 hours."));
    for account in ["alice", "javascript:alert(1)", "a%00.test", "%FF", "%E2%80%AEa.test"] {
        let page = open_page(&router, &format!("/posts?account={account}")).await;
        assert_eq!(page.status, 200, "{account}");
        assert!(page.element_text("#invalid-account").contains("not an account"), "{account}");
    }
    fixture.store.record_failed_account("bsky.app", &did("bob"), "timed out").unwrap();
    let page = open_page(&router, "/posts").await;
    let warning = "The last update of the posts of did:plc:bob failed";
    assert_eq!(page.element_text("#missing li"), warning);
    fixture.store.unfollow_accounts("bsky.app", &[did("alice"), did("bob")]).unwrap();
    for path in ["/posts", "/trending"] {
        let text = open_page(&router, path).await.element_text("#no-accounts");
        assert!(text.contains("highwater bluesky add HANDLE"), "{path}: {text}");
    }
}

#[tokio::test]
async fn trending_ranks_links_by_accounts_in_a_range_of_hours() {
    let fixture = PostFixture::new();
    let [one, two] = ["https://one.test/", "https://two.test/"];
    let shared = with_links(post_at("alice", "a1", 100, "look:\nthis"), &[two]);
    let alone = with_links(post_at("alice", "a2", 900, "mine"), &[one]);
    // three hours before the site's clock
    let old = with_links(post_at("alice", "a3", 1_000 - 3 * 3_600, "old"), &["https://old.test/"]);
    fixture.read_feed("alice", &[shared.clone(), alone, old]);
    fixture.read_feed("bob", &[repost_of(&shared, "bob", "r1")]);
    let router = fixture.router();
    let page = open_page(&router, "/trending?hours=1").await;
    assert_eq!(texts(&page, ".hit-title"), [two, one]);
    assert_eq!(texts(&page, ".hit .kind"), ["2 accounts", "1 account"]);
    assert_eq!(texts(&page, ".shared-by")[0], "shared by did:plc:bob, alice.test");
    assert_eq!(texts(&page, ".post-text")[0], "look: this");
    let links = hrefs(&page, ".hit a");
    for href in [two, "/posts?account=alice.test", &format!("{URL}:alice/post/a1")] {
        assert!(links.iter().any(|found| found == href), "{href}: {links:?}");
    }
    for (query, count, current) in [
        ("", 3, "24 hours"),
        ("?hours=6", 3, "6 hours"),
        ("?hours=168", 3, "7 days"),
        ("?hours=x", 3, "24 hours"),
    ] {
        let page = open_page(&router, &format!("/trending{query}")).await;
        assert_eq!(texts(&page, ".hit-title").len(), count, "{query}");
        assert_eq!(page.element_text("main .filters a[aria-current]"), current, "{query}");
    }
    let live = page.select_all("#trending")[0].attr("hx-get").unwrap().to_owned();
    assert_eq!(live, "/trending?live=true&hours=1");
    let fragment = open_page(&router, &live).await;
    assert!(!fragment.has_element("h1") && texts(&fragment, ".hit-title") == [two, one]);
}

#[tokio::test]
async fn search_result_that_is_a_post_has_its_author_and_its_own_page() {
    let fixture = PostFixture::new();
    fixture.read_feed("alice", &[post_at("alice", "a1", 100, "a narwhal\nwas seen")]);
    let router = fixture.router();
    let page = open_page(&router, "/?q=narwhal+type:post").await;
    assert_eq!(page.element_text(".hit-head"), "post alice.test");
    assert_eq!(hrefs(&page, ".hit-link"), [format!("{URL}:alice/post/a1")]);
    assert_eq!(page.select_all(".hit-link")[0].attr("rel"), Some("noopener noreferrer"));
    let author = &page.select_all(".hit-foot button");
    assert_eq!(author.len(), 1, "only the author is a filter");
    assert_eq!(author[0].attr("value"), Some("narwhal type:post author:alice.test"));
    assert!(page.has_element("#chip-type-post[aria-pressed=true]"));
    let shared = post_at("alice", "a2", 100, "a walrus");
    fixture.read_feed("bob", &[repost_of(&shared, "bob", "r1")]);
    let page = open_page(&router, "/?q=walrus").await;
    assert_eq!(page.element_text(".hit-head"), "post alice.test, reposted by did:plc:bob");
    let fixture = WebFixture::new();
    fixture.add_issue(7, "a narwhal", "");
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/?q=narwhal").await;
    assert_eq!(page.select_all(".hit-link")[0].attr("rel"), None, "a thread has a local page");
}

#[tokio::test]
async fn posts_have_ids_that_are_unique_and_outlive_an_update() {
    let fixture = PostFixture::new();
    let links = ["https://one.test/?a", "https://one.test/#a", "https://two.test/"];
    let first = with_links(post_at("alice", "a1", 100, "first"), &links);
    fixture.read_feed("alice", &[first.clone(), repost_of(&first, "alice", "r1")]);
    fixture.read_feed("bob", &[repost_of(&first, "bob", "r2")]);
    let router = fixture.router();
    for path in ["/posts", "/trending"] {
        let before = ids(&open_page(&router, path).await);
        let unique: BTreeSet<&String> = before.iter().collect();
        assert_eq!(unique.len(), before.len(), "{path}: {before:?}");
        let newer = with_links(post_at("bob", "b1", 900, "newer"), &["https://three.test/"]);
        fixture.read_feed("bob", &[newer]);
        let after = ids(&open_page(&router, path).await);
        let lost: Vec<_> = before.iter().filter(|id| !after.contains(id)).collect();
        assert!(lost.is_empty(), "{path}: {lost:?}");
    }
}

fn ids(page: &BrowserPage) -> Vec<String> {
    let elements = page.select_all("[id]").into_iter();
    elements.map(|element| element.attr("id").unwrap().to_owned()).collect()
}

fn texts(page: &BrowserPage, selector: &str) -> Vec<String> {
    let elements = page.select_all(selector).into_iter();
    let words = elements.map(|element| element.text().collect::<String>());
    words.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn hrefs(page: &BrowserPage, selector: &str) -> Vec<String> {
    let links = page.select_all(selector).into_iter();
    links.map(|link| link.attr("href").unwrap().to_owned()).collect()
}
