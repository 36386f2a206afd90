//! Builds inventories of lists that take `since`: a page of the list is a page of its inventory.

use std::collections::BTreeMap;

use hw_rules::coverage::Coverage;
use hw_rules::since_walk::{SincePosition, SinceWalk};
use hw_rules::version::ObservedAt;
use hw_rules::walk::PageCursor;
use hw_sources::github::since_lists::SinceListPage;
use hw_sources::page::{InventoryPage, InventoryRow};

/// An inventory page, and the position in the list at which the next one begins.
pub(super) struct SinceInventoryPage {
    pub(super) page: InventoryPage,
    pub(super) next: Option<SincePosition>,
}

/// Builds the inventory page for a page of a walk; none when the list does not advance.
pub(super) fn build_inventory_page(
    walk: &SinceWalk,
    page: &SinceListPage,
) -> Option<SinceInventoryPage> {
    let date = page.since_page.date;
    let next = Coverage { since: Some(walk.clone()), ..Coverage::default() };
    let next = next.apply_since_page(&page.since_page).ok()?.since;
    let observed_at = page.observations.first().map(|observation| observation.observed_at);
    Some(SinceInventoryPage {
        page: InventoryPage {
            date,
            observed_at: observed_at.unwrap_or(ObservedAt::new(date.0, 0)),
            rows: inventory_rows(page),
            next: next.as_ref().map(|next| PageCursor(next.position().to_string())),
            unreadable_count: 0,
        },
        next: next.map(|next| next.position()),
    })
}

/// Returns all listed rows, unreadable ones included.
fn inventory_rows(page: &SinceListPage) -> Vec<InventoryRow> {
    let readable = page.observations.iter().filter_map(InventoryRow::from_observation);
    let readable: BTreeMap<i64, InventoryRow> = readable.map(|row| (row.id, row)).collect();
    page.since_page
        .rows
        .iter()
        .map(|(id, updated_at)| {
            readable.get(id).cloned().unwrap_or_else(|| InventoryRow {
                id: *id,
                node_id: String::new(),
                updated_at: updated_at.clone(),
            })
        })
        .collect()
}
