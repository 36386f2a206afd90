//! Fields of issues, pull requests and discussions.

use super::super::execution::{GraphqlObject, QueryExecution};
use super::super::plan::PlanField;
use crate::json_writer::JsonWriter;
use crate::world::{CommentKind, SimThread, ThreadKind};

impl<'a> QueryExecution<'a> {
    pub(super) fn write_thread_field(&mut self, thread: &'a SimThread, field: &PlanField) {
        match &*field.name {
            "id" => self.out.write_string(&thread.node_id),
            "databaseId" => self.write_narrow_id(thread.id),
            "fullDatabaseId" => self.out.write_string(&thread.id.to_string()),
            "number" => self.out.write_int(thread.number),
            "title" => self.out.write_text(&thread.title),
            "body" => self.out.write_text(&thread.body),
            "url" => self.out.write_string(&self.view.thread_url(thread)),
            "resourcePath" => {
                let url = self.view.thread_url(thread);
                self.out.write_string(url.trim_start_matches(self.view.web_url()));
            }
            "state" => self.out.write_string(thread.state()),
            "stateReason" => self.out.write_optional(thread.state_reason, JsonWriter::write_string),
            "closed" => self.out.write_bool(!thread.is_open),
            "merged" => self.out.write_bool(thread.merged_ms.is_some()),
            "isDraft" => self.out.write_bool(thread.is_draft),
            "locked" => self.out.write_bool(false),
            "isAnswered" => self.out.write_optional(thread.answer_status(), JsonWriter::write_bool),
            "createdAt" => self.out.write_time(thread.created_ms),
            "updatedAt" => self.out.write_time(thread.updated_ms),
            "closedAt" => self.out.write_optional(thread.closed_ms, JsonWriter::write_time),
            "mergedAt" => self.out.write_optional(thread.merged_ms, JsonWriter::write_time),
            "headRefName" => self.out.write_string(&thread.head_ref()),
            "headRefOid" => self.out.write_string(&thread.head_oid()),
            "baseRefName" => self.out.write_string("main"),
            "author" => self.write_author(thread.author, field),
            "authorAssociation" => self.out.write_string(self.view.thread_association(thread)),
            "category" => self.write_object(GraphqlObject::Category(thread.category), field),
            "repository" => self.write_home_repository(thread, field),
            "labels" => self.write_labels(thread, field),
            "comments" => {
                let kind = match thread.kind {
                    ThreadKind::Discussion => CommentKind::Discussion,
                    ThreadKind::Issue | ThreadKind::PullRequest => CommentKind::Conversation,
                };
                self.write_comments(thread, kind, field);
            }
            "reviews" => self.write_comments(thread, CommentKind::Review, field),
            "reviewThreads" => self.write_review_threads(thread, field),
            "closedByPullRequestsReferences" => self.write_closing_pull_requests(thread, field),
            "closingIssuesReferences" => self.write_closing_issues(thread, field),
            // lastEditedAt
            _ => self.out.write_null(),
        }
    }

    pub(super) fn write_home_repository(&mut self, thread: &SimThread, field: &PlanField) {
        match self.view.home_repository(thread) {
            Some(repository) => self.write_object(GraphqlObject::Repository(repository), field),
            None => self.out.write_null(),
        }
    }
}
