//! Writes objects as the REST API does.

use super::RestReader;
use crate::json_writer::JsonWriter;
use crate::world::{CommentKind, SimComment, SimRepository, SimThread, SimUser, ThreadKind};

impl RestReader<'_> {
    pub(super) fn write_user(self, json: &mut JsonWriter, user: Option<&SimUser>) {
        let Some(user) = user else { return json.write_null() };
        json.open_object();
        write_text_field(json, "login", &user.login);
        json.write_key("id");
        json.write_int(user.id);
        write_text_field(json, "node_id", &user.node_id);
        write_text_field(json, "html_url", &format!("{}/{}", self.view.web_url(), user.login));
        write_text_field(json, "type", user.rest_type());
        json.close_object();
    }

    pub(super) fn write_repository(self, json: &mut JsonWriter, repository: &SimRepository) {
        let owner = self.view.owner_of(repository);
        json.open_object();
        json.write_key("id");
        json.write_int(repository.id);
        write_text_field(json, "node_id", &repository.node_id);
        write_text_field(json, "name", &repository.name);
        write_text_field(json, "full_name", &format!("{}/{}", owner.login, repository.name));
        json.write_key("owner");
        json.open_object();
        write_text_field(json, "login", &owner.login);
        json.write_key("id");
        json.write_int(owner.id);
        write_text_field(json, "type", owner.kind.type_name());
        json.close_object();
        write_text_field(json, "html_url", &self.view.repository_url(repository));
        json.write_key("description");
        json.write_text(&repository.description);
        for (key, flag) in [
            ("private", false),
            ("fork", repository.is_fork),
            ("archived", repository.is_archived),
            ("has_issues", repository.has_issues),
            ("has_discussions", repository.has_discussions),
        ] {
            json.write_key(key);
            json.write_bool(flag);
        }
        json.write_key("open_issues_count");
        let open = [ThreadKind::Issue, ThreadKind::PullRequest].map(|kind| {
            self.view.listed_threads(repository, kind).filter(|thread| thread.is_open).count()
        });
        json.write_int(i64::try_from(open.iter().sum::<usize>()).unwrap_or(0));
        json.write_key("stargazers_count");
        json.write_int(repository.stars);
        write_time_field(json, "created_at", Some(repository.created_ms));
        write_time_field(json, "updated_at", Some(repository.updated_ms));
        write_time_field(json, "pushed_at", Some(repository.pushed_ms));
        json.close_object();
    }

    /// Writes an issue, or the issue behind a pull request with that issue's own id.
    pub(super) fn write_issue(self, json: &mut JsonWriter, thread: &SimThread) {
        json.open_object();
        json.write_key("id");
        json.write_int(thread.issue_id);
        self.write_shared_fields(json, thread, "issues");
        json.write_key("state_reason");
        json.write_optional(thread.state_reason, |json, reason| {
            json.write_string(&reason.to_lowercase());
        });
        json.write_key("comments");
        let comments = self.view.listed_comments(thread.index, CommentKind::Conversation);
        json.write_int(i64::try_from(comments.count()).unwrap_or(0));
        if thread.kind == ThreadKind::PullRequest {
            json.write_key("draft");
            json.write_bool(thread.is_draft);
            json.write_key("pull_request");
            json.open_object();
            write_text_field(json, "url", &self.api_url(thread, "pulls"));
            write_text_field(json, "html_url", &self.view.thread_url(thread));
            write_time_field(json, "merged_at", thread.merged_ms);
            json.close_object();
        }
        json.close_object();
    }

    /// Writes a pull request, which embeds its repository, whose counters change with any activity.
    pub(super) fn write_pull_request(self, json: &mut JsonWriter, thread: &SimThread) {
        json.open_object();
        json.write_key("id");
        json.write_int(thread.id);
        self.write_shared_fields(json, thread, "pulls");
        json.write_key("draft");
        json.write_bool(thread.is_draft);
        write_time_field(json, "merged_at", thread.merged_ms);
        for (key, name, oid) in
            [("head", thread.head_ref(), thread.head_oid()), ("base", "main".into(), String::new())]
        {
            json.write_key(key);
            json.open_object();
            write_text_field(json, "ref", &name);
            write_text_field(json, "sha", &oid);
            json.write_key("repo");
            let repository = self.view.repository(thread.repository);
            json.write_optional(repository, |json, repository| {
                self.write_repository(json, repository);
            });
            json.close_object();
        }
        json.close_object();
    }

    /// Writes the fields that issues and pull requests share.
    fn write_shared_fields(self, json: &mut JsonWriter, thread: &SimThread, path: &str) {
        write_text_field(json, "node_id", &thread.node_id);
        json.write_key("number");
        json.write_int(thread.number);
        write_text_field(json, "url", &self.api_url(thread, path));
        write_text_field(json, "html_url", &self.view.thread_url(thread));
        json.write_key("title");
        json.write_text(&thread.title);
        json.write_key("body");
        json.write_text(&thread.body);
        json.write_key("user");
        self.write_user(json, thread.author.map(|author| self.view.user(author)));
        write_text_field(json, "author_association", self.view.thread_association(thread));
        write_text_field(json, "state", if thread.is_open { "open" } else { "closed" });
        json.write_key("labels");
        json.open_array();
        for label in &thread.labels {
            json.open_object();
            write_text_field(json, "name", label);
            json.close_object();
        }
        json.close_array();
        write_time_field(json, "created_at", Some(thread.created_ms));
        write_time_field(json, "updated_at", Some(thread.updated_ms));
        write_time_field(json, "closed_at", thread.closed_ms);
    }

    pub(super) fn write_comment(self, json: &mut JsonWriter, comment: &SimComment) {
        let Some(thread) = self.view.thread(comment.thread) else { return json.write_null() };
        json.open_object();
        json.write_key("id");
        json.write_int(comment.id);
        write_text_field(json, "node_id", &comment.node_id);
        write_text_field(json, "html_url", &self.view.comment_url(comment, thread));
        json.write_key("user");
        self.write_user(json, comment.author.map(|author| self.view.user(author)));
        write_text_field(json, "author_association", self.view.comment_association(comment));
        json.write_key("body");
        json.write_text(&comment.body);
        match comment.kind {
            CommentKind::Review => self.write_review_fields(json, comment, thread),
            CommentKind::ReviewComment => {
                write_text_field(json, "pull_request_url", &self.api_url(thread, "pulls"));
                json.write_key("pull_request_review_id");
                let review = comment.parent.and_then(|parent| self.view.comment(parent));
                json.write_optional(review, |json, review| json.write_int(review.id));
                if let Some(root) = comment.reply_to.and_then(|root| self.view.comment(root)) {
                    json.write_key("in_reply_to_id");
                    json.write_int(root.id);
                }
                write_text_field(json, "path", "src/main.rs");
                json.write_key("line");
                json.write_null();
                write_comment_times(json, comment);
            }
            CommentKind::Conversation | CommentKind::Discussion | CommentKind::Reply => {
                write_text_field(json, "issue_url", &self.api_url(thread, "issues"));
                write_comment_times(json, comment);
            }
        }
        json.close_object();
    }

    /// Writes the fields of a review, which has no creation or update time, only the time of its submission.
    fn write_review_fields(self, json: &mut JsonWriter, comment: &SimComment, thread: &SimThread) {
        write_text_field(json, "state", comment.review_state);
        write_text_field(json, "commit_id", &thread.head_oid());
        write_text_field(json, "pull_request_url", &self.api_url(thread, "pulls"));
        write_time_field(json, "submitted_at", Some(comment.created_ms));
    }

    fn api_url(self, thread: &SimThread, path: &str) -> String {
        let repository = self.view.repository(thread.repository);
        let full_name = repository
            .map(|repository| {
                format!("{}/{}", self.view.owner_of(repository).login, repository.name)
            })
            .unwrap_or_default();
        format!("{}/repos/{full_name}/{path}/{}", self.request.base_url(), thread.number)
    }
}

fn write_text_field(json: &mut JsonWriter, key: &str, value: &str) {
    json.write_key(key);
    json.write_string(value);
}

fn write_time_field(json: &mut JsonWriter, key: &str, ms: Option<i64>) {
    json.write_key(key);
    json.write_optional(ms, JsonWriter::write_time);
}

fn write_comment_times(json: &mut JsonWriter, comment: &SimComment) {
    write_time_field(json, "created_at", Some(comment.created_ms));
    write_time_field(json, "updated_at", Some(comment.updated_ms));
}
