//! Reads one thread whole, a page of one of its parts at a time.

use hw_rules::item::{CommentKind, ThreadKind};
use hw_rules::thread_scan::{ThreadPart, ThreadPosition};
use hw_rules::version::ObservedAt;
use serde_json::json;

use super::comment_reader::CommentReader;
use super::continuation::{Continuation, continued_node};
use super::parent::{self, CommentParent};
use super::thread_comments::ThreadComments;
use crate::error::SourceError;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::query::Query;

/// The most review threads in a page. Each of them is a connection, and a hundred connections cost a point.
const MAX_REVIEW_THREADS: u32 = 50;

/// Requests one page of a part of a thread.
#[derive(Debug, Clone, Copy)]
pub struct ThreadPartQuery<'a> {
    pub kind: ThreadKind,
    pub repository_id: i64,
    /// The thread's node id.
    pub node_id: &'a str,
    pub position: &'a ThreadPosition,
}

/// Requests the next page of the comments in one review thread.
#[derive(Debug, Clone, Copy)]
pub struct ReviewThreadQuery<'a> {
    pub repository_id: i64,
    pub continuation: &'a Continuation,
}

/// One page of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadPartPage {
    pub observed_at: ObservedAt,
    /// Its continuations without a comment lead to the next page of the part; the others, into its review threads.
    pub comments: ThreadComments,
}

impl Query for ThreadPartQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = ThreadPartPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        thread_part_query(self.kind, self.node_id, self.position, size)
    }

    fn parse(&self, response: &GraphqlResponse, _size: u32) -> Result<ThreadPartPage, SourceError> {
        let part = self.position.part;
        let reader = CommentReader {
            response,
            kind: part.comment_kind(),
            repository_id: self.repository_id,
        };
        let parent = CommentParent::from_part(self.kind, part);
        let mut comments = ThreadComments::new(self.node_id);
        match part {
            ThreadPart::Conversation | ThreadPart::Reviews => {
                reader.read_parent(&mut comments, parent, continued_node(response), None);
            }
            ThreadPart::ReviewThreads => {
                reader.read_review_threads(&mut comments, parent, continued_node(response));
            }
        }
        comments.extract_duplicates();
        Ok(ThreadPartPage { observed_at: response.observed_at(), comments })
    }
}

impl Query for ReviewThreadQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = ThreadComments;

    fn request(&self, size: u32) -> GraphqlQuery {
        let parent = CommentParent::review_thread();
        let fields = parent.full_fields(CommentKind::ReviewComment, "first: $first, after: $after");
        let after = self.continuation.after.as_ref().map(|after| &after.0);
        let id = self.continuation.parent_node_id();
        page_query("ReviewThread", &fields, id, size, after)
    }

    fn parse(&self, response: &GraphqlResponse, _size: u32) -> Result<ThreadComments, SourceError> {
        let (kind, repository_id) = (CommentKind::ReviewComment, self.repository_id);
        let reader = CommentReader { response, kind, repository_id };
        let mut comments = ThreadComments::new(&self.continuation.thread_node_id);
        let group = self.continuation.comment_node_id.as_deref();
        let parent = CommentParent::review_thread();
        reader.read_parent(&mut comments, parent, continued_node(response), group);
        comments.extract_duplicates();
        Ok(comments)
    }
}

/// Builds the query for one page of a part of a thread, which costs one point.
pub fn thread_part_query(
    kind: ThreadKind,
    node_id: &str,
    position: &ThreadPosition,
    size: u32,
) -> GraphqlQuery {
    let page = "first: $first, after: $after";
    let (fields, size) = match position.part {
        ThreadPart::ReviewThreads => {
            (parent::review_thread_fields(page), size.min(MAX_REVIEW_THREADS))
        }
        part @ (ThreadPart::Conversation | ThreadPart::Reviews) => {
            let parent = CommentParent::from_part(kind, part);
            (parent.full_fields(part.comment_kind(), page), size)
        }
    };
    let after = position.after.as_ref().map(|after| &after.0);
    page_query("ThreadPart", &fields, node_id, size, after)
}

fn page_query(
    name: &str,
    fields: &str,
    id: &str,
    size: u32,
    after: Option<&String>,
) -> GraphqlQuery {
    let document = format!(
        "query {name}($id: ID!, $first: Int!, $after: String) {{
  node(id: $id) {{ {fields} }}
  rateLimit {{ cost }}
}}"
    );
    GraphqlQuery { document, variables: json!({ "id": id, "first": size, "after": after }) }
}
