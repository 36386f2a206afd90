//! The content of the pages, with and without problems.

use hw_rules::item::{Comment, CommentKind};
use hw_rules::lane::Surface;
use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope, RequestClass};
use hw_store::{NewPause, WorkspaceHandle};

use crate::browser::{open_page, send_request};
use crate::fixture::{MACHINE, WebFixture, empty_site, sample_comment};

#[tokio::test]
async fn pages_without_a_workspace_explain_how_to_pull() {
    let router = hw_web::build_router(empty_site());
    for path in ["/", "/?q=leak", "/search?q=leak", "/health", "/posts", "/trending"] {
        let page = open_page(&router, path).await;
        assert_eq!(page.status, 200, "{path}");
        let text = page.element_text("#no-workspace");
        assert!(text.contains("highwater pull -o NAME"), "{path}: {text}");
        assert!(text.contains("no/such/place/acme.db"), "{path}: {text}");
    }
    let page = open_page(&router, "/threads/acme/pump/1").await;
    assert_eq!(
        (page.status, page.element_text("#problem h2").as_str()),
        (404, "Nothing pulled yet")
    );
}

#[tokio::test]
async fn search_result_shows_its_properties_and_marks_the_match() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "since monday it drips");
    fixture.add_issue(8, "Another one", "all is well");
    fixture.add_comments(vec![sample_comment(3, 8, "the hinge squeaks")]);
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/?q=valve").await;
    assert_eq!(page.element_text(".hit-link"), "The valve leaks");
    assert_eq!(page.element_text(".hit-link mark"), "valve");
    assert_eq!(page.select_all(".hit-link")[0].attr("href"), Some("/threads/acme/pump/7"));
    assert_eq!(page.element_text(".hit-head"), "issue open acme/pump#7");
    assert_eq!(page.element_text("#count"), "1 match, best first");
    assert!(page.element_text("#fresh").starts_with("Fresh through 1970-01-01 00:00:40 UTC"));
    let foot = page.element_text(".hit-foot");
    assert!(foot.contains("1970-01-01") && foot.contains("ada") && foot.contains("bug"), "{foot}");
    let author = &page.select_all(".hit-foot button")[0];
    assert_eq!(author.attr("value"), Some("valve author:ada"));
    let page = open_page(&router, "/search?q=hinge").await;
    assert!(page.element_text(".snippet").starts_with("in a comment by bob:"), "{}", page.text);
    assert_eq!(
        page.select_all(".hit-link")[0].attr("href"),
        Some("/threads/acme/pump/8?at=issuecomment-3#issuecomment-3")
    );
    assert!(!page.has_element("#q"), "only the results");
}

#[tokio::test]
async fn search_shows_the_ten_best_results() {
    let fixture = WebFixture::new();
    (1..=12).for_each(|number| fixture.add_issue(number, "The valve leaks", ""));
    let page = open_page(&hw_web::build_router(fixture.site_options()), "/?q=valve").await;
    assert_eq!(
        (page.select_all(".hit").len(), page.element_text("#count b").as_str()),
        (10, "at least 12 matches")
    );
    assert!(page.has_element("main input#q[type=search]"));
}

#[tokio::test]
async fn search_completes_the_last_word_until_a_space_ends_it() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    let router = hw_web::build_router(fixture.site_options());
    for path in
        ["/search?q=val&unfinished=true", "/search?q=val&live=true", "/search?q=val", "/?q=val"]
    {
        assert_eq!(open_page(&router, path).await.element_text(".hit mark"), "valve", "{path}");
    }
    assert!(!open_page(&router, "/search?q=val+").await.has_element(".hit"));
}

#[tokio::test]
async fn search_filters_are_buttons_that_the_query_presses() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/?q=valve+type:issue+repo:pump").await;
    assert_eq!(page.select_all("#chip-type-issue[aria-pressed=true]").len(), 1);
    assert_eq!(page.select_all(".chip[aria-pressed=true]").len(), 2);
    assert_eq!(
        page.select_all("#chip-state-open")[0].attr("value"),
        Some("valve type:issue repo:pump state:open")
    );
    let page = open_page(&router, "/?q=type:issue").await;
    assert_eq!(page.element_text("#count"), "1 match, most recently updated first");
    let page = open_page(&router, "/?q=valve+type:discussion").await;
    assert_eq!(page.element_text("#drop-1"), "type:discussion");
    assert_eq!(page.select_all("#drop-1")[0].attr("value"), Some("valve"));
}

