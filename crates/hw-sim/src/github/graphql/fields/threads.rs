//! Fields of issues, pull requests and discussions.

use super::super::execute::{Object, Run};
use super::super::plan::PlanField;
use crate::json::Json;
use crate::world::{CommentKind, Thread, ThreadKind};

impl<'a> Run<'a> {
    pub(super) fn thread_field(&mut self, it: &'a Thread, field: &PlanField) {
        match &*field.name {
            "id" => self.out.string(&it.node_id),
            "databaseId" => self.narrow_id(it.id),
            "fullDatabaseId" => self.out.string(&it.id.to_string()),
            "number" => self.out.int(it.number),
            "title" => self.out.text(&it.title),
            "body" => self.out.text(&it.body),
            "url" => self.out.string(&self.view.thread_url(it)),
            "resourcePath" => {
                let url = self.view.thread_url(it);
                self.out.string(url.trim_start_matches(self.view.web_url()));
            }
            "state" => self.out.string(it.state()),
            "stateReason" => self.out.maybe(it.state_reason, Json::string),
            "closed" => self.out.boolean(!it.open),
            "merged" => self.out.boolean(it.merged_ms.is_some()),
            "isDraft" => self.out.boolean(it.is_draft),
            "locked" => self.out.boolean(false),
            "isAnswered" => self.out.maybe(it.answered(), Json::boolean),
            "createdAt" => self.out.time(it.created_ms),
            "updatedAt" => self.out.time(it.updated_ms),
            "closedAt" => self.out.maybe(it.closed_ms, Json::time),
            "mergedAt" => self.out.maybe(it.merged_ms, Json::time),
            "headRefName" => self.out.string(&it.head_ref()),
            "headRefOid" => self.out.string(&it.head_oid()),
            "baseRefName" => self.out.string("main"),
            "author" => self.author(it.author, field),
            "category" => self.object(Object::Category(it.category), field),
            "repository" => self.home_of(it, field),
            "labels" => self.labels(it, field),
            "comments" => {
                let kind = match it.kind {
                    ThreadKind::Discussion => CommentKind::Discussion,
                    ThreadKind::Issue | ThreadKind::PullRequest => CommentKind::Conversation,
                };
                self.comments(it, kind, field);
            }
            "reviews" => self.comments(it, CommentKind::Review, field),
            "closingIssuesReferences" => self.closing_issues(it, field),
            // lastEditedAt
            _ => self.out.null(),
        }
    }

    pub(super) fn home_of(&mut self, it: &Thread, field: &PlanField) {
        match self.view.home(it) {
            Some(repository) => self.object(Object::Repository(repository), field),
            None => self.out.null(),
        }
    }
}
