//! What the pages say, in good times and in bad.

use hw_rules::item::Kind;
use hw_rules::lane::Surface;

use crate::browser::{ask, open};
use crate::world::{World, comment, empty_site};

#[tokio::test]
async fn without_a_workspace_every_page_says_what_to_do() {
    let router = hw_web::router(empty_site());
    for path in ["/", "/?q=leak", "/search?q=leak", "/health"] {
        let page = open(&router, path).await;
        assert_eq!(page.status, 200, "{path}");
        let told = page.says("#no-workspace");
        assert!(told.contains("highwater pull -o ORGANISATION"), "{path}: {told}");
        assert!(told.contains("no/such/place/acme.db"), "{path}: {told}");
    }
    let page = open(&router, "/threads/acme/pump/1").await;
    assert_eq!((page.status, page.says("#problem h2").as_str()), (404, "Nothing was pulled yet"));
}

#[tokio::test]
async fn a_result_shows_what_it_is_and_marks_what_was_searched_for() {
    let world = World::new();
    world.issue(7, "The valve leaks", "since monday it drips");
    world.issue(8, "Another one", "all is well");
    world.comments(vec![comment(3, 8, "the hinge squeaks")]);
    let router = hw_web::router(world.site());
    let page = open(&router, "/?q=valve").await;
    assert_eq!(page.says(".hit-link"), "The valve leaks");
    assert_eq!(page.says(".hit-link mark"), "valve");
    assert_eq!(page.all(".hit-link")[0].attr("href"), Some("/threads/acme/pump/7"));
    assert_eq!(page.says(".hit-head"), "issue open acme/pump#7");
    assert_eq!(page.says("#count"), "1 match, best first");
    assert!(page.says("#fresh").starts_with("Fresh through 1970-01-01 00:00:40 UTC"));
    let foot = page.says(".hit-foot");
    assert!(foot.contains("1970-01-01") && foot.contains("ada") && foot.contains("bug"), "{foot}");
    let author = &page.all(".hit-foot button")[0];
    assert_eq!(author.attr("value"), Some("valve author:ada"));
    let page = open(&router, "/search?q=hinge").await;
    assert!(page.says(".snippet").starts_with("in a comment by bob:"), "{}", page.text);
    assert_eq!(
        page.all(".hit-link")[0].attr("href"),
        Some("/threads/acme/pump/8?at=issuecomment-3#issuecomment-3")
    );
    assert!(!page.has("#q"), "the results alone");
}

#[tokio::test]
async fn the_ten_best_are_shown() {
    let world = World::new();
    (1..=12).for_each(|number| world.issue(number, "The valve leaks", ""));
    let page = open(&hw_web::router(world.site()), "/?q=valve").await;
    assert_eq!(
        (page.all(".hit").len(), page.says("#count b").as_str()),
        (10, "at least 12 matches")
    );
    assert!(page.has("main input#q[type=search]"));
}

#[tokio::test]
async fn a_word_may_go_on_until_a_space_ends_it() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    let router = hw_web::router(world.site());
    for path in
        ["/search?q=val&unfinished=true", "/search?q=val&live=true", "/search?q=val", "/?q=val"]
    {
        assert_eq!(open(&router, path).await.says(".hit mark"), "valve", "{path}");
    }
    assert!(!open(&router, "/search?q=val+").await.has(".hit"));
}

#[tokio::test]
async fn filters_are_buttons_that_the_query_presses() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    let router = hw_web::router(world.site());
    let page = open(&router, "/?q=valve+type:issue+repo:pump").await;
    assert_eq!(page.all("#chip-type-issue[aria-pressed=true]").len(), 1);
    assert_eq!(page.all(".chip[aria-pressed=true]").len(), 2);
    assert_eq!(
        page.all("#chip-state-open")[0].attr("value"),
        Some("valve type:issue repo:pump state:open")
    );
    let page = open(&router, "/?q=valve+type:discussion").await;
    assert!(page.says("#no-result").contains("without type:discussion"), "{}", page.text);
    assert_eq!(page.all("#drop-1")[0].attr("value"), Some("valve"));
}

