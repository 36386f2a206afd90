//! Talks, read from an answer row by row.

use hw_rules::item::Comment;
use hw_rules::lane::Surface;

use super::more::More;
use super::node as comment;
use super::root::{REPLIES, Root};
use super::talks::{Lack, Talk};
use crate::github::graphql::Answer;
use crate::github::node::{self, Connection, Null};
use crate::page::Subject;
use crate::raw_json::RawNode;

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
        node: RawNode<'_>,
        to: Option<&str>,
    ) {
        if let Err(lack) = self.is_there(root, place, node) {
            return talk.fail(lack);
        }
        let path = format!("{place}.{}", root.connection);
        let listed = node.get(root.connection).unwrap_or(RawNode::NULL);
        self.rows(talk, &path, listed, to);
        if root.has_replies {
            self.replies(talk, &path, listed);
        }
    }

    /// Takes in rows that were asked for by their ids alone: all of them wait to be read, and so do their replies.
    pub(super) fn take_in_light(
        &self,
        talk: &mut Talk,
        root: &Root,
        node: RawNode<'_>,
        more: &More,
    ) {
        if let Err(lack) = self.is_there(root, "node", node) {
            return talk.fail(lack);
        }
        let path = format!("node.{}", root.connection);
        let listed = node.get(root.connection).unwrap_or(RawNode::NULL);
        self.rows(talk, &path, listed, more.comment.as_deref());
        if root.has_replies {
            let waiting: Vec<_> =
                talk.unreadable.iter().map(|row| row.subject.to_string()).collect();
            talk.more.extend(waiting.iter().map(|id| More::of_comment(&more.thread, id)));
        }
    }

    /// Whether the root answered as what it was taken for, in this repository.
    fn is_there(&self, root: &Root, place: &str, node: RawNode<'_>) -> Result<(), Lack> {
        if node.is_null() {
            return Err(match node::null(self.answer, place) {
                Null::NotFound => Lack::Thread("not there any more"),
                Null::Forbidden(reason) | Null::Fault(reason) => Lack::Rows(reason),
            });
        }
        self.no_error(place, &format!("{place}.{}", root.connection)).map_err(Lack::Rows)?;
        if node.get("__typename").and_then(RawNode::as_text).as_deref() != Some(root.type_name) {
            return Err(Lack::Thread("the id answers as something else"));
        }
        if root.home.of(node) != Some(self.repository_id) {
            return Err(Lack::Thread("it belongs to another repository"));
        }
        Ok(())
    }

    /// Takes in the rows of one connection.
    fn rows(&self, talk: &mut Talk, path: &str, listed: RawNode<'_>, to: Option<&str>) {
        let read = |place: &str, node: RawNode<'_>| self.comment(place, node);
        let listed = node::connection(self.answer, (path, listed), None, self.request, read);
        // what went wrong in a row is told with the row
        let whole = self.no_error(path, &format!("{path}.edges"));
        match (whole, listed) {
            (Ok(()), Some(listed)) => talk.keep(listed, self.answer.seen(self.request), to),
            (Err(reason), _) => talk.fail(Lack::Rows(reason)),
            (Ok(()), None) => talk.fail(Lack::Rows(format!("no connection {path}"))),
        }
    }

    /// Takes in the replies to each comment of a connection.
    fn replies(&self, talk: &mut Talk, path: &str, connection: RawNode<'_>) {
        for (index, edge) in node::edges(connection).into_iter().enumerate() {
            let Some(comment) = edge.node else { continue };
            if let Some(Subject::Node(id)) = node::node_subject(comment) {
                let replies = comment.get(REPLIES).unwrap_or(RawNode::NULL);
                self.rows(
                    talk,
                    &format!("{path}.edges.{index}.node.{REPLIES}"),
                    replies,
                    Some(&id),
                );
            }
        }
    }

    /// One row; none for a review that was not handed in yet.
    fn comment(&self, place: &str, node: RawNode<'_>) -> Result<Option<Comment>, String> {
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
