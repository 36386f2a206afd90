//! Actions on repositories and accounts.

use std::sync::Arc;

use super::text_generator::WireText;
use super::{NodeTarget, RepositoryEntry, SimRepository, VersionHistory, World, next_id, node_id};

impl World {
    /// Creates an empty repository of the organization.
    pub fn create_repository(&mut self, name: &str, now_ms: i64) -> i64 {
        let index = self.add_repository(0, name, now_ms);
        self.repositories[index].versions.current().map_or(0, |repository| repository.id)
    }

    /// Transfers a repository to another owner; its old name leads to it as after a rename.
    pub fn transfer_repository(&mut self, id: i64, login: &str, now_ms: i64) {
        let index = self.repository_index(id);
        let owner = self.owners.iter().position(|owner| &*owner.login == login);
        let owner = owner.expect("the owner is in the spec");
        self.change_repository(index, now_ms, |repository| repository.owner = owner);
        self.record_name_holder(index);
    }

    /// Hides an account, so that its list is not found; its repositories still are, by id.
    pub fn hide_owner(&mut self, login: &str) {
        self.owners
            .iter_mut()
            .filter(|owner| &*owner.login == login)
            .for_each(|owner| owner.is_hidden = true);
    }

    /// Renames a repository; its old name leads to it until another repository takes that name.
    pub fn rename_repository(&mut self, id: i64, name: &str, now_ms: i64) {
        let index = self.repository_index(id);
        self.assign_name(index, name, now_ms);
    }