#[tokio::test]
async fn search_without_words_has_no_advice_about_words() {
    let fixture = WebFixture::new();
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/?q=-pump").await;
    let expected = "The query contains only exclusions; add a word or a filter to search for";
    assert_eq!(page.element_text(".misread"), expected);
    let no_result = page.element_text("#no-result");
    assert!(no_result.contains("Searched for -pump."), "{no_result}");
    assert!(!no_result.contains("All words") && !no_result.contains("Try fewer"), "{no_result}");
    let page = open_page(&router, "/?q=%22%22").await;
    assert!(page.element_text("#no-result").contains("The query has no words to search for."));
    let page = open_page(&router, "/?q=pump").await;
    assert!(page.element_text("#no-result").contains("Try fewer words, or part*"), "{}", page.text);
}

#[tokio::test]
async fn search_query_becomes_the_url_of_its_page() {
    let fixture = WebFixture::new();
    let router = hw_web::build_router(fixture.site_options());
    let current = ("hx-current-url", "http://127.0.0.1:8080/?q=le");
    let response = send_request(&router, "GET", "/search?q=lea&unfinished=true", &[current]).await;
    assert_eq!(response.headers()["hx-replace-url"], "/?q=lea");
    let response = send_request(&router, "GET", "/search?q=lea", &[current]).await;
    assert_eq!(response.headers()["hx-push-url"], "/?q=lea");
    let response = send_request(&router, "GET", "/search?q=lea&live=true", &[current]).await;
    assert!(!response.headers().contains_key("hx-push-url"));
}

#[tokio::test]
async fn pages_warn_about_a_failing_list() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    fixture.fail_issues("the source timed out");
    let router = hw_web::build_router(fixture.site_options());
    for path in
        ["/", "/?q=valve", "/?q=nothing", "/search?q=valve", "/threads/acme/pump/7", "/health"]
    {
        let warning = open_page(&router, path).await.element_text("#missing");
        let subject = if ["/", "/health"].contains(&path) { "The mirror" } else { "This page" };
        let title = format!("{subject} may be incomplete");
        assert!(warning.contains(&title), "{path}: {warning}");
        assert!(
            warning.contains("The last update of the issues of acme/pump failed"),
            "{path}: {warning}"
        );
    }
    let page = open_page(&router, "/health?only=problems").await;
    assert_eq!(page.select_all(".lane").len(), 1);
    let lane = page.element_text(".lane");
    for part in ["acme/pump issues", "failing 3×", "the source timed out"] {
        assert!(lane.contains(part), "{part}: {lane}");
    }
}

#[tokio::test]
async fn thread_shows_replies_below_what_they_answer() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "# Since *monday*");
    let mut reply = sample_comment(3, 7, "third");
    reply.reply_to = Some(1);
    let mut review = sample_comment(4, 7, "fourth");
    (review.kind, review.path, review.line) =
        (CommentKind::ReviewComment, Some("src/a.rs".into()), Some(9));
    fixture.add_comments(vec![
        sample_comment(1, 7, "first"),
        sample_comment(2, 7, "second"),
        reply,
        review,
    ]);
    let page =
        open_page(&hw_web::build_router(fixture.site_options()), "/threads/acme/pump/7").await;
    let comments = page.select_all(".comment");
    let ids: Vec<_> = comments.iter().map(|comment| comment.value().id().unwrap()).collect();
    assert_eq!(ids, ["issuecomment-1", "issuecomment-3", "issuecomment-2", "issuecomment-4"]);
    assert_eq!(page.element_text(".comment-reply .prose"), "third");
    assert_eq!(page.element_text(".comment-code-line"), "src/a.rs:9");
    assert_eq!(
        (page.element_text("h1").as_str(), page.element_text("#body h2 em").as_str()),
        ("The valve leaks", "monday")
    );
    assert_eq!(
        page.select_all("#source")[0].attr("href"),
        Some("https://github.com/acme/pump/issues/7")
    );
}

