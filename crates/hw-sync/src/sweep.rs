//! Reading the whole roll of a lane, in order to reconcile: the only way to learn of a deletion.
//!
//! The roll is staged page by page, so an interrupted sweep goes on where it was. Nothing is removed
//! before the roll is complete, each suspect was looked at again by id, and something that must be there
//! answered in the same look.

use std::collections::BTreeMap;

use hw_rules::lane::Reading;
use hw_rules::reconcile::{self, SecondLook};
use hw_rules::since::SinceWalk;
use hw_rules::time::Mark;
use hw_rules::version::Seen;
use hw_rules::walk::{Cursor, Floor};
use hw_sources::github::threads;
use hw_sources::page::{LookPage, RollPage, Subject, Unreadable};
use hw_sources::trouble::Trouble;
use hw_store::{IngestPage, SweepPage};

use crate::Error;
use crate::fetch::Stop;
use crate::news::News;
use crate::patience::Patience;
use crate::since::List;
use crate::talks::Talks;
use crate::turn::{Followed, Room, Tally};
use crate::{crash, look, retry, roll};

/// How often a page of the roll with unreadable rows is asked for again.
const ROLL_TRIES: u32 = 4;
/// As many ids as GitHub takes in one list; the siblings are a list of their own in the same request.
const LOOK_AT_ONCE: u32 = 100;

/// An item by both its names: the number, and the source's own.
type Named = (i64, String);

struct Sweep<'a> {
    room: &'a Room<'a>,
    followed: &'a Followed,
    /// Rows in a page of the roll.
    size: &'a mut u32,
    /// Ids in a look.
    batch: u32,
    /// Whether the roll was begun by an earlier turn: what it lists may be gone by now.
    has_waited: bool,
    /// Whether something that it lists is not found.
    is_denied: bool,
    tally: Tally,
}

/// Reads the roll, fetches what it shows and we lack, and removes what is confirmed gone.
///
/// A roll may have waited since an earlier turn, and what it lists may be gone by now, the siblings too. So
/// when nobody vouches for a look, or what is listed is not found, a roll that waited is read anew. A suspect
/// that gives no answer stays held, and is named.
pub(crate) async fn sweep(
    room: &Room<'_>,
    followed: &Followed,
    size: &mut u32,
) -> Result<Tally, Stop> {
    let batch = LOOK_AT_ONCE;
    let has_waited = room.store.sweep(&followed.lane)?.is_some();
    let tally = Tally::default();
    let mut sweep = Sweep { room, followed, size, batch, has_waited, is_denied: false, tally };
    let mut judged = sweep.judge().await?;
    if has_waited && (sweep.is_denied || !judged.is_vouched_for) {
        room.store.restart_sweep(room.lease, &followed.lane)?;
        sweep.has_waited = false;
        judged = sweep.judge().await?;
    }
    room.fetch.crash().pass(crash::SWEEP_LOOKED)?;
    if !judged.is_vouched_for {
        return Err(sweep.stopped("nobody vouched for what is missing").into());
    }
    let allow = room.allow_mass_removal;
    let swept = room.store.finish_sweep(room.lease, &followed.lane, &judged.gone, allow)?;
    sweep.tally.removed += swept.removed;
    if 0 < swept.removed {
        let (surface, scope, count) = (followed.surface(), followed.scope(), swept.removed);
        room.fetch.herald().tell(|| News::Removed { surface, scope, count });
    }
    if 0 < judged.unanswered {
        let reason = format!("{} items may be gone, and gave no answer", judged.unanswered);
        return Err(sweep.stopped(&reason).into());
    }
    Ok(sweep.tally)
}

/// What a second look at all suspects came to.
struct Judged {
    gone: Vec<(i64, Seen)>,
    /// Suspects that were neither there nor denied.
    unanswered: usize,
    /// Whether in each look something answered that must be there.
    is_vouched_for: bool,
}

