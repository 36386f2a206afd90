//! The random actions of users as time passes.

use std::collections::BTreeSet;

use super::threads::{mark_reopened, toggle_label};
use super::{ThreadKind, World};
use crate::world_spec::ActionWeights;

/// Users create no more repositories than this, so that long runs do not fill up with empty ones.
const MAX_REPOSITORIES: usize = 64;
const MIN_USERS: usize = 2;

type WorldAction = fn(&mut World, i64);

fn weighted_actions(weights: &ActionWeights) -> [(u32, WorldAction); 30] {
    [
        (weights.create_issue, |world, now| world.open_random_thread(ThreadKind::Issue, now)),
        (weights.create_pull_request, |world, now| {
            world.open_random_thread(ThreadKind::PullRequest, now);
        }),
        (weights.create_discussion, |world, now| {
            world.open_random_thread(ThreadKind::Discussion, now);
        }),
        (weights.edit, World::edit_random_thread),
        (weights.double_edit, World::edit_random_thread_twice),
        (weights.close_or_reopen, World::close_or_reopen_random_thread),
        (weights.label, World::toggle_random_label),
        (weights.comment, World::comment_on_random_thread),
        (weights.edit_comment, World::edit_random_comment),
        (weights.delete_comment, World::delete_random_comment),
        (weights.delete, World::delete_random_thread),
        (weights.transfer, World::transfer_random_issue),
        (weights.create_repository, World::create_random_repository),
        (weights.rename_repository, World::rename_random_repository),
        (weights.archive_or_unarchive, World::toggle_random_archive),
        (weights.delete_account, World::delete_random_account),
        (weights.switch_issues, World::toggle_random_issues),
        (weights.switch_discussions, World::toggle_random_discussions),
        (weights.delete_repository, World::delete_random_repository),
        (weights.hide_or_show_repository, World::hide_or_show_random_repository),
        (weights.rename_label, World::rename_random_label),
        (weights.hide_or_show_author, World::hide_or_show_random_author),
        (weights.double_edit_comment, World::edit_random_comment_twice),
        (weights.late_comment, World::comment_late),
        (weights.reply_on_line, World::reply_on_random_line),
        (weights.push, World::push_to_random_branch),
        (weights.force_push, World::rewrite_random_branch),
        (weights.rename_account, World::rename_random_account),
        (weights.create_closing_pull_request, World::open_random_closing_pull_request),
        (weights.star_or_push, World::star_or_push_to_random_repository),
    ]
}

impl World {
    /// Lets all users act up to this time.
    pub(crate) fn advance_to(&mut self, now_ms: i64) {
        if self.activity.actions_per_minute == 0 {
            return;
        }
        let pause = 60_000 / i64::from(self.activity.actions_per_minute);
        while self.next_action_ms <= now_ms.min(self.activity.until_ms) {
            let at_ms = self.next_action_ms;
            self.perform_random_action(at_ms);
            self.next_action_ms += self.rng.i64(pause / 2..=pause + pause / 2).max(1);
        }
    }

    fn perform_random_action(&mut self, now_ms: i64) {
        let actions = weighted_actions(&self.activity.weights);
        let total: u32 = actions.iter().map(|(weight, _)| weight).sum();
        if total == 0 {
            return;
        }
        let mut roll = self.rng.u32(0..total);
        for (weight, action) in actions {
            if roll < weight {
                return action(self, now_ms);
            }
            roll -= weight;
        }
    }

    fn open_random_thread(&mut self, kind: ThreadKind, now_ms: i64) {
        let Some(repository) = self.pick_repository() else { return };
        if !self.has_threads(repository, kind) {
            return;
        }
        let title = self.texts.write_title(&mut self.rng);
        let body = self.texts.write_body(&mut self.rng);
        self.add_thread(kind, repository, title, body, now_ms);
    }

    fn edit_random_thread(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        self.rewrite_thread(thread, now_ms);
    }

    fn edit_random_thread_twice(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        self.rewrite_thread(thread, now_ms);
        let later = now_ms + i64::from(now_ms.rem_euclid(1000) < 999);
        self.rewrite_thread(thread, later);
    }