#[tokio::test]
async fn thread_shows_line_comments_below_their_review() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    fixture.add_comments(vec![
        line_comment(1, 5, None),
        sample_comment(2, 7, "in between"),
        line_comment(3, 6, Some(1)),
        review(5, "CHANGES_REQUESTED", "Not yet"),
        review(6, "COMMENTED", ""),
        review(8, "APPROVED", ""),
        review(9, "APPROVED", "<!-- nothing -->"),
    ]);
    let page =
        open_page(&hw_web::build_router(fixture.site_options()), "/threads/acme/pump/7").await;
    let shown: Vec<String> = page
        .select_all(".comment")
        .iter()
        .map(|comment| {
            let classes = comment.attr("class").unwrap().replace("comment", "").replace(' ', "");
            format!("{}{classes}", comment.attr("aria-label").unwrap())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "bob commented",
            "bob requested changes",
            "bob commented on a line-reply",
            "bob replied-reply-deep",
            "bob reviewed-single-line",
            "bob approved these changes-single-line",
            "bob approved these changes-single-line",
        ]
    );
    assert_eq!(
        page.element_text("#pullrequestreview-8 .review-approved"),
        "approved these changes"
    );
    assert!(
        !page.has_element("#pullrequestreview-8 .prose")
            && page.has_element("#pullrequestreview-8 time")
    );
    assert_eq!(page.element_text("#pullrequestreview-5 .prose"), "Not yet");
    assert_eq!(
        page.element_text(".comment-code-line"),
        "src/a.rs:9",
        "a reply does not repeat the line"
    );
}

#[tokio::test]
async fn thread_title_shows_code_and_emoji() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "`fn leak()` of the *valve* :rocket:", "");
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/threads/acme/pump/7").await;
    assert_eq!(page.element_text("h1"), "fn leak() of the *valve* 🚀");
    assert_eq!(page.element_text("h1 code"), "fn leak()");
    assert!(page.element_text("title").starts_with("`fn leak()` of"));
    let page = open_page(&router, "/search?q=leak").await;
    assert_eq!(page.element_text(".hit-link code mark"), "leak");
}

#[tokio::test]
async fn health_replaces_lane_keys_in_errors_with_names() {
    let fixture = WebFixture::new();
    fixture.fail_issues("github.com/repository/1/issues: timed out");
    let page =
        open_page(&hw_web::build_router(fixture.site_options()), "/health?only=problems").await;
    assert_eq!(page.element_text(".lane-error"), "acme/pump issues: timed out");
    assert_eq!(
        page.select_all(".lane-more > td[colspan='5'] .lane-error").len(),
        1,
        "on its own row"
    );
    assert!(!page.text.contains("/repository/"), "{}", page.text);
}

#[tokio::test]
async fn health_reports_pauses_by_the_clock_of_the_machine_that_serves_it() {
    let fixture = WebFixture::new();
    let own = NewPause {
        principal: Principal::from_user("github.com", 7),
        scope: PauseScope::Everything,
        cause: PauseCause::SourceLimit,
        machine: MACHINE,
        stored_ms: 940_000,
        until_ms: 1_060_000,
        source_until: None,
        reason: "secondary limit",
    };
    fixture.store.store_pause(own.clone()).unwrap();
    let cause = PauseCause::Reserve(RequestClass::Mirror);
    let other = NewPause { cause, machine: "there", stored_ms: 0, until_ms: 600_000, ..own };
    let scope = PauseScope::Api(ApiKind::Rest);
    fixture.store.store_pause(NewPause { scope, reason: "some is left", ..other }).unwrap();
    let page = open_page(&hw_web::build_router(fixture.site_options()), "/health").await;
    let pauses = page.element_text("#pauses");
    for words in [
        "Requests to github.com are paused until 1970-01-01 00:17",
        "Requests to github.com (REST) for pulls are paused for at most 10m: some is left.",
    ] {
        assert!(pauses.contains(words), "{words}: {pauses}");
    }
}

