//! Talks, read from an answer row by row.

use hw_rules::item::Comment;
use hw_rules::lane::Surface;
use serde_json::Value;

use super::node as comment;
use super::root::{REPLIES, Root};
use super::talks::{Lack, Talk};
use crate::github::graphql::Answer;
use crate::github::node::{self, Connection, Null};

/// Rows of comments; none where one is left out.
pub(super) type Comments = Connection<Option<Comment>>;

/// An answer, and what it is about.
pub(super) struct Reader<'a> {
    pub answer: &'a Answer,
    pub surface: Surface,
    pub repository_id: i64,
    pub request: i64,
}

impl Reader<'_> {
    /// Takes in what is said at this root of the answer, which may be the replies to a comment.
    pub(super) fn take_in(
        &self,
        talk: &mut Talk,
        root: &Root,
        place: &str,
        node: &Value,
        to: Option<&str>,
    ) {
        if let Err(lack) = self.is_there(root, place, node) {
            return talk.fail(lack);
        }
        let path = format!("{place}.{}", root.connection);
        self.rows(talk, &path, to);
        if root.has_replies {
            self.replies(talk, &path, node.get(root.connection));
        }
    }

    /// Whether the root answered as what it was taken for, in this repository.
    fn is_there(&self, root: &Root, place: &str, node: &Value) -> Result<(), Lack> {
        if node.is_null() {
            return Err(match node::null(self.answer, place) {
                Null::NotFound => Lack::Thread("not there any more"),
                Null::Forbidden(reason) | Null::Fault(reason) => Lack::Rows(reason),
            });
        }
        self.no_error(place, &format!("{place}.{}", root.connection)).map_err(Lack::Rows)?;
        if node.get("__typename").and_then(Value::as_str) != Some(root.type_name) {
            return Err(Lack::Thread("the id answers as something else"));
        }
        if root.home.of(node) != Some(self.repository_id) {
            return Err(Lack::Thread("it belongs to another repository"));
        }
        Ok(())
    }

    /// Takes in the rows of one connection.
    fn rows(&self, talk: &mut Talk, path: &str, to: Option<&str>) {
        let read = |place: &str, node: &Value| self.comment(place, node);
        let listed = node::connection(self.answer, path, None, self.request, read);
        // what went wrong in a row is told with the row
        let whole = self.no_error(path, &format!("{path}.edges"));
        match (whole, listed) {
            (Ok(()), Some(listed)) => talk.keep(listed, self.answer.seen(self.request), to),
            (Err(reason), _) => talk.fail(Lack::Rows(reason)),
            (Ok(()), None) => talk.fail(Lack::Rows(format!("no connection {path}"))),
        }
    }

    /// Takes in the replies to each comment of a connection.
    fn replies(&self, talk: &mut Talk, path: &str, connection: Option<&Value>) {
        let edges = connection.and_then(|it| it.get("edges")?.as_array());
        for (index, edge) in edges.into_iter().flatten().enumerate() {
            if let Some(id) = edge.pointer("/node/id").and_then(Value::as_str) {
                self.rows(talk, &format!("{path}.edges.{index}.node.{REPLIES}"), Some(id));
            }
        }
    }

    /// One row; none for a review that was not handed in yet.
    fn comment(&self, place: &str, node: &Value) -> Result<Option<Comment>, String> {
        if comment::is_pending(node) {
            return Ok(None);
        }
        self.no_error(place, &format!("{place}.node.{REPLIES}"))?;
        let comment = comment::read(self.surface, node)?;
        if comment.repository_id != self.repository_id {
            return Err("it belongs to another repository".into());
        }
        Ok(Some(comment))
    }

    /// Whether nothing went wrong at this place, apart from what is read by itself below it.
    fn no_error(&self, place: &str, apart: &str) -> Result<(), String> {
        let mut errors = self.answer.errors.iter();
        let error = errors.find(|error| error.is_at(place) && !error.is_at(apart));
        error.map_or(Ok(()), |error| Err(error.message.clone()))
    }
}
