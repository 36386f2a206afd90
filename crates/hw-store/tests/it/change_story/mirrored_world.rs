//! The world of a story: what the mirror must contain after each step, and which changes led there.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{MirrorItem, ObjectId, ObjectKind};
use hw_store::{ItemChange, ItemChangeKind};

use super::REPOSITORY;
use crate::fixture::HOST;

/// The meaning of a step for the items that come or go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LossKind {
    /// Nothing is lost.
    None,
    /// The source confirmed that it is gone.
    Removed,
    /// It is fetched again.
    Cleared,
    /// Nothing is lost, and what comes was there before.
    Restored,
}

/// A restorable item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemovedText {
    pub(super) root: ObjectId,
    pub(super) item: MirrorItem,
}

/// One repository and its texts.
#[derive(Debug, Clone, Default)]
pub(super) struct MirroredWorld {
    /// What the mirror contains, under the current name of the repository.
    pub(super) items: BTreeMap<ObjectId, MirrorItem>,
    /// Items that were confirmed gone, and not forgotten since.
    gone: BTreeSet<ObjectId>,
    pub(super) removed: BTreeMap<ObjectId, RemovedText>,
}

impl MirroredWorld {
    /// Shows an item to the mirror. An older text changes nothing.
    pub(super) fn show(&mut self, item: MirrorItem) {
        let key = item.key();
        let is_older = self
            .items
            .get(&key)
            .is_some_and(|stored| item.updated_at().instant() < stored.updated_at().instant());
        if is_older {
            return;
        }
        self.gone.remove(&key);
        self.items.insert(key, item);
        self.move_texts();
    }

    /// Removes an item and everything that belongs to it, in the name of `root`.
    pub(super) fn remove(&mut self, key: ObjectId, root: ObjectId) {
        let Some(item) = self.items.get(&key).cloned() else { return };
        let dependents: Vec<ObjectId> = self
            .items
            .iter()
            .filter(|(_, other)| belongs_to(other, &item))
            .map(|(key, _)| *key)
            .collect();
        for dependent in dependents {
            self.remove(dependent, root);
        }
        self.items.remove(&key);
        self.gone.insert(key);
        self.removed.insert(key, RemovedText { root, item });
    }

    /// Forgets items and all that is known of them.
    pub(super) fn forget(&mut self, is_forgotten: impl Fn(ObjectId) -> bool) {
        self.items.retain(|key, _| !is_forgotten(*key));
        self.gone.retain(|key| !is_forgotten(*key));
    }

    /// Restores an item, what was removed with it, and the parents that it lacks.
    pub(super) fn restore(&mut self, key: ObjectId) {
        let Some(RemovedText { root, item }) = self.removed.get(&key).cloned() else { return };
        let parents = self.removed.iter().filter(|(parent, text)| {
            belongs_to(&item, &text.item) && !self.items.contains_key(parent)
        });
        let roots: BTreeSet<ObjectId> =
            parents.map(|(_, parent)| parent.root).chain([root]).collect();
        let restored: Vec<_> =
            self.removed.extract_if(.., |_, text| roots.contains(&text.root)).collect();
        for (key, RemovedText { item, .. }) in restored {
            self.gone.remove(&key);
            self.items.entry(key).or_insert(item);
        }
        self.move_texts();
    }

    pub(super) fn repository_name(&self) -> Option<String> {
        let Some(MirrorItem::Repository(repository)) = self.items.get(&REPOSITORY) else {
            return None;
        };
        Some(repository.name.clone())
    }

    /// Returns the number of the thread under which a text is shown.
    pub(super) fn shown_thread(&self, key: ObjectId) -> Option<i64> {
        let number = thread_number(self.items.get(&key)?)?;
        let mut shown = self.items.keys().filter(|key| key.kind.is_thread());
        shown.any(|thread| thread.id == number).then_some(number)
    }

    /// Moves all texts to the current name of the repository.
    fn move_texts(&mut self) {
        let Some(name) = self.repository_name() else { return };
        for item in self.items.values_mut() {
            let url = match item {
                MirrorItem::Repository(_) | MirrorItem::Post(_) => continue,
                MirrorItem::Thread(thread) => &mut thread.url,
                MirrorItem::Comment(comment) => &mut comment.url,
            };
            let tail = url.splitn(6, '/').nth(5).unwrap();
            *url = format!("https://github.com/acme/{name}/{tail}");
        }
    }

    /// Returns the changes that lead from this world to another one, ordered by item.
    pub(super) fn changes_to(&self, after: &Self, loss: LossKind) -> Vec<ItemChange> {
        let keys: BTreeSet<_> = self.items.keys().chain(after.items.keys()).collect();
        let changes = keys.into_iter().filter_map(|key| {
            let (old, new) = (self.items.get(key), after.items.get(key));
            let kind = match (old, new) {
                (Some(old), Some(new)) => change_between(old, new)?,
                (Some(_), None) if loss == LossKind::Removed => ItemChangeKind::Removed,
                (Some(_), None) => ItemChangeKind::Cleared,
                (None, _) if loss == LossKind::Restored || self.gone.contains(key) => {
                    ItemChangeKind::Revived
                }
                (None, _) => ItemChangeKind::Created,
            };
            Some(ItemChange { key: key.at_host(HOST), kind, item: new.or(old).cloned() })
        });
        changes.collect()
    }
}

fn change_between(old: &MirrorItem, new: &MirrorItem) -> Option<ItemChangeKind> {
    if old.digest() != new.digest() {
        Some(ItemChangeKind::Edited)
    } else if old.updated_at() != new.updated_at() {
        Some(ItemChangeKind::Bumped)
    } else {
        (old != new).then_some(ItemChangeKind::Renamed)
    }
}

/// Returns true if an item goes with another one: a comment with its thread, and everything with its repository.
fn belongs_to(item: &MirrorItem, parent: &MirrorItem) -> bool {
    match (item.key().kind, parent.key().kind) {
        (ObjectKind::Thread(_) | ObjectKind::Comment(_), ObjectKind::Repository) => true,
        (ObjectKind::Comment(_), ObjectKind::Thread(_)) => {
            thread_number(item) == thread_number(parent)
        }
        _ => false,
    }
}

fn thread_number(item: &MirrorItem) -> Option<i64> {
    match item {
        MirrorItem::Repository(_) | MirrorItem::Post(_) => None,
        MirrorItem::Thread(thread) => Some(thread.number),
        MirrorItem::Comment(comment) => Some(comment.thread),
    }
}
