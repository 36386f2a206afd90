//! Hides an author for a while, as GitHub does with accounts that it flags as spam.
//!
//! Everything they wrote disappears from lists and reads, and comes back with its old times.

use super::thread_store::kind_slot;
use super::{SimComment, SimThread, World};

/// The content of the author who is hidden now.
#[derive(Debug, Default)]
pub(super) struct HiddenContent {
    threads: Vec<SimThread>,
    comments: Vec<SimComment>,
    author: Option<usize>,
}

impl World {
    /// Hides everything by this author; only one author is hidden at a time.
    pub fn hide_author(&mut self, login: &str, now_ms: i64) {
        let Some(author) = self.users.iter().position(|entry| &*entry.user.login == login) else {
            return;
        };
        self.show_author(now_ms);
        self.hidden.author = Some(author);
        for index in 0..self.threads.len() {
            let current = self.threads[index].versions.current();
            if let Some(thread) = current.filter(|thread| thread.author == Some(author)).cloned() {
                self.remove_thread(index, now_ms);
                self.had_hidden_threads.insert(thread.repository);
                self.hidden.threads.push(thread);
            }
        }
        for index in 0..self.comments.len() {
            let current = self.comments[index].versions.current();
            if let Some(comment) = current.filter(|comment| comment.author == Some(author)).cloned()
            {
                let listed = self.pick_listing_time(now_ms);
                self.comments[index].versions.push(now_ms, listed, None);
                self.hidden.comments.push(comment);
            }
        }
    }

    /// Shows the hidden author again.
    pub fn show_author(&mut self, now_ms: i64) {
        let hidden = std::mem::take(&mut self.hidden);
        // a repository that came back also restored its threads
        for thread in hidden.threads {
            if self.threads[thread.index].versions.current().is_some() {
                continue;
            }
            let listed = self.pick_listing_time(now_ms);
            let thread_index =
                &mut self.repositories[thread.repository].thread_indexes[kind_slot(thread.kind)];
            thread_index.update_thread(None, Some(&thread), listed);
            self.unhidden_threads.insert(thread.index);
            self.threads[thread.index].versions.push(now_ms, listed, Some(thread));
        }
        for comment in hidden.comments {
            if self.comments[comment.index].versions.current().is_some() {
                continue;
            }
            let listed = self.pick_listing_time(now_ms);
            self.unhidden_comments.insert(comment.index);
            self.comments[comment.index].versions.push(now_ms, listed, Some(comment));
        }
    }

    /// Hides a random author, or shows the hidden one.
    pub(super) fn hide_or_show_random_author(&mut self, now_ms: i64) {
        if self.hidden.author.is_some() {
            return self.show_author(now_ms);
        }
        let Some(user) = self.pick_active_user() else { return };
        let login = self.users[user].user.login.clone();
        self.hide_author(&login, now_ms);
    }
}
