//! Tests of what a reader of single threads asks for.

use super::*;
use crate::TrueThread;
use crate::world::CommentKind;

#[test]
fn issue_or_pull_request_is_found_by_its_number() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    for kind in ThreadKind::ALL {
        let TrueThread { number, node_id, .. } = first_thread(&github, kind);
        let read = post_query(&mut github, BY_NUMBER, json!({ "number": number }));
        let found = &read["data"]["repository"]["issueOrPullRequest"];
        if kind == ThreadKind::Discussion {
            assert_eq!((found, &read["errors"][0]["type"]), (&Value::Null, &json!("NOT_FOUND")));
            assert_eq!(
                read["errors"][0]["path"],
                json!(["repository", "issueOrPullRequest"]),
                "{read}"
            );
        } else {
            assert_eq!(*found, json!({ "__typename": kind.type_name(), "id": node_id }));
        }
    }
}

#[test]
fn review_threads_group_the_comments_on_a_line() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let TrueThread { id: pull, node_id, .. } = first_thread(&github, ThreadKind::PullRequest);
    let now = github.now_ms;
    let world = github.world_mut();
    let review = world.add_review(pull, "see below", now);
    let first = world.add_review_comment(review, "first line", now);
    let second = world.add_review_comment(review, "second line", now);
    let reply = world.add_review_reply(first, "a reply", now);
    world.add_review_reply(reply, "a reply to the reply", now);
    let truth = world.truth();
    let reply_to = |id| truth.comments[&(CommentKind::ReviewComment, id)].reply_to_id;
    assert_eq!((reply_to(first), reply_to(reply)), (None, Some(first)));

    let threads = review_threads(&mut github, &node_id);
    let found = find_thread(&threads, "first line");
    assert_eq!(comment_bodies(found), ["first line", "a reply", "a reply to the reply"]);
    assert_eq!(comment_bodies(find_thread(&threads, "second line")), ["second line"]);
    let answered = &found["comments"]["nodes"][2]["replyTo"]["fullDatabaseId"];
    assert_eq!(*answered, json!(first.to_string()), "a reply answers the first comment");

    github.world_mut().delete_comment(CommentKind::ReviewComment, first, now);
    github.world_mut().delete_comment(CommentKind::ReviewComment, second, now);
    let id = find_thread(&threads, "first line")["id"].clone();
    let threads = review_threads(&mut github, &node_id);
    assert_eq!(comment_bodies(find_thread(&threads, "a reply")).len(), 2);
    let node = post_query(&mut github, REVIEW_THREAD, json!({ "id": id }));
    assert_eq!(node["data"]["node"]["comments"]["totalCount"], 2, "{node}");
}

#[test]
fn review_threads_of_a_pull_request_cost_one_point() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let TrueThread { node_id, .. } = first_thread(&github, ThreadKind::PullRequest);
    let nested = "query($id: ID!) { rateLimit { cost } node(id: $id) { ... on PullRequest {
        comments(first: 100) { nodes { body } } reviews(first: 100) { nodes { body } }
        reviewThreads(first: 50) { nodes { comments(first: 100) { nodes { body } } } } } } }";
    let read = post_query(&mut github, nested, json!({ "id": node_id }));
    assert_eq!(read["data"]["rateLimit"]["cost"], 1);
    let wider = nested.replace("first: 50", "first: 100").replace(
        "reviews(first: 100) { nodes { body } }",
        "reviews(first: 100) { nodes { comments(first: 9) { nodes { body } } } }",
    );
    let read = post_query(&mut github, &wider, json!({ "id": node_id }));
    assert_eq!(read["data"]["rateLimit"]["cost"], 2, "{read}");
}

#[test]
fn issue_names_the_pull_requests_that_would_close_it() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let issue = first_thread(&github, ThreadKind::Issue);
    let TrueThread { id: pull, number, .. } = first_thread(&github, ThreadKind::PullRequest);
    let now = github.now_ms;
    github.world_mut().reopen_thread(ThreadKind::PullRequest, pull, now);
    github.world_mut().link_closed_issues(pull, &[issue.number], now);
    let named = closing_pulls(&mut github, &issue);
    assert!(named.contains(&number), "{named:?}");
    github.world_mut().merge_pull_request(pull, now);
    assert!(!closing_pulls(&mut github, &issue).contains(&number), "a closed one is left out");
}

#[test]
fn etags_of_issues_do_not_change_with_stars_and_pushes() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let repository = first_thread(&github, ThreadKind::Issue).repository_id;
    let lists = ["issues?state=all&sort=updated", "pulls?state=all"]
        .map(|list| format!("/repositories/{repository}/{list}"));
    let etags = lists.clone().map(|list| etag_of(&mut github, &list));
    let now = github.now_ms + 5_000;
    github.world_mut().star_repository(repository, now);
    github.world_mut().push_to_repository(repository, now);
    github.advance_to(now);
    let after = lists.map(|list| etag_of(&mut github, &list));
    assert_eq!((after[0] == etags[0], after[1] == etags[1]), (true, false));
}

