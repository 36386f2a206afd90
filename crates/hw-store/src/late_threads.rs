//! Threads that appear long after they began: transferred, or shown again after they were hidden.
//!
//! Their comments come with old times, below where the lists of comments are read: only a sweep finds them.

use std::collections::BTreeMap;

use hw_rules::OVERLAP_MS;
use hw_rules::cells::{Change, Write};
use hw_rules::coverage::Coverage;
use hw_rules::item::{Item, Kind, Observation, Thread};
use hw_rules::lane::{Lane, Surface};

use crate::error::Error;
use crate::lanes;
use crate::sweeps;
use crate::tx::Tx;

/// Requests a sweep of the lists where the comments of such threads are, as far as they are followed.
pub(crate) fn request_comments(
    tx: &mut Tx<'_>,
    host: &str,
    writes: &[Write],
    observations: &[Observation],
) -> Result<(), Error> {
    let mut by_list: BTreeMap<Lane, Vec<(Change, &Thread)>> = BTreeMap::new();
    for write in writes {
        let observation = write.text.and_then(|index| observations.get(index));
        let Some(Item::Thread(thread)) = observation.map(|it| &it.item) else { continue };
        for list in lists_of(host, thread) {
            by_list.entry(list).or_default().push((write.change, thread));
        }
    }
    for (list, threads) in by_list {
        let Some(id) = lanes::known_id(tx, &list)? else { continue };
        let coverage = lanes::coverage_of(tx, id)?;
        if threads.iter().any(|(change, thread)| is_late(*change, thread, &coverage)) {
            request_sweep(tx, id)?;
        }
    }
    Ok(())
}

/// Whether a list claims what was said in a thread before the thread was there: it is back, or it began
/// within what the list is complete over.
fn is_late(change: Change, thread: &Thread, list: &Coverage) -> bool {
    let Some((from, through)) = list.from.zip(list.through) else { return false };
    let began = thread.created_at.mark();
    match change {
        Change::Revived => true,
        Change::Created => !from.is_above(began) && began < through.minus(OVERLAP_MS),
        Change::Edited | Change::Bumped | Change::Removed | Change::Touched | Change::Nothing => {
            false
        }
    }
}

/// The lists that show what is said in a thread; what is read thread by thread is due in any case.
fn lists_of(host: &str, thread: &Thread) -> Vec<Lane> {
    let surfaces: &[Surface] = match thread.kind() {
        Kind::Issue => &[Surface::IssueComments],
        Kind::PullRequest => &[Surface::IssueComments, Surface::ReviewComments],
        Kind::Discussion
        | Kind::Repository
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::Review
        | Kind::DiscussionComment => &[],
    };
    let list = |surface: &Surface| Lane::of_repository(host, thread.repository_id, *surface);
    surfaces.iter().map(list).collect()
}

fn request_sweep(tx: &mut Tx<'_>, lane: i64) -> Result<(), Error> {
    // a roll that is under way may have passed where they belong
    sweeps::unstage(tx, lane)?;
    lanes::make_sweep_due(tx, lane)
}
