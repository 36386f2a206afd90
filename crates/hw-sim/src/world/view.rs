//! The world as one replica shows it: objects as of its moment, lists as of their own.

use std::collections::BTreeSet;

use super::ledger::slot;
use super::objects::{CommentKind, ThreadKind};
use super::{Comment, OrderBy, Place, Repository, Thread, User, World};
use crate::github::Circle;

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
    /// Whether it also shows what the token has no access to and what is switched off.
    shows_all: bool,
    /// Whether no repository and nothing in one is found by its node id.
    hides_nodes: bool,
    /// Listings that the token may not look into.
    forbidden: Option<&'w BTreeSet<(i64, ThreadKind)>>,
    circle: Option<Circle>,
}

impl<'w> View<'w> {
    pub(super) fn new(world: &'w World, at_ms: i64) -> Self {
        Self { world, at_ms, shows_all: false, hides_nodes: false, forbidden: None, circle: None }
    }

    /// The same moment without anything hidden: for whoever must know what really is.
    pub(crate) fn of_everything(self) -> Self {
        Self { shows_all: true, ..self }
    }

    /// The same, with every repository and everything in one out of reach by node id.
    pub(crate) fn hiding_nodes(self, hides_nodes: bool) -> Self {
        Self { hides_nodes, ..self }
    }

    pub(crate) fn forbidding(self, forbidden: &'w BTreeSet<(i64, ThreadKind)>) -> Self {
        Self { forbidden: Some(forbidden), ..self }
    }

    pub(crate) fn turning(self, circle: Option<Circle>) -> Self {
        Self { circle, ..self }
    }

    pub(crate) fn is_forbidden(self, at: &Repository, kind: ThreadKind) -> bool {
        self.forbidden.is_some_and(|forbidden| forbidden.contains(&(at.id, kind)))
    }

    /// How listings lead nowhere, if they do.
    pub(crate) fn circle(self) -> Option<Circle> {
        self.circle
    }

