//! The world as one replica shows it: objects as of its moment, lists as of their own.

use super::ledger::slot;
use super::objects::{CommentKind, ThreadKind};
use super::{Comment, Repository, Thread, User, World};

/// What a node id leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Organization,
    Repository(usize),
    Thread(usize),
    Comment(usize),
    User(usize),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'w> {
    world: &'w World,
    at_ms: i64,
}

impl<'w> View<'w> {
    pub(super) fn new(world: &'w World, at_ms: i64) -> Self {
        Self { world, at_ms }
    }

    pub(crate) fn organization(self) -> &'w str {
        &self.world.organization
    }

    pub(crate) fn viewer(self) -> &'w User {
        &self.world.users[self.world.viewer].user
    }

    pub(crate) fn user(self, index: usize) -> &'w User {
        &self.world.users[index].user
    }

    pub(crate) fn node(self, id: &str) -> Option<Found> {
        self.world.nodes.get(id).copied()
    }

    pub(crate) fn repository(self, index: usize) -> Option<&'w Repository> {
        self.world.repositories[index].versions.at(self.at_ms)
    }

    pub(crate) fn repository_by_id(self, id: i64) -> Option<&'w Repository> {
        let entries = self.world.repositories.iter();
        entries.filter_map(|entry| entry.versions.at(self.at_ms)).find(|found| found.id == id)
    }

    /// Whoever has the name now; else, if asked to, whoever had it last.
    pub(crate) fn repository_named(self, name: &str, follow: bool) -> Option<&'w Repository> {
        let holders = self.world.names.get(&name.to_lowercase())?;
        let mut there = holders.iter().rev().filter_map(|index| self.repository(*index));
        let current = there.clone().find(|found| found.name.eq_ignore_ascii_case(name));
        current.or_else(|| follow.then(|| there.next()).flatten())
    }

    pub(crate) fn thread(self, index: usize) -> Option<&'w Thread> {
        let thread = self.world.threads[index].versions.at(self.at_ms)?;
        self.repository(thread.repository).map(|_| thread)
    }

    pub(crate) fn thread_numbered(self, repository: usize, number: i64) -> Option<&'w Thread> {
        self.thread(self.ever_numbered(repository, number)?)
    }

    /// Where a thread that had this number went, or that it is gone for good; `None` when it was
    /// never there, as far as this replica knows.
    pub(crate) fn departed(self, repository: usize, number: i64) -> Option<Departure<'w>> {
        let mut index = self.ever_numbered(repository, number)?;
        let versions = &self.world.threads[index].versions;
        versions.iter().find(|version| version.at_ms <= self.at_ms)?;
        while let Some(next) = self.world.threads[index].moved_to {
            index = next;
        }
        Some(self.thread(index).map_or(Departure::Deleted, Departure::Moved))
    }

    fn ever_numbered(self, repository: usize, number: i64) -> Option<usize> {
        let position = usize::try_from(number.checked_sub(1)?).ok()?;
        self.world.repositories[repository].numbered.get(position).copied()
    }

    pub(crate) fn comment(self, index: usize) -> Option<&'w Comment> {
        let comment = self.world.comments[index].versions.at(self.at_ms)?;
        self.thread(comment.thread).map(|_| comment)
    }

    pub(crate) fn repositories(self) -> impl Iterator<Item = &'w Repository> {
        (0..self.world.repositories.len()).filter_map(move |index| self.repository(index))
    }

    pub(crate) fn threads(self) -> impl Iterator<Item = &'w Thread> {
        (0..self.world.threads.len()).filter_map(move |index| self.thread(index))
    }

    pub(crate) fn comments(self) -> impl Iterator<Item = &'w Comment> {
        (0..self.world.comments.len()).filter_map(move |index| self.comment(index))
    }

    pub(crate) fn listed_repositories(self) -> impl Iterator<Item = &'w Repository> {
        self.world.repositories.iter().filter_map(move |entry| entry.versions.listed(self.at_ms))
    }

    pub(crate) fn listed_threads(
        self,
        repository: usize,
        kind: ThreadKind,
    ) -> impl Iterator<Item = &'w Thread> {
        let indexes = &self.world.repositories[repository].threads[slot(kind)];
        indexes
            .iter()
            .filter_map(move |index| self.world.threads[*index].versions.listed(self.at_ms))
    }

    pub(crate) fn listed_comments(
        self,
        thread: usize,
        kind: CommentKind,
    ) -> impl Iterator<Item = &'w Comment> {
        let indexes = &self.world.threads[thread].comments;
        let listed = indexes
            .iter()
            .filter_map(move |index| self.world.comments[*index].versions.listed(self.at_ms));
        listed.filter(move |comment| comment.kind == kind && comment.thread == thread)
    }

    pub(crate) fn listed_children(self, parent: usize) -> impl Iterator<Item = &'w Comment> {
        let indexes = &self.world.comments[parent].children;
        indexes
            .iter()
            .filter_map(move |index| self.world.comments[*index].versions.listed(self.at_ms))
    }
}

/// What became of a thread that is not where it was.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Departure<'w> {
    Deleted,
    Moved(&'w Thread),
}