#[tokio::test]
async fn a_query_becomes_the_address_of_its_page() {
    let world = World::new();
    let router = hw_web::router(world.site());
    let current = ("hx-current-url", "http://127.0.0.1:8080/?q=le");
    let answer = ask(&router, "GET", "/search?q=lea&unfinished=true", &[current]).await;
    assert_eq!(answer.headers()["hx-replace-url"], "/?q=lea");
    let answer = ask(&router, "GET", "/search?q=lea", &[current]).await;
    assert_eq!(answer.headers()["hx-push-url"], "/?q=lea");
    let answer = ask(&router, "GET", "/search?q=lea&live=true", &[current]).await;
    assert!(!answer.headers().contains_key("hx-push-url"));
}

#[tokio::test]
async fn a_list_that_fails_is_told_on_every_page() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    world.fail("the source timed out");
    let router = hw_web::router(world.site());
    for path in
        ["/", "/?q=valve", "/?q=nothing", "/search?q=valve", "/threads/acme/pump/7", "/health"]
    {
        let told = open(&router, path).await.says("#missing");
        assert!(
            told.contains("the last reading of the issues of acme/pump failed"),
            "{path}: {told}"
        );
    }
    let page = open(&router, "/health?only=problems").await;
    assert_eq!(page.all(".lane").len(), 1);
    let lane = page.says(".lane");
    for part in ["acme/pump issues", "failing", "3 in a row", "the source timed out"] {
        assert!(lane.contains(part), "{part}: {lane}");
    }
}

#[tokio::test]
async fn a_thread_shows_replies_below_what_they_answer() {
    let world = World::new();
    world.issue(7, "The valve leaks", "# Since *monday*");
    let mut reply = comment(3, 7, "third");
    reply.reply_to = Some(1);
    let mut review = comment(4, 7, "fourth");
    (review.kind, review.path, review.line) =
        (Kind::ReviewComment, Some("src/a.rs".into()), Some(9));
    world.comments(vec![comment(1, 7, "first"), comment(2, 7, "second"), reply, review]);
    let page = open(&hw_web::router(world.site()), "/threads/acme/pump/7").await;
    let ids: Vec<_> =
        page.all(".said").iter().map(|it| it.value().id().unwrap().to_owned()).collect();
    assert_eq!(ids, ["issuecomment-1", "issuecomment-3", "issuecomment-2", "issuecomment-4"]);
    assert_eq!(page.says(".said-reply .prose"), "third");
    assert_eq!(page.says(".said-place"), "src/a.rs:9");
    assert_eq!(
        (page.says("h1").as_str(), page.says("#body h2 em").as_str()),
        ("The valve leaks", "monday")
    );
    assert_eq!(page.all("#source")[0].attr("href"), Some("https://github.com/acme/pump/issues/7"));
}

#[tokio::test]
async fn thread_shows_line_comments_below_their_review() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    let review = |id, state: &str, body: &str| {
        let mut review = comment(id, 7, body);
        (review.kind, review.state) = (Kind::Review, Some(state.to_owned()));
        review.url = format!("https://github.com/acme/pump/pull/7#pullrequestreview-{id}");
        review
    };
    let on_line = |id, review_id, reply_to| {
        let mut on_line = comment(id, 7, &format!("line {id}"));
        (on_line.kind, on_line.review_id, on_line.reply_to) =
            (Kind::ReviewComment, Some(review_id), reply_to);
        (on_line.path, on_line.line) = (Some("src/a.rs".into()), Some(9));
        on_line.url = format!("https://github.com/acme/pump/pull/7#discussion_r{id}");
        on_line
    };
    world.comments(vec![
        on_line(1, 5, None),
        comment(2, 7, "in between"),
        on_line(3, 6, Some(1)),
        review(5, "CHANGES_REQUESTED", "Not yet"),
        review(6, "COMMENTED", ""),
        review(8, "APPROVED", ""),
        review(9, "APPROVED", "<!-- nothing -->"),
    ]);
    let page = open(&hw_web::router(world.site()), "/threads/acme/pump/7").await;
    let shown: Vec<String> = page
        .all(".said")
        .iter()
        .map(|said| {
            let classes = said.attr("class").unwrap().replace("said", "").replace(' ', "");
            format!("{}{classes}", said.attr("aria-label").unwrap())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "bob commented",
            "bob requested changes",
            "bob commented on a line-reply",
            "bob replied-reply-deep",
            "bob reviewed-line",
            "bob approved these changes-line",
            "bob approved these changes-line",
        ]
    );
    assert_eq!(page.says("#pullrequestreview-8 .review-approved"), "approved these changes");
    assert!(!page.has("#pullrequestreview-8 .prose") && page.has("#pullrequestreview-8 time"));
    assert_eq!(page.says("#pullrequestreview-5 .prose"), "Not yet");
    assert_eq!(page.says(".said-place"), "src/a.rs:9", "a reply does not repeat it");
}

