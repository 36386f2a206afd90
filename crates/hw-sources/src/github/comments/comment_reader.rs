//! Reads the comments of threads from a response, row by row.

use hw_rules::item::{Comment, CommentKind};

use super::continuation::Continuation;
use super::graphql_comment as comment;
use super::parent::{COMMENTS, CommentParent, REPLIES};
use super::thread_comments::{IncompleteReason, ThreadComments};
use crate::github::graphql::GraphqlResponse;
use crate::github::node::{self, LocatedNode, NullReason, ParsedConnection};
use crate::raw_json::RawNode;
use hw_rules::row_subject::RowSubject;

/// Rows of comments; `None` for a row that is left out.
pub(super) type CommentConnection = ParsedConnection<Option<Comment>>;

/// A response, and the request it belongs to.
pub(super) struct CommentReader<'a> {
    pub response: &'a GraphqlResponse,
    pub kind: CommentKind,
    pub repository_id: i64,
}

impl CommentReader<'_> {
    /// Adds the comments of this parent to `thread`; `reply_to` is the comment whose replies they are, if any.
    pub(super) fn read_parent(
        &self,
        thread: &mut ThreadComments,
        parent: &CommentParent,
        located: LocatedNode<'_>,
        reply_to: Option<&str>,
    ) {
        if let Err(reason) = self.check_parent(parent, located) {
            return thread.mark_incomplete(reason);
        }
        let path = format!("{}.{}", located.path, parent.connection);
        let node = located.node.get(parent.connection).unwrap_or(RawNode::NULL);
        let connection = LocatedNode { path: &path, node };
        self.read_rows(thread, connection, reply_to);
        if parent.has_replies {
            self.read_replies(thread, connection);
        }
    }

    /// Adds rows that were requested by their ids alone: all of them remain to be read, and so do their replies.
    pub(super) fn read_parent_ids(
        &self,
        thread: &mut ThreadComments,
        parent: &CommentParent,
        located: LocatedNode<'_>,
        continuation: &Continuation,
    ) {
        if let Err(reason) = self.check_parent(parent, located) {
            return thread.mark_incomplete(reason);
        }
        let path = format!("{}.{}", located.path, parent.connection);
        let node = located.node.get(parent.connection).unwrap_or(RawNode::NULL);
        let connection = LocatedNode { path: &path, node };
        self.read_rows(thread, connection, continuation.comment_node_id.as_deref());
        if parent.has_replies {
            let unread = thread.unreadable.iter().filter_map(|row| row.subject.node_id());
            thread.continuations.extend(
                unread.map(|id| Continuation::from_comment(&continuation.thread_node_id, id)),
            );
        }
    }

    /// Adds the comments on lines of a pull request, which come grouped by the lines that they are about.
    pub(super) fn read_review_threads(
        &self,
        thread: &mut ThreadComments,
        parent: &CommentParent,
        located: LocatedNode<'_>,
    ) {
        if let Err(reason) = self.check_parent(parent, located) {
            return thread.mark_incomplete(reason);
        }
        let path = format!("{}.{}", located.path, parent.connection);
        let node = located.node.get(parent.connection).unwrap_or(RawNode::NULL);
        let connection = LocatedNode { path: &path, node };
        let groups = node::read_connection(self.response, connection, None, |row_path, node| {
            self.check_no_error(row_path, &format!("{row_path}.node.{COMMENTS}"))?;
            let id = node.get("id").and_then(RawNode::as_text);
            id.ok_or_else(|| "a review thread without an id".to_owned())
        });
        let Some(groups) = groups else {
            let reason = format!("{path} is missing");
            return thread.mark_incomplete(IncompleteReason::UnreadableRows(reason));
        };
        if let Some(row) = groups.unreadable.first() {
            thread.mark_incomplete(IncompleteReason::UnreadableRows(row.reason.clone()));
        }
        for (index, edge) in node::raw_edges(node).into_iter().enumerate() {
            let Some(group) = edge.node else { continue };
            let Some(id) = group.get("id").and_then(RawNode::as_text) else { continue };
            let path = format!("{path}.edges.{index}.node.{COMMENTS}");
            let node = group.get(COMMENTS).unwrap_or(RawNode::NULL);
            self.read_rows(thread, LocatedNode { path: &path, node }, Some(&id));
        }
        thread.continue_at(groups.next, None);
    }

    /// Fails unless the parent exists, with the expected type and in this repository.
    fn check_parent(
        &self,
        parent: &CommentParent,
        LocatedNode { path, node }: LocatedNode<'_>,
    ) -> Result<(), IncompleteReason> {
        if node.is_null() {
            return Err(match node::null_reason(self.response, path) {
                NullReason::NotFound => IncompleteReason::ThreadGone("no longer exists"),
                NullReason::Forbidden(reason) | NullReason::Fault(reason) => {
                    IncompleteReason::UnreadableRows(reason)
                }
            });
        }
        self.check_no_error(path, &format!("{path}.{}", parent.connection))
            .map_err(IncompleteReason::UnreadableRows)?;
        if node::type_name(node).as_deref() != Some(parent.type_name) {
            return Err(IncompleteReason::ThreadGone("the id belongs to another kind of item"));
        }
        if parent.repository_field.read_repository_id(node) != Some(self.repository_id) {
            return Err(IncompleteReason::ThreadGone("it belongs to another repository"));
        }
        Ok(())
    }

    /// Adds the rows of one connection.
    fn read_rows(
        &self,
        thread: &mut ThreadComments,
        connection: LocatedNode<'_>,
        reply_to: Option<&str>,
    ) {
        let path = connection.path;
        // an error inside a row is reported with the row
        if let Err(reason) = self.check_no_error(path, &format!("{path}.edges")) {
            return thread.mark_incomplete(IncompleteReason::UnreadableRows(reason));
        }
        let comments = node::read_connection(self.response, connection, None, |row_path, node| {
            self.read_comment(row_path, node)
        });
        match comments {
            Some(comments) => {
                thread.add_comments(comments, self.response.observed_at(), reply_to);
            }
            None => thread
                .mark_incomplete(IncompleteReason::UnreadableRows(format!("{path} is missing"))),
        }
    }

    /// Adds the replies to each comment of a connection.
    fn read_replies(&self, thread: &mut ThreadComments, connection: LocatedNode<'_>) {
        for (index, edge) in node::raw_edges(connection.node).into_iter().enumerate() {
            let Some(comment) = edge.node else { continue };
            if let Some(RowSubject::Node(id)) = node::node_subject(comment) {
                let path = format!("{}.edges.{index}.node.{REPLIES}", connection.path);
                let node = comment.get(REPLIES).unwrap_or(RawNode::NULL);
                self.read_rows(thread, LocatedNode { path: &path, node }, Some(&id));
            }
        }
    }

    /// Reads one row; returns `None` for a review that is not submitted yet.
    fn read_comment(&self, path: &str, node: RawNode<'_>) -> Result<Option<Comment>, String> {
        if comment::is_pending_review(node) {
            return Ok(None);
        }
        self.check_no_error(path, &format!("{path}.node.{REPLIES}"))?;
        let comment = comment::read_comment(self.kind, node)?;
        if comment.repository_id != self.repository_id {
            return Err("it belongs to another repository".into());
        }
        Ok(Some(comment))
    }

    /// Fails if there is an error at or below `path`, except below `excluded`, which is read separately.
    fn check_no_error(&self, path: &str, excluded: &str) -> Result<(), String> {
        let mut errors = self.response.errors.iter();
        let error =
            errors.find(|error| error.is_at_or_below(path) && !error.is_at_or_below(excluded));
        error.map_or(Ok(()), |error| Err(error.message.clone()))
    }
}