#[test]
fn etags_that_are_blind_miss_the_next_changes_only() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let issue = first_thread(&github, ThreadKind::Issue);
    let target = format!("/repositories/{}/issues?state=all", issue.repository_id);
    let etag = etag_of(&mut github, &target);
    github.blind_next_etags(1);
    assert_eq!(get_if_changed(&mut github, &target, &etag).status, 304, "nothing changed");
    assert_eq!(github.wrong_answers_served(), 0);
    let now = github.now_ms;
    github.world_mut().edit_issue(issue.id, Some("other"), None, now);
    let blind = get_if_changed(&mut github, &target, &etag);
    assert_eq!((blind.status, blind.header("etag")), (304, Some(etag.trim_start_matches("W/"))));
    assert_eq!(github.wrong_answers_served(), 1);
    assert_eq!(get_if_changed(&mut github, &target, &etag).status, 200);
}

#[test]
fn since_that_is_strict_leaves_out_its_own_second_in_all_lists() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let issue = first_thread(&github, ThreadKind::Issue);
    let now = github.now_ms + 5_000;
    github.world_mut().add_comment(ThreadKind::Issue, issue.id, "just now", now);
    github.advance_to(now);
    let since = crate::format_rfc3339(now);
    for (is_strict, expected) in [(false, 1), (true, 0)] {
        github.set_strict_since(is_strict);
        for list in ["issues?state=all&", "issues/comments?"] {
            let target = format!("/repositories/{}/{list}since={since}", issue.repository_id);
            let rows = send_get(&mut github, &target).body.as_array().unwrap().len();
            assert_eq!(rows, expected, "{target}, strict: {is_strict}");
        }
    }
}

#[test]
fn comment_that_is_delayed_reaches_no_list_before_its_time_and_keeps_its_own() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let issue = first_thread(&github, ThreadKind::Issue);
    let (now, until) = (github.now_ms + 5_000, github.now_ms + 55_000);
    let late = github.world_mut().add_comment(ThreadKind::Issue, issue.id, "late", now);
    github.world_mut().delay_comment(CommentKind::Conversation, late, until);
    let targets = [
        format!("/repositories/{}/issues/comments?sort=updated", issue.repository_id),
        format!("/repositories/{}/issues/{}/comments", issue.repository_id, issue.number),
    ];
    for (at_ms, expected) in [(now, false), (until - 1, false), (until, true)] {
        github.advance_to(at_ms);
        for target in &targets {
            let rows = send_get(
                &mut github,
                &format!(
                    "{target}{}",
                    if target.contains('?') { "&per_page=100" } else { "?per_page=100" }
                ),
            )
            .body;
            let row = rows.as_array().unwrap().iter().find(|row| row["id"] == late);
            assert_eq!(row.is_some(), expected, "{target} at {at_ms}");
            let updated = row.map(|row| row["updated_at"].clone());
            assert!(updated.is_none_or(|updated| updated == crate::format_rfc3339(now)));
        }
        let listed = post_query(&mut github, COMMENTS, json!({ "id": issue.node_id }));
        let nodes = listed["data"]["node"]["comments"]["nodes"].as_array().unwrap();
        assert_eq!(nodes.iter().any(|node| node["body"] == "late"), expected, "{listed}");
    }
}

#[test]
fn comment_is_deleted_between_two_pages_by_a_scheduled_action() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let issue = first_thread(&github, ThreadKind::Issue);
    let now = github.now_ms;
    let ids: Vec<i64> = (0..4)
        .map(|_| github.world_mut().add_comment(ThreadKind::Issue, issue.id, "x", now))
        .collect();
    let list = format!("/repositories/{}/issues/{}/comments", issue.repository_id, issue.number);
    let first =
        send_get(&mut github, &format!("{list}?per_page=100")).body.as_array().unwrap().len();
    let gone = ids[0];
    github.act_after("per_page=2", 1, move |world, now_ms| {
        world.delete_comment(CommentKind::Conversation, gone, now_ms);
    });
    for left in [1, 0] {
        send_get(&mut github, &format!("{list}?per_page=2"));
        assert_eq!(github.actions_left(), left);
    }
    let rows = send_get(&mut github, &format!("{list}?per_page=100")).body;
    assert_eq!(rows.as_array().unwrap().len(), first - 1);
}

#[test]
fn heads_move_by_pushes_and_come_back_by_a_reset() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let pull = first_thread(&github, ThreadKind::PullRequest);
    let start = github.now_ms;
    github.world_mut().reset_head(pull.id, start);
    let mut heads = vec![head_of(&mut github, &pull, start)];
    let actions: [fn(&mut World, i64, i64); 3] =
        [World::push_commit, World::force_push, World::push_commit];
    for (action, at_ms) in actions.into_iter().zip((start + 1000..).step_by(1000)) {
        action(github.world_mut(), pull.id, at_ms);
        heads.push(head_of(&mut github, &pull, at_ms));
        let updated_at = &github.world().truth().threads[&(pull.kind, pull.id)].updated_at;
        assert_eq!(*updated_at, crate::format_rfc3339(at_ms));
    }
    let different: std::collections::BTreeSet<_> = heads.iter().collect();
    assert_eq!(different.len(), 4, "{heads:?}");
    github.world_mut().reset_head(pull.id, start + 9_000);
    assert_eq!(head_of(&mut github, &pull, start + 9_000), heads[0]);
}

