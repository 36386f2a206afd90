//! Fields of comments, replies and reviews.

use super::super::execute::{Object, Run};
use super::super::plan::PlanField;
use crate::world::{Comment, CommentKind, ThreadKind};

impl<'a> Run<'a> {
    pub(super) fn comment_field(&mut self, it: &'a Comment, field: &PlanField) {
        match &*field.name {
            "id" => self.out.string(&it.node_id),
            "databaseId" => self.narrow_id(it.id),
            "fullDatabaseId" => self.out.string(&it.id.to_string()),
            "body" => self.out.text(&it.body),
            "url" => {
                let thread = self.view.thread(it.thread);
                let url = thread.map(|thread| self.view.comment_url(it, thread));
                self.out.string(&url.unwrap_or_default());
            }
            "createdAt" | "submittedAt" => self.out.time(it.created_ms),
            "updatedAt" => self.out.time(it.updated_ms),
            "state" => self.out.string(it.verdict),
            "path" => self.out.string("src/main.rs"),
            "isAnswer" => self.out.boolean(false),
            "author" => self.author(it.author, field),
            "issue" => self.thread_of(it, &ThreadKind::ALL, field),
            "pullRequest" => self.thread_of(it, &[ThreadKind::PullRequest], field),
            "discussion" => self.thread_of(it, &[ThreadKind::Discussion], field),
            "repository" => match self.view.thread(it.thread) {
                Some(thread) => self.home_of(thread, field),
                None => self.out.null(),
            },
            // nobody replies to a comment on a line, whose parent is its review
            "replyTo" if it.kind == CommentKind::ReviewComment => self.out.null(),
            "replyTo" | "pullRequestReview" => self.parent_of(it, field),
            "replies" | "comments" => self.children(it, field),
            // lastEditedAt, line
            _ => self.out.null(),
        }
    }

    fn thread_of(&mut self, it: &Comment, kinds: &[ThreadKind], field: &PlanField) {
        let thread = self.view.thread(it.thread).filter(|thread| kinds.contains(&thread.kind));
        match thread {
            Some(thread) => self.object(Object::Thread(thread), field),
            None => self.out.null(),
        }
    }

    fn parent_of(&mut self, it: &Comment, field: &PlanField) {
        match it.parent.and_then(|parent| self.view.comment(parent)) {
            Some(parent) => self.object(Object::Comment(parent), field),
            None => self.out.null(),
        }
    }
}
