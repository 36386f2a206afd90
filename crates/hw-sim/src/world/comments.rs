//! Verbs on comments, replies and reviews.

use std::sync::Arc;

use super::objects::{CommentKind, ThreadKind};
use super::texts::{Text, one_of};
use super::{Comment, CommentEntry, Found, Versions, World, next_id, node_id};

const VERDICTS: [&str; 3] = ["COMMENTED", "APPROVED", "CHANGES_REQUESTED"];

impl World {
    /// The plain sort of comment for the thread; moves the thread's `updatedAt`.
    pub fn add_comment(&mut self, kind: ThreadKind, thread: i64, body: &str, now_ms: i64) -> i64 {
        let index = self.thread_index(kind, thread);
        let kind = match kind {
            ThreadKind::Discussion => CommentKind::Discussion,
            ThreadKind::Issue | ThreadKind::PullRequest => CommentKind::Conversation,
        };
        self.insert_comment(kind, index, None, Text::plain(body), now_ms)
    }

    pub fn add_review(&mut self, pull_request: i64, body: &str, now_ms: i64) -> i64 {
        let index = self.thread_index(ThreadKind::PullRequest, pull_request);
        self.insert_comment(CommentKind::Review, index, None, Text::plain(body), now_ms)
    }

    /// A comment on a line, belonging to a review.
    pub fn add_review_comment(&mut self, review: i64, body: &str, now_ms: i64) -> i64 {
        self.add_child(CommentKind::Review, CommentKind::ReviewComment, review, body, now_ms)
    }

    /// An answer to a comment of a discussion.
    pub fn add_reply(&mut self, comment: i64, body: &str, now_ms: i64) -> i64 {
        self.add_child(CommentKind::Discussion, CommentKind::Reply, comment, body, now_ms)
    }

    pub fn edit_comment(&mut self, kind: CommentKind, id: i64, body: &str, now_ms: i64) {
        let index = self.comment_index(kind, id);
        self.rewrite_comment(index, Text::plain(body), now_ms);
    }

    /// Moves nothing else: neither the thread's time nor anybody's.
    pub fn delete_comment(&mut self, kind: CommentKind, id: i64, now_ms: i64) {
        let index = self.comment_index(kind, id);
        self.remove_comment(index, now_ms);
    }

    pub(super) fn rewrite_comment(&mut self, index: usize, body: Text, now_ms: i64) {
        let Some(updated_ms) = self.comments[index].versions.now().map(|it| it.updated_ms) else {
            return;
        };
        let updated_ms = self.restamped(updated_ms, now_ms, now_ms);
        self.change_comment(index, now_ms, |comment| {
            comment.body = body;
            comment.updated_ms = updated_ms;
        });
    }

    pub(super) fn remove_comment(&mut self, index: usize, now_ms: i64) {
        for child in self.comments[index].children.clone() {
            self.remove_comment(child, now_ms);
        }
        let listed = self.listed_from(now_ms);
        self.comments[index].versions.push(now_ms, listed, None);
    }

    fn add_child(
        &mut self,
        parent_kind: CommentKind,
        kind: CommentKind,
        parent: i64,
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let parent = self.comment_index(parent_kind, parent);
        let thread = self.comments[parent].versions.now().map(|comment| comment.thread);
        let thread = thread.expect("one answers a comment that is still there");
        self.insert_comment(kind, thread, Some(parent), Text::plain(body), now_ms)
    }

    pub(super) fn insert_comment(
        &mut self,
        kind: CommentKind,
        thread: usize,
        parent: Option<usize>,
        body: Text,
        now_ms: i64,
    ) -> i64 {
        let author = self.living_user();
        self.insert_comment_by(author, kind, thread, parent, body, now_ms)
    }

    pub(super) fn insert_comment_by(
        &mut self,
        author: Option<usize>,
        kind: CommentKind,
        thread: usize,
        parent: Option<usize>,
        body: Text,
        now_ms: i64,
    ) -> i64 {
        let index = self.comments.len();
        let id = next_id(self.ids.comment(kind), &mut self.dice);
        let comment = Comment {
            index,
            kind,
            id,
            node_id: node_id(prefix(kind), id),
            thread,
            parent,
            body,
            author,
            created_ms: self.stamp(now_ms),
            updated_ms: self.stamp(now_ms),
            verdict: one_of(&mut self.dice, &VERDICTS),
        };
        self.place_comment(comment, now_ms);
        self.change_thread(thread, now_ms, |thread| thread.touch(now_ms));
        id
    }

    /// A comment of an issue becomes one of the discussion that stands for it: another id, the same words,
    /// times and author.
    pub(super) fn retell_comment(&mut self, index: usize, talk: usize, now_ms: i64) {
        let Some(old) = self.comments[index].versions.now().cloned() else { return };
        self.remove_comment(index, now_ms);
        let kind = CommentKind::Discussion;
        let id = next_id(self.ids.comment(kind), &mut self.dice);
        let comment = Comment {
            index: self.comments.len(),
            kind,
            id,
            node_id: node_id(prefix(kind), id),
            thread: talk,
            ..old
        };
        self.place_comment(comment, now_ms);
    }

    fn place_comment(&mut self, comment: Comment, now_ms: i64) {
        let Comment { index, thread, parent, .. } = comment;
        self.nodes.insert(Arc::clone(&comment.node_id), Found::Comment(index));
        let versions = Versions::new(now_ms, self.listed_from(now_ms), comment);
        self.comments.push(CommentEntry { versions, children: Vec::new() });
        self.threads[thread].comments.push(index);
        if let Some(parent) = parent {
            self.comments[parent].children.push(index);
        }
    }

    /// A comment of the token's own account, as `POST …/comments` makes it.
    pub(crate) fn comment_as_viewer(&mut self, thread: usize, body: &str, now_ms: i64) -> usize {
        let index = self.comments.len();
        let viewer = Some(self.viewer);
        let kind = CommentKind::Conversation;
        self.insert_comment_by(viewer, kind, thread, None, Text::plain(body), now_ms);
        index
    }

    pub(super) fn change_comment(
        &mut self,
        index: usize,
        now_ms: i64,
        change: impl FnOnce(&mut Comment),
    ) {
        let Some(mut next) = self.comments[index].versions.now().cloned() else { return };
        change(&mut next);
        let listed = self.listed_from(now_ms);
        self.comments[index].versions.push(now_ms, listed, Some(next));
    }

    fn comment_index(&self, kind: CommentKind, id: i64) -> usize {
        match self.nodes.get(&node_id(prefix(kind), id)) {
            Some(Found::Comment(index)) => *index,
            _ => panic!("a verb names a comment that was created before, not {kind:?} {id}"),
        }
    }
}

fn prefix(kind: CommentKind) -> &'static str {
    match kind {
        CommentKind::Conversation => "IC",
        CommentKind::ReviewComment => "PRRC",
        CommentKind::Review => "PRR",
        CommentKind::Discussion | CommentKind::Reply => "DC",
    }
}
