//! Reading the whole roll of a lane, in order to reconcile: the only way to learn of a deletion.
//!
//! The roll is staged page by page, so an interrupted sweep goes on where it was. Nothing is removed
//! before the roll is complete, each suspect was looked at again by id, and something that must be there
//! answered in the same look.

use std::collections::BTreeMap;

use hw_rules::reconcile::{self, SecondLook};
use hw_rules::version::Seen;
use hw_rules::walk::Cursor;
use hw_sources::github::issues;
use hw_sources::page::{LookPage, RollPage, Subject, Unreadable};
use hw_sources::trouble::Trouble;
use hw_store::{IngestPage, SweepPage};

use crate::Error;
use crate::crash;
use crate::fetch::Stop;
use crate::patience::Patience;
use crate::retry;
use crate::turn::{Followed, Room, Tally};

/// How many rolls one turn reads: one that waited, and one of its own.
const ROLLS: u32 = 2;
/// How often a page of the roll with unreadable rows is asked for again.
const ROLL_TRIES: u32 = 4;
/// As many ids as one look takes at first.
const LOOK_AT_ONCE: u32 = 50;

/// An item by both its names: the number, and the source's own.
type Named = (i64, String);

struct Sweep<'a> {
    room: &'a Room<'a>,
    followed: &'a Followed,
    /// Rows in a page of the roll.
    size: &'a mut u32,
    /// Ids in a look.
    batch: u32,
    tally: Tally,
}

/// Reads the roll, fetches what it shows and we lack, and removes what is confirmed gone.
///
/// A roll may have waited since an earlier turn, and what it lists may be gone by now, the siblings too. So
/// when a suspect cannot be judged, the roll is read anew, once.
pub(crate) async fn sweep(
    room: &Room<'_>,
    followed: &Followed,
    size: &mut u32,
) -> Result<Tally, Stop> {
    let batch = LOOK_AT_ONCE;
    let mut sweep = Sweep { room, followed, size, batch, tally: Tally::default() };
    for _ in 0..ROLLS {
        let judged = sweep.judge().await?;
        room.fetch.crash().pass(crash::SWEEP_LOOKED)?;
        match judged {
            Judged::All(gone) => return sweep.finish(&gone),
            Judged::AllBut(unjudged) => {
                tracing::info!(lane = %followed.lane, unjudged, "the roll is read anew");
                room.store.restart_sweep(room.lease, &followed.lane)?;
            }
        }
    }
    Err(sweep.stopped("some items may be gone, and no second look could tell").into())
}

/// What a second look at all suspects came to.
enum Judged {
    /// Each is there, or confirmed gone: these.
    All(Vec<(i64, Seen)>),
    /// So many could not be judged.
    AllBut(usize),
}

