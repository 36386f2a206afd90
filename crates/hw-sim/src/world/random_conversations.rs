//! The random actions of people who talk in threads, as watches meet them.

use super::comments::CommentDraft;
use super::random_activity::pick_from;
use super::text_generator::WireText;
use super::{CommentKind, SimThread, ThreadKind, World};

/// The longest time until a late comment is listed: less than readers look back.
const MAX_DELAY_MS: i64 = 50_000;

impl World {
    /// Edits a comment twice within one second; the second edit may bring the first text back.
    pub(super) fn edit_random_comment_twice(&mut self, now_ms: i64) {
        let Some(comment) = self.pick_comment() else { return };
        let Some(before) = self.comments[comment].versions.current() else { return };
        let before = before.body.clone();
        let second = self.texts.write_comment(&mut self.rng);
        let last = if self.rng.bool() { before } else { self.texts.write_comment(&mut self.rng) };
        self.rewrite_comment(comment, second, now_ms);
        let later = now_ms + i64::from(now_ms.rem_euclid(1000) < 999);
        self.rewrite_comment(comment, last, later);
    }

    /// Comments on a thread; the comment is found by its id at once, and listed later.
    pub(super) fn comment_late(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        let next = self.comments.len();
        self.add_random_comment(thread, now_ms);
        let delay_ms = self.rng.i64(0..=MAX_DELAY_MS);
        if let Some(late) = self.comments.get_mut(next) {
            late.unlisted_until_ms = now_ms + delay_ms;
        }
    }

    pub(super) fn reply_on_random_line(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        let on_lines: Vec<usize> = self.threads[thread]
            .comments
            .iter()
            .filter_map(|index| self.comments[*index].versions.current())
            .filter(|comment| comment.kind == CommentKind::ReviewComment)
            .map(|comment| comment.index)
            .collect();
        let answered = pick_from(&on_lines, &mut self.rng).copied();
        let Some(answered) = answered.and_then(|index| self.comments[index].versions.current())
        else {
            return;
        };
        let (parent, root) = (answered.parent, answered.root_index());
        let draft = CommentDraft {
            author: self.pick_active_user(),
            kind: CommentKind::ReviewComment,
            thread,
            parent,
            reply_to: Some(root),
            body: self.texts.write_comment(&mut self.rng),
        };
        self.insert_comment_draft(draft, now_ms);
    }

    pub(super) fn push_to_random_branch(&mut self, now_ms: i64) {
        self.change_random_head(now_ms, |thread| thread.push_count += 1);
    }

    pub(super) fn rewrite_random_branch(&mut self, now_ms: i64) {
        if self.rng.bool() {
            self.change_random_head(now_ms, |thread| thread.rewrite_count += 1);
        } else {
            self.change_random_head(now_ms, |thread| {
                thread.push_count = 0;
                thread.rewrite_count = 0;
            });
        }
    }

    fn change_random_head(&mut self, now_ms: i64, change: fn(&mut SimThread)) {
        let Some(thread) = self.pick_thread() else { return };
        let current = self.threads[thread].versions.current();
        let is_open_pull =
            current.is_some_and(|thread| thread.kind == ThreadKind::PullRequest && thread.is_open);
        if is_open_pull {
            self.change_thread(thread, now_ms, |thread| {
                change(thread);
                thread.mark_touched(now_ms);
            });
        }
    }

    pub(super) fn rename_random_account(&mut self, _now_ms: i64) {
        let Some(user) = self.pick_active_user() else { return };
        let login = format!("renamed-{}-{}", user, self.rng.u16(..));
        self.users[user].user.login = login.into();
    }

    pub(super) fn open_random_closing_pull_request(&mut self, now_ms: i64) {
        let Some(repository) = self.pick_repository() else { return };
        let issues: Vec<i64> = self.repositories[repository]
            .threads_by_number
            .iter()
            .filter_map(|index| self.threads[*index].versions.current())
            .filter(|thread| thread.kind == ThreadKind::Issue && thread.is_open)
            .map(|thread| thread.number)
            .collect();
        let Some(number) = pick_from(&issues, &mut self.rng).copied() else { return };
        let title = self.texts.write_title(&mut self.rng);
        let body = WireText::from_plain(&format!("Closes #{number}."));
        let pull = self.add_thread(ThreadKind::PullRequest, repository, title, body, now_ms);
        self.change_thread(pull, now_ms, |thread| thread.closes = vec![number]);
    }

    pub(super) fn star_or_push_to_random_repository(&mut self, now_ms: i64) {
        let Some(index) = self.pick_repository() else { return };
        let Some(id) = self.repositories[index].versions.current().map(|state| state.id) else {
            return;
        };
        if self.rng.bool() {
            self.star_repository(id, now_ms);
        } else {
            self.push_to_repository(id, now_ms);
        }
    }
}
