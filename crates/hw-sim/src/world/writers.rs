//! The people of the world, acting by themselves as time passes.

use std::collections::BTreeSet;

use super::threads::{reopen, toggle_label};
use super::{ThreadKind, World};
use crate::spec::Weights;

/// Writers found no more beyond this, so that long runs do not drown in empty repositories.
const MOST_REPOSITORIES: usize = 64;
const FEWEST_PEOPLE: usize = 2;

type Action = fn(&mut World, i64);

fn actions(weights: &Weights) -> [(u32, Action); 22] {
    [
        (weights.create_issue, |world, now| world.open_thread(ThreadKind::Issue, now)),
        (weights.create_pull_request, |world, now| world.open_thread(ThreadKind::PullRequest, now)),
        (weights.create_discussion, |world, now| world.open_thread(ThreadKind::Discussion, now)),
        (weights.edit, World::edit_something),
        (weights.double_edit, World::edit_twice),
        (weights.close_or_reopen, World::close_or_reopen),
        (weights.label, World::label_something),
        (weights.comment, World::comment_somewhere),
        (weights.edit_comment, World::edit_some_comment),
        (weights.delete_comment, World::delete_some_comment),
        (weights.delete, World::delete_something),
        (weights.transfer, World::transfer_something),
        (weights.create_repository, World::found_repository),
        (weights.rename_repository, World::rename_something),
        (weights.archive_or_unarchive, World::archive_or_unarchive),
        (weights.delete_account, World::delete_some_account),
        (weights.switch_issues, World::switch_some_issues),
        (weights.switch_discussions, World::switch_some_discussions),
        (weights.delete_repository, World::delete_some_repository),
        (weights.hide_or_show_repository, World::hide_or_show),
        (weights.rename_label, World::rename_some_label),
        (weights.hide_or_show_author, World::hide_or_show_author),
    ]
}

impl World {
    /// Lets everybody act up to a moment.
    pub(crate) fn advance(&mut self, now_ms: i64) {
        if self.writers.actions_per_minute == 0 {
            return;
        }
        let pause = 60_000 / i64::from(self.writers.actions_per_minute);
        while self.next_action_ms <= now_ms.min(self.writers.until_ms) {
            let at_ms = self.next_action_ms;
            self.act(at_ms);
            self.next_action_ms += self.dice.i64(pause / 2..=pause + pause / 2).max(1);
        }
    }

    fn act(&mut self, now_ms: i64) {
        let actions = actions(&self.writers.weights);
        let total: u32 = actions.iter().map(|(weight, _)| weight).sum();
        if total == 0 {
            return;
        }
        let mut roll = self.dice.u32(0..total);
        for (weight, action) in actions {
            if roll < weight {
                return action(self, now_ms);
            }
            roll -= weight;
        }
    }

    fn open_thread(&mut self, kind: ThreadKind, now_ms: i64) {
        let Some(repository) = self.some_repository() else { return };
        if !self.has(repository, kind) {
            return;
        }
        let title = self.author.title(&mut self.dice);
        let body = self.author.body(&mut self.dice);
        self.add_thread(kind, repository, title, body, now_ms);
    }

    fn edit_something(&mut self, now_ms: i64) {
        let Some(thread) = self.some_thread() else { return };
        self.rewrite_thread(thread, now_ms);
    }

    fn edit_twice(&mut self, now_ms: i64) {
        let Some(thread) = self.some_thread() else { return };
        self.rewrite_thread(thread, now_ms);
        let later = now_ms + i64::from(now_ms.rem_euclid(1000) < 999);
        self.rewrite_thread(thread, later);
    }

    fn rewrite_thread(&mut self, thread: usize, now_ms: i64) {
        let title = self.dice.bool().then(|| self.author.title(&mut self.dice));
        let body = self.author.body(&mut self.dice);
        self.change_thread(thread, now_ms, |thread| {
            match title {
                Some(title) => thread.title = title,
                None => thread.body = body,
            }
            thread.touch(now_ms);
        });
    }

    fn close_or_reopen(&mut self, now_ms: i64) {
        let Some(thread) = self.some_thread() else { return };
        if self.threads[thread].versions.now().is_some_and(|thread| thread.open) {
            self.close_or_merge(thread, now_ms);
        } else {
            self.change_thread(thread, now_ms, |thread| {
                if thread.merged_ms.is_none() {
                    reopen(thread, now_ms);
                }
            });
        }
    }

    fn label_something(&mut self, now_ms: i64) {
        let Some(thread) = self.some_thread() else { return };
        let label = self.author.label(&mut self.dice);
        self.change_thread(thread, now_ms, |thread| toggle_label(thread, label, now_ms));
    }

    fn comment_somewhere(&mut self, now_ms: i64) {
        let Some(thread) = self.some_thread() else { return };
        self.comment_somehow(thread, now_ms);
    }

    fn edit_some_comment(&mut self, now_ms: i64) {
        let Some(comment) = self.some_comment() else { return };
        let body = self.author.remark(&mut self.dice);
        self.rewrite_comment(comment, body, now_ms);
    }

    fn delete_some_comment(&mut self, now_ms: i64) {
        let Some(comment) = self.some_comment() else { return };
        self.remove_comment(comment, now_ms);
    }

    fn delete_something(&mut self, now_ms: i64) {
        let Some(thread) = self.some_thread() else { return };
        let kind = self.threads[thread].versions.now().map(|thread| thread.kind);
        if kind.is_some_and(|kind| kind != ThreadKind::PullRequest) {
            self.remove_thread(thread, now_ms);
        }
    }

