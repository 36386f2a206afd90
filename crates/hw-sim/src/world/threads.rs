//! Verbs on issues, pull requests and discussions.

use super::ledger::slot;
use super::objects::ThreadKind;
use super::texts::Text;
use super::{Thread, World};

impl World {
    pub fn create_issue(&mut self, repository: i64, title: &str, body: &str, now_ms: i64) -> i64 {
        self.create_thread(
            ThreadKind::Issue,
            repository,
            Text::plain(title),
            Text::plain(body),
            now_ms,
        )
    }

    pub fn create_pull_request(
        &mut self,
        repository: i64,
        title: &str,
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let kind = ThreadKind::PullRequest;
        self.create_thread(kind, repository, Text::plain(title), Text::plain(body), now_ms)
    }

    pub fn create_discussion(
        &mut self,
        repository: i64,
        title: &str,
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let kind = ThreadKind::Discussion;
        self.create_thread(kind, repository, Text::plain(title), Text::plain(body), now_ms)
    }

    /// Any sort of thread, with any sort of text; somebody of the world is its author.
    pub fn create_thread(
        &mut self,
        kind: ThreadKind,
        repository: i64,
        title: Text,
        body: Text,
        now_ms: i64,
    ) -> i64 {
        let repository = self.repository_index(repository);
        let index = self.add_thread(kind, repository, title, body, now_ms);
        self.threads[index].versions.now().map_or(0, |thread| thread.id)
    }

    pub fn edit_issue(&mut self, id: i64, title: Option<&str>, body: Option<&str>, now_ms: i64) {
        self.edit_thread(ThreadKind::Issue, id, title, body, now_ms);
    }

    pub fn close_issue(&mut self, id: i64, now_ms: i64) {
        self.close_thread(ThreadKind::Issue, id, now_ms);
    }

    pub fn reopen_issue(&mut self, id: i64, now_ms: i64) {
        self.reopen_thread(ThreadKind::Issue, id, now_ms);
    }

    pub fn delete_issue(&mut self, id: i64, now_ms: i64) {
        self.delete_thread(ThreadKind::Issue, id, now_ms);
    }

    /// The issue goes to another repository, where it has a new id and a new number; its creation
    /// time and its comments go with it. Returns the new id.
    pub fn transfer_issue(&mut self, id: i64, to_repository: i64, now_ms: i64) -> i64 {
        let index = self.thread_index(ThreadKind::Issue, id);
        let to = self.repository_index(to_repository);
        let moved = self.transfer(index, to, now_ms);
        moved.and_then(|moved| self.threads[moved].versions.now()).map_or(id, |thread| thread.id)
    }

    /// The issue is gone, and a discussion of the same repository stands for it, with an id and a number
    /// of its own; text, author, labels and creation time stay, and each comment becomes one of the
    /// discussion. Returns the discussion's id.
    pub fn convert_to_discussion(&mut self, issue: i64, now_ms: i64) -> i64 {
        let index = self.thread_index(ThreadKind::Issue, issue);
        let talk = self.convert(index, now_ms);
        talk.and_then(|talk| self.threads[talk].versions.now()).map_or(0, |thread| thread.id)
    }

    /// No list shows the thread and none counts it before that moment, though it answers by its id; its
    /// own times stay as they are.
    pub fn show_late(&mut self, kind: ThreadKind, id: i64, until_ms: i64) {
        let index = self.thread_index(kind, id);
        self.threads[index].unlisted_until_ms = until_ms;
        if let Some(thread) = self.threads[index].versions.now() {
            let home = &mut self.repositories[thread.repository];
            home.threads[slot(kind)].settle_at(until_ms);
        }
    }

    pub fn edit_thread(
        &mut self,
        kind: ThreadKind,
        id: i64,
        title: Option<&str>,
        body: Option<&str>,
        now_ms: i64,
    ) {
        let index = self.thread_index(kind, id);
        self.change_thread(index, now_ms, |thread| {
            if let Some(title) = title {
                thread.title = Text::plain(title);
            }
            if let Some(body) = body {
                thread.body = Text::plain(body);
            }
            thread.touch(now_ms);
        });
    }

    pub fn close_thread(&mut self, kind: ThreadKind, id: i64, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.change_thread(index, now_ms, |thread| close(thread, now_ms));
    }

    pub fn reopen_thread(&mut self, kind: ThreadKind, id: i64, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.change_thread(index, now_ms, |thread| reopen(thread, now_ms));
    }

    pub fn delete_thread(&mut self, kind: ThreadKind, id: i64, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.remove_thread(index, now_ms);
    }

    /// A deleted thread is there again as it was last, and no time moves: its deletion was a mistake of the
    /// service's.
    pub fn undelete_thread(&mut self, kind: ThreadKind, id: i64, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.return_thread(index, now_ms);
    }

    pub fn label_thread(&mut self, kind: ThreadKind, id: i64, label: &str, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.change_thread(index, now_ms, |thread| toggle_label(thread, label, now_ms));
    }

    /// Merging closes the pull request; the issues it mentions stay as they are.
    pub fn merge_pull_request(&mut self, id: i64, now_ms: i64) {
        let index = self.thread_index(ThreadKind::PullRequest, id);
        self.change_thread(index, now_ms, |thread| {
            close(thread, now_ms);
            thread.merged_ms = Some(now_ms);
        });
    }
}

pub(super) fn close(thread: &mut Thread, now_ms: i64) {
    thread.open = false;
    thread.closed_ms = Some(now_ms);
    thread.is_answered |= thread.answered().is_some();
    thread.state_reason = match thread.kind {
        ThreadKind::Issue if thread.number % 3 == 0 => Some("NOT_PLANNED"),
        ThreadKind::Issue => Some("COMPLETED"),
        ThreadKind::Discussion => Some("RESOLVED"),
        ThreadKind::PullRequest => None,
    };
    thread.touch(now_ms);
}

pub(super) fn reopen(thread: &mut Thread, now_ms: i64) {
    thread.open = true;
    thread.closed_ms = None;
    thread.merged_ms = None;
    thread.state_reason = match thread.kind {
        ThreadKind::Issue | ThreadKind::Discussion => Some("REOPENED"),
        ThreadKind::PullRequest => None,
    };
    thread.touch(now_ms);
}

pub(super) fn toggle_label(thread: &mut Thread, label: &str, now_ms: i64) {
    let before = thread.labels.len();
    thread.labels.retain(|held| &**held != label);
    if thread.labels.len() == before {
        thread.labels.push(label.into());
        thread.labels.sort();
    }
    thread.touch(now_ms);
}
