//! Actions on issues, pull requests and discussions.

use super::objects::ThreadKind;
use super::text_generator::WireText;
use super::thread_store::kind_slot;
use super::{SimThread, World};

impl World {
    pub fn create_issue(&mut self, repository: i64, title: &str, body: &str, now_ms: i64) -> i64 {
        self.create_thread(
            ThreadKind::Issue,
            repository,
            WireText::from_plain(title),
            WireText::from_plain(body),
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
        self.create_thread(
            kind,
            repository,
            WireText::from_plain(title),
            WireText::from_plain(body),
            now_ms,
        )
    }

    pub fn create_discussion(
        &mut self,
        repository: i64,
        title: &str,
        body: &str,
        now_ms: i64,
    ) -> i64 {
        let kind = ThreadKind::Discussion;
        self.create_thread(
            kind,
            repository,
            WireText::from_plain(title),
            WireText::from_plain(body),
            now_ms,
        )
    }

    /// Creates a thread of any kind, with any text and a random author.
    pub fn create_thread(
        &mut self,
        kind: ThreadKind,
        repository: i64,
        title: WireText,
        body: WireText,
        now_ms: i64,
    ) -> i64 {
        let repository = self.repository_index(repository);
        let index = self.add_thread(kind, repository, title, body, now_ms);
        self.threads[index].versions.current().map_or(0, |thread| thread.id)
    }

    pub fn edit_issue(&mut self, id: i64, title: Option<&str>, body: Option<&str>, now_ms: i64) {
        self.edit_thread(ThreadKind::Issue, id, title, body, now_ms);
    }

    pub fn reopen_issue(&mut self, id: i64, now_ms: i64) {
        self.reopen_thread(ThreadKind::Issue, id, now_ms);
    }

    pub fn delete_issue(&mut self, id: i64, now_ms: i64) {
        self.delete_thread(ThreadKind::Issue, id, now_ms);
    }

    /// Transfers an issue to another repository, where it has a new id and a new number but keeps its creation time and
    /// comments. Returns the new id.
    pub fn transfer_issue(&mut self, id: i64, to_repository: i64, now_ms: i64) -> i64 {
        let index = self.thread_index(ThreadKind::Issue, id);
        let to = self.repository_index(to_repository);
        let moved = self.move_thread(index, to, now_ms);
        moved
            .and_then(|moved| self.threads[moved].versions.current())
            .map_or(id, |thread| thread.id)
    }

    /// Replaces an issue with a discussion in the same repository, which has an id and a number of its own. Text,
    /// author, labels and creation time stay, and each comment moves to the discussion. Returns the discussion's id.
    pub fn convert_to_discussion(&mut self, issue: i64, now_ms: i64) -> i64 {
        let index = self.thread_index(ThreadKind::Issue, issue);
        let discussion = self.convert_thread(index, now_ms);
        discussion
            .and_then(|discussion| self.threads[discussion].versions.current())
            .map_or(0, |thread| thread.id)
    }

    /// Keeps a thread out of all lists and counts until this time, although it is found by its id; its own times do not
    /// change.
    pub fn delay_listing(&mut self, kind: ThreadKind, id: i64, until_ms: i64) {
        let index = self.thread_index(kind, id);
        self.threads[index].unlisted_until_ms = until_ms;
        if let Some(thread) = self.threads[index].versions.current() {
            let repository = &mut self.repositories[thread.repository];
            repository.thread_indexes[kind_slot(kind)].settle_at(until_ms);
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
                thread.title = WireText::from_plain(title);
            }
            if let Some(body) = body {
                thread.body = WireText::from_plain(body);
            }
            thread.mark_touched(now_ms);
        });
    }

    pub fn close_thread(&mut self, kind: ThreadKind, id: i64, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.change_thread(index, now_ms, |thread| mark_closed(thread, now_ms));
    }

    pub fn reopen_thread(&mut self, kind: ThreadKind, id: i64, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.change_thread(index, now_ms, |thread| mark_reopened(thread, now_ms));
    }

    pub fn delete_thread(&mut self, kind: ThreadKind, id: i64, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.remove_thread(index, now_ms);
    }

    /// Restores a deleted thread without changing any time, as if the service had deleted it by mistake.
    pub fn undelete_thread(&mut self, kind: ThreadKind, id: i64, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.restore_thread(index, now_ms);
    }

    pub fn label_thread(&mut self, kind: ThreadKind, id: i64, label: &str, now_ms: i64) {
        let index = self.thread_index(kind, id);
        self.change_thread(index, now_ms, |thread| toggle_label(thread, label, now_ms));
    }

    /// Rewrites the text of a pull request, which names these issues of its repository now.
    pub fn name_closed_issues(&mut self, pull_request: i64, numbers: &[i64], now_ms: i64) {
        let index = self.thread_index(ThreadKind::PullRequest, pull_request);
        let named: Vec<String> =
            numbers.iter().map(|number| format!("Closes #{number}.")).collect();
        self.change_thread(index, now_ms, |thread| {
            thread.body = WireText::from_plain(&named.join(" "));
            thread.closes = numbers.to_vec();
            thread.mark_touched(now_ms);
        });
    }

    /// Links these issues of its repository to a pull request by hand, which changes no time.
    pub fn link_closed_issues(&mut self, pull_request: i64, numbers: &[i64], now_ms: i64) {
        let index = self.thread_index(ThreadKind::PullRequest, pull_request);
        self.change_thread(index, now_ms, |thread| thread.closes = numbers.to_vec());
    }

    /// Opens a pull request whose text names these issues of its repository.
    pub fn create_closing_pull_request(
        &mut self,
        repository: i64,
        title: &str,
        numbers: &[i64],
        now_ms: i64,
    ) -> i64 {
        let id = self.create_pull_request(repository, title, "", now_ms);
        self.name_closed_issues(id, numbers, now_ms);
        id
    }

    /// Pushes a commit to the branch of a pull request.
    pub fn push_commit(&mut self, pull_request: i64, now_ms: i64) {
        self.change_head(pull_request, now_ms, |thread| thread.push_count += 1);
    }

    /// Replaces the commits of a pull request with others.
    pub fn force_push(&mut self, pull_request: i64, now_ms: i64) {
        self.change_head(pull_request, now_ms, |thread| thread.rewrite_count += 1);
    }

    /// Resets the branch of a pull request to the commit that it was opened with, by a force-push.
    pub fn reset_head(&mut self, pull_request: i64, now_ms: i64) {
        self.change_head(pull_request, now_ms, |thread| {
            thread.push_count = 0;
            thread.rewrite_count = 0;
        });
    }

    fn change_head(&mut self, pull_request: i64, now_ms: i64, change: fn(&mut SimThread)) {
        let index = self.thread_index(ThreadKind::PullRequest, pull_request);
        self.change_thread(index, now_ms, |thread| {
            change(thread);
            thread.mark_touched(now_ms);
        });
    }

    /// Merges and closes a pull request; the issues that it mentions do not change.
    pub fn merge_pull_request(&mut self, id: i64, now_ms: i64) {
        let index = self.thread_index(ThreadKind::PullRequest, id);
        self.change_thread(index, now_ms, |thread| {
            mark_closed(thread, now_ms);
            thread.merged_ms = Some(now_ms);
        });
    }
}