    fn transfer_something(&mut self, now_ms: i64) {
        let (Some(thread), Some(to)) = (self.some_thread(), self.some_repository()) else { return };
        let Some(found) = self.threads[thread].versions.now() else { return };
        if found.kind == ThreadKind::Issue && found.repository != to && self.has(to, found.kind) {
            self.transfer(thread, to, now_ms);
        }
    }

    fn found_repository(&mut self, now_ms: i64) {
        if MOST_REPOSITORIES <= self.repositories.len() {
            return;
        }
        let name = self.freed_name().unwrap_or(format!("annex-{}", self.repositories.len()));
        self.add_repository(&name, now_ms);
    }

    fn rename_something(&mut self, now_ms: i64) {
        let Some(index) = self.some_repository() else { return };
        let name = match self.freed_name() {
            Some(name) => name,
            None => format!("berth-{}-{}", index, self.dice.u16(..)),
        };
        self.give_name(index, &name, now_ms);
    }

    /// A name that somebody gave up, as often as the weights say.
    fn freed_name(&mut self) -> Option<String> {
        let percent = self.writers.weights.reuse_name_percent;
        if percent == 0 || percent <= self.dice.u32(0..100) {
            return None;
        }
        let taken = self.repositories.iter().filter_map(|entry| entry.versions.now());
        let taken: BTreeSet<String> = taken.map(|it| it.name.to_lowercase()).collect();
        let mut free: Vec<&String> =
            self.names.keys().filter(|name| !taken.contains(*name)).collect();
        free.sort_unstable();
        free.get(self.dice.usize(0..free.len().max(1))).map(|name| (*name).clone())
    }

    fn switch_some_issues(&mut self, now_ms: i64) {
        let Some(index) = self.some_repository() else { return };
        self.change_repository(index, now_ms, |it| it.has_issues = !it.has_issues);
    }

    fn switch_some_discussions(&mut self, now_ms: i64) {
        let Some(index) = self.some_repository() else { return };
        self.change_repository(index, now_ms, |it| it.has_discussions = !it.has_discussions);
    }

    /// Never the last two.
    fn delete_some_repository(&mut self, now_ms: i64) {
        let Some(index) = self.some_repository() else { return };
        if 2 < self.writable().len() {
            self.remove_repository(index, now_ms);
        }
    }

    /// More than half stay visible.
    fn hide_or_show(&mut self, now_ms: i64) {
        let Some(index) = self.some_repository() else { return };
        let now = self.repositories.iter().filter_map(|entry| entry.versions.now());
        let hidden = now.clone().filter(|it| it.is_hidden).count();
        let may_hide = 2 * (hidden + 1) < now.count();
        let Some(found) = self.repositories[index].versions.now() else { return };
        let (id, is_hidden) = (found.id, found.is_hidden);
        if is_hidden {
            self.show_repository(id, now_ms);
        } else if may_hide {
            self.hide_repository(id, now_ms);
        }
    }

    fn rename_some_label(&mut self, now_ms: i64) {
        let Some(thread) = self.some_thread() else { return };
        let Some(found) = self.threads[thread].versions.now() else { return };
        let (repository, label) = (found.repository, found.labels.first().cloned());
        let Some(label) = label else { return };
        let name = format!("topic {}", self.dice.u16(..));
        self.relabel(repository, &label, &name, now_ms);
    }

    fn has(&self, repository: usize, kind: ThreadKind) -> bool {
        self.repositories[repository].versions.now().is_some_and(|it| it.has(kind))
    }

    /// Never the last one that is open to writers.
    fn archive_or_unarchive(&mut self, now_ms: i64) {
        let index = self.dice.usize(0..self.repositories.len().max(1));
        let Some(entry) = self.repositories.get(index) else { return };
        let archive = entry.versions.now().is_some_and(|it| !it.is_archived);
        if !archive || 1 < self.writable().len() {
            self.change_repository(index, now_ms, |it| it.is_archived = archive);
        }
    }

    fn delete_some_account(&mut self, now_ms: i64) {
        let alive = self.users.iter().filter(|entry| !entry.is_deleted).count();
        let Some(user) = self.living_user() else { return };
        if user != self.viewer && FEWEST_PEOPLE < alive {
            let login = self.users[user].user.login.clone();
            self.delete_account(&login, now_ms);
        }
    }

    fn writable(&self) -> Vec<usize> {
        let now = self.repositories.iter().filter_map(|entry| entry.versions.now());
        now.filter(|it| !it.is_archived).map(|it| it.index).collect()
    }

    fn some_repository(&mut self) -> Option<usize> {
        let open = self.writable();
        open.get(self.dice.usize(0..open.len().max(1))).copied()
    }

    /// A thread that is still there, in a repository that can be written to.
    fn some_thread(&mut self) -> Option<usize> {
        for _ in 0..8 {
            let repository = self.some_repository()?;
            let held = &self.repositories[repository].numbered;
            let thread = held.get(self.dice.usize(0..held.len().max(1))).copied();
            let living = thread.filter(|index| {
                let now = self.threads[*index].versions.now();
                now.is_some_and(|it| self.has(repository, it.kind))
            });
            if living.is_some() {
                return living;
            }
        }
        None
    }

    fn some_comment(&mut self) -> Option<usize> {
        let thread = self.some_thread()?;
        let held: Vec<usize> = self.threads[thread]
            .comments
            .iter()
            .copied()
            .filter(|index| self.comments[*index].versions.now().is_some())
            .collect();
        held.get(self.dice.usize(0..held.len().max(1))).copied()
    }
}