    fn rewrite_thread(&mut self, thread: usize, now_ms: i64) {
        let title = self.rng.bool().then(|| self.texts.write_title(&mut self.rng));
        let body = self.texts.write_body(&mut self.rng);
        self.change_thread(thread, now_ms, |thread| {
            match title {
                Some(title) => thread.title = title,
                None => {
                    thread.body = body;
                    thread.rename_closed_issue(now_ms);
                }
            }
            thread.mark_touched(now_ms);
        });
    }

    fn close_or_reopen_random_thread(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        if self.threads[thread].versions.current().is_some_and(|thread| thread.is_open) {
            self.close_or_merge(thread, now_ms);
        } else {
            self.change_thread(thread, now_ms, |thread| {
                if thread.merged_ms.is_none() {
                    mark_reopened(thread, now_ms);
                }
            });
        }
    }

    fn toggle_random_label(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        let label = self.texts.pick_label(&mut self.rng);
        self.change_thread(thread, now_ms, |thread| toggle_label(thread, label, now_ms));
    }

    fn comment_on_random_thread(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        self.add_random_comment(thread, now_ms);
    }

    fn edit_random_comment(&mut self, now_ms: i64) {
        let Some(comment) = self.pick_comment() else { return };
        let body = self.texts.write_comment(&mut self.rng);
        self.rewrite_comment(comment, body, now_ms);
    }

    fn delete_random_comment(&mut self, now_ms: i64) {
        let Some(comment) = self.pick_comment() else { return };
        self.remove_comment(comment, now_ms);
    }

    fn delete_random_thread(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        let kind = self.threads[thread].versions.current().map(|thread| thread.kind);
        if kind.is_some_and(|kind| kind != ThreadKind::PullRequest) {
            self.remove_thread(thread, now_ms);
        }
    }

    fn transfer_random_issue(&mut self, now_ms: i64) {
        let (Some(thread), Some(to)) = (self.pick_thread(), self.pick_repository()) else { return };
        let Some(issue) = self.threads[thread].versions.current() else { return };
        if issue.kind == ThreadKind::Issue
            && issue.repository != to
            && self.has_threads(to, issue.kind)
        {
            self.move_thread(thread, to, now_ms);
        }
    }

    fn create_random_repository(&mut self, now_ms: i64) {
        if self.repositories.len() >= MAX_REPOSITORIES {
            return;
        }
        let name = self.pick_freed_name(0);
        let name = name.unwrap_or(format!("annex-{}", self.repositories.len()));
        self.add_repository(0, &name, now_ms);
    }

    fn rename_random_repository(&mut self, now_ms: i64) {
        let Some(index) = self.pick_repository() else { return };
        let owner = self.repositories[index].versions.current().map_or(0, |state| state.owner);
        let name = match self.pick_freed_name(owner) {
            Some(name) => name,
            None => format!("berth-{}-{}", index, self.rng.u16(..)),
        };
        self.assign_name(index, &name, now_ms);
    }

    /// Picks a name that another repository of this owner gave up, with the probability of the weights.
    fn pick_freed_name(&mut self, owner: usize) -> Option<String> {
        let percent = self.activity.weights.reuse_name_percent;
        if percent == 0 || self.rng.u32(0..100) >= percent {
            return None;
        }
        let taken = self.repositories.iter().filter_map(|entry| entry.versions.current());
        let taken = taken.filter(|repository| repository.owner == owner);
        let taken: BTreeSet<String> =
            taken.map(|repository| repository.name.to_lowercase()).collect();
        let held = self.name_holders.keys().filter(|(holder, _)| *holder == owner);
        let mut free: Vec<&String> =
            held.map(|(_, name)| name).filter(|name| !taken.contains(*name)).collect();
        free.sort_unstable();
        pick_from(&free, &mut self.rng).map(|name| (*name).clone())
    }

    fn toggle_random_issues(&mut self, now_ms: i64) {
        let Some(index) = self.pick_repository() else { return };
        self.change_repository(index, now_ms, |repository| {
            repository.has_issues = !repository.has_issues;
        });
    }