    pub fn archive_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.change_repository(index, now_ms, |repository| repository.is_archived = true);
    }

    pub fn unarchive_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.change_repository(index, now_ms, |repository| repository.is_archived = false);
    }

    /// Enables or disables issues. While disabled, their list is empty and none is found; nothing is deleted, and all
    /// come back when they are enabled again.
    pub fn set_issues_enabled(&mut self, repository: i64, enabled: bool, now_ms: i64) {
        let index = self.repository_index(repository);
        self.change_repository(index, now_ms, |repository| repository.has_issues = enabled);
    }

    /// Enables or disables discussions, in the same way.
    pub fn set_discussions_enabled(&mut self, repository: i64, enabled: bool, now_ms: i64) {
        let index = self.repository_index(repository);
        self.change_repository(index, now_ms, |repository| repository.has_discussions = enabled);
    }

    /// Takes away the token's access: the repository and its content are no longer found, while other users still write
    /// there.
    pub fn hide_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.push_repository_version(index, now_ms, |repository| repository.is_hidden = true);
    }

    /// Restores the token's access.
    pub fn show_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.push_repository_version(index, now_ms, |repository| repository.is_hidden = false);
    }

    /// Gives a repository a star, which changes no time.
    pub fn star_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.push_repository_version(index, now_ms, |repository| repository.stars += 1);
    }

    /// Pushes commits to a branch without a pull request, which changes the time of the last push only.
    pub fn push_to_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        let stamp = self.service_time(now_ms);
        self.push_repository_version(index, now_ms, |repository| repository.pushed_ms = stamp);
    }

    /// Sets the relation of an account to a repository: `MEMBER`, `CONTRIBUTOR`, …
    pub fn set_association(&mut self, login: &str, repository: i64, association: &'static str) {
        let index = self.repository_index(repository);
        let user = self.user_index(login);
        self.associations.insert((user, index), association);
    }

    /// Gives an account another login; no time changes.
    pub fn rename_account(&mut self, login: &str, new_login: &str) {
        let index = self.user_index(login);
        self.users[index].user.login = new_login.into();
    }

    /// Returns the login of the first bot, if there is one.
    #[must_use]
    pub fn bot_login(&self) -> Option<&str> {
        let mut users = self.users.iter().map(|entry| &entry.user);
        users.find(|user| user.type_name == "Bot").map(|user| &*user.login)
    }

    pub(super) fn user_index(&self, login: &str) -> usize {
        let found = self.users.iter().position(|entry| &*entry.user.login == login);
        found.expect("an account with this login exists")
    }

    /// Renames a label on every thread of the repository, without changing any time.
    pub fn rename_label(&mut self, repository: i64, from: &str, to: &str, now_ms: i64) {
        let index = self.repository_index(repository);
        self.replace_label(index, from, to, now_ms);
    }

    /// Deletes a repository with its content.
    pub fn delete_repository(&mut self, id: i64, now_ms: i64) {
        let index = self.repository_index(id);
        self.remove_repository(index, now_ms);
    }

    /// Deletes an account: its content stays, with null as the author, and no time changes.
    pub fn delete_account(&mut self, login: &str, now_ms: i64) {
        let Some(index) = self.users.iter().position(|entry| &*entry.user.login == login) else {
            return;
        };
        self.users[index].is_deleted = true;
        for thread in 0..self.threads.len() {
            let current = self.threads[thread].versions.current();
            if current.is_some_and(|thread| thread.author == Some(index)) {
                self.change_thread(thread, now_ms, |thread| thread.author = None);
            }
        }
        for comment in 0..self.comments.len() {
            let current = self.comments[comment].versions.current();
            if current.is_some_and(|comment| comment.author == Some(index)) {
                self.change_comment(comment, now_ms, |comment| comment.author = None);
            }
        }
    }

    pub(super) fn add_repository(&mut self, owner: usize, name: &str, now_ms: i64) -> usize {
        let index = self.repositories.len();
        let id = next_id(&mut self.ids.repository, &mut self.rng);
        let node_id = node_id("R", id);
        let repository = SimRepository {
            index,
            owner,
            id,
            node_id: Arc::clone(&node_id),
            name: name.into(),
            description: WireText::from_plain(&format!(
                "All about the {}.",
                name.replace('-', " ")
            )),
            is_archived: false,
            is_fork: false,
            is_hidden: false,
            has_issues: true,
            has_discussions: true,
            created_ms: self.service_time(now_ms),
            updated_ms: self.service_time(now_ms),
            pushed_ms: now_ms,
            stars: 0,
        };
        let versions = VersionHistory::new(now_ms, self.pick_listing_time(now_ms), repository);
        self.repositories.push(RepositoryEntry {
            versions,
            thread_indexes: Default::default(),
            threads_by_number: Vec::new(),
        });
        self.nodes.insert(node_id, NodeTarget::Repository(index));
        self.record_name_holder(index);
        index
    }

    /// Records that a repository now has the name it has.
    fn record_name_holder(&mut self, index: usize) {
        let Some(repository) = self.repositories[index].versions.current() else { return };
        let key = (repository.owner, repository.name.to_lowercase());
        self.name_holders.entry(key).or_default().push(index);
    }

    pub(super) fn remove_repository(&mut self, index: usize, now_ms: i64) {
        let listed = self.pick_listing_time(now_ms);
        self.repositories[index].versions.push(now_ms, listed, None);
    }

    pub(super) fn assign_name(&mut self, index: usize, name: &str, now_ms: i64) {
        self.change_repository(index, now_ms, |repository| repository.name = name.into());
        self.record_name_holder(index);
    }

    pub(super) fn replace_label(&mut self, repository: usize, from: &str, to: &str, now_ms: i64) {
        let indexes = &self.repositories[repository].thread_indexes;
        let threads: Vec<usize> =
            indexes.iter().flat_map(|index| &index.threads).copied().collect();
        for thread in threads {
            let current = self.threads[thread].versions.current();
            if current.is_some_and(|thread| thread.labels.iter().any(|label| &**label == from)) {
                self.change_thread(thread, now_ms, |thread| {
                    thread.labels.retain(|label| &**label != from && &**label != to);
                    thread.labels.push(to.into());
                    thread.labels.sort();
                });
            }
        }
    }

    /// Changes the settings of a repository and its `updatedAt`.
    pub(super) fn change_repository(
        &mut self,
        index: usize,
        now_ms: i64,
        change: impl FnOnce(&mut SimRepository),
    ) {
        let stamp = self.service_time(now_ms);
        self.push_repository_version(index, now_ms, |next| {
            change(next);
            next.updated_ms = next.updated_ms.max(stamp);
        });
    }

    /// Changes a repository without changing any time.
    fn push_repository_version(
        &mut self,
        index: usize,
        now_ms: i64,
        change: impl FnOnce(&mut SimRepository),
    ) {
        let Some(mut next) = self.repositories[index].versions.current().cloned() else { return };
        change(&mut next);
        let listed = self.pick_listing_time(now_ms);
        self.repositories[index].versions.push(now_ms, listed, Some(next));
    }

    /// Returns every state that a repository was ever in.
    pub(crate) fn repository_states(&self, id: i64) -> impl Iterator<Item = &SimRepository> {
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
            .expect("the repository was created before")
    }
}
