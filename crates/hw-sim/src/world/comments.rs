//! Actions on comments, replies and reviews.

use std::sync::Arc;

use super::objects::{CommentKind, ThreadKind};
use super::text_generator::{WireText, pick_one};
use super::{CommentEntry, NodeTarget, SimComment, VersionHistory, World, next_id, node_id};

const REVIEW_STATES: [&str; 3] = ["COMMENTED", "APPROVED", "CHANGES_REQUESTED"];

/// A comment to be added.
pub(super) struct CommentDraft {
    pub(super) author: Option<usize>,
    pub(super) kind: CommentKind,
    pub(super) thread: usize,
    pub(super) parent: Option<usize>,
    pub(super) reply_to: Option<usize>,
    pub(super) body: WireText,
}

impl World {
    /// Adds the plain kind of comment for the thread; changes the thread's `updatedAt`.
    pub fn add_comment(&mut self, kind: ThreadKind, thread: i64, body: &str, now_ms: i64) -> i64 {
        let index = self.thread_index(kind, thread);
        let kind = match kind {
            ThreadKind::Discussion => CommentKind::Discussion,
            ThreadKind::Issue | ThreadKind::PullRequest => CommentKind::Conversation,
        };
        self.insert_comment(kind, index, None, WireText::from_plain(body), now_ms)
    }

    /// Adds the plain kind of comment for the thread, by the account with this login.
    pub fn add_comment_by(
        &mut self,
        login: &str,
        kind: ThreadKind,
        thread: i64,
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let kind_of_comment = match kind {
            ThreadKind::Discussion => CommentKind::Discussion,
            ThreadKind::Issue | ThreadKind::PullRequest => CommentKind::Conversation,
        };
        let thread = self.thread_index(kind, thread);
        self.insert_text_by(login, (kind_of_comment, thread, None), body, now_ms)
    }

    /// Adds a review by the account with this login.
    pub fn add_review_by(
        &mut self,
        login: &str,
        pull_request: i64,
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let thread = self.thread_index(ThreadKind::PullRequest, pull_request);
        self.insert_text_by(login, (CommentKind::Review, thread, None), body, now_ms)
    }

    /// Adds a comment on a line to a review, by the account with this login.
    pub fn add_review_comment_by(
        &mut self,
        login: &str,
        review: i64,
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let review = self.comment_index(CommentKind::Review, review);
        let thread = self.comments[review].versions.current().map(|review| review.thread);
        let thread = thread.expect("the review still exists");
        self.insert_text_by(login, (CommentKind::ReviewComment, thread, Some(review)), body, now_ms)
    }

    fn insert_text_by(
        &mut self,
        login: &str,
        (kind, thread, parent): (CommentKind, usize, Option<usize>),
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let author = Some(self.user_index(login));
        let body = WireText::from_plain(body);
        self.insert_comment_by_author(author, kind, thread, parent, body, now_ms)
    }

    /// Keeps a comment out of all lists until this time, although it is found by its id; its own times do not change.
    pub fn delay_comment(&mut self, kind: CommentKind, id: i64, until_ms: i64) {
        let index = self.comment_index(kind, id);
        self.comments[index].unlisted_until_ms = until_ms;
    }

    pub fn add_review(&mut self, pull_request: i64, body: &str, now_ms: i64) -> i64 {
        let index = self.thread_index(ThreadKind::PullRequest, pull_request);
        self.insert_comment(CommentKind::Review, index, None, WireText::from_plain(body), now_ms)
    }

    /// Adds a comment on a line to a review.
    pub fn add_review_comment(&mut self, review: i64, body: &str, now_ms: i64) -> i64 {
        self.add_child_comment(
            CommentKind::Review,
            CommentKind::ReviewComment,
            review,
            body,
            now_ms,
        )
    }

    /// Adds a reply on the line of a review comment, in the same review. A reply to a reply answers the first comment.
    pub fn add_review_reply(&mut self, comment: i64, body: &str, now_ms: i64) -> i64 {
        let index = self.comment_index(CommentKind::ReviewComment, comment);
        let current = self.comments[index].versions.current();
        let answered = current.expect("the comment still exists").clone();
        let draft = CommentDraft {
            author: self.pick_active_user(),
            kind: CommentKind::ReviewComment,
            thread: answered.thread,
            parent: answered.parent,
            reply_to: Some(answered.root_index()),
            body: WireText::from_plain(body),
        };
        self.insert_comment_draft(draft, now_ms)
    }

    /// Adds a reply to a comment on a discussion.
    pub fn add_reply(&mut self, comment: i64, body: &str, now_ms: i64) -> i64 {
        self.add_child_comment(CommentKind::Discussion, CommentKind::Reply, comment, body, now_ms)
    }

    pub fn edit_comment(&mut self, kind: CommentKind, id: i64, body: &str, now_ms: i64) {
        let index = self.comment_index(kind, id);
        self.rewrite_comment(index, WireText::from_plain(body), now_ms);
    }

    /// Deletes a comment without changing the times of its thread or of anything else.
    pub fn delete_comment(&mut self, kind: CommentKind, id: i64, now_ms: i64) {
        let index = self.comment_index(kind, id);
        self.remove_comment(index, now_ms);
    }

    pub(super) fn rewrite_comment(&mut self, index: usize, body: WireText, now_ms: i64) {
        let Some(comment) = self.comments[index].versions.current() else { return };
        let updated_ms = self.updated_stamp(comment.updated_ms, now_ms, now_ms);
        self.change_comment(index, now_ms, |comment| {
            comment.body = body;
            comment.updated_ms = updated_ms;
        });
    }

