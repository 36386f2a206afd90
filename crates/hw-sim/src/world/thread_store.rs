//! Adds, changes, moves and removes threads in the world's history.

use std::sync::Arc;

use super::objects::ThreadKind;
use super::text_generator::{WireText, pick_one};
use super::{
    NodeTarget, SimThread, ThreadEntry, ThreadOrder, VersionHistory, World, next_id, node_id,
};

const CATEGORIES: [&str; 4] = ["General", "Ideas", "Q&A", "Announcements"];

impl World {
    pub(super) fn add_thread(
        &mut self,
        kind: ThreadKind,
        repository: usize,
        title: WireText,
        body: WireText,
        now_ms: i64,
    ) -> usize {
        let thread = self.draft_thread(kind, repository, title, body, now_ms);
        self.insert_thread(thread, now_ms)
    }

    fn draft_thread(
        &mut self,
        kind: ThreadKind,
        repository: usize,
        title: WireText,
        body: WireText,
        now_ms: i64,
    ) -> SimThread {
        let id = next_id(self.ids.thread_sequence(kind), &mut self.rng);
        let issue_id = match kind {
            ThreadKind::PullRequest => self.next_issue_id_except(id),
            ThreadKind::Issue | ThreadKind::Discussion => id,
        };
        let number = 1 + length_as_i64(self.repositories[repository].threads_by_number.len());
        SimThread {
            index: self.threads.len(),
            kind,
            id,
            node_id: node_id(thread_id_prefix(kind), id),
            issue_id,
            number,
            repository,
            title,
            body,
            is_open: true,
            state_reason: None,
            author: self.pick_active_user(),
            labels: Vec::new(),
            created_ms: self.service_time(now_ms),
            updated_ms: self.service_time(now_ms),
            touched_ms: None,
            closed_ms: None,
            merged_ms: None,
            is_draft: self.rng.u8(0..5) == 0,
            head_seed: self.rng.u64(..),
            push_count: 0,
            rewrite_count: 0,
            closes: if kind == ThreadKind::PullRequest && number > 1 && self.rng.bool() {
                vec![self.rng.i64(1..number)]
            } else {
                Vec::new()
            },
            category: pick_one(&mut self.rng, &CATEGORIES),
            is_answered: false,
        }
    }

    fn next_issue_id_except(&mut self, id: i64) -> i64 {
        match next_id(&mut self.ids.issue, &mut self.rng) {
            same if same == id => next_id(&mut self.ids.issue, &mut self.rng),
            other => other,
        }
    }

    fn insert_thread(&mut self, thread: SimThread, now_ms: i64) -> usize {
        let index = thread.index;
        self.nodes.insert(Arc::clone(&thread.node_id), NodeTarget::Thread(index));
        self.thread_ids.insert((thread.kind, thread.id), index);
        let listed = self.pick_listing_time(now_ms);
        let repository = &mut self.repositories[thread.repository];
        repository.thread_indexes[kind_slot(thread.kind)].insert_thread(&thread, listed);
        repository.threads_by_number.push(index);
        let versions = VersionHistory::new(now_ms, listed, thread);
        self.threads.push(ThreadEntry {
            versions,
            comments: Vec::new(),
            moved_to: None,
            unlisted_until_ms: i64::MIN,
        });
        index
    }

    /// Returns the timestamp of a change that was made at `touched_ms` and is recorded at `now_ms`. It moves back only
    /// after the clock did, which left a timestamp in the future.
    pub(super) fn updated_stamp(&self, updated_ms: i64, touched_ms: i64, now_ms: i64) -> i64 {
        let stamp = self.service_time(touched_ms);
        if updated_ms > self.service_time(now_ms) + 60_000 { stamp } else { stamp.max(updated_ms) }
    }

    /// Builds the order that readers request first, so that no request has to.
    pub(super) fn build_updated_order(&self, repository: usize) {
        for thread_index in &self.repositories[repository].thread_indexes {
            thread_index.sorted_positions(ThreadOrder::Updated, |index| {
                self.threads[index].versions.current()
            });
        }
    }