#[tokio::test]
async fn health_distinguishes_interrupted_and_unstarted_lists() {
    let fixture = WebFixture::new();
    fixture.interrupt_walk(Surface::Comments(CommentKind::ReviewComment));
    fixture.add_repository(2, "valve");
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/health?only=problems").await;
    assert!(page.text.contains("being read") && !page.text.contains("interrupted"));
    let working = page.element_text("#working");
    assert!(
        working.starts_with("pull from github.com: process 7 on here, running since "),
        "{working}"
    );
    fixture.release_duty();
    let page = open_page(&router, "/health?only=problems").await;
    let lanes: Vec<String> = page
        .select_all(".lane")
        .iter()
        .map(|lane| {
            lane.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(lanes.len(), 2, "{lanes:?}");
    assert!(lanes[0].starts_with("acme/pump review-comments interrupted"), "{lanes:?}");
    assert!(lanes[1].starts_with("acme/valve all lists not started"), "{lanes:?}");
    assert_eq!(page.element_text("#lanes-title"), "7 lists, 2 incomplete or failing");
}

#[tokio::test]
async fn thread_warns_when_comments_were_never_pulled() {
    let fixture = WebFixture::without_comments();
    fixture.add_issue(7, "The valve leaks", "");
    let router = hw_web::build_router(fixture.site_options());
    let warning = open_page(&router, "/threads/acme/pump/7").await.element_text("#missing");
    assert!(warning.contains("No comments have been pulled into this workspace"), "{warning}");
    fixture.add_comments(Vec::new());
    assert!(!open_page(&router, "/threads/acme/pump/7").await.has_element("#missing"));
}

#[tokio::test]
async fn pages_that_do_not_exist_have_an_error_page() {
    let fixture = WebFixture::new();
    let router = hw_web::build_router(fixture.site_options());
    for (path, title) in [
        ("/threads/acme/pump/99", "Not in this workspace"),
        ("/threads/acme/other/1", "Not in this workspace"),
        ("/threads/acme/pump/x", "Not in this workspace"),
        ("/nowhere", "Page not found"),
    ] {
        let page = open_page(&router, path).await;
        assert_eq!(
            (page.status, page.element_text("#problem h2").as_str()),
            (404, title),
            "{path}"
        );
    }
    let problem = open_page(&router, "/threads/acme/pump/99").await.element_text("#problem");
    assert!(problem.contains("This workspace has no thread acme/pump#99."), "{problem}");
    let page = open_page(&router, "/threads/acme/other/1").await;
    let problem = page.element_text("#problem");
    assert!(problem.contains("This workspace has no repository named acme/other."), "{problem}");
    assert!(!page.has_element("#missing"), "{}", page.text);
}

#[tokio::test]
async fn health_divides_many_lists_into_pages() {
    let fixture = WebFixture::new();
    fixture.add_lanes(250);
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/health").await;
    assert_eq!(
        (page.select_all(".lane").len(), page.element_text(".pager span").as_str()),
        (100, "page 1 of 3")
    );
    let page = open_page(&router, "/health?page=3").await;
    assert!(
        page.select_all(".lane").len() < 100
            && page.has_element("#newer")
            && !page.has_element("#older")
    );
    for odd in ["0", "-1", "x", "99999999999999999999", "18446744073709551615"] {
        assert_eq!(open_page(&router, &format!("/health?page={odd}")).await.status, 200, "{odd}");
    }
    let page = open_page(&router, "/health?page=9999").await;
    assert_eq!(page.element_text(".pager span"), "page 3 of 3");
    assert!(!page.select_all(".lane").is_empty() && !page.has_element("#no-lanes"));
}

#[tokio::test]
async fn search_box_has_the_focus_while_there_are_no_results() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    let router = hw_web::build_router(fixture.site_options());
    assert!(open_page(&router, "/").await.has_element("#q[autofocus]"));
    assert!(open_page(&router, "/?q=nothing").await.has_element("#q[autofocus]"));
    assert!(!open_page(&router, "/?q=valve").await.has_element("#q[autofocus]"));
}

#[tokio::test]
async fn pages_accept_malformed_urls() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/?q=nothing&q=valve").await;
    assert_eq!((page.status, page.element_text(".hit-link").as_str()), (200, "The valve leaks"));
    for path in
        ["/?q=%ff", "/search?q=%zz", "/health?page=%ff&page=1", "/threads/acme/pump/7?live=%"]
    {
        assert_eq!(open_page(&router, path).await.status, 200, "{path}");
    }
    assert_eq!(send_request(&router, "GET", "/events?since=abc", &[]).await.status(), 200);
    let page = open_page(&router, "/threads/%ff/pump/7").await;
    assert_eq!((page.status, page.element_text("#problem h2").as_str()), (404, "Page not found"));
    assert_eq!(send_request(&router, "GET", "/assets/%ff", &[]).await.status(), 404);
}