pub(super) fn mark_closed(thread: &mut SimThread, now_ms: i64) {
    thread.is_open = false;
    thread.closed_ms = Some(now_ms);
    thread.is_answered |= thread.answer_status().is_some();
    thread.state_reason = match thread.kind {
        ThreadKind::Issue if thread.number % 3 == 0 => Some("NOT_PLANNED"),
        ThreadKind::Issue => Some("COMPLETED"),
        ThreadKind::Discussion => Some("RESOLVED"),
        ThreadKind::PullRequest => None,
    };
    thread.mark_touched(now_ms);
}

pub(super) fn mark_reopened(thread: &mut SimThread, now_ms: i64) {
    thread.is_open = true;
    thread.closed_ms = None;
    thread.merged_ms = None;
    thread.state_reason = match thread.kind {
        ThreadKind::Issue | ThreadKind::Discussion => Some("REOPENED"),
        ThreadKind::PullRequest => None,
    };
    thread.mark_touched(now_ms);
}

pub(super) fn toggle_label(thread: &mut SimThread, label: &str, now_ms: i64) {
    let before = thread.labels.len();
    thread.labels.retain(|name| &**name != label);
    if thread.labels.len() == before {
        thread.labels.push(label.into());
        thread.labels.sort();
    }
    thread.mark_touched(now_ms);
}
