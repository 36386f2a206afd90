//! What did not fit into a talk.

use hw_rules::lane::Surface;
use hw_rules::walk::Cursor;
use serde_json::json;

use super::reader::Reader;
use super::root::Root;
use super::talks::Talk;
use crate::github::graphql::{Answer, Query};
use crate::raw_json::RawNode;
use crate::trouble::Trouble;

/// The rest of a thread's comments, or of the replies to one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct More {
    /// The thread's node id.
    pub thread: String,
    /// The node id of the comment whose replies these are.
    pub comment: Option<String>,
    /// None at the beginning.
    pub after: Option<Cursor>,
}

impl More {
    /// All that is said in a thread, for one that is too much at once.
    pub fn of_thread(node_id: &str) -> Self {
        Self { thread: node_id.to_owned(), comment: None, after: None }
    }

    /// All replies to a comment of a thread.
    pub(super) fn of_comment(thread: &str, comment: &str) -> Self {
        let comment = Some(comment.to_owned());
        Self { thread: thread.to_owned(), comment, after: None }
    }

    fn root(&self, surface: Surface) -> &'static Root {
        match self.comment {
            Some(_) => Root::of_replies(),
            None => Root::of_threads(surface),
        }
    }
}

/// The next page of what remains.
pub fn more_query(surface: Surface, more: &More, size: u32) -> Query {
    let root = more.root(surface);
    let fields = root.fields(surface, "first: $first, after: $after");
    let document = format!(
        "query {}More($id: ID!, $first: Int!, $after: String) {{
  node(id: $id) {{ {fields} }}
  rateLimit {{ cost }}
}}",
        root.type_name
    );
    let id = more.comment.as_ref().unwrap_or(&more.thread);
    let after = more.after.as_ref().map(|after| &after.0);
    Query { document, variables: json!({ "id": id, "first": size, "after": after }) }
}

/// The next comment by its id alone, for one that is too much even by itself.
pub fn light_query(surface: Surface, more: &More) -> Query {
    let root = more.root(surface);
    let fields = root.id_fields("first: 1, after: $after");
    let document = format!(
        "query {}Light($id: ID!, $after: String) {{
  node(id: $id) {{ {fields} }}
  rateLimit {{ cost }}
}}",
        root.type_name
    );
    let id = more.comment.as_ref().unwrap_or(&more.thread);
    let after = more.after.as_ref().map(|after| &after.0);
    Query { document, variables: json!({ "id": id, "after": after }) }
}

/// Reads that comment, which waits to be read, with what remains after it.
pub fn read_light(
    answer: &Answer,
    surface: Surface,
    more: &More,
    repository_id: i64,
    request: i64,
) -> Talk {
    let node = answer.data.root().get("node").unwrap_or(RawNode::NULL);
    let reader = Reader { answer, surface, repository_id, request };
    let mut talk = Talk::of(&more.thread);
    reader.take_in_light(&mut talk, more.root(surface), node, more);
    talk
}

/// Reads that page: one more part of the thread's talk, with what remains after it.
pub fn read_more(
    answer: &Answer,
    surface: Surface,
    more: &More,
    repository_id: i64,
    request: i64,
) -> Result<Talk, Trouble> {
    let node = answer.data.root().get("node").unwrap_or(RawNode::NULL);
    let reader = Reader { answer, surface, repository_id, request };
    let mut talk = Talk::of(&more.thread);
    reader.take_in(&mut talk, more.root(surface), "node", node, more.comment.as_deref());
    talk.take_out_twins();
    Ok(talk)
}
