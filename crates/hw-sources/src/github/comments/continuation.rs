//! Requests the comments of a thread that did not fit into the first response.

use hw_rules::lane::PerThreadCommentKind;
use hw_rules::walk::PageCursor;
use serde_json::json;

use super::comment_reader::CommentReader;
use super::parent::CommentParent;
use super::thread_comments::ThreadComments;
use crate::error::SourceError;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::github::node::LocatedNode;
use crate::query::Query;
use crate::raw_json::RawNode;

/// The rest of a thread's comments, or of the replies to one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continuation {
    /// The thread's node id.
    pub thread_node_id: String,
    /// The node id of the comment whose replies these are, or of the review thread whose comments.
    pub comment_node_id: Option<String>,
    /// `None` at the beginning.
    pub after: Option<PageCursor>,
}

impl Continuation {
    /// Continues at the first comment of a thread, for one that is too large to be read together with others.
    pub fn from_thread(node_id: &str) -> Self {
        Self { thread_node_id: node_id.to_owned(), comment_node_id: None, after: None }
    }

    /// Continues at the first reply to a comment.
    pub(super) fn from_comment(thread: &str, comment: &str) -> Self {
        let comment_node_id = Some(comment.to_owned());
        Self { thread_node_id: thread.to_owned(), comment_node_id, after: None }
    }

    fn comment_parent(&self, kind: PerThreadCommentKind) -> &'static CommentParent {
        match self.comment_node_id {
            Some(_) => CommentParent::reply_parent(),
            None => CommentParent::from_kind(kind),
        }
    }

    /// Returns the node id of the object whose comments follow.
    pub(super) fn parent_node_id(&self) -> &str {
        self.comment_node_id.as_ref().unwrap_or(&self.thread_node_id)
    }
}

/// Requests the next page of a thread's comments.
#[derive(Debug, Clone, Copy)]
pub struct ContinuationQuery<'a> {
    pub kind: PerThreadCommentKind,
    pub repository_id: i64,
    pub continuation: &'a Continuation,
}

/// Requests the id of the next comment, for one that is too large even by itself.
#[derive(Debug, Clone, Copy)]
pub struct ContinuationIdQuery<'a> {
    pub kind: PerThreadCommentKind,
    pub repository_id: i64,
    pub continuation: &'a Continuation,
}

impl Query for ContinuationQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = ThreadComments;

    fn request(&self, size: u32) -> GraphqlQuery {
        continuation_query(self.kind, self.continuation, size)
    }

    fn parse(&self, response: &GraphqlResponse, _size: u32) -> Result<ThreadComments, SourceError> {
        Ok(read_continuation(response, self.kind, self.continuation, self.repository_id))
    }
}

impl Query for ContinuationIdQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = ThreadComments;

    fn request(&self, _size: u32) -> GraphqlQuery {
        id_only_query(self.kind, self.continuation)
    }

    fn parse(&self, response: &GraphqlResponse, _size: u32) -> Result<ThreadComments, SourceError> {
        Ok(read_id_only(response, self.kind, self.continuation, self.repository_id))
    }
}

/// Builds the query for the next page.
pub fn continuation_query(
    kind: PerThreadCommentKind,
    continuation: &Continuation,
    size: u32,
) -> GraphqlQuery {
    let parent = continuation.comment_parent(kind);
    let fields = parent.full_fields(kind.into(), "first: $first, after: $after");
    let document = format!(
        "query {}Continuation($id: ID!, $first: Int!, $after: String) {{
  node(id: $id) {{ {fields} }}
  rateLimit {{ cost }}
}}",
        parent.type_name
    );
    let after = continuation.after.as_ref().map(|after| &after.0);
    let variables = json!({ "id": continuation.parent_node_id(), "first": size, "after": after });
    GraphqlQuery { document, variables }
}

/// Builds the query for the id of the next comment, for one that is too large even by itself.
fn id_only_query(kind: PerThreadCommentKind, continuation: &Continuation) -> GraphqlQuery {
    let parent = continuation.comment_parent(kind);
    let fields = parent.id_fields("first: 1, after: $after");
    let document = format!(
        "query {}IdOnly($id: ID!, $after: String) {{
  node(id: $id) {{ {fields} }}
  rateLimit {{ cost }}
}}",
        parent.type_name
    );
    let after = continuation.after.as_ref().map(|after| &after.0);
    GraphqlQuery {
        document,
        variables: json!({ "id": continuation.parent_node_id(), "after": after }),
    }
}

/// Reads the response to [`id_only_query`]: the comment remains to be read, and so does everything after it.
fn read_id_only(
    response: &GraphqlResponse,
    kind: PerThreadCommentKind,
    continuation: &Continuation,
    repository_id: i64,
) -> ThreadComments {
    let reader = CommentReader { response, kind: kind.into(), repository_id };
    let mut thread = ThreadComments::new(&continuation.thread_node_id);
    let parent = continuation.comment_parent(kind);
    reader.read_parent_ids(&mut thread, parent, continued_node(response), continuation);
    thread
}

/// Reads the response to [`continuation_query`]: one more page of comments, with everything that remains after it.
pub(super) fn read_continuation(
    response: &GraphqlResponse,
    kind: PerThreadCommentKind,
    continuation: &Continuation,
    repository_id: i64,
) -> ThreadComments {
    let reader = CommentReader { response, kind: kind.into(), repository_id };
    let mut thread = ThreadComments::new(&continuation.thread_node_id);
    let parent = continuation.comment_parent(kind);
    let reply_to = continuation.comment_node_id.as_deref();
    reader.read_parent(&mut thread, parent, continued_node(response), reply_to);
    thread.extract_duplicates();
    thread
}

pub(super) fn continued_node(response: &GraphqlResponse) -> LocatedNode<'_> {
    LocatedNode { path: "node", node: response.data.root().get("node").unwrap_or(RawNode::NULL) }
}
