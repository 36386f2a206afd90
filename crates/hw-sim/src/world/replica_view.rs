//! The world as one replica serves it: objects as of its own time, lists as they were updated.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::comments::review_thread_node_id;
use super::objects::{CommentKind, ThreadKind};
use super::thread_store::kind_slot;
use super::{
    SimComment, SimOwner, SimRepository, SimThread, SimUser, ThreadOrder, ThreadPosition, World,
};
use crate::github::PaginationLoop;

/// The object behind a node id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeTarget {
    Owner(usize),
    Repository(usize),
    Thread(usize),
    Comment(usize),
    /// The comments on one line, by the first of them.
    ReviewThread(usize),
    User(usize),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplicaView<'w> {
    world: &'w World,
    at_ms: i64,
    /// True if it includes content that is disabled or to which the token has no access.
    shows_all: bool,
    /// True if repositories and their content are not found by node id.
    hides_nodes: bool,
    /// Listings to which the token has no access.
    forbidden_lists: Option<&'w BTreeSet<(i64, ThreadKind)>>,
    pagination_loop: Option<PaginationLoop>,
}

impl<'w> ReplicaView<'w> {
    pub(super) fn new(world: &'w World, at_ms: i64) -> Self {
        Self {
            world,
            at_ms,
            shows_all: false,
            hides_nodes: false,
            forbidden_lists: None,
            pagination_loop: None,
        }
    }

    /// Returns the view with everything that is hidden from the token.
    pub(crate) fn including_hidden(self) -> Self {
        Self { shows_all: true, ..self }
    }

    /// Hides repositories and their content from lookups by node id, if set.
    pub(crate) fn with_hidden_nodes(self, hides_nodes: bool) -> Self {
        Self { hides_nodes, ..self }
    }

    pub(crate) fn with_forbidden_lists(self, forbidden: &'w BTreeSet<(i64, ThreadKind)>) -> Self {
        Self { forbidden_lists: Some(forbidden), ..self }
    }

    pub(crate) fn with_pagination_loop(self, pagination_loop: Option<PaginationLoop>) -> Self {
        Self { pagination_loop, ..self }
    }

    pub(crate) fn is_list_forbidden(self, repository: &SimRepository, kind: ThreadKind) -> bool {
        self.forbidden_lists.is_some_and(|forbidden| forbidden.contains(&(repository.id, kind)))
    }

    /// Returns the way in which listings loop, if they do.
    pub(crate) fn pagination_loop(self) -> Option<PaginationLoop> {
        self.pagination_loop
    }

