//! Changes as everything derived from them sees them: with the texts that they bring, and those that were there.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use hw_rules::cells::{CellChange, ItemCell};
use hw_rules::item::{MirrorItem, ObjectId, ObjectKey, ObjectKind};
use hw_rules::repository_key::Host;

use super::CellUpdate;
use crate::error::StoreError;
use crate::lanes::lane_rows::FollowedLanes;
use crate::mirror::WrittenText;
use crate::removed_items::RemovalCause;
use crate::transaction::Transaction;
use crate::views;

/// A change of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemChange {
    pub key: ObjectKey,
    pub kind: ItemChangeKind,
    /// The item under its current URL or, if it is removed or cleared, the item as it was stored.
    pub item: Option<MirrorItem>,
}

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemChangeKind {
    /// Never stored before.
    Created,
    /// Stored with another content.
    Edited,
    /// Stored with the same content and a newer `updated_at`.
    Bumped,
    /// It was gone and is back: the source shows it again, or a person restored it.
    Revived,
    /// It was present and is gone.
    Removed,
    /// Its repository has another name.
    Renamed,
    /// It is forgotten, to be fetched again. Nothing is known of a change at the source.
    Cleared,
}

impl ItemChangeKind {
    /// Returns the kind of change that a cell shows; `None` if the item itself did not change.
    pub(super) fn from_cell_change(change: CellChange) -> Option<Self> {
        match change {
            CellChange::Created => Some(Self::Created),
            CellChange::Edited => Some(Self::Edited),
            CellChange::Bumped => Some(Self::Bumped),
            CellChange::Revived => Some(Self::Revived),
            CellChange::Removed => Some(Self::Removed),
            CellChange::Touched | CellChange::Unchanged => None,
        }
    }

    /// Returns how many items more a lane has after the change.
    pub(super) fn gained_items(self) -> i64 {
        match self {
            Self::Created | Self::Revived => 1,
            Self::Removed | Self::Cleared => -1,
            Self::Edited | Self::Bumped | Self::Renamed => 0,
        }
    }
}

/// One change of a batch.
pub(crate) struct BatchChange<'a> {
    pub(crate) key: ObjectId,
    pub(crate) kind: ItemChangeKind,
    /// The cell that shows the change; none if it has another cause.
    pub(crate) cell: Option<&'a ItemCell>,
    /// The text that the change brings.
    pub(crate) text: Option<&'a WrittenText<'a>>,
    /// The search row of the text that was stored before.
    pub(crate) search_rowid: Option<i64>,
}

impl<'a> BatchChange<'a> {
    pub(super) fn new(key: ObjectId, kind: ItemChangeKind) -> Self {
        Self { key, kind, cell: None, text: None, search_rowid: None }
    }

    /// Returns `None` if the item itself did not change.
    pub(super) fn from_update(update: &CellUpdate<'a>) -> Option<Self> {
        let CellUpdate { key, cell, change, text, search_rowid } = *update;
        let kind = ItemChangeKind::from_cell_change(change)?;
        Some(Self { key, kind, cell: Some(cell), text, search_rowid })
    }

    /// Returns true if the item is no longer stored.
    pub(crate) fn is_loss(&self) -> bool {
        matches!(self.kind, ItemChangeKind::Removed | ItemChangeKind::Cleared)
    }

    /// Returns the item that the change brings.
    pub(crate) fn new_item(&self) -> Option<&'a MirrorItem> {
        self.text.map(|text| text.item)
    }
}

/// Changes of items of one host, made by one transaction.
pub(crate) struct ChangeBatch<'a> {
    pub(crate) host: &'a str,
    /// The lane whose number of items changes with them.
    pub(super) counted_lane: Option<i64>,
    /// The cause of the removals among them.
    pub(crate) cause: Option<RemovalCause>,
    /// The followed lanes of the comments of changed threads.
    pub(crate) followed: Option<&'a FollowedLanes>,
    pub(crate) changes: Vec<BatchChange<'a>>,
    /// The items that the database contains, once a consumer has read them.
    pub(super) stored_items: OnceCell<BTreeMap<ObjectId, MirrorItem>>,
}

impl<'a> ChangeBatch<'a> {
    pub(super) fn new(host: &'a str, changes: Vec<BatchChange<'a>>) -> Self {
        Self {
            host,
            counted_lane: None,
            cause: None,
            followed: None,
            changes,
            stored_items: OnceCell::new(),
        }
    }

    /// Returns the ids of some of the changed items, by kind.
    pub(crate) fn ids_by_kind(
        &self,
        is_selected: impl Fn(&BatchChange<'a>) -> bool,
    ) -> BTreeMap<ObjectKind, Vec<i64>> {
        let selected = self.changes.iter().filter(|change| is_selected(change));
        ids_by_kind(selected.map(|change| change.key))
    }

    /// Returns the stored items of the changes that bring no text: as they were if they are removed or cleared, and under
    /// their new name if they are renamed. They are read only if a consumer calls this, and only once.
    pub(crate) fn read_stored_items(
        &self,
        tx: &mut Transaction<'_>,
    ) -> Result<&BTreeMap<ObjectId, MirrorItem>, StoreError> {
        if let Some(items) = self.stored_items.get() {
            return Ok(items);
        }
        let mut items = BTreeMap::new();
        for (kind, ids) in self.ids_by_kind(|change| change.text.is_none()) {
            let stored = views::items::items_by_ids(tx, self.host, kind, &ids)?;
            items.extend(stored.into_iter().map(|item| (item.key(), item)));
        }
        Ok(self.stored_items.get_or_init(|| items))
    }

    /// Returns the changes with their items, for an observer.
    pub(super) fn read_observed(
        &self,
        tx: &mut Transaction<'_>,
    ) -> Result<Vec<ItemChange>, StoreError> {
        let (stored, host) = (self.read_stored_items(tx)?, Host::from(self.host));
        let changes = self.changes.iter().map(|BatchChange { key, kind, text, .. }| {
            let item = text.map(WrittenText::to_item).or_else(|| stored.get(key).cloned());
            ItemChange { key: key.at_host(&host), kind: *kind, item }
        });
        Ok(changes.collect())
    }
}

/// Groups ids by the kind of their items.
pub(super) fn ids_by_kind(
    keys: impl IntoIterator<Item = ObjectId>,
) -> BTreeMap<ObjectKind, Vec<i64>> {
    let mut ids: BTreeMap<ObjectKind, Vec<i64>> = BTreeMap::new();
    for ObjectId { kind, id } in keys {
        ids.entry(kind).or_default().push(id);
    }
    ids
}
