//! Builds inventories of lists that take `since`: a page of the list is a page of its inventory.

use std::collections::BTreeMap;

use hw_rules::coverage::Coverage;
use hw_rules::since_walk::SinceWalk;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_sources::github::comments::CommentListPage;
use hw_sources::page::{InventoryPage, InventoryRow};

use crate::since::format_walk_position;

/// Builds the inventory page for a page of a walk; none when the list does not advance.
pub(super) fn build_inventory_page(
    walk: &SinceWalk,
    page: &CommentListPage,
) -> Option<InventoryPage> {
    let date = page.since_page.date;
    let next = Coverage { since: Some(walk.clone()), ..Coverage::default() };
    let next = next.apply_since_page(&page.since_page).ok()?.since;
    let observed_at = page.observations.first().map(|observation| observation.observed_at);
    let next = next.as_ref().map(|next| PageCursor(format_walk_position(next)));
    Some(InventoryPage {
        date,
        observed_at: observed_at.unwrap_or(ObservedAt::new(date.0, 0)),
        rows: inventory_rows(page),
        next,
        unreadable_count: 0,
    })
}

/// Returns all listed rows, unreadable ones included.
fn inventory_rows(page: &CommentListPage) -> Vec<InventoryRow> {
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

/// Parses a position written by [`format_walk_position`]; the beginning when it cannot be parsed.
pub(super) fn parse_walk_position(position: &PageCursor) -> SinceWalk {
    let parts = position.0.strip_prefix("page ").and_then(|rest| rest.split_once(" since "));
    let page = parts.and_then(|(page, _)| page.parse().ok());
    let since = parts.and_then(|(_, since)| since.parse().ok()).map(SourceInstant);
    SinceWalk { since, page: page.unwrap_or(1), ..SinceWalk::from_floor(ListingFloor::Beginning) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_position_survives_being_written_and_read() {
        for (floor, page) in
            [(ListingFloor::Beginning, 1), (ListingFloor::At(SourceInstant(9_000)), 7)]
        {
            let walk = SinceWalk { page, ..SinceWalk::from_floor(floor) };
            let parsed = parse_walk_position(&PageCursor(format_walk_position(&walk)));
            assert_eq!((parsed.since, parsed.page), (walk.since, walk.page));
        }
    }
}
