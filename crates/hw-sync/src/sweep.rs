//! Reading the whole roll of a lane, in order to reconcile: the only way to learn of a deletion.
//!
//! The roll is staged page by page, so an interrupted sweep goes on where it was. Nothing is removed
//! before the roll is complete, each suspect was looked at again by id, and something that must be there
//! answered in the same look.

use std::collections::BTreeMap;

use hw_rules::plan::LaneState;
use hw_rules::reconcile::{self, SecondLook};
use hw_rules::version::Seen;
use hw_rules::walk::Cursor;
use hw_sources::github::issues;
use hw_sources::page::{LookPage, RollPage};
use hw_store::{IngestPage, SweepPage};

use crate::Error;
use crate::crash;
use crate::fetch::Stop;
use crate::retry;
use crate::turn::{Followed, Room, Tally};

/// How often a page of the roll with unreadable rows is asked for again.
const ROLL_TRIES: u32 = 4;
/// As many ids as one look takes, with room for a sibling.
const LOOK_AT_ONCE: usize = 50;

/// An item by both its names: the number, and the source's own.
type Named = (i64, String);

struct Sweep<'a> {
    room: &'a Room<'a>,
    followed: &'a Followed,
    size: u32,
    tally: Tally,
}

/// Reads the roll, fetches what it shows and we lack, and removes what is confirmed gone.
pub(crate) async fn sweep(
    room: &Room<'_>,
    followed: &Followed,
    state: &LaneState,
) -> Result<Tally, Stop> {
    let mut sweep = Sweep { room, followed, size: state.page_size, tally: Tally::default() };
    sweep.stage_roll().await?;
    let found = room.store.sweep_findings(&followed.lane)?;
    let named = |ids: &[i64]| -> Vec<Named> {
        ids.iter().filter_map(|id| Some((*id, found.node_ids.get(id)?.clone()))).collect()
    };
    sweep.fetch(&named(&found.findings.fetch)).await?;
    let suspects = named(&found.findings.suspects);
    let gone = sweep.look_again(&suspects, found.sibling.as_ref()).await?;
    room.fetch.crash().pass(crash::SWEEP_LOOKED)?;
    let swept =
        room.store.finish_sweep(room.lease, &followed.lane, &gone, room.allow_mass_removal)?;
    sweep.tally.removed += swept.removed;
    Ok(sweep.tally)
}

