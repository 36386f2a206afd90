//! Verbs on repositories and accounts.

use std::sync::Arc;

use super::texts::Text;
use super::{Found, Repository, RepositoryEntry, Versions, World, next_id, node_id};

impl World {
    /// A new, empty repository.
    pub fn create_repository(&mut self, name: &str, now_ms: i64) -> i64 {
        let index = self.add_repository(name, now_ms);
        self.repositories[index].versions.now().map_or(0, |repository| repository.id)
    }

    /// Its old name goes on leading to it until somebody else takes that name.
    pub fn rename_repository(&mut self, id: i64, name: &str, now_ms: i64) {
        let index = self.repository_index(id);
        self.give_name(index, name, now_ms);
    }

    pub fn archive_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.change_repository(index, now_ms, |repository| repository.is_archived = true);
    }

    pub fn unarchive_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.change_repository(index, now_ms, |repository| repository.is_archived = false);
    }

    /// Without issues, its list of them is empty and each of them is not found; nothing is deleted,
    /// and all come back when they are switched on again.
    pub fn switch_issues(&mut self, repository: i64, on: bool, now_ms: i64) {
        let index = self.repository_index(repository);
        self.change_repository(index, now_ms, |repository| repository.has_issues = on);
    }

    /// The same for discussions.
    pub fn switch_discussions(&mut self, repository: i64, on: bool, now_ms: i64) {
        let index = self.repository_index(repository);
        self.change_repository(index, now_ms, |repository| repository.has_discussions = on);
    }

    /// The token loses its access: the repository and everything in it is not found any more, while
    /// others go on writing there.
    pub fn hide_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.record_repository(index, now_ms, |repository| repository.is_hidden = true);
    }

    /// The token has its access back.
    pub fn show_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.record_repository(index, now_ms, |repository| repository.is_hidden = false);
    }

    /// The label has another name on every thread of the repository, and no time moves.
    pub fn rename_label(&mut self, repository: i64, from: &str, to: &str, now_ms: i64) {
        let index = self.repository_index(repository);
        self.relabel(index, from, to, now_ms);
    }

    /// Everything in it goes with it.
    pub fn delete_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.remove_repository(index, now_ms);
    }

    /// Everything the account wrote stays, its author becomes null and no time moves.
    pub fn delete_account(&mut self, login: &str, now_ms: i64) {
        let Some(index) = self.users.iter().position(|entry| &*entry.user.login == login) else {
            return;
        };
        self.users[index].is_deleted = true;
        for thread in 0..self.threads.len() {
            let now = self.threads[thread].versions.now();
            if now.is_some_and(|thread| thread.author == Some(index)) {
                self.change_thread(thread, now_ms, |thread| thread.author = None);
            }
        }
        for comment in 0..self.comments.len() {
            let now = self.comments[comment].versions.now();
            if now.is_some_and(|comment| comment.author == Some(index)) {
                self.change_comment(comment, now_ms, |comment| comment.author = None);
            }
        }
    }

    pub(super) fn add_repository(&mut self, name: &str, now_ms: i64) -> usize {
        let index = self.repositories.len();
        let id = next_id(&mut self.ids.repository, &mut self.dice);
        let node_id = node_id("R", id);
        let repository = Repository {
            index,
            id,
            node_id: Arc::clone(&node_id),
            name: name.into(),
            description: Text::plain(&format!("All about the {}.", name.replace('-', " "))),
            is_archived: false,
            is_fork: false,
            is_hidden: false,
            has_issues: true,
            has_discussions: true,
            created_ms: self.stamp(now_ms),
            updated_ms: self.stamp(now_ms),
            pushed_ms: now_ms,
        };
        let versions = Versions::new(now_ms, self.listed_from(now_ms), repository);
        self.repositories.push(RepositoryEntry {
            versions,
            threads: Default::default(),
            numbered: Vec::new(),
        });
        self.nodes.insert(node_id, Found::Repository(index));
        self.names.entry(name.to_lowercase()).or_default().push(index);
        index
    }

    pub(super) fn remove_repository(&mut self, index: usize, now_ms: i64) {
        let listed = self.listed_from(now_ms);
        self.repositories[index].versions.push(now_ms, listed, None);
    }

    pub(super) fn give_name(&mut self, index: usize, name: &str, now_ms: i64) {
        self.change_repository(index, now_ms, |repository| repository.name = name.into());
        self.names.entry(name.to_lowercase()).or_default().push(index);
    }

    pub(super) fn relabel(&mut self, repository: usize, from: &str, to: &str, now_ms: i64) {
        let shelves = &self.repositories[repository].threads;
        let threads: Vec<usize> = shelves.iter().flat_map(|it| &it.threads).copied().collect();
        for thread in threads {
            let now = self.threads[thread].versions.now();
            if now.is_some_and(|thread| thread.labels.iter().any(|held| &**held == from)) {
                self.change_thread(thread, now_ms, |thread| {
                    thread.labels.retain(|held| &**held != from && &**held != to);
                    thread.labels.push(to.into());
                    thread.labels.sort();
                });
            }
        }
    }

    /// A change of its settings, which moves its time.
    pub(super) fn change_repository(
        &mut self,
        index: usize,
        now_ms: i64,
        change: impl FnOnce(&mut Repository),
    ) {
        let stamp = self.stamp(now_ms);
        self.record_repository(index, now_ms, |next| {
            change(next);
            next.updated_ms = next.updated_ms.max(stamp);
        });
    }

    /// A change that moves no time.
    fn record_repository(
        &mut self,
        index: usize,
        now_ms: i64,
        change: impl FnOnce(&mut Repository),
    ) {
        let Some(mut next) = self.repositories[index].versions.now().cloned() else { return };
        change(&mut next);
        let listed = self.listed_from(now_ms);
        self.repositories[index].versions.push(now_ms, listed, Some(next));
    }

    /// Every state a repository was ever in.
    pub(crate) fn states_of_repository(&self, id: i64) -> impl Iterator<Item = &Repository> {
        let versions = self.repositories[self.repository_index(id)].versions.iter();
        versions.filter_map(|version| version.state.as_ref())
    }

    pub(super) fn repository_index(&self, id: i64) -> usize {
        self.repositories
            .iter()
            .position(|entry| {
                let mut states = entry.versions.iter().filter_map(|version| version.state.as_ref());
                states.any(|repository| repository.id == id)
            })
            .expect("a verb names a repository that was created before")
    }
}