impl Sweep<'_> {
    async fn judge(&mut self) -> Result<Judged, Stop> {
        self.stage_roll().await?;
        let found = self.room.store.sweep_findings(&self.followed.lane)?;
        let named = |ids: &[i64]| -> Vec<Named> {
            ids.iter().filter_map(|id| Some((*id, found.node_ids.get(id)?.clone()))).collect()
        };
        self.fetch(&named(&found.findings.fetch)).await?;
        self.look_again(&named(&found.findings.suspects), &found.siblings).await
    }

    fn finish(mut self, gone: &[(i64, Seen)]) -> Result<Tally, Stop> {
        let Room { store, lease, allow_mass_removal, .. } = self.room;
        let swept = store.finish_sweep(lease, &self.followed.lane, gone, *allow_mass_removal)?;
        self.tally.removed += swept.removed;
        Ok(self.tally)
    }

    /// Stages the rest of the roll.
    async fn stage_roll(&mut self) -> Result<(), Stop> {
        let lane = &self.followed.lane;
        let staged = self.room.store.sweep(lane)?;
        let mut began = staged.as_ref().map(|sweep| sweep.began);
        let mut complete = staged.as_ref().is_some_and(|sweep| sweep.complete);
        let mut after = staged.and_then(|sweep| sweep.cursor);
        while !complete {
            let page = match self.roll(after.as_ref()).await {
                Err(Stop::Trouble(Trouble::BadCursor(_))) if after.is_some() => {
                    tracing::warn!(%lane, "the source forgot our place in the roll: it starts over");
                    self.room.store.restart_sweep(self.room.lease, lane)?;
                    (began, after) = (None, None);
                    continue;
                }
                other => other?,
            };
            if page.next.is_some() && page.next == after {
                return Err(self.stopped("the roll turns in a circle").into());
            }
            complete = page.next.is_none();
            let began = *began.get_or_insert(page.seen);
            self.stage(&page, began)?;
            after = page.next;
        }
        Ok(())
    }

    fn stage(&mut self, page: &RollPage, began: Seen) -> Result<(), Stop> {
        let row =
            |row: &hw_sources::page::RollRow| (row.id, row.node_id.clone(), row.updated_at.clone());
        let rows = page.rows.iter().map(row).collect();
        let (next, complete) = (page.next.clone(), page.next.is_none());
        let page = SweepPage { began, rows, next, complete };
        self.tally.pages += 1;
        Ok(self.room.store.stage_sweep(self.room.lease, &self.followed.lane, &page)?)
    }

    /// One page of the roll, every row of it readable: a roll with holes would invent suspects.
    async fn roll(&mut self, after: Option<&Cursor>) -> Result<RollPage, Stop> {
        let Followed { repository_id, node_id, .. } = self.followed;
        for _ in 0..ROLL_TRIES {
            let query = |size| issues::roll_query(node_id, size, after);
            let read =
                |answer: &_, number, _| issues::read_roll(answer, *repository_id, after, number);
            let page = self.room.fetch.ask(Patience::PAGE, self.size, query, read).await?;
            if page.unreadable == 0 {
                return Ok(page);
            }
        }
        Err(self.stopped("a row of the roll stays unreadable").into())
    }

    /// Reads in full what the roll shows and we lack, or hold in an older version.
    async fn fetch(&mut self, mut wanted: &[Named]) -> Result<(), Stop> {
        while !wanted.is_empty() {
            match self.look(wanted, &[]).await {
                Ok((look, count)) => {
                    self.keep(look)?;
                    wanted = &wanted[count..];
                }
                // one item that the server cannot serve must not stand before all that follow it
                Err(Stop::Trouble(Trouble::TooMuch(reason))) if self.batch == 1 => {
                    self.give_up_on(&wanted[0], reason)?;
                    wanted = &wanted[1..];
                }
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Looks at each suspect again, with siblings.
    async fn look_again(
        &mut self,
        mut suspects: &[Named],
        siblings: &[Named],
    ) -> Result<Judged, Stop> {
        let mut gone = Vec::new();
        let mut unjudged = 0;
        while !suspects.is_empty() {
            let (look, count) = self.look(suspects, siblings).await?;
            let (now, rest) = suspects.split_at(count);
            let second = second_look(&look, now, siblings);
            unjudged += if second.sibling_answered { count - second.answered.len() } else { count };
            gone.extend(reconcile::confirmed_gone(&second).into_iter().map(|id| (id, look.seen)));
            self.keep(look)?;
            suspects = rest;
        }
        Ok(if unjudged == 0 { Judged::All(gone) } else { Judged::AllBut(unjudged) })
    }

    /// Looks at as many of the wanted as can be served at once, and at the siblings; tells how many.
    async fn look(
        &mut self,
        wanted: &[Named],
        siblings: &[Named],
    ) -> Result<(LookPage, usize), Stop> {
        let Followed { repository_id, node_id, .. } = self.followed;
        let count = |size: u32| wanted.len().min(size as usize);
        let ids = |size: u32| -> Vec<String> {
            let asked = wanted[..count(size)].iter().chain(siblings);
            asked.map(|(_, node_id)| node_id.clone()).collect()
        };
        let query = |size| issues::look_query(node_id, &ids(size));
        let read = |answer: &_, number, size| {
            let look = issues::read_look(answer, &ids(size), *repository_id, number)?;
            Ok((look, count(size)))
        };
        self.room.fetch.ask(Patience::PAGE, &mut self.batch, query, read).await
    }

    fn keep(&mut self, look: LookPage) -> Result<(), Stop> {
        let seen = look.observations.len();
        let page = self.page(look.observations, &look.unreadable);
        let ingested = self.room.store.ingest(self.room.lease, &page)?;
        self.tally.count(&ingested, seen);
        Ok(())
    }

    fn give_up_on(&mut self, (_, node_id): &Named, reason: String) -> Result<(), Stop> {
        let at_ms = self.room.fetch.last_date().map_or(0, |date| date.0);
        let unreadable = Unreadable {
            subject: Subject::Node(node_id.clone()),
            reason,
            raw: String::new(),
            updated_at: None,
            seen: Seen { at_ms, request: 0 },
        };
        let page = self.page(Vec::new(), &[unreadable]);
        let ingested = self.room.store.ingest(self.room.lease, &page)?;
        self.tally.count(&ingested, 0);
        Ok(())
    }

    /// Items read by id: they move nothing of the lane.
    fn page(
        &self,
        observations: Vec<hw_rules::item::Observation>,
        unreadable: &[Unreadable],
    ) -> IngestPage {
        IngestPage {
            lane: self.followed.lane.clone(),
            observations,
            coverage: None,
            checked_at_ms: None,
            page_size: *self.size,
            quarantined: unreadable.iter().map(retry::quarantine).collect(),
            cleared: Vec::new(),
        }
    }

    fn stopped(&self, reason: &str) -> Error {
        Error::Sweep { lane: self.followed.lane.to_string(), reason: reason.to_owned() }
    }
}

/// What a look says about the suspects in it.
///
/// The siblings are items that the roll listed and we hold; one that answers is enough. Where there are
/// none, because all that was held is suspect, the repository itself stands for them. It must answer with
/// its issues switched on in any case.
fn second_look(look: &LookPage, suspects: &[Named], siblings: &[Named]) -> SecondLook {
    let is_absent = |(_, node_id): &Named| look.absent.contains(node_id);
    let is_there = |(id, _): &Named| look.observations.iter().any(|o| o.key().id == *id);
    let told = suspects.iter().filter(|named| is_absent(named) || is_there(named));
    let answered: BTreeMap<i64, bool> = told.map(|named| (named.0, is_there(named))).collect();
    let vouched = siblings.is_empty() || siblings.iter().any(is_there);
    SecondLook { answered, sibling_answered: look.scope_answered && vouched }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspect_that_neither_answered_nor_was_denied_is_not_judged() {
        let look = look(&["N1"], true);
        let second = second_look(&look, &[named(1), named(2)], &[]);
        assert_eq!(second.answered, BTreeMap::from([(1, false)]), "2 was unreadable");
    }

    #[test]
    fn a_listed_sibling_that_does_not_answer_makes_the_look_worthless() {
        let silent = second_look(&look(&["N1"], true), &[named(1)], &[named(9)]);
        assert!(!silent.sibling_answered);
        assert!(reconcile::confirmed_gone(&silent).is_empty());
    }

    #[test]
    fn where_the_roll_is_empty_the_repository_must_answer() {
        let answered = second_look(&look(&["N1"], true), &[named(1)], &[]);
        assert_eq!(reconcile::confirmed_gone(&answered), [1]);
        let hidden = second_look(&look(&["N1"], false), &[named(1)], &[]);
        assert!(reconcile::confirmed_gone(&hidden).is_empty());
    }

    fn look(absent: &[&str], scope_answered: bool) -> LookPage {
        LookPage {
            date: hw_rules::time::Mark(0),
            seen: Seen { at_ms: 0, request: 0 },
            scope_answered,
            observations: vec![],
            absent: absent.iter().map(|id| (*id).to_owned()).collect(),
            unreadable: vec![],
        }
    }

    fn named(id: i64) -> Named {
        (id, format!("N{id}"))
    }
}
