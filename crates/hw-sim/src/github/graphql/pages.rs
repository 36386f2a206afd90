//! Where a page begins and ends.
//!
//! A cursor names a place in the order, not an item: it goes on working when its item is gone.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::execute::Object;
use crate::github::Circle;
use crate::world::Place;

/// A place in an order: what it is sorted by, then the id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cursor {
    pub(super) number: i64,
    pub(super) text: String,
    pub(super) id: i64,
}

impl Cursor {
    pub(super) fn by_number(number: i64, id: i64) -> Self {
        Self { number, text: String::new(), id }
    }

    /// A place in a list of this sort; `None` for anything else, a cursor of another sort of list
    /// among it.
    pub(super) fn parse(cursor: &str, list: &List<'_>) -> Option<Self> {
        let plain = String::from_utf8(STANDARD.decode(cursor).ok()?).ok()?;
        let rest = plain.strip_prefix("cursor:v2:")?.strip_prefix(&list.tag())?;
        let mut parts = rest.strip_prefix(':')?.splitn(3, ':');
        let number = parts.next()?.parse().ok()?;
        let id = parts.next()?.parse().ok()?;
        Some(Self { number, text: parts.next()?.to_owned(), id })
    }

    pub(super) fn encode(&self, list: &List<'_>) -> String {
        let Self { number, text, id } = self;
        STANDARD.encode(format!("cursor:v2:{}:{number}:{id}:{text}", list.tag()))
    }

    fn against(&self, place: &Place) -> Ordering {
        (self.number, self.text.as_str(), self.id).cmp(&(place.second, "", place.id))
    }
}

/// A sort of list, and the order it is asked for in.
pub(super) struct List<'l> {
    pub(super) type_name: &'l str,
    /// What it is ordered by; empty where there is no choice.
    pub(super) by: &'l str,
    pub(super) descending: bool,
}

impl List<'_> {
    /// What the cursors of such a list have in common.
    fn tag(&self) -> String {
        format!("{}.{}", self.type_name, self.by)
    }
}

/// An item and its place.
pub(crate) struct Listed<'w> {
    pub(super) place: Cursor,
    pub(super) object: Object<'w>,
}

/// Which stretch of the list is asked for.
#[derive(Clone)]
pub(super) struct Stretch {
    pub(super) first: Option<usize>,
    pub(super) last: Option<usize>,
    pub(super) after: Option<Cursor>,
    pub(super) before: Option<Cursor>,
}

pub(super) struct Page<'w, 'l> {
    pub(super) list: &'l List<'l>,
    pub(super) items: Vec<Listed<'w>>,
    pub(super) total: usize,
    pub(super) has_next: bool,
    pub(super) has_previous: bool,
    /// A cursor that stands for the end of the page, whatever is on it.
    pub(super) false_end: Option<Cursor>,
}

impl Stretch {
    /// The stretch that is served instead where a listing leads nowhere, and the cursor that its end has.
    pub(super) fn turned(self, circle: Option<Circle>) -> (Self, Option<Cursor>) {
        let Some((circle, after)) = circle.zip(self.after.clone()) else { return (self, None) };
        let another = Cursor { number: after.number - 1, ..after.clone() };
        match circle {
            Circle::Wrapping => (self, None),
            Circle::Empty => (Self { before: Some(after), ..self }, Some(another)),
            Circle::Repeating => (Self { after: None, ..self }, Some(another)),
        }
    }
}

/// The page of a list that is in no order yet.
pub(super) fn paginate<'w, 'l>(
    mut items: Vec<Listed<'w>>,
    list: &'l List<'l>,
    stretch: Stretch,
) -> Page<'w, 'l> {
    let total = items.len();
    let order = |a: &Cursor, b: &Cursor| if list.descending { b.cmp(a) } else { a.cmp(b) };
    let Stretch { first, last, after, before } = stretch;
    items.retain(|item| {
        after.as_ref().is_none_or(|after| order(after, &item.place).is_lt())
            && before.as_ref().is_none_or(|before| order(&item.place, before).is_lt())
    });
    let mut has_previous = after.is_some() && items.len() < total;
    let mut has_next = before.is_some() && items.len() < total;
    if let Some(first) = first
        && 0 < first
        && first < items.len()
    {
        items.select_nth_unstable_by(first - 1, |a, b| order(&a.place, &b.place));
        items.truncate(first);
        has_next = true;
    }
    items.sort_unstable_by(|a, b| order(&a.place, &b.place));
    if let Some(last) = last
        && last < items.len()
    {
        items.drain(..items.len() - last);
        has_previous = true;
    }
    Page { list, items, total, has_next, has_previous, false_end: None }
}

/// The page of a list that is kept in order, smallest place first.
pub(super) fn cut<'w, 'l>(
    order: &[Place],
    list: &'l List<'l>,
    stretch: &Stretch,
    object: impl Fn(&Place) -> Option<Object<'w>>,
) -> Page<'w, 'l> {
    let Stretch { first, last, after, before } = stretch;
    let (above, below) = if list.descending { (before, after) } else { (after, before) };
    let from = above.as_ref().map_or(0, |it| order.partition_point(|at| it.against(at).is_ge()));
    let to =
        below.as_ref().map_or(order.len(), |it| order.partition_point(|at| it.against(at).is_gt()));
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
    let turned = |at: usize| if list.descending { within.len() - 1 - at } else { at };
    let places = (from..to).map(|at| &within[turned(at)]);
    let items = places.filter_map(|at| {
        Some(Listed { place: Cursor::by_number(at.second, at.id), object: object(at)? })
    });
    Page {
        list,
        items: items.collect(),
        total: order.len(),
        has_next,
        has_previous,
        false_end: None,
    }
}
