//! What did not fit into a talk.

use hw_rules::lane::Surface;
use hw_rules::walk::Cursor;
use serde_json::{Value, json};

use super::reader::Reader;
use super::root::Root;
use super::talks::Talk;
use crate::github::graphql::{Answer, Query};
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

/// Reads that page: one more part of the thread's talk, with what remains after it.
pub fn read_more(
    answer: &Answer,
    surface: Surface,
    more: &More,
    repository_id: i64,
    request: i64,
) -> Result<Talk, Trouble> {
    let node = answer.data.get("node").unwrap_or(&Value::Null);
    let reader = Reader { answer, surface, repository_id, request };
    let mut talk = Talk::of(&more.thread);
    reader.take_in(&mut talk, more.root(surface), "node", node, more.comment.as_deref());
    Ok(talk)
}
