//! Reading the whole roll of a lane, in order to reconcile: the only way to learn of a deletion.
//!
//! The roll is staged page by page, so an interrupted sweep goes on where it was. Nothing is removed
//! before the roll is complete, each suspect was looked at again by id, and something that must be there
//! answered in the same look.

mod lists;
mod looks;
mod rolls;

use hw_rules::item::Observation;
use hw_rules::page_guard::{PageGuard, SinceGuard};
use hw_sources::page::Unreadable;
use hw_store::IngestPage;

use crate::Error;
use crate::fetch::Stop;
use crate::turn::{Followed, Room, Tally};
use crate::{crash, retry};
use looks::Judged;

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
    /// What the roll has shown.
    guard: PageGuard,
    /// Rows of a list that were too large to be read.
    holes: u32,
    since_guard: SinceGuard,
    tally: Tally,
}

/// Reads the roll, fetches what it shows and we lack, and notes what is confirmed gone: the run removes it, once
/// it is known how much that is over all lanes.
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
    let mut sweep = Sweep {
        room,
        followed,
        size,
        batch,
        has_waited,
        is_denied: false,
        guard: PageGuard::default(),
        holes: 0,
        since_guard: SinceGuard::default(),
        tally,
    };
    let mut judged = sweep.judge().await?;
    if has_waited && (sweep.is_denied || !judged.is_vouched_for) {
        room.store.restart_sweep(room.lease, &followed.lane)?;
        sweep.has_waited = false;
        (sweep.guard, sweep.since_guard) = (PageGuard::default(), SinceGuard::default());
        judged = sweep.judge().await?;
    }
    room.fetch.crash().pass(crash::SWEEP_LOOKED)?;
    if !judged.is_vouched_for {
        let reason = "nobody vouched for what is missing";
        return Err(sweep.unconfirmed(reason, &judged.unvouched)?.into());
    }
    if judged.gone.is_empty() {
        let allow = room.allow_mass_removal;
        room.store.finish_sweep(room.lease, &followed.lane, &[], allow)?;
    } else {
        room.removals.add(followed, judged.gone);
    }
    if !judged.unanswered.is_empty() {
        let reason = match judged.unanswered.len() {
            1 => "1 item may be gone, and gave no answer".to_owned(),
            count => format!("{count} items may be gone, and gave no answer"),
        };
        return Err(sweep.unconfirmed(&reason, &judged.unanswered)?.into());
    }
    Ok(sweep.tally)
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

    /// Items read by id: they move nothing of the lane.
    fn page(&self, observations: Vec<Observation>, unreadable: &[Unreadable]) -> IngestPage {
        let quarantined = unreadable.iter().map(retry::quarantine).collect();
        let lane = self.followed.lane.clone();
        IngestPage { observations, quarantined, ..IngestPage::of(lane, *self.size) }
    }

    fn stopped(&self, reason: &str) -> Error {
        Error::Sweep { lane: self.followed.lane.to_string(), reason: reason.to_owned() }
    }

    /// Returns the error of a sweep that could not judge some items, with their names.
    fn unconfirmed(&self, reason: &str, ids: &[i64]) -> Result<Error, Error> {
        let lane = &self.followed.lane;
        let items = self.room.store.item_names(&lane.host, lane.surface.kind(), ids)?;
        Ok(Error::Unconfirmed { lane: lane.to_string(), reason: reason.to_owned(), items })
    }
}
