//! The newest-first walk: from the top of a listing down to a stop, one page at a time.
//!
//! Pages are asked for by keyset cursor, so what is edited meanwhile moves to the top and leaves nothing
//! behind; the next walk from the top finds it. A walk carries everything needed to resume it.

use serde::{Deserialize, Serialize};

use crate::OVERLAP_MS;
use crate::time::{Mark, SourceTime};

/// The remote's opaque token for a place in a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor(pub String);

/// How far down: to the very beginning of the listing, or to a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Floor {
    Beginning,
    At(Mark),
}

impl Floor {
    /// Whether something updated then lies strictly below.
    pub fn is_above(self, updated_at: Mark) -> bool {
        match self {
            Self::Beginning => false,
            Self::At(mark) => updated_at < mark,
        }
    }
}

/// One row of a page: enough to decide, whatever the row itself says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub id: i64,
    pub updated_at: SourceTime,
    pub cursor: Cursor,
}

/// One page of a listing ordered newest first, as the rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The answer's `Date`.
    pub date: Mark,
    pub entries: Vec<Entry>,
    pub total_count: Option<i64>,
    /// Where the next page begins; none when the listing ends here.
    pub next: Option<Cursor>,
}

/// What a walk's own first page said of the whole listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub date: Mark,
    /// The newest item: its id and when it was updated.
    pub newest: Option<(i64, SourceTime)>,
    pub total_count: Option<i64>,
    /// How many rows the listing counted beyond those that were stored, when that was last explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<i64>,
    /// Since when sweeps have listed less than the listing counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_since: Option<Mark>,
}

/// A walk that has not reached its stop yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walk {
    pub stop: Floor,
    /// What its first page said; none before the first page.
    pub head: Option<Head>,
    /// The last row read; the next page is asked for after it.
    pub cursor: Option<Cursor>,
}

/// How a walk ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub head: Head,
    /// How far down it really got: the stop, or the beginning when the listing ended first.
    pub reached: Floor,
    /// The last row at or above the stop: what is older is read after it.
    pub bottom: Option<Cursor>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Open(Walk),
    Closed(Closed),
}

/// A page that leads nowhere: the listing says there is more, and gives the place we came from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the listing turns in a circle at {0:?}")]
pub struct Circle(pub Cursor);

impl Walk {
    /// A walk from the top down to the stop.
    pub fn down_to(stop: Floor) -> Self {
        Self { stop, head: None, cursor: None }
    }

    /// What the walk is after one more page.
    pub fn step(self, page: &Page) -> Result<Step, Circle> {
        let head = self.head.unwrap_or_else(|| Head::of(page));
        let kept = page.entries.iter().take_while(|e| !self.stop.is_above(e.updated_at.mark()));
        let bottom = kept.last().map(|entry| entry.cursor.clone()).or_else(|| self.cursor.clone());
        if page.entries.iter().any(|entry| self.stop.is_above(entry.updated_at.mark())) {
            return Ok(Step::Closed(Closed { head, reached: self.stop, bottom }));
        }
        match &page.next {
            None => Ok(Step::Closed(Closed { head, reached: Floor::Beginning, bottom })),
            Some(next) if Some(next) == self.cursor.as_ref() => Err(Circle(next.clone())),
            Some(next) => Ok(Step::Open(Self {
                stop: self.stop,
                head: Some(head),
                cursor: Some(next.clone()),
            })),
        }
    }
}

impl Head {
    fn of(page: &Page) -> Self {
        // of several in one second the first one, which is also the one that a probe shows
        let newest = page.entries.iter().rev().max_by_key(|entry| entry.updated_at.mark());
        Self {
            date: page.date,
            newest: newest.map(|entry| (entry.id, entry.updated_at.clone())),
            total_count: page.total_count,
            excess: None,
            short_since: None,
        }
    }

    /// The mark that a walk from here may claim once it has reached its stop.
    ///
    /// Never beyond the answer's `Date`: a time in the future would hide whatever comes before it. Then it
    /// claims what no list can be hiding any more. An empty listing raises nothing: it may be a fault, or a feature that is switched off for a while,
    /// and reading it again from the beginning costs one page.
    pub fn mark(&self) -> Mark {
        let newest = self.newest.as_ref().map(|(_, updated_at)| updated_at.mark());
        let latest = |newest| if newest > self.date { self.date.minus(OVERLAP_MS) } else { newest };
        newest.map_or(Mark::BEGINNING, latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stops_at_the_first_row_strictly_older_than_the_stop() {
        let walk = Walk::down_to(Floor::At(Mark(8_000)));
        let Step::Open(walk) = walk.step(&page(&[10, 9, 8], Some("more"))).unwrap() else {
            panic!("a row at the stop itself is not older")
        };
        let step = walk.step(&page(&[8, 7], Some("more"))).unwrap();
        let Step::Closed(closed) = step else { panic!("7 is older than 8") };
        assert_eq!(closed.reached, Floor::At(Mark(8_000)));
        assert_eq!(closed.bottom, Some(Cursor("8".into())));
        assert_eq!(closed.head.mark(), Mark(10_000));
    }

    #[test]
    fn the_end_of_the_listing_is_its_beginning() {
        let step = Walk::down_to(Floor::At(Mark(1))).step(&page(&[5], None)).unwrap();
        assert!(matches!(step, Step::Closed(Closed { reached: Floor::Beginning, .. })));
    }

    #[test]
    fn a_time_in_the_future_is_not_claimed() {
        let step = Walk::down_to(Floor::Beginning).step(&page(&[5_000_000], None)).unwrap();
        let Step::Closed(closed) = step else { panic!("the listing ended") };
        assert_eq!(closed.head.mark(), Mark(100_000 - OVERLAP_MS));
    }

    #[test]
    fn an_empty_listing_claims_nothing() {
        let step = Walk::down_to(Floor::Beginning).step(&page(&[], None)).unwrap();
        let Step::Closed(closed) = step else { panic!("the listing ended") };
        assert_eq!(closed.head.mark(), Mark::BEGINNING);
    }

    #[test]
    fn of_several_newest_the_first_one_is_recorded_as_a_probe_shows_it() {
        let step = Walk::down_to(Floor::Beginning).step(&Page {
            entries: [(7, 5), (3, 5), (1, 4)].map(|(id, s)| entry(id, s)).to_vec(),
            ..page(&[], None)
        });
        let Ok(Step::Closed(closed)) = step else { panic!("the listing ended") };
        assert_eq!(closed.head.newest.map(|(id, _)| id), Some(7));
    }

    #[test]
    fn a_listing_that_turns_in_a_circle_is_an_error() {
        let Step::Open(walk) =
            Walk::down_to(Floor::Beginning).step(&page(&[5], Some("c"))).unwrap()
        else {
            panic!("there is more")
        };
        assert_eq!(walk.step(&page(&[4], Some("c"))), Err(Circle(Cursor("c".into()))));
    }

    fn page(seconds: &[i64], next: Option<&str>) -> Page {
        Page {
            date: Mark(100_000),
            entries: seconds.iter().map(|second| entry(*second, *second)).collect(),
            total_count: None,
            next: next.map(|c| Cursor(c.to_owned())),
        }
    }
    fn entry(id: i64, second: i64) -> Entry {
        Entry {
            id,
            updated_at: SourceTime::parse(&Mark(second * 1_000).to_string()).unwrap(),
            cursor: Cursor(second.to_string()),
        }
    }
}