impl Sweep<'_> {
    /// Stages the rest of the roll.
    async fn stage_roll(&mut self) -> Result<(), Stop> {
        let staged = self.room.store.sweep(&self.followed.lane)?;
        let mut began = staged.as_ref().map(|sweep| sweep.began);
        let mut complete = staged.as_ref().is_some_and(|sweep| sweep.complete);
        let mut after = staged.and_then(|sweep| sweep.cursor);
        while !complete {
            let page = self.roll(after.as_ref()).await?;
            complete = page.next.is_none();
            let began = *began.get_or_insert(page.seen);
            self.stage(&page, began)?;
            after = page.next;
        }
        Ok(())
    }

    fn stage(&mut self, page: &RollPage, began: Seen) -> Result<(), Stop> {
        let rows =
            page.rows.iter().map(|row| (row.id, row.node_id.clone(), row.updated_at.clone()));
        let page = SweepPage {
            began,
            rows: rows.collect(),
            next: page.next.clone(),
            complete: page.next.is_none(),
            checked_at_ms: page.date.0,
        };
        self.tally.pages += 1;
        Ok(self.room.store.stage_sweep(self.room.lease, &self.followed.lane, &page)?)
    }

    /// One page of the roll, every row of it readable: a roll with holes would invent suspects.
    async fn roll(&mut self, after: Option<&Cursor>) -> Result<RollPage, Stop> {
        let Followed { repository_id, node_id, .. } = self.followed;
        for _ in 0..ROLL_TRIES {
            let query = |size| issues::roll_query(node_id, size, after);
            let read =
                |answer: &_, number| issues::read_roll(answer, *repository_id, after, number);
            let page = self.room.fetch.ask(&mut self.size, query, read).await?;
            if page.unreadable == 0 {
                return Ok(page);
            }
        }
        Err(self.stopped("a row of the roll stays unreadable").into())
    }

    /// Reads in full what the roll shows and we lack, or hold in an older version.
    async fn fetch(&mut self, wanted: &[Named]) -> Result<(), Stop> {
        for chunk in wanted.chunks(LOOK_AT_ONCE) {
            let ids: Vec<String> = chunk.iter().map(|(_, node_id)| node_id.clone()).collect();
            let look = self.look(&ids).await?;
            self.keep(look)?;
        }
        Ok(())
    }

    /// Looks at each suspect again, with a sibling; returns those confirmed gone.
    async fn look_again(
        &mut self,
        suspects: &[Named],
        sibling: Option<&Named>,
    ) -> Result<Vec<(i64, Seen)>, Stop> {
        let mut gone = Vec::new();
        for chunk in suspects.chunks(LOOK_AT_ONCE) {
            let ids = chunk.iter().chain(sibling).map(|(_, node_id)| node_id.clone());
            let look = self.look(&ids.collect::<Vec<_>>()).await?;
            let second = second_look(&look, chunk, sibling);
            gone.extend(reconcile::confirmed_gone(&second).into_iter().map(|id| (id, look.seen)));
            self.keep(look)?;
        }
        Ok(gone)
    }

    async fn look(&mut self, ids: &[String]) -> Result<LookPage, Stop> {
        let Followed { repository_id, node_id, .. } = self.followed;
        let query = |_| issues::look_query(node_id, ids);
        let read = |answer: &_, number| issues::read_look(answer, ids, *repository_id, number);
        self.room.fetch.ask(&mut self.size, query, read).await
    }

    fn keep(&mut self, look: LookPage) -> Result<(), Stop> {
        let seen = look.observations.len();
        let page = IngestPage {
            lane: self.followed.lane.clone(),
            observations: look.observations,
            coverage: None,
            checked_at_ms: look.date.0,
            page_size: self.size,
            quarantined: look.unreadable.iter().map(retry::quarantine).collect(),
            cleared: Vec::new(),
        };
        let ingested = self.room.store.ingest(self.room.lease, &page)?;
        self.tally.count(&ingested, seen);
        Ok(())
    }

    fn stopped(&self, reason: &str) -> Error {
        Error::Sweep { lane: self.followed.lane.to_string(), reason: reason.to_owned() }
    }
}

/// What a look says about the suspects in it.
///
/// The sibling is an item that the roll listed. Where the roll was empty there is none; then the
/// repository itself, answering with its issues switched on, stands for it.
fn second_look(look: &LookPage, suspects: &[Named], sibling: Option<&Named>) -> SecondLook {
    let is_absent = |(_, node_id): &Named| look.absent.contains(node_id);
    let is_there = |(id, _): &Named| look.observations.iter().any(|o| o.key().id == *id);
    let told = suspects.iter().filter(|named| is_absent(named) || is_there(named));
    let answered: BTreeMap<i64, bool> = told.map(|named| (named.0, is_there(named))).collect();
    let sibling_answered = look.scope_answered && sibling.is_none_or(is_there);
    SecondLook { answered, sibling_answered }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspect_that_neither_answered_nor_was_denied_is_not_judged() {
        let look = look(&["N1"], true);
        let second = second_look(&look, &[named(1), named(2)], None);
        assert_eq!(second.answered, BTreeMap::from([(1, false)]), "2 was unreadable");
    }

    #[test]
    fn a_listed_sibling_that_does_not_answer_makes_the_look_worthless() {
        let silent = second_look(&look(&["N1"], true), &[named(1)], Some(&named(9)));
        assert!(!silent.sibling_answered);
        assert!(reconcile::confirmed_gone(&silent).is_empty());
    }

    #[test]
    fn where_the_roll_is_empty_the_repository_must_answer() {
        let answered = second_look(&look(&["N1"], true), &[named(1)], None);
        assert_eq!(reconcile::confirmed_gone(&answered), [1]);
        let hidden = second_look(&look(&["N1"], false), &[named(1)], None);
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