#[tokio::test]
async fn thread_title_shows_code_and_emoji() {
    let world = World::new();
    world.issue(7, "`fn leak()` of the *valve* :rocket:", "");
    let router = hw_web::router(world.site());
    let page = open(&router, "/threads/acme/pump/7").await;
    assert_eq!(page.says("h1"), "fn leak() of the *valve* 🚀");
    assert_eq!(page.says("h1 code"), "fn leak()");
    assert!(page.says("title").starts_with("`fn leak()` of"));
    let page = open(&router, "/search?q=leak").await;
    assert_eq!(page.says(".hit-link code mark"), "leak");
}

#[tokio::test]
async fn health_names_lanes_in_errors_as_people_know_them() {
    let world = World::new();
    world.fail("github.com/repository/1/issues: timed out");
    let page = open(&hw_web::router(world.site()), "/health?only=problems").await;
    assert_eq!(page.says(".lane-error"), "acme/pump issues: timed out");
    assert_eq!(page.all(".lane-more > td[colspan='5'] .lane-error").len(), 1, "on its own row");
    assert!(!page.text.contains("/repository/"), "{}", page.text);
}

#[tokio::test]
async fn health_tells_interrupted_lanes_from_those_that_were_not_started() {
    let world = World::new();
    world.interrupt(Surface::ReviewComments);
    world.repository(2, "valve");
    let router = hw_web::router(world.site());
    let page = open(&router, "/health?only=problems").await;
    assert!(page.text.contains("being read") && !page.text.contains("interrupted"));
    world.release();
    let page = open(&router, "/health?only=problems").await;
    let lanes: Vec<String> = page
        .all(".lane")
        .iter()
        .map(|lane| {
            lane.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(lanes.len(), 2, "{lanes:?}");
    assert!(lanes[0].starts_with("acme/pump review-comments interrupted"), "{lanes:?}");
    assert!(lanes[1].starts_with("acme/valve all lists not started"), "{lanes:?}");
    assert_eq!(page.says("#lanes-title"), "7 lanes, 2 with a problem");
}

#[tokio::test]
async fn a_thread_whose_comments_were_never_pulled_says_so() {
    let world = World::without_comments();
    world.issue(7, "The valve leaks", "");
    let router = hw_web::router(world.site());
    let told = open(&router, "/threads/acme/pump/7").await.says("#missing");
    assert!(told.contains("no comments were ever pulled into this workspace"), "{told}");
    world.comments(Vec::new());
    assert!(!open(&router, "/threads/acme/pump/7").await.has("#missing"));
}

#[tokio::test]
async fn what_is_not_held_has_a_page_that_says_so() {
    let world = World::new();
    let router = hw_web::router(world.site());
    for (path, title) in [
        ("/threads/acme/pump/99", "Not in this workspace"),
        ("/threads/acme/other/1", "Not in this workspace"),
        ("/threads/acme/pump/x", "Not in this workspace"),
        ("/nowhere", "No such page"),
    ] {
        let page = open(&router, path).await;
        assert_eq!((page.status, page.says("#problem h2").as_str()), (404, title), "{path}");
    }
}

#[tokio::test]
async fn many_lanes_come_in_pages() {
    let world = World::new();
    world.lanes(250);
    let router = hw_web::router(world.site());
    let page = open(&router, "/health").await;
    assert_eq!((page.all(".lane").len(), page.says(".pager span").as_str()), (100, "page 1 of 3"));
    let page = open(&router, "/health?page=3").await;
    assert!(page.all(".lane").len() < 100 && page.has("#newer") && !page.has("#older"));
    for odd in ["0", "-1", "x", "99999999999999999999", "18446744073709551615"] {
        assert_eq!(open(&router, &format!("/health?page={odd}")).await.status, 200, "{odd}");
    }
    let page = open(&router, "/health?page=9999").await;
    assert_eq!(page.says(".pager span"), "page 3 of 3");
    assert!(!page.all(".lane").is_empty() && !page.has("#no-lanes"));
}

#[tokio::test]
async fn the_box_waits_for_words_only_while_there_are_no_results() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    let router = hw_web::router(world.site());
    assert!(open(&router, "/").await.has("#q[autofocus]"));
    assert!(open(&router, "/?q=nothing").await.has("#q[autofocus]"));
    assert!(!open(&router, "/?q=valve").await.has("#q[autofocus]"));
}

#[tokio::test]
async fn an_address_that_is_odd_has_a_page_too() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    let router = hw_web::router(world.site());
    let page = open(&router, "/?q=nothing&q=valve").await;
    assert_eq!((page.status, page.says(".hit-link").as_str()), (200, "The valve leaks"));
    for path in
        ["/?q=%ff", "/search?q=%zz", "/health?page=%ff&page=1", "/threads/acme/pump/7?live=%"]
    {
        assert_eq!(open(&router, path).await.status, 200, "{path}");
    }
    assert_eq!(ask(&router, "GET", "/events?since=abc", &[]).await.status(), 200);
    let page = open(&router, "/threads/%ff/pump/7").await;
    assert_eq!((page.status, page.says("#problem h2").as_str()), (404, "No such page"));
    assert_eq!(ask(&router, "GET", "/assets/%ff", &[]).await.status(), 404);
}