#[tokio::test]
async fn workspace_that_is_ambiguous_has_an_error_page() {
    let mut site = empty_site();
    site.workspace = WorkspaceHandle::new(|| Err("there are several workspaces: a, b".to_owned()));
    let page = open_page(&hw_web::build_router(site), "/").await;
    assert_eq!((page.status, page.element_text("#problem h2").as_str()), (404, "Which workspace?"));
    assert!(page.element_text("#problem").contains("There are several workspaces: a, b."));
}

#[tokio::test]
async fn database_that_fails_has_an_error_page() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("acme.db");
    std::fs::write(&file, "not a database, but long enough to be read".repeat(100)).unwrap();
    let site = crate::fixture::site_options_for(hw_store::Workspace::at_location(
        hw_store::DatabaseLocation::File(file.clone()),
    ));
    let router = hw_web::build_router(site);
    let reason =
        format!("Cannot read the workspace: {} is not a highwater database.", file.display());
    for path in ["/", "/search?q=x", "/health", "/threads/a/b/1", "/health?live=true"] {
        let page = open_page(&router, path).await;
        assert_eq!(page.status, 500, "{path}");
        let problem = page.element_text("#problem");
        assert!(problem.contains(&reason), "{problem}");
        assert!(problem.contains("highwater doctor store"), "{path}");
        assert_eq!(
            page.has_element("nav"),
            !path.contains("live") && !path.contains("search"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn pages_have_landmarks_and_no_inline_script_or_style() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    let router = hw_web::build_router(fixture.site_options());
    for path in ["/", "/?q=valve", "/threads/acme/pump/7", "/health", "/nowhere"] {
        let page = open_page(&router, path).await;
        assert!(!page.has_element("style") && !page.has_element("[style]"), "{path}");
        for part in
            ["html[lang=en]", "main#main", "header", "nav[aria-label]", "h1", "a.skip", "title"]
        {
            assert!(page.has_element(part), "{path}: {part}");
        }
        let config = page.select_all("meta[name=htmx-config]")[0].attr("content").unwrap();
        for part in
            ["\"includeIndicatorStyles\":false", "\"allowEval\":false", "\"selfRequestsOnly\":true"]
        {
            assert!(config.contains(part), "{config}");
        }
    }
}

fn review(id: i64, state: &str, body: &str) -> Comment {
    Comment {
        kind: CommentKind::Review,
        state: Some(state.to_owned()),
        url: format!("https://github.com/acme/pump/pull/7#pullrequestreview-{id}"),
        ..sample_comment(id, 7, body)
    }
}

fn line_comment(id: i64, review_id: i64, reply_to: Option<i64>) -> Comment {
    Comment {
        kind: CommentKind::ReviewComment,
        review_id: Some(review_id),
        reply_to,
        path: Some("src/a.rs".to_owned()),
        line: Some(9),
        url: format!("https://github.com/acme/pump/pull/7#discussion_r{id}"),
        ..sample_comment(id, 7, &format!("line {id}"))
    }
}
