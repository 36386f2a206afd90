//! Objects in the words of the REST side.

use super::Reader;
use crate::json::Json;
use crate::world::{Comment, CommentKind, Repository, Thread, ThreadKind, User};

impl Reader<'_> {
    pub(super) fn user(self, json: &mut Json, user: Option<&User>) {
        let Some(user) = user else { return json.null() };
        json.open_object();
        text(json, "login", &user.login);
        json.key("id");
        json.int(user.id);
        text(json, "node_id", &user.node_id);
        text(json, "html_url", &format!("{}/{}", self.view.web_url(), user.login));
        text(
            json,
            "type",
            if user.type_name == "EnterpriseUserAccount" { "User" } else { user.type_name },
        );
        json.close_object();
    }

    pub(super) fn repository(self, json: &mut Json, it: &Repository) {
        let organization = self.view.organization();
        json.open_object();
        json.key("id");
        json.int(it.id);
        text(json, "node_id", &it.node_id);
        text(json, "name", &it.name);
        text(json, "full_name", &format!("{organization}/{}", it.name));
        json.key("owner");
        json.open_object();
        text(json, "login", organization);
        json.key("id");
        json.int(1);
        text(json, "type", "Organization");
        json.close_object();
        text(json, "html_url", &self.view.repository_url(it));
        json.key("description");
        json.text(&it.description);
        for (key, flag) in [
            ("private", false),
            ("fork", it.is_fork),
            ("archived", it.is_archived),
            ("has_issues", it.has_issues),
            ("has_discussions", it.has_discussions),
        ] {
            json.key(key);
            json.boolean(flag);
        }
        json.key("open_issues_count");
        let open = [ThreadKind::Issue, ThreadKind::PullRequest]
            .map(|kind| self.view.listed_threads(it, kind).filter(|thread| thread.open).count());
        json.int(i64::try_from(open.iter().sum::<usize>()).unwrap_or(0));
        time(json, "created_at", Some(it.created_ms));
        time(json, "updated_at", Some(it.updated_ms));
        time(json, "pushed_at", Some(it.pushed_ms));
        json.close_object();
    }

    /// An issue, or the issue behind a pull request with that issue's own id.
    pub(super) fn issue(self, json: &mut Json, it: &Thread) {
        json.open_object();
        json.key("id");
        json.int(it.issue_id);
        self.shared(json, it, "issues");
        json.key("state_reason");
        json.maybe(it.state_reason, |json, reason| json.string(&reason.to_lowercase()));
        json.key("comments");
        let comments = self.view.listed_comments(it.index, CommentKind::Conversation);
        json.int(i64::try_from(comments.count()).unwrap_or(0));
        if it.kind == ThreadKind::PullRequest {
            json.key("draft");
            json.boolean(it.is_draft);
            json.key("pull_request");
            json.open_object();
            text(json, "url", &self.api_url(it, "pulls"));
            text(json, "html_url", &self.view.thread_url(it));
            time(json, "merged_at", it.merged_ms);
            json.close_object();
        }
        json.close_object();
    }

    /// A pull request. It embeds its repository, whose counters change with any activity.
    pub(super) fn pull(self, json: &mut Json, it: &Thread) {
        json.open_object();
        json.key("id");
        json.int(it.id);
        self.shared(json, it, "pulls");
        json.key("draft");
        json.boolean(it.is_draft);
        time(json, "merged_at", it.merged_ms);
        for (key, name, oid) in
            [("head", it.head_ref(), it.head_oid()), ("base", "main".into(), String::new())]
        {
            json.key(key);
            json.open_object();
            text(json, "ref", &name);
            text(json, "sha", &oid);
            json.key("repo");
            let home = self.view.repository(it.repository);
            json.maybe(home, |json, home| self.repository(json, home));
            json.close_object();
        }
        json.close_object();
    }

    /// What issues and pull requests share.
    fn shared(self, json: &mut Json, it: &Thread, path: &str) {
        text(json, "node_id", &it.node_id);
        json.key("number");
        json.int(it.number);
        text(json, "url", &self.api_url(it, path));
        text(json, "html_url", &self.view.thread_url(it));
        json.key("title");
        json.text(&it.title);
        json.key("body");
        json.text(&it.body);
        json.key("user");
        self.user(json, it.author.map(|author| self.view.user(author)));
        text(json, "state", if it.open { "open" } else { "closed" });
        json.key("labels");
        json.open_array();
        for label in &it.labels {
            json.open_object();
            text(json, "name", label);
            json.close_object();
        }
        json.close_array();
        time(json, "created_at", Some(it.created_ms));
        time(json, "updated_at", Some(it.updated_ms));
        time(json, "closed_at", it.closed_ms);
    }

    pub(super) fn comment(self, json: &mut Json, it: &Comment) {
        let Some(thread) = self.view.thread(it.thread) else { return json.null() };
        json.open_object();
        json.key("id");
        json.int(it.id);
        text(json, "node_id", &it.node_id);
        text(json, "html_url", &self.view.comment_url(it, thread));
        json.key("user");
        self.user(json, it.author.map(|author| self.view.user(author)));
        json.key("body");
        json.text(&it.body);
        match it.kind {
            CommentKind::Review => self.of_review(json, it, thread),
            CommentKind::ReviewComment => {
                text(json, "pull_request_url", &self.api_url(thread, "pulls"));
                json.key("pull_request_review_id");
                let review = it.parent.and_then(|parent| self.view.comment(parent));
                json.maybe(review, |json, review| json.int(review.id));
                text(json, "path", "src/main.rs");
                json.key("line");
                json.null();
                times(json, it);
            }
            CommentKind::Conversation | CommentKind::Discussion | CommentKind::Reply => {
                text(json, "issue_url", &self.api_url(thread, "issues"));
                times(json, it);
            }
        }
        json.close_object();
    }

    /// A review has neither a creation nor an update time, only when it was handed in.
    fn of_review(self, json: &mut Json, it: &Comment, thread: &Thread) {
        text(json, "state", it.verdict);
        text(json, "commit_id", &thread.head_oid());
        text(json, "pull_request_url", &self.api_url(thread, "pulls"));
        time(json, "submitted_at", Some(it.created_ms));
    }

    fn api_url(self, it: &Thread, path: &str) -> String {
        let name = self.view.repository(it.repository).map_or("", |home| &home.name);
        let organization = self.view.organization();
        format!("{}/repos/{organization}/{name}/{path}/{}", self.request.base(), it.number)
    }
}

fn text(json: &mut Json, key: &str, value: &str) {
    json.key(key);
    json.string(value);
}

fn time(json: &mut Json, key: &str, ms: Option<i64>) {
    json.key(key);
    json.maybe(ms, Json::time);
}

fn times(json: &mut Json, it: &Comment) {
    time(json, "created_at", Some(it.created_ms));
    time(json, "updated_at", Some(it.updated_ms));
}