    pub(crate) fn web_url(self) -> &'w str {
        &self.world.web_url
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
        let found = self.world.nodes.get(id).copied()?;
        let always = matches!(found, Found::Organization | Found::User(_));
        (always || !self.hides_nodes).then_some(found)
    }

    pub(crate) fn repository(self, index: usize) -> Option<&'w Repository> {
        let found = self.world.repositories[index].versions.at(self.at_ms);
        found.filter(|it| self.shows_all || !it.is_hidden)
    }

    /// Where a thread is or, if a list still shows it, was.
    pub(crate) fn home(self, thread: &Thread) -> Option<&'w Repository> {
        self.world.repositories[thread.repository].versions.last_at(self.at_ms)
    }

    pub(crate) fn repository_by_id(self, id: i64) -> Option<&'w Repository> {
        self.repositories().find(|found| found.id == id)
    }

    /// Whoever has the name now; else, if asked to, whoever had it last, if that one is still there:
    /// a name that was taken over never leads back to those who had it before.
    pub(crate) fn repository_named(self, name: &str, follow: bool) -> Option<&'w Repository> {
        let holders = self.world.names.get(&name.to_lowercase())?;
        let last = holders.iter().rev().find(|index| self.had_name(**index, name))?;
        let found = self.repository(*last)?;
        (follow || found.name.eq_ignore_ascii_case(name)).then_some(found)
    }

    fn had_name(self, index: usize, name: &str) -> bool {
        let versions = self.world.repositories[index].versions.iter();
        let mut known = versions.filter(|version| version.at_ms <= self.at_ms);
        known.any(|version| {
            version.state.as_ref().is_some_and(|it| it.name.eq_ignore_ascii_case(name))
        })
    }

    pub(crate) fn thread(self, index: usize) -> Option<&'w Thread> {
        let thread = self.world.threads[index].versions.at(self.at_ms)?;
        let home = self.repository(thread.repository)?;
        (self.shows_all || home.has(thread.kind)).then_some(thread)
    }

    pub(crate) fn thread_numbered(self, repository: usize, number: i64) -> Option<&'w Thread> {
        self.thread(self.ever_numbered(repository, number)?)
    }

    /// Where a thread that had this number went, or that it is gone for good; `None` when it was
    /// never there as far as this replica knows, or went where the token cannot follow.
    pub(crate) fn departed(self, repository: usize, number: i64) -> Option<Departure<'w>> {
        let mut index = self.ever_numbered(repository, number)?;
        let versions = &self.world.threads[index].versions;
        versions.iter().find(|version| version.at_ms <= self.at_ms)?;
        while let Some(next) = self.world.threads[index].moved_to {
            index = next;
        }
        match self.of_everything().thread(index) {
            None => Some(Departure::Deleted),
            Some(_) => self.thread(index).map(Departure::Moved),
        }
    }

    fn ever_numbered(self, repository: usize, number: i64) -> Option<usize> {
        let position = usize::try_from(number.checked_sub(1)?).ok()?;
        self.world.repositories[repository].numbered.get(position).copied()
    }

    pub(crate) fn comment(self, index: usize) -> Option<&'w Comment> {
        let comment = self.world.comments[index].versions.at(self.at_ms)?;
        if comment.kind == CommentKind::Reply {
            // only what it answers leads to it
            self.comment(comment.parent?)?;
        }
        self.thread(comment.thread).map(|_| comment)
    }

    /// Whether it was said in another thread first.
    pub(crate) fn came_from_elsewhere(self, it: &Comment) -> bool {
        let versions = self.world.comments[it.index].versions.iter();
        let mut states = versions.filter_map(|version| version.state.as_ref());
        states.any(|then| then.thread != it.thread)
    }

    /// Whether a thread was hidden for a while.
    pub(crate) fn was_thread_hidden(self, it: &Thread) -> bool {
        self.world.threads_shown_again.contains(&it.index)
    }

    /// Whether it was hidden for a while, or what it answers was.
    pub(crate) fn was_hidden(self, it: &Comment) -> bool {
        let is_child_of_hidden =
            it.parent.is_some_and(|parent| self.world.shown_again.contains(&parent));
        self.world.shown_again.contains(&it.index) || is_child_of_hidden
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
        let listed = self
            .world
            .repositories
            .iter()
            .filter_map(move |entry| entry.versions.listed(self.at_ms));
        // a list may be late with anything but the token's rights
        listed.filter(move |it| !it.is_hidden && !self.is_hidden(it.index))
    }

    fn is_hidden(self, index: usize) -> bool {
        self.of_everything().repository(index).is_some_and(|it| it.is_hidden)
    }

    /// None of them where that kind is switched off.
    pub(crate) fn listed_threads(
        self,
        at: &Repository,
        kind: ThreadKind,
    ) -> impl Iterator<Item = &'w Thread> {
        let shelf = &self.world.repositories[at.index].threads[slot(kind)];
        let indexes = if at.has(kind) { &shelf.threads[..] } else { &[] };
        let entries = indexes.iter().map(move |index| &self.world.threads[*index]);
        entries
            .filter(move |entry| entry.unlisted_until_ms <= self.at_ms)
            .filter_map(move |entry| entry.versions.listed(self.at_ms))
    }

    /// What a list shows, in order, where that is what is there now; `None` where a list may be late.
    pub(crate) fn ordered_threads(
        self,
        at: &Repository,
        kind: ThreadKind,
        by: OrderBy,
    ) -> Option<&'w [Place]> {
        if !at.has(kind) {
            return Some(&[]);
        }
        let shelf = &self.world.repositories[at.index].threads[slot(kind)];
        let now = |index: usize| self.world.threads[index].versions.now();
        shelf.is_settled(self.at_ms).then(|| shelf.order(by, now))
    }

    /// A thread as it is now, whoever may see it.
    pub(crate) fn thread_now(self, index: usize) -> Option<&'w Thread> {
        self.world.threads[index].versions.now()
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