#[test]
fn authors_have_the_association_that_was_set_and_their_new_login() {
    let mut github = SimulatedGitHub::new(&WorldSpec::small(), 1);
    let issue = first_thread(&github, ThreadKind::Issue);
    let now = github.now_ms;
    let world = github.world_mut();
    let bot = world.bot_login().unwrap().to_owned();
    let ids = [bot.as_str(), "bosun"]
        .map(|login| world.add_comment_by(login, ThreadKind::Issue, issue.id, "hello", now));
    world.set_association("bosun", issue.repository_id, "COLLABORATOR");
    world.rename_account("bosun", "boatswain");
    let list = format!("/repositories/{}/issues/comments?sort=updated", issue.repository_id);
    let rows = send_get(&mut github, &list).body;
    let row = |id: i64| rows.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(
        (&row(ids[0])["user"]["type"], &row(ids[0])["user"]["login"]),
        (&json!("Bot"), &json!(bot))
    );
    assert_eq!(row(ids[1])["user"]["login"], "boatswain");
    assert_eq!(row(ids[1])["author_association"], "COLLABORATOR");
    let authors = post_query(&mut github, COMMENTS, json!({ "id": issue.node_id }));
    let nodes = authors["data"]["node"]["comments"]["nodes"].as_array().unwrap();
    let types: Vec<&Value> = nodes.iter().map(|node| &node["author"]["__typename"]).collect();
    assert!(types.contains(&&json!("Bot")) && types.contains(&&json!("User")), "{types:?}");
}

const COMMENTS: &str = "query($id: ID!) { node(id: $id) { ... on Issue { comments(first: 100) {
    nodes { body author { __typename login } } } } } }";
const BY_NUMBER: &str = "query($number: Int!) { repository(owner: \"acme\", name: \"pump\") {
    issueOrPullRequest(number: $number) { __typename
        ... on Issue { id } ... on PullRequest { id } } } }";
const REVIEW_THREADS: &str = "query($id: ID!) { node(id: $id) { ... on PullRequest {
    reviewThreads(first: 100) { nodes { id path comments(first: 100) {
        nodes { body replyTo { fullDatabaseId } } } } } } } }";
const REVIEW_THREAD: &str = "query($id: ID!) { node(id: $id) { ... on PullRequestReviewThread {
    comments(first: 100) { totalCount } } } }";
const CLOSED_BY: &str = "query($id: ID!) { node(id: $id) { ... on Issue {
    closedByPullRequestsReferences(first: 100) { nodes { number } } } } }";

fn first_thread(github: &SimulatedGitHub, kind: ThreadKind) -> TrueThread {
    let truth = github.world().truth();
    let mut threads = truth.threads_of_kind(kind);
    threads.find(|thread| thread.repository == "pump").unwrap().clone()
}

fn review_threads(github: &mut SimulatedGitHub, pull: &str) -> Value {
    let mut read = post_query(github, REVIEW_THREADS, json!({ "id": pull }));
    assert!(read.get("errors").is_none(), "{read}");
    read["data"]["node"]["reviewThreads"]["nodes"].take()
}

fn find_thread<'v>(threads: &'v Value, first: &str) -> &'v Value {
    let mut threads = threads.as_array().unwrap().iter();
    threads.find(|thread| thread["comments"]["nodes"][0]["body"] == first).unwrap()
}

fn comment_bodies(thread: &Value) -> Vec<&str> {
    let comments = thread["comments"]["nodes"].as_array().unwrap();
    comments.iter().map(|comment| comment["body"].as_str().unwrap()).collect()
}

fn closing_pulls(github: &mut SimulatedGitHub, issue: &TrueThread) -> Vec<i64> {
    let read = post_query(github, CLOSED_BY, json!({ "id": issue.node_id }));
    let nodes = read["data"]["node"]["closedByPullRequestsReferences"]["nodes"].as_array().unwrap();
    nodes.iter().map(|pull| pull["number"].as_i64().unwrap()).collect()
}

fn etag_of(github: &mut SimulatedGitHub, target: &str) -> String {
    send_get(github, target).header("etag").unwrap().to_owned()
}

fn get_if_changed(github: &mut SimulatedGitHub, target: &str, etag: &str) -> ParsedResponse {
    let request = format!(
        "GET {target} HTTP/1.1\r\nHost: api.github.com\r\nAuthorization: Bearer t\r\n\
         User-Agent: test\r\nIf-None-Match: {etag}\r\n\r\n"
    );
    let now = github.now_ms;
    parse_response(&expect_response(github.handle_request(request.as_bytes(), now)))
}

fn head_of(github: &mut SimulatedGitHub, pull: &TrueThread, at_ms: i64) -> String {
    let query = "query($id: ID!) { node(id: $id) { ... on PullRequest { headRefOid } } }";
    let read = post_query_at(github, query, json!({ "id": pull.node_id }), at_ms);
    read["data"]["node"]["headRefOid"].as_str().unwrap().to_owned()
}
