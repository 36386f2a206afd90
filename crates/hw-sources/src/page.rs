//! The result types of the clients: observations, the page's shape for the rules, and unreadable rows.

use hw_rules::item::{Comment, ItemObservation, MirrorItem};
use hw_rules::item_validation::ImpossibleItem;
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_rules::walk;

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemsPage {
    pub observations: Vec<ItemObservation>,
    pub walk_page: walk::ListingPage,
    pub unreadable: Vec<UnreadableRow>,
}

impl ItemsPage {
    /// Returns the ids of its rows.
    pub fn row_ids(&self) -> impl Iterator<Item = i64> {
        self.walk_page.entries.iter().map(|entry| entry.id)
    }

    /// Returns the subjects of the rows that could not be read.
    pub fn unreadable_subjects(&self) -> impl Iterator<Item = RowSubject> {
        self.unreadable.iter().map(|row| row.subject.clone())
    }
}

/// One page of a sweep: the ids of the listed items, with the time of their last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryPage {
    pub date: SourceInstant,
    pub observed_at: ObservedAt,
    pub rows: Vec<InventoryRow>,
    pub next: Option<walk::PageCursor>,
    /// Rows that could not be read: with any of these the inventory is incomplete.
    pub unreadable_count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryRow {
    pub id: i64,
    pub node_id: String,
    pub updated_at: SourceTime,
}

impl InventoryRow {
    /// Returns the row of a comment that was read completely; `None` for other items.
    pub fn from_observation(observation: &ItemObservation) -> Option<Self> {
        let MirrorItem::Comment(comment) = &observation.item else { return None };
        let Comment { id, node_id, updated_at, .. } = comment;
        Some(Self { id: *id, node_id: node_id.clone(), updated_at: updated_at.clone() })
    }
}

/// The result of a lookup by id: found and absent items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupPage {
    pub date: SourceInstant,
    pub observed_at: ObservedAt,
    /// The number of items looked up, siblings not included.
    pub requested_count: usize,
    /// True if the same response contains the objects that must exist: the scope, and one of the siblings.
    pub is_vouched_for: bool,
    pub observations: Vec<ItemObservation>,
    /// Node ids that the source does not know, or that no longer belong to this scope.
    pub absent: Vec<String>,
    /// Items that moved to another scope: neither absent nor part of this one.
    pub elsewhere: Vec<ItemObservation>,
    pub unreadable: Vec<UnreadableRow>,
}

impl LookupPage {
    /// Creates an empty result.
    pub(crate) fn new(observed_at: ObservedAt, requested_count: usize) -> Self {
        Self {
            date: SourceInstant(observed_at.at_ms),
            observed_at,
            requested_count,
            is_vouched_for: false,
            observations: Vec::new(),
            absent: Vec::new(),
            elsewhere: Vec::new(),
            unreadable: Vec::new(),
        }
    }
}

/// One row of a page that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableRow {
    pub subject: RowSubject,
    pub reason: String,
    /// The received JSON.
    pub raw: String,
    /// The time of its last change, if that could be read.
    pub updated_at: Option<SourceTime>,
    pub observed_at: ObservedAt,
}

impl UnreadableRow {
    /// Returns true if no source can have such an item: another request does not help.
    pub fn is_impossible(&self) -> bool {
        ImpossibleItem::is_impossible_reason(&self.reason)
    }
}
