//! What is said in some threads, each thread whole.

use hw_rules::item::{Item, Observation};
use hw_rules::lane::Surface;
use hw_rules::version::Seen;
use serde_json::json;

use super::more::More;
use super::reader::{Comments, Reader};
use super::root::Root;
use crate::github::graphql::{Answer, Query};
use crate::github::{node, twins};
use crate::page::{Subject, Unreadable};
use crate::trouble::Trouble;

/// What came of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Talk {
    /// The thread's.
    pub node_id: String,
    pub observations: Vec<Observation>,
    pub unreadable: Vec<Unreadable>,
    /// What is still to be asked for.
    pub more: Vec<More>,
    /// Why the thread is to be read again, if it is.
    pub whole: Result<(), Lack>,
}

/// What a talk lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// The thread itself: it is gone, or somewhere else.
    Thread(&'static str),
    /// Something that could not be read.
    Rows(String),
}

/// Of how many threads a request may ask, for one point.
pub fn talks_at_once(surface: Surface) -> usize {
    Root::of_threads(surface).at_once
}

/// What is said in some threads by their node ids, at most [`talks_at_once`].
pub fn talks_query(surface: Surface, ids: &[String]) -> Query {
    let root = Root::of_threads(surface);
    let fields = root.fields(surface, &format!("first: {}", root.first));
    let document = format!(
        "query {}Talks($ids: [ID!]!) {{
  nodes(ids: $ids) {{ {fields} }}
  rateLimit {{ cost }}
}}",
        root.type_name
    );
    Query { document, variables: json!({ "ids": ids }) }
}

/// Reads the talks of these threads, in their order.
pub fn read_talks(
    answer: &Answer,
    surface: Surface,
    ids: &[String],
    repository_id: i64,
    request: i64,
) -> Result<Vec<Talk>, Trouble> {
    let nodes = node::as_many(answer, "nodes", ids.len())?;
    let reader = Reader { answer, surface, repository_id, request };
    let root = Root::of_threads(surface);
    let talks = ids.iter().zip(nodes).enumerate().map(|(index, (id, node))| {
        let mut talk = Talk::of(id);
        reader.take_in(&mut talk, root, &format!("nodes.{index}"), node, None);
        talk.take_out_twins();
        talk
    });
    Ok(talks.collect())
}

impl Talk {
    pub(super) fn of(thread: &str) -> Self {
        Self {
            node_id: thread.to_owned(),
            observations: Vec::new(),
            unreadable: Vec::new(),
            more: Vec::new(),
            whole: Ok(()),
        }
    }

    /// Comments that share an id wait to be read again.
    pub(super) fn take_out_twins(&mut self) {
        self.unreadable.extend(twins::take_out(&mut self.observations));
    }

    /// The first reason is kept.
    pub(super) fn fail(&mut self, lack: Lack) {
        self.whole = std::mem::replace(&mut self.whole, Ok(())).and(Err(lack));
    }

    /// Keeps the comments of the thread itself, or the replies to one of them.
    pub(super) fn keep(&mut self, comments: Comments, seen: Seen, to: Option<&str>) {
        let told = comments.rows.into_iter().filter_map(|row| row.node);
        self.observations.extend(told.map(|it| Observation { item: Item::Comment(it), seen }));
        for row in comments.unreadable {
            match row.subject {
                Subject::Node(_) => self.unreadable.push(row),
                Subject::Place { .. } => self.fail(Lack::Rows(row.reason)),
            }
        }
        let thread = self.node_id.clone();
        let comment = to.map(str::to_owned);
        self.more.extend(comments.next.map(|after| More { thread, comment, after: Some(after) }));
    }
}

#[cfg(test)]
#[path = "talks_tests.rs"]
mod tests;