impl Sweep<'_> {
    async fn judge(&mut self) -> Result<Judged, Stop> {
        self.stage_roll().await?;
        let found = self.room.store.sweep_findings(&self.followed.lane)?;
        let named = |ids: &[i64]| -> Vec<Named> {
            let named = ids.iter().filter_map(|id| Some((*id, found.node_ids.get(id)?.clone())));
            // one that could not even be named waits in quarantine
            named.filter(|(_, node_id)| !node_id.is_empty()).collect()
        };
        self.fetch(&named(&found.findings.fetch)).await?;
        self.look_again(&named(&found.findings.suspects), &found.siblings).await
    }

    /// Stages the rest of the roll.
    async fn stage_roll(&mut self) -> Result<(), Stop> {
        let lane = &self.followed.lane;
        let staged = self.room.store.sweep(lane)?;
        let mut began = staged.as_ref().map(|sweep| sweep.began);
        let mut complete = staged.as_ref().is_some_and(|sweep| sweep.complete);
        let mut after = staged.and_then(|sweep| sweep.cursor);
        let mut has_forgotten = false;
        while !complete {
            let page = match self.roll(after.as_ref()).await {
                Err(Stop::Trouble(Trouble::BadCursor(_))) if after.is_some() && !has_forgotten => {
                    has_forgotten = true;
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
        let (surface, home) = (self.followed.surface(), &self.followed.home);
        match surface.reading() {
            Reading::Since => return self.roll_since(after).await,
            Reading::Talks => return self.roll_talks(after).await,
            Reading::Walk => {}
        }
        let patience = self.followed.patience(Patience::PAGE);
        for _ in 0..ROLL_TRIES {
            let query = |size| threads::roll_query(surface, &home.node_id, size, after);
            let read =
                |answer: &_, number, _| threads::read_roll(answer, surface, home.id, after, number);
            let page = self.room.fetch.ask(patience, self.size, query, read).await?;
            if page.unreadable == 0 {
                return Ok(page);
            }
        }
        Err(self.stopped("a row of the roll stays unreadable").into())
    }

    /// A page of a list is a page of its roll, too; what it shows is kept.
    async fn roll_since(&mut self, after: Option<&Cursor>) -> Result<RollPage, Stop> {
        let walk = match after {
            Some(place) => roll::walk_at(place),
            None => {
                let coverage = self.room.store.lane_state(&self.followed.lane)?.coverage;
                SinceWalk::from(coverage.from.unwrap_or(Floor::Beginning))
            }
        };
        let (room, followed) = (self.room, self.followed);
        let mut list = List { room, followed, size: self.size, tally: Tally::default() };
        let page = list.page(&walk).await.map_err(|stop| list.of_this_lane(stop))?;
        let rolled = roll::of_list(&walk, &page);
        let next = rolled.as_ref().and_then(|rolled| rolled.next.as_ref());
        if next.is_some_and(|next| 1 < roll::walk_at(next).page) {
            // a page that is turned to begins where the last one ended, if it has the same size
            *self.size = page.size;
        }
        let kept = self.page(page.observations, &page.unreadable);
        let ingested = self.room.store.ingest(self.room.lease, &kept)?;
        self.tally.count(&ingested, kept.observations.len());
        rolled.ok_or_else(|| self.stopped("the list turns in a circle").into())
    }

    /// The talk of the next threads, whether they moved or not; what is said there is kept.
    async fn roll_talks(&mut self, after: Option<&Cursor>) -> Result<RollPage, Stop> {
        let mut talks = Talks::of(self.room, self.followed, *self.size);
        let after = after.and_then(|place| place.0.parse().ok()).unwrap_or(i64::MIN);
        let threads = self.room.store.talks(&self.followed.lane, after, talks.at_once())?;
        let date = self.room.fetch.last_date().unwrap_or(Mark::BEGINNING);
        if threads.is_empty() {
            let seen = Seen { at_ms: date.0, request: 0 };
            return Ok(RollPage { date, seen, rows: Vec::new(), next: None, unreadable: 0 });
        }
        let said = talks.read(&threads).await?;
        talks.whole()?;
        self.tally.add(&talks.tally);
        let next = said.count.checked_sub(1).and_then(|last| threads.get(last));
        let next = next.map(|thread| Cursor(thread.id.to_string()));
        Ok(RollPage { date, seen: said.seen, rows: said.rows, next, unreadable: 0 })
    }

    /// Reads in full what the roll shows and we lack, or hold in an older version.
    async fn fetch(&mut self, mut wanted: &[Named]) -> Result<(), Stop> {
        while !wanted.is_empty() {
            match self.look(wanted, &[]).await {
                Ok((look, count)) => {
                    let (now, later) = wanted.split_at(count);
                    let denied: Vec<Named> = denied(now, &look);
                    self.keep(look)?;
                    self.look_once_more(&denied).await?;
                    wanted = later;
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

    /// Looks at what the roll lists and a look denies once more: one of the two comes from a replica that
    /// lags, or from a fault. What is denied again waits to be read.
    async fn look_once_more(&mut self, denied: &[Named]) -> Result<(), Stop> {
        let mut rest = denied;
        while !rest.is_empty() {
            let (look, count) = self.look(rest, &[]).await?;
            let (now, later) = rest.split_at(count);
            let denied = self::denied(now, &look);
            self.is_denied |= !denied.is_empty();
            let is_fresh = !self.has_waited;
            for named in denied.into_iter().filter(|_| is_fresh) {
                self.give_up_on(&named, "it is listed, and not found by its id".into())?;
            }
            self.keep(look)?;
            rest = later;
        }
        Ok(())
    }

    /// Looks at each suspect again, with siblings.
    async fn look_again(
        &mut self,
        mut suspects: &[Named],
        siblings: &[Named],
    ) -> Result<Judged, Stop> {
        let mut judged = Judged { gone: Vec::new(), unanswered: 0, is_vouched_for: true };
        while !suspects.is_empty() {
            let (mut look, count) = match self.look(suspects, siblings).await {
                Err(Stop::Trouble(Trouble::TooMuch(reason))) if self.batch == 1 => {
                    self.give_up_on(&suspects[0], reason)?;
                    judged.unanswered += 1;
                    suspects = &suspects[1..];
                    continue;
                }
                other => other?,
            };
            let (now, rest) = suspects.split_at(count);
            let moved: Vec<i64> = look.elsewhere.iter().map(|found| found.key().id).collect();
            let elsewhere = std::mem::take(&mut look.elsewhere);
            let kept = look::keep_elsewhere(self.room, self.followed, elsewhere)?;
            let second = second_look(&look, now, &moved, &kept);
            judged.unanswered += count - second.answered.len();
            judged.is_vouched_for &= second.sibling_answered;
            let gone = reconcile::confirmed_gone(&second);
            judged.gone.extend(gone.into_iter().map(|id| (id, look.seen)));
            self.keep(look)?;
            suspects = rest;
        }
        Ok(judged)
    }

    /// Looks at as many of the wanted as can be served at once, and at the siblings; tells how many.
    async fn look(
        &mut self,
        wanted: &[Named],
        siblings: &[Named],
    ) -> Result<(LookPage, usize), Stop> {
        let (surface, home) = (self.followed.surface(), &self.followed.home);
        let ids =
            |named: &[Named]| -> Vec<String> { named.iter().map(|(_, id)| id.clone()).collect() };
        let siblings = ids(siblings);
        let some = |size: u32| &wanted[..wanted.len().min(size as usize)];
        let query = |size| look::query(surface, home, &ids(some(size)), &siblings);
        let read = |answer: &_, number, size| {
            let look = look::read(answer, surface, &ids(some(size)), home, number)?;
            Ok((look, some(size).len()))
        };
        let patience = self.followed.patience(Patience::PAGE);
        self.room.fetch.ask(patience, &mut self.batch, query, read).await
    }

    fn keep(&mut self, look: LookPage) -> Result<(), Stop> {
        let seen = look.observations.len();
        let page = self.page(look.observations, &look.unreadable);
        let ingested = self.room.store.ingest(self.room.lease, &page)?;
        self.tally.count(&ingested, seen);
        self.room.tell_kept(self.followed.surface(), self.tally.pages, seen, &ingested);
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
        let quarantined = unreadable.iter().map(retry::quarantine).collect();
        let lane = self.followed.lane.clone();
        IngestPage { observations, quarantined, ..IngestPage::of(lane, *self.size) }
    }

    fn stopped(&self, reason: &str) -> Error {
        Error::Sweep { lane: self.followed.lane.to_string(), reason: reason.to_owned() }
    }
}

/// Those of the wanted that the look says are not there.
fn denied(wanted: &[Named], look: &LookPage) -> Vec<Named> {
    wanted.iter().filter(|(_, node_id)| look.absent.contains(node_id)).cloned().collect()
}

/// What a look says about the suspects in it: one that is neither there nor denied is not judged.
///
/// One that moved to another repository is there if that one holds it now, and gone from here otherwise.
fn second_look(look: &LookPage, suspects: &[Named], moved: &[i64], kept: &[i64]) -> SecondLook {
    let has_left = |id: &i64| moved.contains(id) && !kept.contains(id);
    let is_absent = |(id, node_id): &Named| look.absent.contains(node_id) || has_left(id);
    let is_there =
        |(id, _): &Named| kept.contains(id) || look.observations.iter().any(|o| o.key().id == *id);
    let told = suspects.iter().filter(|named| is_absent(named) || is_there(named));
    let answered: BTreeMap<i64, bool> = told.map(|named| (named.0, is_there(named))).collect();
    SecondLook { answered, sibling_answered: look.is_vouched_for }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspect_that_neither_answered_nor_was_denied_is_not_judged() {
        let second = second_look(&look(&["N1"], true), &[named(1), named(2)], &[], &[]);
        assert_eq!(second.answered, BTreeMap::from([(1, false)]), "2 was unreadable");
    }

    #[test]
    fn a_look_that_nobody_vouches_for_confirms_nothing() {
        let alone = second_look(&look(&["N1"], false), &[named(1)], &[], &[]);
        assert!(reconcile::confirmed_gone(&alone).is_empty());
        let vouched = second_look(&look(&["N1"], true), &[named(1)], &[], &[]);
        assert_eq!(reconcile::confirmed_gone(&vouched), [1]);
    }

    #[test]
    fn what_moved_is_gone_only_where_nobody_holds_it() {
        let moved = second_look(&look(&[], true), &[named(1), named(2)], &[1, 2], &[1]);
        assert_eq!(moved.answered, BTreeMap::from([(1, true), (2, false)]));
    }

    fn look(absent: &[&str], is_vouched_for: bool) -> LookPage {
        LookPage {
            date: Mark(0),
            seen: Seen { at_ms: 0, request: 0 },
            is_vouched_for,
            observations: vec![],
            absent: absent.iter().map(|id| (*id).to_owned()).collect(),
            unreadable: vec![],
            elsewhere: vec![],
        }
    }

    fn named(id: i64) -> Named {
        (id, format!("N{id}"))
    }
}
