//! People whom the service hides for a while, as it does with those it takes for spammers.
//!
//! Everything they wrote is gone from lists and from reads, and comes back with its old times.

use super::ledger::slot;
use super::{Comment, Thread, World};

/// What somebody wrote who is hidden now.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    threads: Vec<Thread>,
    comments: Vec<Comment>,
    author: Option<usize>,
}

impl World {
    /// Hides everything that somebody wrote; one person at a time.
    pub fn hide_author(&mut self, login: &str, now_ms: i64) {
        let Some(author) = self.users.iter().position(|entry| &*entry.user.login == login) else {
            return;
        };
        self.show_author(now_ms);
        self.hidden.author = Some(author);
        for index in 0..self.threads.len() {
            let now = self.threads[index].versions.now();
            if let Some(thread) = now.filter(|it| it.author == Some(author)).cloned() {
                self.remove_thread(index, now_ms);
                self.had_hidden_threads.insert(thread.repository);
                self.hidden.threads.push(thread);
            }
        }
        for index in 0..self.comments.len() {
            let now = self.comments[index].versions.now();
            if let Some(comment) = now.filter(|it| it.author == Some(author)).cloned() {
                let listed = self.listed_from(now_ms);
                self.comments[index].versions.push(now_ms, listed, None);
                self.hidden.comments.push(comment);
            }
        }
    }

    /// Shows again whoever is hidden.
    pub fn show_author(&mut self, now_ms: i64) {
        let hidden = std::mem::take(&mut self.hidden);
        // a repository that came back has brought its threads along
        for thread in hidden.threads {
            if self.threads[thread.index].versions.now().is_some() {
                continue;
            }
            let listed = self.listed_from(now_ms);
            let shelf = &mut self.repositories[thread.repository].threads[slot(thread.kind)];
            shelf.change(None, Some(&thread), listed);
            self.threads_shown_again.insert(thread.index);
            self.threads[thread.index].versions.push(now_ms, listed, Some(thread));
        }
        for comment in hidden.comments {
            if self.comments[comment.index].versions.now().is_some() {
                continue;
            }
            let listed = self.listed_from(now_ms);
            self.shown_again.insert(comment.index);
            self.comments[comment.index].versions.push(now_ms, listed, Some(comment));
        }
    }

    /// Hides somebody, or shows whoever is hidden.
    pub(super) fn hide_or_show_author(&mut self, now_ms: i64) {
        if self.hidden.author.is_some() {
            return self.show_author(now_ms);
        }
        let Some(user) = self.living_user() else { return };
        let login = self.users[user].user.login.clone();
        self.hide_author(&login, now_ms);
    }
}
