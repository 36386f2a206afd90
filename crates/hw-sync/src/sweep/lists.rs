//! Rolls of lists: a page of the list is a page of its roll.

use std::collections::BTreeMap;

use hw_rules::coverage::Coverage;
use hw_rules::since::SinceWalk;
use hw_rules::time::Mark;
use hw_rules::version::Seen;
use hw_rules::walk::{Cursor, Floor};
use hw_sources::github::comments::ListPage;
use hw_sources::page::{RollPage, RollRow};

use crate::since::place_of;

/// The roll that a page of a walk is; none when the list goes on where it was.
pub(super) fn of_list(walk: &SinceWalk, page: &ListPage) -> Option<RollPage> {
    let date = page.page.date;
    let next = Coverage { since: Some(walk.clone()), ..Coverage::default() };
    let next = next.step_since(&page.page).ok()?.since;
    let seen = page.observations.first().map(|it| it.seen);
    let seen = seen.unwrap_or(Seen::at(date.0, 0));
    let next = next.as_ref().map(|next| Cursor(place_of(next)));
    Some(RollPage { date, seen, rows: rows(page), next, unreadable: 0 })
}

/// Every row that is listed; one that could not be read is listed, too.
fn rows(page: &ListPage) -> Vec<RollRow> {
    let read = page.observations.iter().filter_map(RollRow::of);
    let read: BTreeMap<i64, RollRow> = read.map(|row| (row.id, row)).collect();
    let row = |(id, updated_at): &(i64, _)| {
        let unread =
            || RollRow { id: *id, node_id: String::new(), updated_at: Clone::clone(updated_at) };
        read.get(id).cloned().unwrap_or_else(unread)
    };
    page.page.rows.iter().map(row).collect()
}

/// Reads what [`place_of`] wrote; from the beginning where it cannot.
pub(super) fn walk_at(place: &Cursor) -> SinceWalk {
    let parts = place.0.strip_prefix("page ").and_then(|rest| rest.split_once(" since "));
    let page = parts.and_then(|(page, _)| page.parse().ok());
    let since = parts.and_then(|(_, since)| since.parse().ok()).map(Mark);
    SinceWalk { since, page: page.unwrap_or(1), ..SinceWalk::from(Floor::Beginning) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_position_survives_being_written_and_read() {
        for (floor, page) in [(Floor::Beginning, 1), (Floor::At(Mark(9_000)), 7)] {
            let walk = SinceWalk { page, ..SinceWalk::from(floor) };
            let read = walk_at(&Cursor(place_of(&walk)));
            assert_eq!((read.since, read.page), (walk.since, walk.page));
        }
    }
}
