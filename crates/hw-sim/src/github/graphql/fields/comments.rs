//! Fields of comments, replies and reviews.

use super::super::execution::{GraphqlObject, QueryExecution};
use super::super::plan::PlanField;
use crate::world::{CommentKind, SimComment, ThreadKind};

impl<'a> QueryExecution<'a> {
    pub(super) fn write_comment_field(&mut self, comment: &'a SimComment, field: &PlanField) {
        match &*field.name {
            "id" => self.out.write_string(&comment.node_id),
            "databaseId" => self.write_narrow_id(comment.id),
            "fullDatabaseId" => self.out.write_string(&comment.id.to_string()),
            "body" => self.out.write_text(&comment.body),
            "url" => {
                let thread = self.view.thread(comment.thread);
                let url = thread.map(|thread| self.view.comment_url(comment, thread));
                self.out.write_string(&url.unwrap_or_default());
            }
            "createdAt" | "submittedAt" => self.out.write_time(comment.created_ms),
            "updatedAt" => self.out.write_time(comment.updated_ms),
            "state" => self.out.write_string(comment.review_state),
            "path" => self.out.write_string("src/main.rs"),
            "isAnswer" => self.out.write_bool(false),
            "author" => self.write_author(comment.author, field),
            "authorAssociation" => self.out.write_string(self.view.comment_association(comment)),
            "issue" => self.write_comment_thread(comment, &ThreadKind::ALL, field),
            "pullRequest" => self.write_comment_thread(comment, &[ThreadKind::PullRequest], field),
            "discussion" => self.write_comment_thread(comment, &[ThreadKind::Discussion], field),
            "repository" => match self.view.thread(comment.thread) {
                Some(thread) => self.write_home_repository(thread, field),
                None => self.out.write_null(),
            },
            // the parent of a comment on a line is its review
            "replyTo" if comment.kind == CommentKind::ReviewComment => {
                self.write_optional_comment(comment.reply_to, field);
            }
            "replyTo" | "pullRequestReview" => self.write_optional_comment(comment.parent, field),
            "replies" | "comments" => self.write_children(comment, field),
            // lastEditedAt, line
            _ => self.out.write_null(),
        }
    }

    fn write_comment_thread(
        &mut self,
        comment: &SimComment,
        kinds: &[ThreadKind],
        field: &PlanField,
    ) {
        let thread = self.view.thread(comment.thread).filter(|thread| kinds.contains(&thread.kind));
        match thread {
            Some(thread) => self.write_object(GraphqlObject::Thread(thread), field),
            None => self.out.write_null(),
        }
    }

    fn write_optional_comment(&mut self, index: Option<usize>, field: &PlanField) {
        match index.and_then(|index| self.view.comment(index)) {
            Some(comment) => self.write_object(GraphqlObject::Comment(comment), field),
            None => self.out.write_null(),
        }
    }

    /// Writes a field of the comments on one line, of which `first` is the first that still exists.
    pub(super) fn write_review_thread_field(&mut self, first: &'a SimComment, field: &PlanField) {
        match &*field.name {
            "id" => self.out.write_string(&self.view.review_thread_node_id(first)),
            "path" => self.out.write_string("src/main.rs"),
            "comments" => self.write_review_thread_comments(first, field),
            "pullRequest" => self.write_comment_thread(first, &[ThreadKind::PullRequest], field),
            "repository" => match self.view.thread(first.thread) {
                Some(thread) => self.write_home_repository(thread, field),
                None => self.out.write_null(),
            },
            "line" => self.out.write_null(),
            // isResolved, isOutdated, isCollapsed
            _ => self.out.write_bool(false),
        }
    }
}
