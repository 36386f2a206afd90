//! Cuts pages out of lists.
//!
//! A cursor names a position in the order, not an item: it still works when its item is gone.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::execution::GraphqlObject;
use crate::github::PaginationLoop;
use crate::world::ThreadPosition;

/// A position in an order: the sort key, then the id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListCursor {
    pub(super) number: i64,
    pub(super) text: String,
    pub(super) id: i64,
}

impl ListCursor {
    pub(super) fn from_number(number: i64, id: i64) -> Self {
        Self { number, text: String::new(), id }
    }

    /// Parses a cursor; returns `None` for a cursor of another kind of list.
    pub(super) fn parse(cursor: &str, list: &ListSpec<'_>) -> Option<Self> {
        let plain = String::from_utf8(STANDARD.decode(cursor).ok()?).ok()?;
        let rest = plain.strip_prefix("cursor:v2:")?.strip_prefix(&list.cursor_tag())?;
        let mut parts = rest.strip_prefix(':')?.splitn(3, ':');
        let number = parts.next()?.parse().ok()?;
        let id = parts.next()?.parse().ok()?;
        Some(Self { number, text: parts.next()?.to_owned(), id })
    }

    pub(super) fn encode(&self, list: &ListSpec<'_>) -> String {
        let Self { number, text, id } = self;
        STANDARD.encode(format!("cursor:v2:{}:{number}:{id}:{text}", list.cursor_tag()))
    }

    fn compare_position(&self, position: &ThreadPosition) -> Ordering {
        (self.number, self.text.as_str(), self.id).cmp(&(position.second, "", position.id))
    }
}

/// A kind of list, and its requested order.
pub(super) struct ListSpec<'l> {
    pub(super) type_name: &'l str,
    /// The field that it is ordered by; empty if there is no choice.
    pub(super) order_field: &'l str,
    pub(super) is_descending: bool,
}

impl ListSpec<'_> {
    /// Returns the part that all cursors of such a list share.
    fn cursor_tag(&self) -> String {
        format!("{}.{}", self.type_name, self.order_field)
    }

    fn compare(&self, a: &ListCursor, b: &ListCursor) -> Ordering {
        if self.is_descending { b.cmp(a) } else { a.cmp(b) }
    }
}

/// An item and its position.
pub(crate) struct ConnectionItem<'w> {
    pub(super) cursor: ListCursor,
    pub(super) object: GraphqlObject<'w>,
}

/// The requested part of a list.
#[derive(Clone)]
pub(super) struct PageRange {
    pub(super) first: Option<usize>,
    pub(super) last: Option<usize>,
    pub(super) after: Option<ListCursor>,
    pub(super) before: Option<ListCursor>,
}

pub(super) struct ConnectionPage<'w, 'l> {
    pub(super) list: &'l ListSpec<'l>,
    pub(super) items: Vec<ConnectionItem<'w>>,
    pub(super) total: usize,
    pub(super) has_next: bool,
    pub(super) has_previous: bool,
    /// Replaces the end cursor of the page.
    pub(super) end_override: Option<ListCursor>,
}

/// The range that is served instead of the requested one, and its end cursor if that is wrong.
pub(super) struct LoopedRange {
    pub(super) range: PageRange,
    pub(super) end_override: Option<ListCursor>,
}

impl PageRange {
    /// Replaces the range if the listing is set to loop.
    pub(super) fn apply_loop(self, pagination_loop: Option<PaginationLoop>) -> LoopedRange {
        let Some((pagination_loop, after)) = pagination_loop.zip(self.after.clone()) else {
            return LoopedRange { range: self, end_override: None };
        };
        let end_override = Some(ListCursor { number: after.number - 1, ..after.clone() });
        match pagination_loop {
            PaginationLoop::Wrapping => LoopedRange { range: self, end_override: None },
            PaginationLoop::Empty => {
                LoopedRange { range: Self { before: Some(after), ..self }, end_override }
            }
            PaginationLoop::Repeating => {
                LoopedRange { range: Self { after: None, ..self }, end_override }
            }
        }
    }
}

/// Cuts a page out of an unordered list.
pub(super) fn paginate_items<'w, 'l>(
    mut items: Vec<ConnectionItem<'w>>,
    list: &'l ListSpec<'l>,
    range: PageRange,
) -> ConnectionPage<'w, 'l> {
    let total = items.len();
    let PageRange { first, last, after, before } = range;
    items.retain(|item| {
        after.as_ref().is_none_or(|after| list.compare(after, &item.cursor).is_lt())
            && before.as_ref().is_none_or(|before| list.compare(&item.cursor, before).is_lt())
    });
    let mut has_previous = after.is_some() && items.len() < total;
    let mut has_next = before.is_some() && items.len() < total;
    if let Some(first) = first
        && first > 0
        && first < items.len()
    {
        items.select_nth_unstable_by(first - 1, |a, b| list.compare(&a.cursor, &b.cursor));
        items.truncate(first);
        has_next = true;
    }
    items.sort_unstable_by(|a, b| list.compare(&a.cursor, &b.cursor));
    if let Some(last) = last
        && last < items.len()
    {
        items.drain(..items.len() - last);
        has_previous = true;
    }
    ConnectionPage { list, items, total, has_next, has_previous, end_override: None }
}

/// Cuts a page out of a list that is stored in order, smallest position first.
pub(super) fn paginate_sorted<'w, 'l>(
    order: &[ThreadPosition],
    list: &'l ListSpec<'l>,
    range: &PageRange,
    object: impl Fn(&ThreadPosition) -> Option<GraphqlObject<'w>>,
) -> ConnectionPage<'w, 'l> {
    let PageRange { first, last, after, before } = range;
    let (above, below) = if list.is_descending { (before, after) } else { (after, before) };
    let from = above.as_ref().map_or(0, |cursor| {
        order.partition_point(|position| cursor.compare_position(position).is_ge())
    });
    let to = below.as_ref().map_or(order.len(), |cursor| {
        order.partition_point(|position| cursor.compare_position(position).is_gt())
    });
    let within = order.get(from..to).unwrap_or_default();
    let mut has_previous = after.is_some() && within.len() < order.len();
    let mut has_next = before.is_some() && within.len() < order.len();
    let mut from = 0;
    let mut to = within.len();
    if let Some(first) = first
        && *first < to
    {
        (to, has_next) = (*first, true);
    }
    if let Some(last) = last
        && *last < to
    {
        (from, has_previous) = (to - last, true);
    }
    let items = (from..to).filter_map(|index| {
        let index = if list.is_descending { within.len() - 1 - index } else { index };
        let position = &within[index];
        Some(ConnectionItem {
            cursor: ListCursor::from_number(position.second, position.id),
            object: object(position)?,
        })
    });
    ConnectionPage {
        list,
        items: items.collect(),
        total: order.len(),
        has_next,
        has_previous,
        end_override: None,
    }
}
