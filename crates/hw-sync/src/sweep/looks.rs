//! Looks by id: what the roll shows and we lack, and what we hold and the roll does not show.

use std::collections::BTreeMap;

use hw_rules::reconcile::{self, SecondLook};
use hw_rules::version::Seen;
use hw_sources::page::{LookPage, Subject, Unreadable};
use hw_sources::trouble::Trouble;

use super::{Named, Sweep};
use crate::fetch::Stop;
use crate::look;
use crate::patience::Patience;

/// What a second look at all suspects came to.
pub(super) struct Judged {
    pub(super) gone: Vec<(i64, Seen)>,
    /// Suspects that were neither there nor denied.
    pub(super) unanswered: Vec<i64>,
    /// Suspects that were denied in a look for which nobody vouched.
    pub(super) unvouched: Vec<i64>,
    /// Whether in each look something answered that must be there.
    pub(super) is_vouched_for: bool,
}

impl Sweep<'_> {
    /// Reads in full what the roll shows and we lack, or hold in an older version.
    pub(super) async fn fetch(&mut self, mut wanted: &[Named]) -> Result<(), Stop> {
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
    pub(super) async fn look_again(
        &mut self,
        mut suspects: &[Named],
        siblings: &[Named],
    ) -> Result<Judged, Stop> {
        let mut judged = Judged {
            gone: Vec::new(),
            unanswered: Vec::new(),
            unvouched: Vec::new(),
            is_vouched_for: true,
        };
        while !suspects.is_empty() {
            let (mut look, count) = match self.look(suspects, siblings).await {
                Err(Stop::Trouble(Trouble::TooMuch(reason))) if self.batch == 1 => {
                    self.give_up_on(&suspects[0], reason)?;
                    judged.unanswered.push(suspects[0].0);
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
            let ids = now.iter().map(|(id, _)| *id);
            judged.unanswered.extend(ids.filter(|id| !second.answered.contains_key(id)));
            judged.is_vouched_for &= second.sibling_answered;
            if !second.sibling_answered {
                let denied = second.answered.iter().filter(|(_, answered)| !**answered);
                judged.unvouched.extend(denied.map(|(id, _)| *id));
            }
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
            seen: Seen::at(at_ms, 0),
        };
        let page = self.page(Vec::new(), &[unreadable]);
        let ingested = self.room.store.ingest(self.room.lease, &page)?;
        self.tally.count(&ingested, 0);
        Ok(())
    }
}

/// Those of the wanted that the look says are not there.
fn denied(wanted: &[Named], look: &LookPage) -> Vec<Named> {
    wanted.iter().filter(|(_, node_id)| look.absent.contains(node_id)).cloned().collect()
}

/// What a look says about the suspects in it: one that is neither there nor denied is not judged.
///
/// One that moved to another repository is there if that one holds it now, and gone from here otherwise. One whose
/// node answers under another id was stored under a wrong one: a node has one id, and the roll does not list this.
fn second_look(look: &LookPage, suspects: &[Named], moved: &[i64], kept: &[i64]) -> SecondLook {
    let has_left = |id: &i64| moved.contains(id) && !kept.contains(id);
    let is_renumbered = |(id, node_id): &Named| {
        look.observations.iter().any(|o| o.item.node_id() == node_id && o.key().id != *id)
    };
    let is_absent = |named: &Named| {
        look.absent.contains(&named.1) || has_left(&named.0) || is_renumbered(named)
    };
    let is_there =
        |(id, _): &Named| kept.contains(id) || look.observations.iter().any(|o| o.key().id == *id);
    let told = suspects.iter().filter(|named| is_absent(named) || is_there(named));
    let answered: BTreeMap<i64, bool> = told.map(|named| (named.0, is_there(named))).collect();
    SecondLook { answered, sibling_answered: look.is_vouched_for }
}

#[cfg(test)]
mod tests {
    use hw_rules::time::Mark;

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
            seen: Seen::at(0, 0),
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