#[tokio::test]
async fn a_workspace_that_nobody_can_tell_from_others_is_asked_for() {
    let mut site = empty_site();
    site.find = std::sync::Arc::new(|| Err("there are several workspaces: a, b".to_owned()));
    let page = open(&hw_web::router(site), "/").await;
    assert_eq!((page.status, page.says("#problem h2").as_str()), (404, "Which workspace?"));
    assert!(page.says("#problem").contains("there are several workspaces: a, b."));
}

#[tokio::test]
async fn a_database_that_fails_is_an_error_with_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("acme.db");
    std::fs::write(&file, "this is no database, and long enough to be looked at".repeat(100))
        .unwrap();
    let site = crate::world::site(hw_store::Workspace::at(hw_store::Place::File(file)));
    let router = hw_web::router(site);
    for path in ["/", "/search?q=x", "/health", "/threads/a/b/1", "/health?live=true"] {
        let page = open(&router, path).await;
        assert_eq!(page.status, 500, "{path}");
        assert!(page.says("#problem").contains("highwater doctor store"), "{path}");
        assert_eq!(page.has("nav"), !path.contains("live") && !path.contains("search"), "{path}");
    }
}

#[tokio::test]
async fn no_page_has_script_or_style_inside_and_each_has_its_landmarks() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    let router = hw_web::router(world.site());
    for path in ["/", "/?q=valve", "/threads/acme/pump/7", "/health", "/nowhere"] {
        let page = open(&router, path).await;
        assert!(!page.has("style") && !page.has("[style]"), "{path}");
        for part in
            ["html[lang=en]", "main#main", "header", "nav[aria-label]", "h1", "a.skip", "title"]
        {
            assert!(page.has(part), "{path}: {part}");
        }
        let config = page.all("meta[name=htmx-config]")[0].attr("content").unwrap();
        for part in
            ["\"includeIndicatorStyles\":false", "\"allowEval\":false", "\"selfRequestsOnly\":true"]
        {
            assert!(config.contains(part), "{config}");
        }
    }
}
