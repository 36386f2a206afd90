//! Reads all comments of several threads at once.

use std::collections::BTreeSet;

use hw_rules::item::{ItemObservation, MirrorItem, ObjectId};
use hw_rules::lane::PerThreadCommentKind;
use hw_rules::version::ObservedAt;
use hw_rules::walk::PageCursor;
use serde_json::json;

use super::comment_reader::{CommentConnection, CommentReader};
use super::continuation::Continuation;
use super::parent::CommentParent;
use crate::error::SourceError;
use crate::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use crate::github::node::LocatedNode;
use crate::github::{duplicate_ids, node};
use crate::page::UnreadableRow;
use crate::query::{Query, first_ids};
use hw_rules::row_subject::RowSubject;

/// Requests the comments of as many of these threads as one request takes.
#[derive(Debug, Clone, Copy)]
pub struct ThreadCommentsQuery<'a> {
    pub kind: PerThreadCommentKind,
    pub repository_id: i64,
    /// The node ids of the threads, at most [`threads_per_request`].
    pub ids: &'a [String],
}

/// The comments of several threads, in the order in which they were requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadCommentsPage {
    pub observed_at: ObservedAt,
    pub threads: Vec<ThreadComments>,
}

impl Query for ThreadCommentsQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = ThreadCommentsPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        thread_comments_query(self.kind, first_ids(self.ids, size))
    }

    fn parse(
        &self,
        response: &GraphqlResponse,
        size: u32,
    ) -> Result<ThreadCommentsPage, SourceError> {
        let ids = first_ids(self.ids, size);
        let threads = read_thread_comments(response, self.kind, ids, self.repository_id)?;
        Ok(ThreadCommentsPage { observed_at: response.observed_at(), threads })
    }
}

/// The comments of one thread, as far as they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadComments {
    pub thread_node_id: String,
    pub observations: Vec<ItemObservation>,
    pub unreadable: Vec<UnreadableRow>,
    /// The pages that remain to be requested.
    pub continuations: Vec<Continuation>,
    /// An error if the thread has to be read again.
    pub completeness: Result<(), IncompleteReason>,
}

/// The reason why a thread's comments are incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncompleteReason {
    /// The thread itself is gone, or moved to another repository.
    ThreadGone(&'static str),
    /// Some comments could not be read.
    UnreadableRows(String),
}

/// Returns the number of threads that one request may ask for at the cost of one point.
pub fn threads_per_request(kind: PerThreadCommentKind) -> usize {
    CommentParent::from_kind(kind).threads_per_request
}

/// Builds the query for the comments of at most [`threads_per_request`] threads, by node id.
pub fn thread_comments_query(kind: PerThreadCommentKind, ids: &[String]) -> GraphqlQuery {
    let parent = CommentParent::from_kind(kind);
    let fields = parent.full_fields(kind.into(), &format!("first: {}", parent.first_comments));
    let document = format!(
        "query {}Comments($ids: [ID!]!) {{
  nodes(ids: $ids) {{ {fields} }}
  rateLimit {{ cost }}
}}",
        parent.type_name
    );
    GraphqlQuery { document, variables: json!({ "ids": ids }) }
}

/// Reads the comments of these threads, in their order.
pub(super) fn read_thread_comments(
    response: &GraphqlResponse,
    kind: PerThreadCommentKind,
    ids: &[String],
    repository_id: i64,
) -> Result<Vec<ThreadComments>, SourceError> {
    let nodes = node::require_nodes(response, "nodes", ids.len())?;
    let reader = CommentReader { response, kind: kind.into(), repository_id };
    let parent = CommentParent::from_kind(kind);
    let threads = ids.iter().zip(nodes).enumerate().map(|(index, (id, node))| {
        let mut thread = ThreadComments::new(id);
        let path = format!("nodes.{index}");
        reader.read_parent(&mut thread, parent, LocatedNode { path: &path, node }, None);
        thread
    });
    let mut threads: Vec<ThreadComments> = threads.collect();
    // comments of different threads may share an id, too
    let shared = duplicate_ids::shared_ids(threads.iter().flat_map(|thread| &thread.observations));
    threads.iter_mut().for_each(|thread| thread.extract_shared(&shared));
    Ok(threads)
}

impl ThreadComments {
    pub(super) fn new(thread_node_id: &str) -> Self {
        Self {
            thread_node_id: thread_node_id.to_owned(),
            observations: Vec::new(),
            unreadable: Vec::new(),
            continuations: Vec::new(),
            completeness: Ok(()),
        }
    }

    /// Moves comments that share an id to the unreadable ones.
    pub(super) fn extract_duplicates(&mut self) {
        let shared = duplicate_ids::shared_ids(self.observations.iter());
        self.extract_shared(&shared);
    }

    fn extract_shared(&mut self, shared: &BTreeSet<ObjectId>) {
        self.unreadable.extend(duplicate_ids::extract_shared(&mut self.observations, shared));
    }

    /// Records a reason, unless there is one already.
    pub(super) fn mark_incomplete(&mut self, reason: IncompleteReason) {
        self.completeness = std::mem::replace(&mut self.completeness, Ok(())).and(Err(reason));
    }

    /// Adds comments on the thread itself, or the replies to one of them.
    pub(super) fn add_comments(
        &mut self,
        comments: CommentConnection,
        observed_at: ObservedAt,
        reply_to: Option<&str>,
    ) {
        let read = comments.rows.into_iter().filter_map(|row| row.node).map(MirrorItem::Comment);
        self.observations.extend(read.map(|item| ItemObservation { item, observed_at }));
        for row in comments.unreadable {
            match row.subject {
                RowSubject::Node(_) => self.unreadable.push(row),
                RowSubject::Position { .. } => {
                    self.mark_incomplete(IncompleteReason::UnreadableRows(row.reason));
                }
            }
        }
        self.continue_at(comments.next, reply_to);
    }

    /// Records that more comments follow, on the thread itself or on an object in it.
    pub(super) fn continue_at(&mut self, next: Option<PageCursor>, object: Option<&str>) {
        self.continuations.extend(next.map(|after| Continuation {
            thread_node_id: self.thread_node_id.clone(),
            comment_node_id: object.map(str::to_owned),
            after: Some(after),
        }));
    }
}

#[cfg(test)]
#[path = "thread_comments_tests.rs"]
mod tests;