    fn toggle_random_discussions(&mut self, now_ms: i64) {
        let Some(index) = self.pick_repository() else { return };
        self.change_repository(index, now_ms, |repository| {
            repository.has_discussions = !repository.has_discussions;
        });
    }

    /// Deletes a repository, but never one of the last two.
    fn delete_random_repository(&mut self, now_ms: i64) {
        let Some(index) = self.pick_repository() else { return };
        if self.writable_repositories().len() > 2 {
            self.remove_repository(index, now_ms);
        }
    }

    /// Hides or shows a repository; more than half stay visible.
    fn hide_or_show_random_repository(&mut self, now_ms: i64) {
        let Some(index) = self.pick_repository() else { return };
        let existing = self.repositories.iter().filter_map(|entry| entry.versions.current());
        let hidden = existing.clone().filter(|repository| repository.is_hidden).count();
        let may_hide = 2 * (hidden + 1) < existing.count();
        let Some(repository) = self.repositories[index].versions.current() else { return };
        let (id, is_hidden) = (repository.id, repository.is_hidden);
        if is_hidden {
            self.show_repository(id, now_ms);
        } else if may_hide {
            self.hide_repository(id, now_ms);
        }
    }

    fn rename_random_label(&mut self, now_ms: i64) {
        let Some(thread) = self.pick_thread() else { return };
        let Some(current) = self.threads[thread].versions.current() else { return };
        let (repository, label) = (current.repository, current.labels.first().cloned());
        let Some(label) = label else { return };
        let name = format!("topic {}", self.rng.u16(..));
        self.replace_label(repository, &label, &name, now_ms);
    }

    fn has_threads(&self, repository: usize, kind: ThreadKind) -> bool {
        let current = self.repositories[repository].versions.current();
        current.is_some_and(|repository| repository.has_threads(kind))
    }

    /// Archives or unarchives a repository, but never archives the last writable one.
    fn toggle_random_archive(&mut self, now_ms: i64) {
        let index = self.rng.usize(0..self.repositories.len().max(1));
        let Some(entry) = self.repositories.get(index) else { return };
        let archive = entry.versions.current().is_some_and(|repository| !repository.is_archived);
        if !archive || self.writable_repositories().len() > 1 {
            self.change_repository(index, now_ms, |repository| repository.is_archived = archive);
        }
    }

    fn delete_random_account(&mut self, now_ms: i64) {
        let active = self.users.iter().filter(|entry| !entry.is_deleted).count();
        let Some(user) = self.pick_active_user() else { return };
        if user != self.viewer && active > MIN_USERS {
            let login = self.users[user].user.login.clone();
            self.delete_account(&login, now_ms);
        }
    }

    fn writable_repositories(&self) -> Vec<usize> {
        let existing = self.repositories.iter().filter_map(|entry| entry.versions.current());
        existing
            .filter(|repository| !repository.is_archived)
            .map(|repository| repository.index)
            .collect()
    }

    pub(super) fn pick_repository(&mut self) -> Option<usize> {
        pick_from(&self.writable_repositories(), &mut self.rng).copied()
    }

    /// Picks an existing thread in a writable repository.
    pub(super) fn pick_thread(&mut self) -> Option<usize> {
        for _ in 0..8 {
            let repository = self.pick_repository()?;
            let threads = &self.repositories[repository].threads_by_number;
            let thread = pick_from(threads, &mut self.rng).copied();
            let existing = thread.filter(|index| {
                let current = self.threads[*index].versions.current();
                current.is_some_and(|thread| self.has_threads(repository, thread.kind))
            });
            if existing.is_some() {
                return existing;
            }
        }
        None
    }

    pub(super) fn pick_comment(&mut self) -> Option<usize> {
        let thread = self.pick_thread()?;
        let existing: Vec<usize> = self.threads[thread]
            .comments
            .iter()
            .copied()
            .filter(|index| self.comments[*index].versions.current().is_some())
            .collect();
        pick_from(&existing, &mut self.rng).copied()
    }
}

/// Picks a random item; uses up a random number even if there is none.
pub(super) fn pick_from<'a, T>(items: &'a [T], rng: &mut fastrand::Rng) -> Option<&'a T> {
    items.get(rng.usize(0..items.len().max(1)))
}
