//! How threads enter the record, change in it and leave it.

use std::sync::Arc;

use super::objects::ThreadKind;
use super::texts::{Text, one_of};
use super::{Found, OrderBy, Thread, ThreadEntry, Versions, World, next_id, node_id};

const CATEGORIES: [&str; 4] = ["General", "Ideas", "Q&A", "Announcements"];

impl World {
    pub(super) fn add_thread(
        &mut self,
        kind: ThreadKind,
        repository: usize,
        title: Text,
        body: Text,
        now_ms: i64,
    ) -> usize {
        let thread = self.draft(kind, repository, title, body, now_ms);
        self.insert_thread(thread, now_ms)
    }

    fn draft(
        &mut self,
        kind: ThreadKind,
        repository: usize,
        title: Text,
        body: Text,
        now_ms: i64,
    ) -> Thread {
        let id = next_id(self.ids.thread(kind), &mut self.dice);
        let issue_id = match kind {
            ThreadKind::PullRequest => self.issue_id_other_than(id),
            ThreadKind::Issue | ThreadKind::Discussion => id,
        };
        let number = 1 + count(self.repositories[repository].numbered.len());
        Thread {
            index: self.threads.len(),
            kind,
            id,
            node_id: node_id(prefix(kind), id),
            issue_id,
            number,
            repository,
            title,
            body,
            open: true,
            state_reason: None,
            author: self.living_user(),
            labels: Vec::new(),
            created_ms: self.stamp(now_ms),
            updated_ms: self.stamp(now_ms),
            touched_ms: None,
            closed_ms: None,
            merged_ms: None,
            is_draft: self.dice.u8(0..5) == 0,
            head_seed: self.dice.u64(..),
            closes: if kind == ThreadKind::PullRequest && 1 < number && self.dice.bool() {
                vec![self.dice.i64(1..number)]
            } else {
                Vec::new()
            },
            category: one_of(&mut self.dice, &CATEGORIES),
            is_answered: false,
        }
    }

    fn issue_id_other_than(&mut self, id: i64) -> i64 {
        match next_id(&mut self.ids.issue, &mut self.dice) {
            same if same == id => next_id(&mut self.ids.issue, &mut self.dice),
            other => other,
        }
    }

    fn insert_thread(&mut self, thread: Thread, now_ms: i64) -> usize {
        let index = thread.index;
        self.nodes.insert(Arc::clone(&thread.node_id), Found::Thread(index));
        self.thread_ids.insert((thread.kind, thread.id), index);
        let listed = self.listed_from(now_ms);
        let home = &mut self.repositories[thread.repository];
        home.threads[slot(thread.kind)].add(&thread, listed);
        home.numbered.push(index);
        let versions = Versions::new(now_ms, listed, thread);
        self.threads.push(ThreadEntry {
            versions,
            comments: Vec::new(),
            moved_to: None,
            unlisted_until_ms: i64::MIN,
        });
        index
    }

    /// The stamp of a change that was made at `touched_ms` and is known at `now_ms`: it moves back only where
    /// the clock did, which left a stamp in the future.
    pub(super) fn restamped(&self, updated_ms: i64, touched_ms: i64, now_ms: i64) -> i64 {
        let stamp = self.stamp(touched_ms);
        if updated_ms > self.stamp(now_ms) + 60_000 { stamp } else { stamp.max(updated_ms) }
    }

    /// Makes the order that readers ask for first, so that no request pays for it.
    pub(super) fn put_in_order(&self, repository: usize) {
        for shelf in &self.repositories[repository].threads {
            shelf.order(OrderBy::Updated, |index| self.threads[index].versions.now());
        }
    }

    pub(super) fn change_thread(
        &mut self,
        index: usize,
        now_ms: i64,
        change: impl FnOnce(&mut Thread),
    ) {
        let Some(mut next) = self.threads[index].versions.now().cloned() else { return };
        change(&mut next);
        if let Some(touched_ms) = next.touched_ms.take() {
            next.updated_ms = self.restamped(next.updated_ms, touched_ms, now_ms);
        }
        let listed = self.listed_from(now_ms);
        let versions = &mut self.threads[index].versions;
        let shelf = &mut self.repositories[next.repository].threads[slot(next.kind)];
        shelf.change(versions.now(), Some(&next), listed);
        versions.push_or_replace(now_ms, listed, next);
    }

    pub(super) fn remove_thread(&mut self, index: usize, now_ms: i64) {
        let listed = self.listed_from(now_ms);
        let versions = &mut self.threads[index].versions;
        if let Some(last) = versions.now() {
            let shelf = &mut self.repositories[last.repository].threads[slot(last.kind)];
            shelf.change(Some(last), None, listed);
        }
        versions.push(now_ms, listed, None);
    }

    pub(super) fn return_thread(&mut self, index: usize, now_ms: i64) {
        let listed = self.listed_from(now_ms);
        let versions = &mut self.threads[index].versions;
        let Some(last) = versions.last_at(now_ms).cloned() else { return };
        let shelf = &mut self.repositories[last.repository].threads[slot(last.kind)];
        shelf.change(None, Some(&last), listed);
        versions.push(now_ms, listed, Some(last));
    }

    pub(super) fn transfer(&mut self, index: usize, to: usize, now_ms: i64) -> Option<usize> {
        let old = self.threads[index].versions.now().cloned()?;
        let fresh = self.draft(old.kind, to, old.title.clone(), old.body.clone(), now_ms);
        let moved = Thread {
            index: fresh.index,
            id: fresh.id,
            node_id: fresh.node_id,
            issue_id: fresh.issue_id,
            number: fresh.number,
            repository: to,
            updated_ms: self.restamped(old.updated_ms, now_ms, now_ms),
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

    /// A discussion takes the place of an issue, with all that was said.
    pub(super) fn convert(&mut self, index: usize, now_ms: i64) -> Option<usize> {
        let old = self.threads[index].versions.now().cloned()?;
        let kind = ThreadKind::Discussion;
        let fresh = self.draft(kind, old.repository, old.title.clone(), old.body.clone(), now_ms);
        let talk = Thread {
            author: old.author,
            labels: old.labels,
            created_ms: old.created_ms,
            updated_ms: self.restamped(old.updated_ms, now_ms, now_ms),
            ..fresh
        };
        let talk = self.insert_thread(talk, now_ms);
        for comment in self.threads[index].comments.clone() {
            self.retell_comment(comment, talk, now_ms);
        }
        self.remove_thread(index, now_ms);
        Some(talk)
    }

    pub(super) fn thread_index(&self, kind: ThreadKind, id: i64) -> usize {
        let found = self.thread_ids.get(&(kind, id));
        *found.expect("a verb names a thread that was created before")
    }
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

pub(super) fn slot(kind: ThreadKind) -> usize {
    match kind {
        ThreadKind::Issue => 0,
        ThreadKind::PullRequest => 1,
        ThreadKind::Discussion => 2,
    }
}

fn prefix(kind: ThreadKind) -> &'static str {
    match kind {
        ThreadKind::Issue => "I",
        ThreadKind::PullRequest => "PR",
        ThreadKind::Discussion => "D",
    }
}