    pub(crate) fn web_url(self) -> &'w str {
        &self.world.web_url
    }

    /// Returns the owner of a repository.
    pub(crate) fn owner_of(self, repository: &SimRepository) -> &'w SimOwner {
        self.owner(repository.owner)
    }

    pub(crate) fn owner(self, index: usize) -> &'w SimOwner {
        &self.world.owners[index]
    }

    pub(crate) fn owner_by_login(self, login: &str) -> Option<&'w SimOwner> {
        let mut visible = self.world.owners.iter().filter(|owner| !owner.is_hidden);
        visible.find(|owner| owner.login.eq_ignore_ascii_case(login))
    }

    pub(crate) fn viewer(self) -> &'w SimUser {
        &self.world.users[self.world.viewer].user
    }

    pub(crate) fn user(self, index: usize) -> &'w SimUser {
        &self.world.users[index].user
    }

    /// Returns the relation of a thread's author to its repository.
    pub(crate) fn thread_association(self, thread: &SimThread) -> &'static str {
        self.association(thread.author, thread.repository)
    }

    /// Returns the relation of a comment's author to its repository.
    pub(crate) fn comment_association(self, comment: &SimComment) -> &'static str {
        let thread = self.world.threads[comment.thread].versions.last_state_at(i64::MAX);
        thread.map_or("NONE", |thread| self.association(comment.author, thread.repository))
    }

    fn association(self, author: Option<usize>, repository: usize) -> &'static str {
        const WORDS: [&str; 5] = ["OWNER", "MEMBER", "CONTRIBUTOR", "NONE", "COLLABORATOR"];
        let set = author.and_then(|author| self.world.associations.get(&(author, repository)));
        let author = author.filter(|index| self.user(*index).type_name != "Bot");
        let usual = author.map(|author| WORDS[(author + repository) % WORDS.len()]);
        set.copied().or(usual).unwrap_or("NONE")
    }

    pub(crate) fn resolve_node(self, id: &str) -> Option<NodeTarget> {
        let found = self.world.nodes.get(id).copied()?;
        let is_always_found = matches!(found, NodeTarget::Owner(_) | NodeTarget::User(_));
        (is_always_found || !self.hides_nodes).then_some(found)
    }

    pub(crate) fn repository(self, index: usize) -> Option<&'w SimRepository> {
        let found = self.world.repositories[index].versions.state_at(self.at_ms);
        found.filter(|repository| self.shows_all || !repository.is_hidden)
    }

    /// Returns the repository of a thread, or its last one if only a list still contains the thread.
    pub(crate) fn home_repository(self, thread: &SimThread) -> Option<&'w SimRepository> {
        self.world.repositories[thread.repository].versions.last_state_at(self.at_ms)
    }

    pub(crate) fn repository_by_id(self, id: i64) -> Option<&'w SimRepository> {
        self.repositories().find(|found| found.id == id)
    }

    /// Returns the repository with this name, or, if `follows_renames`, the existing one that had it last: a name that
    /// was taken over never leads back to its earlier repositories.
    pub(crate) fn repository_by_name(
        self,
        login: &str,
        name: &str,
        follows_renames: bool,
    ) -> Option<&'w SimRepository> {
        let owners = &self.world.owners;
        let owner = owners.iter().position(|owner| owner.login.eq_ignore_ascii_case(login))?;
        let holders = self.world.name_holders.get(&(owner, name.to_lowercase()))?;
        let last = holders.iter().rev().find(|index| self.had_name(**index, owner, name))?;
        let found = self.repository(*last)?;
        (follows_renames || has_name(found, owner, name)).then_some(found)
    }

    fn had_name(self, index: usize, owner: usize, name: &str) -> bool {
        let versions = self.world.repositories[index].versions.iter();
        let mut known = versions.filter(|version| version.at_ms <= self.at_ms);
        known
            .any(|version| version.state.as_ref().is_some_and(|state| has_name(state, owner, name)))
    }

    pub(crate) fn thread(self, index: usize) -> Option<&'w SimThread> {
        let thread = self.world.threads[index].versions.state_at(self.at_ms)?;
        let repository = self.repository(thread.repository)?;
        (self.shows_all || repository.has_threads(thread.kind)).then_some(thread)
    }

    pub(crate) fn thread_by_number(self, repository: usize, number: i64) -> Option<&'w SimThread> {
        self.thread(self.index_by_number(repository, number)?)
    }

    /// Finds out whether the thread that had this number moved or was deleted; returns `None` if this replica never
    /// knew it, or if it moved out of the token's sight.
    pub(crate) fn find_departure(
        self,
        repository: usize,
        number: i64,
    ) -> Option<ThreadDeparture<'w>> {
        let mut index = self.index_by_number(repository, number)?;
        let versions = &self.world.threads[index].versions;
        versions.iter().find(|version| version.at_ms <= self.at_ms)?;
        while let Some(next) = self.world.threads[index].moved_to {
            index = next;
        }
        match self.including_hidden().thread(index) {
            None => Some(ThreadDeparture::Deleted),
            Some(_) => self.thread(index).map(ThreadDeparture::Moved),
        }
    }

    fn index_by_number(self, repository: usize, number: i64) -> Option<usize> {
        let position = usize::try_from(number.checked_sub(1)?).ok()?;
        self.world.repositories[repository].threads_by_number.get(position).copied()
    }

    pub(crate) fn comment(self, index: usize) -> Option<&'w SimComment> {
        let comment = self.world.comments[index].versions.state_at(self.at_ms)?;
        if comment.kind == CommentKind::Reply {
            // a reply is reachable through its parent only
            self.comment(comment.parent?)?;
        }
        self.thread(comment.thread).map(|_| comment)
    }

    /// Returns the first comment that still exists of those on one line, which begin with `root`.
    pub(crate) fn review_thread(self, root: usize) -> Option<&'w SimComment> {
        let versions = &self.world.comments[root].versions;
        let thread = versions.last_state_at(self.at_ms)?.thread;
        let mut comments = self.world.threads[thread].comments.iter();
        comments.find_map(|index| {
            self.comment(*index).filter(|comment| {
                comment.kind == CommentKind::ReviewComment && comment.root_index() == root
            })
        })
    }

    /// Returns the id of the first comment on the line of this one, deleted or not.
    pub(crate) fn review_thread_id(self, comment: &SimComment) -> i64 {
        let root = self.world.comments[comment.root_index()].versions.last_state_at(i64::MAX);
        root.map_or(comment.id, |root| root.id)
    }

    pub(crate) fn review_thread_node_id(self, comment: &SimComment) -> Arc<str> {
        review_thread_node_id(self.review_thread_id(comment))
    }

    /// Returns true if the comment was on another thread first.
    pub(crate) fn was_transferred(self, comment: &SimComment) -> bool {
        let versions = self.world.comments[comment.index].versions.iter();
        let mut states = versions.filter_map(|version| version.state.as_ref());
        states.any(|state| state.thread != comment.thread)
    }

    /// Returns true if a thread was hidden for a while.
    pub(crate) fn was_thread_hidden(self, thread: &SimThread) -> bool {
        self.world.unhidden_threads.contains(&thread.index)
    }

    /// Returns true if a comment or its parent was hidden for a while.
    pub(crate) fn was_comment_hidden(self, comment: &SimComment) -> bool {
        let is_child_of_hidden =
            comment.parent.is_some_and(|parent| self.world.unhidden_comments.contains(&parent));
        self.world.unhidden_comments.contains(&comment.index) || is_child_of_hidden
    }

    pub(crate) fn repositories(self) -> impl Iterator<Item = &'w SimRepository> {
        (0..self.world.repositories.len()).filter_map(move |index| self.repository(index))
    }

    pub(crate) fn threads(self) -> impl Iterator<Item = &'w SimThread> {
        (0..self.world.threads.len()).filter_map(move |index| self.thread(index))
    }

    /// Returns the threads of one kind that ever were in a repository and exist.
    pub(crate) fn repository_threads(
        self,
        repository: usize,
        kind: ThreadKind,
    ) -> impl Iterator<Item = &'w SimThread> {
        let indexes = &self.world.repositories[repository].thread_indexes[kind_slot(kind)].threads;
        indexes.iter().filter_map(move |index| self.thread(*index))
    }

    pub(crate) fn comments(self) -> impl Iterator<Item = &'w SimComment> {
        (0..self.world.comments.len()).filter_map(move |index| self.comment(index))
    }

    pub(crate) fn listed_repositories(
        self,
        owner: &SimOwner,
    ) -> impl Iterator<Item = &'w SimRepository> {
        let owner_id = owner.id;
        let listed = self
            .world
            .repositories
            .iter()
            .filter_map(move |entry| entry.versions.listed_at(self.at_ms));
        // a list may lag with everything except the token's rights
        listed.filter(move |repository| {
            self.owner_of(repository).id == owner_id
                && !repository.is_hidden
                && !self.is_repository_hidden(repository.index)
        })
    }

    fn is_repository_hidden(self, index: usize) -> bool {
        self.including_hidden().repository(index).is_some_and(|repository| repository.is_hidden)
    }

    /// Returns the threads in a list, which is empty if that kind is disabled.
    pub(crate) fn listed_threads(
        self,
        repository: &SimRepository,
        kind: ThreadKind,
    ) -> impl Iterator<Item = &'w SimThread> {
        let thread_index =
            &self.world.repositories[repository.index].thread_indexes[kind_slot(kind)];
        let indexes = if repository.has_threads(kind) { &thread_index.threads[..] } else { &[] };
        let entries = indexes.iter().map(move |index| &self.world.threads[*index]);
        entries
            .filter(move |entry| entry.unlisted_until_ms <= self.at_ms)
            .filter_map(move |entry| entry.versions.listed_at(self.at_ms))
    }

    /// Returns the threads of a list in order, or `None` if the list may lag behind the current state.
    pub(crate) fn ordered_threads(
        self,
        repository: &SimRepository,
        kind: ThreadKind,
        order: ThreadOrder,
    ) -> Option<&'w [ThreadPosition]> {
        if !repository.has_threads(kind) {
            return Some(&[]);
        }
        let thread_index =
            &self.world.repositories[repository.index].thread_indexes[kind_slot(kind)];
        thread_index.is_settled(self.at_ms).then(|| {
            thread_index
                .sorted_positions(order, |index| self.world.threads[index].versions.current())
        })
    }

    /// Returns the current state of a thread, visible or not.
    pub(crate) fn current_thread(self, index: usize) -> Option<&'w SimThread> {
        self.world.threads[index].versions.current()
    }

    pub(crate) fn listed_comments(
        self,
        thread: usize,
        kind: CommentKind,
    ) -> impl Iterator<Item = &'w SimComment> {
        let indexes = &self.world.threads[thread].comments;
        let listed = indexes.iter().filter_map(move |index| self.listed_comment(*index));
        listed.filter(move |comment| comment.kind == kind && comment.thread == thread)
    }

    pub(crate) fn listed_children(self, parent: usize) -> impl Iterator<Item = &'w SimComment> {
        let indexes = &self.world.comments[parent].children;
        indexes.iter().filter_map(move |index| self.listed_comment(*index))
    }

    fn listed_comment(self, index: usize) -> Option<&'w SimComment> {
        let entry = &self.world.comments[index];
        let is_listed = entry.unlisted_until_ms <= self.at_ms;
        entry.versions.listed_at(self.at_ms).filter(|_| is_listed)
    }
}

fn has_name(repository: &SimRepository, owner: usize, name: &str) -> bool {
    repository.owner == owner && repository.name.eq_ignore_ascii_case(name)
}

/// The reason why a thread is no longer in its repository.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ThreadDeparture<'w> {
    Deleted,
    Moved(&'w SimThread),
}