    pub(super) fn remove_comment(&mut self, index: usize, now_ms: i64) {
        for child in self.comments[index].children.clone() {
            self.remove_comment(child, now_ms);
        }
        let listed = self.pick_listing_time(now_ms);
        self.comments[index].versions.push(now_ms, listed, None);
    }

    fn add_child_comment(
        &mut self,
        parent_kind: CommentKind,
        kind: CommentKind,
        parent: i64,
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let parent = self.comment_index(parent_kind, parent);
        let thread = self.comments[parent].versions.current().map(|comment| comment.thread);
        let thread = thread.expect("the parent comment still exists");
        self.insert_comment(kind, thread, Some(parent), WireText::from_plain(body), now_ms)
    }

    pub(super) fn insert_comment(
        &mut self,
        kind: CommentKind,
        thread: usize,
        parent: Option<usize>,
        body: WireText,
        now_ms: i64,
    ) -> i64 {
        let author = self.pick_active_user();
        self.insert_comment_by_author(author, kind, thread, parent, body, now_ms)
    }

    pub(super) fn insert_comment_by_author(
        &mut self,
        author: Option<usize>,
        kind: CommentKind,
        thread: usize,
        parent: Option<usize>,
        body: WireText,
        now_ms: i64,
    ) -> i64 {
        let draft = CommentDraft { author, kind, thread, parent, reply_to: None, body };
        self.insert_comment_draft(draft, now_ms)
    }

    pub(super) fn insert_comment_draft(&mut self, draft: CommentDraft, now_ms: i64) -> i64 {
        let CommentDraft { author, kind, thread, parent, reply_to, body } = draft;
        let index = self.comments.len();
        let id = next_id(self.ids.comment_sequence(kind), &mut self.rng);
        let comment = SimComment {
            index,
            kind,
            id,
            node_id: node_id(comment_id_prefix(kind), id),
            thread,
            parent,
            reply_to,
            body,
            author,
            created_ms: self.service_time(now_ms),
            updated_ms: self.service_time(now_ms),
            review_state: pick_one(&mut self.rng, &REVIEW_STATES),
        };
        self.store_comment(comment, now_ms);
        self.change_thread(thread, now_ms, |thread| {
            thread.push_sometimes(now_ms);
            thread.mark_touched(now_ms);
        });
        id
    }

    /// Moves a comment of an issue to the discussion that replaces it: with another id, but the same text, times and
    /// author.
    pub(super) fn copy_comment_to_discussion(
        &mut self,
        index: usize,
        discussion: usize,
        now_ms: i64,
    ) {
        let Some(old) = self.comments[index].versions.current().cloned() else { return };
        self.remove_comment(index, now_ms);
        let kind = CommentKind::Discussion;
        let id = next_id(self.ids.comment_sequence(kind), &mut self.rng);
        let comment = SimComment {
            index: self.comments.len(),
            kind,
            id,
            node_id: node_id(comment_id_prefix(kind), id),
            thread: discussion,
            ..old
        };
        self.store_comment(comment, now_ms);
    }

    fn store_comment(&mut self, comment: SimComment, now_ms: i64) {
        let SimComment { index, thread, parent, .. } = comment;
        self.nodes.insert(Arc::clone(&comment.node_id), NodeTarget::Comment(index));
        if comment.kind == CommentKind::ReviewComment && comment.reply_to.is_none() {
            self.nodes.insert(review_thread_node_id(comment.id), NodeTarget::ReviewThread(index));
        }
        let versions = VersionHistory::new(now_ms, self.pick_listing_time(now_ms), comment);
        self.comments.push(CommentEntry {
            versions,
            unlisted_until_ms: i64::MIN,
            children: Vec::new(),
        });
        self.threads[thread].comments.push(index);
        if let Some(parent) = parent {
            self.comments[parent].children.push(index);
        }
    }

    /// Adds a comment by the token's own account, as `POST …/comments` does.
    pub(crate) fn add_viewer_comment(&mut self, thread: usize, body: &str, now_ms: i64) -> usize {
        let index = self.comments.len();
        let viewer = Some(self.viewer);
        let kind = CommentKind::Conversation;
        self.insert_comment_by_author(
            viewer,
            kind,
            thread,
            None,
            WireText::from_plain(body),
            now_ms,
        );
        index
    }

    pub(super) fn change_comment(
        &mut self,
        index: usize,
        now_ms: i64,
        change: impl FnOnce(&mut SimComment),
    ) {
        let Some(mut next) = self.comments[index].versions.current().cloned() else { return };
        change(&mut next);
        let listed = self.pick_listing_time(now_ms);
        self.comments[index].versions.push(now_ms, listed, Some(next));
    }

    /// Returns true if lists at this time contain the present state of a comment.
    #[must_use]
    pub fn is_comment_listed(&self, kind: CommentKind, id: i64, now_ms: i64) -> bool {
        let entry = &self.comments[self.comment_index(kind, id)];
        entry.unlisted_until_ms <= now_ms
            && entry.versions.iter().all(|version| version.listed_ms <= now_ms)
    }

    fn comment_index(&self, kind: CommentKind, id: i64) -> usize {
        match self.nodes.get(&node_id(comment_id_prefix(kind), id)) {
            Some(NodeTarget::Comment(index)) => *index,
            _ => panic!("no such comment was ever created: {kind:?} {id}"),
        }
    }
}

/// Returns the node id of the comments on one line, by the id of the first of them.
pub(super) fn review_thread_node_id(root: i64) -> Arc<str> {
    node_id("PRRT", root)
}

fn comment_id_prefix(kind: CommentKind) -> &'static str {
    match kind {
        CommentKind::Conversation => "IC",
        CommentKind::ReviewComment => "PRRC",
        CommentKind::Review => "PRR",
        CommentKind::Discussion | CommentKind::Reply => "DC",
    }
}