    pub(super) fn change_thread(
        &mut self,
        index: usize,
        now_ms: i64,
        change: impl FnOnce(&mut SimThread),
    ) {
        let Some(mut next) = self.threads[index].versions.current().cloned() else { return };
        let closed_before = (next.closed_ms, next.merged_ms);
        change(&mut next);
        if (next.closed_ms, next.merged_ms) != closed_before {
            next.closed_ms = next.closed_ms.map(|ms| self.service_time(ms));
            next.merged_ms = next.merged_ms.map(|ms| self.service_time(ms));
        }
        if let Some(touched_ms) = next.touched_ms.take() {
            next.updated_ms = self.updated_stamp(next.updated_ms, touched_ms, now_ms);
        }
        let listed = self.pick_listing_time(now_ms);
        let versions = &mut self.threads[index].versions;
        let thread_index =
            &mut self.repositories[next.repository].thread_indexes[kind_slot(next.kind)];
        thread_index.update_thread(versions.current(), Some(&next), listed);
        versions.push_or_replace(now_ms, listed, next);
    }

    pub(super) fn remove_thread(&mut self, index: usize, now_ms: i64) {
        let listed = self.pick_listing_time(now_ms);
        let versions = &mut self.threads[index].versions;
        if let Some(last) = versions.current() {
            let thread_index =
                &mut self.repositories[last.repository].thread_indexes[kind_slot(last.kind)];
            thread_index.update_thread(Some(last), None, listed);
        }
        versions.push(now_ms, listed, None);
    }

    pub(super) fn restore_thread(&mut self, index: usize, now_ms: i64) {
        let listed = self.pick_listing_time(now_ms);
        let versions = &mut self.threads[index].versions;
        let Some(last) = versions.last_state_at(now_ms).cloned() else { return };
        let thread_index =
            &mut self.repositories[last.repository].thread_indexes[kind_slot(last.kind)];
        thread_index.update_thread(None, Some(&last), listed);
        versions.push(now_ms, listed, Some(last));
    }

    pub(super) fn move_thread(&mut self, index: usize, to: usize, now_ms: i64) -> Option<usize> {
        let old = self.threads[index].versions.current().cloned()?;
        let draft = self.draft_thread(old.kind, to, old.title.clone(), old.body.clone(), now_ms);
        let moved = SimThread {
            index: draft.index,
            id: draft.id,
            node_id: draft.node_id,
            issue_id: draft.issue_id,
            number: draft.number,
            repository: to,
            updated_ms: self.updated_stamp(old.updated_ms, now_ms, now_ms),
            ..old
        };
        let moved = self.insert_thread(moved, now_ms);
        self.remove_thread(index, now_ms);
        self.threads[index].moved_to = Some(moved);
        for comment in self.threads[index].comments.clone() {
            self.change_comment(comment, now_ms, |comment| comment.thread = moved);
            self.threads[moved].comments.push(comment);
        }
        Some(moved)
    }

    /// Replaces an issue with a discussion, including its comments.
    pub(super) fn convert_thread(&mut self, index: usize, now_ms: i64) -> Option<usize> {
        let old = self.threads[index].versions.current().cloned()?;
        let kind = ThreadKind::Discussion;
        let draft =
            self.draft_thread(kind, old.repository, old.title.clone(), old.body.clone(), now_ms);
        let discussion = SimThread {
            author: old.author,
            labels: old.labels,
            created_ms: old.created_ms,
            updated_ms: self.updated_stamp(old.updated_ms, now_ms, now_ms),
            ..draft
        };
        let discussion = self.insert_thread(discussion, now_ms);
        for comment in self.threads[index].comments.clone() {
            self.copy_comment_to_discussion(comment, discussion, now_ms);
        }
        self.remove_thread(index, now_ms);
        Some(discussion)
    }

    pub(super) fn thread_index(&self, kind: ThreadKind, id: i64) -> usize {
        let found = self.thread_ids.get(&(kind, id));
        *found.expect("the thread was created before")
    }
}

fn length_as_i64(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

pub(super) fn kind_slot(kind: ThreadKind) -> usize {
    match kind {
        ThreadKind::Issue => 0,
        ThreadKind::PullRequest => 1,
        ThreadKind::Discussion => 2,
    }
}

fn thread_id_prefix(kind: ThreadKind) -> &'static str {
    match kind {
        ThreadKind::Issue => "I",
        ThreadKind::PullRequest => "PR",
        ThreadKind::Discussion => "D",
    }
}
