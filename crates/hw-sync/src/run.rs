//! A pull: who is followed, what moved, each lane's turn, what seems gone, and what came of it all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32;

use hw_rules::OVERLAP_MS;
use hw_rules::item::Repository;
use hw_rules::lane::{Choice, Lane, Surface};
use hw_rules::reconcile;
use hw_store::{IngestPage, Store};

use crate::comments::Moved;
use crate::fetch::Fetch;
use crate::follow::{Known, Probes, Wish, wishes};
use crate::list::Listed;
use crate::news::{LanesToRead, News};
use crate::outage::Outage;
use crate::repair::{self, Repair};
use crate::run_removals::RunRemovals;
use crate::summary::Summary;
use crate::turn::{Followed, Room, Tally};
use crate::work::{Ended, work};
use crate::{Error, comments, crash, gone, lease, list, run_removals};

/// The name of the lease that a pull holds.
pub const PULL: &str = "pull";

/// What to pull, and how.
#[derive(Debug, Clone)]
pub struct Pull {
    pub host: String,
    pub organization: String,
    /// Who pulls, for those who find the lease taken.
    pub owner: String,
    /// Whose clock measures how much time passes between two pulls.
    pub machine: String,
    /// What is pulled; repositories are listed in any case.
    pub items: BTreeSet<Choice>,
    /// Repositories by name: only these, or all when there are none.
    pub only: Vec<String>,
    /// Repositories by name that are listed, and whose items are not followed.
    pub excluded: BTreeSet<String>,
    /// Forget the chosen items first.
    pub force: bool,
    pub window_days: Option<u32>,
    /// Also read the whole rolls, and remove what is gone.
    pub reconcile: bool,
    pub allow_mass_removal: bool,
    /// Verify everything that is stored first, and read again what is damaged.
    pub repair: bool,
}

/// Pulls everything that is followed, once.
///
/// A pull that loses its connection to the database begins again when there is a new one: what was stored is stored
/// with how far it got, and a page that may or may not have been stored is simply stored again.
pub async fn pull(store: &Store, fetch: &Fetch, pull: &Pull) -> Result<Summary, Error> {
    let mut outage = Outage::default();
    loop {
        let began_ms = fetch.clock().now_ms();
        let error = match pull_once(store, fetch, pull).await {
            Err(Error::Store(error)) => error,
            done => return done,
        };
        let Some(wait_ms) = outage.next_wait(&error, began_ms, fetch.clock().now_ms()) else {
            return Err(error.into());
        };
        tracing::warn!(%error, wait_ms, "the connection to the database was lost; the pull begins again");
        fetch.herald().tell(|| News::Retried { why: error.to_string(), wait_ms });
        fetch.clock().sleep_until(fetch.clock().now_ms() + wait_ms).await;
    }
}

async fn pull_once(store: &Store, fetch: &Fetch, pull: &Pull) -> Result<Summary, Error> {
    let mut held = lease::Held::take(store, fetch.clock(), PULL, &pull.owner).await?;
    let lease = held.lease().clone();
    let room = Room {
        store,
        fetch,
        lease: &lease,
        window_days: pull.window_days,
        allow_mass_removal: pull.allow_mass_removal,
        removals: RunRemovals::default(),
        share: AtomicU32::new(fetch.largest_page()),
    };
    let work = async {
        fetch.crash().pass(crash::LEASE_TAKEN)?;
        pull_all(&room, pull).await
    };
    let done = lease::keep(store, fetch.clock(), &lease, work).await;
    let loses = |done: &Result<_, Error>| matches!(done, Err(error) if error.loses_the_lease());
    let done = if loses(&done) { done } else { end(&room, pull, done) };
    if loses(&done) {
        held.forget();
    }
    done
}

/// Keeps how the pull ended, for those who look at what is held. What went wrong first is what is told.
fn end(room: &Room<'_>, pull: &Pull, done: Result<Summary, Error>) -> Result<Summary, Error> {
    let error = done.as_ref().err().map(Error::reason);
    let of = (pull.host.as_str(), pull.organization.as_str());
    let now_ms = room.fetch.clock().now_ms();
    let ended = room.store.end_pull(room.lease, of, now_ms, error.as_deref());
    let ended = ended.and_then(|()| keep_clock(room, pull));
    done.and_then(|summary| Ok(ended.map(|()| summary)?))
}

/// Keeps what this run learned of the source's clock, for the next one.
fn keep_clock(room: &Room<'_>, pull: &Pull) -> Result<(), hw_store::Error> {
    let clock = room.fetch.source_time().clock().cloned();
    let Some(clock) = clock else { return Ok(()) };
    room.store.keep_source_clock(room.lease, &pull.host, &pull.machine, &clock)
}

async fn pull_all(room: &Room<'_>, pull: &Pull) -> Result<Summary, Error> {
    if pull.force {
        clear(room, pull)?;
    }
    let repair = if pull.repair { Some(repair::mark_damaged(room).await?) } else { None };
    let machine = &pull.machine;
    room.fetch.source_time().resume(room.store.source_clock(&pull.host, machine)?);
    let mut known = Known::of(room.store, pull)?;
    let mut summary = Summary::of(pull);
    let mut listed = list::list(room, pull, &known).await?;
    // a run that dies leaves the next one something to compare with
    keep_clock(room, pull)?;
    if distrust_future(room, pull, &known)? > 0 {
        known = Known::of(room.store, pull)?;
        listed = list::list(room, pull, &known).await?;
    }
    summary.viewer = std::mem::take(&mut listed.viewer);
    summary.count(Surface::Repositories, &listed.tally);
    summary.name_unlisted(room, pull, &known, &listed);
    leave_unstored(room, pull, &mut listed, &mut summary)?;
    room.store.follow_lanes(room.lease, &known.unknown_lanes(&listed.wishes))?;
    tell_moved(room, pull.surfaces(), &listed.wishes);
    let moved = comments::moved(&listed.wishes);

    let mut hidden: Vec<Followed> = Vec::new();
    for outcome in work(room, pull, std::mem::take(&mut listed.wishes)).await? {
        match outcome.ended {
            Ended::Hidden(_) => hidden.push(outcome.followed),
            Ended::Done(_) | Ended::Failed(_) => summary.take(room, outcome),
        }
    }
    run_removals::apply(room, pull, &mut summary)?;
    let present = look_again(room, pull, &known, &listed, hidden, &mut summary).await?;
    run_removals::apply(room, pull, &mut summary)?;
    let homes = still_held(room, pull, listed.repositories.iter().chain(&present))?;
    read_comments(room, pull, &homes, &moved, &mut summary).await?;
    run_removals::end(room, pull, &summary)?;
    if room.fetch.source_time().unresolved_step().is_some() {
        // lanes that were read before it was noticed may rely on a time that was wrong
        distrust_future(room, pull, &Known::of(room.store, pull)?)?;
        let message = "its clock was set back during this pull; the next one reads again what that may have hidden";
        summary.fail(room, Surface::Repositories, pull.host.clone(), message);
    }
    summary.name_waiting(room)?;
    if let Some(repair) = repair {
        let waiting = room.store.count_waiting_repairs()?;
        summary.repair = Some(Repair { waiting, ..repair });
    }
    summary.cost = room.fetch.cost();
    Ok(summary)
}

/// Resets the lanes that claim what the source had not reached, because its clock was set back or an answer
/// bore a wrong date; counts them.
fn distrust_future(room: &Room<'_>, pull: &Pull, known: &Known) -> Result<u64, Error> {
    let (latest, step) = {
        let time = room.fetch.source_time();
        (time.latest_stamp(), time.unresolved_step())
    };
    let Some(latest) = latest.map(|date| date.plus(OVERLAP_MS)) else { return Ok(0) };
    let base = step.map_or(latest, |base| base.min(latest));
    let mut reset = 0;
    if step.is_some() || known.claims_beyond(&pull.host, base) {
        reset = room.store.distrust_beyond(room.lease, &pull.host, base)?;
    }
    if step.is_some() {
        room.fetch.source_time().resolve_step();
        keep_clock(room, pull)?;
    }
    Ok(reset)
}

/// Leaves out repositories that are listed and were not stored: nothing of theirs may be stored, either.
///
/// That happens when one was removed moments ago, by a clock that agreed, and is listed again with a time that its
/// source has not reached: which of the two came first is known a few minutes later.
fn leave_unstored(
    room: &Room<'_>,
    pull: &Pull,
    listed: &mut Listed,
    summary: &mut Summary,
) -> Result<(), Error> {
    let stored = still_held(room, pull, listed.repositories.iter())?;
    let stored: BTreeSet<i64> = stored.iter().map(|repository| repository.id).collect();
    for repository in listed.repositories.iter().filter(|it| !stored.contains(&it.id)) {
        let scope = format!("{}/{}", repository.owner, repository.name);
        let message = "it is listed with a time in the future; a later pull reads it";
        summary.fail(room, Surface::Repositories, scope, message);
    }
    listed.wishes.retain(|wish| stored.contains(&wish.followed.home.id));
    listed.repositories.retain(|repository| stored.contains(&repository.id));
    Ok(())
}

/// Looks again at the repositories that seem to be gone; those that are there after all have their turn.
async fn look_again(
    room: &Room<'_>,
    pull: &Pull,
    known: &Known,
    listed: &Listed,
    hidden: Vec<Followed>,
    summary: &mut Summary,
) -> Result<Vec<Repository>, Error> {
    let mut suspects = listed.suspects(pull, known);
    let homes: BTreeSet<i64> = hidden.iter().map(|followed| followed.home.id).collect();
    suspects.extend(listed.repositories.iter().filter(|it| homes.contains(&it.id)).cloned());
    suspects.extend(known.repositories.iter().filter(|it| homes.contains(&it.id)).cloned());
    suspects.sort_by_key(|suspect| suspect.id);
    suspects.dedup_by_key(|suspect| suspect.id);
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let siblings = siblings(listed, known, &suspects);
    let judged = match gone::judge(room, pull, &suspects, &siblings, known.repositories.len()).await
    {
        Ok(judged) => judged,
        Err(error) if error.is_of_one_lane() => {
            let scope = pull.organization.clone();
            summary.fail_by(room, Surface::Repositories, scope, &error);
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    if 0 < judged.removed {
        let removed = Tally { removed: judged.removed, ..Tally::default() };
        summary.count(Surface::Repositories, &removed);
        let (surface, scope) = (Surface::Repositories, pull.organization.clone());
        room.fetch.herald().tell(|| News::Removed { surface, scope, count: judged.removed });
    }
    for (name, why) in &judged.undecided {
        let scope = format!("{}/{name}", pull.organization);
        summary.fail(room, Surface::Repositories, scope, why);
    }
    let again = again(room, pull, known, &judged.present, &hidden);
    for outcome in work(room, pull, again).await? {
        summary.take(room, outcome);
    }
    Ok(judged.present)
}

/// Those that this pull has not removed: what is said in the others is not to be held, either.
fn still_held<'a>(
    room: &Room<'_>,
    pull: &Pull,
    repositories: impl Iterator<Item = &'a Repository>,
) -> Result<Vec<Repository>, Error> {
    let held = room.store.repositories(&pull.host)?;
    let held: BTreeSet<i64> = held.iter().map(|repository| repository.id).collect();
    Ok(repositories.filter(|it| held.contains(&it.id)).cloned().collect())
}

/// What is said in the threads, once these were read: they tell whose talk is to be read.
async fn read_comments(
    room: &Room<'_>,
    pull: &Pull,
    homes: &[Repository],
    moved: &Moved,
    summary: &mut Summary,
) -> Result<(), Error> {
    let due = comments::due(room, pull, homes, moved)?;
    tell_moved(room, pull.comment_surfaces(), &due.wishes);
    let page_size = room.store.lane_state(&pull.lane())?.page_size;
    let page = IngestPage { looked_at: due.quiet, ..IngestPage::of(pull.lane(), page_size) };
    room.store.ingest(room.lease, &page)?;
    for outcome in work(room, pull, due.wishes).await? {
        summary.take(room, outcome);
    }
    run_removals::apply(room, pull, summary)?;
    // a thread whose talk was asked for may be gone
    let mut to_be_swept = comments::to_be_swept(room, pull, homes)?;
    to_be_swept.retain(|wish| !room.removals.has_stopped(&wish.followed.lane));
    for outcome in work(room, pull, to_be_swept).await? {
        summary.take(room, outcome);
    }
    run_removals::apply(room, pull, summary)
}

/// The lanes of repositories that are there after all: those that were hidden, or all of one that the
/// listing left out.
fn again(
    room: &Room<'_>,
    pull: &Pull,
    known: &Known,
    present: &[Repository],
    hidden: &[Followed],
) -> Vec<Wish> {
    let was_hidden = |id: i64, surface: Surface| {
        let mut of_home = hidden.iter().filter(|followed| followed.home.id == id).peekable();
        of_home.peek().is_none() || of_home.any(|followed| followed.surface() == surface)
    };
    let wishes = present.iter().flat_map(|it| {
        let mut wishes = wishes(room, pull, known, it, &Probes::new());
        wishes.retain(|wish| was_hidden(it.id, wish.followed.surface()));
        wishes
    });
    wishes.collect()
}

/// Repositories that must be there: listed, and not suspected.
fn siblings(listed: &Listed, known: &Known, suspects: &[Repository]) -> Vec<Repository> {
    let is_free = |it: &&Repository| suspects.iter().all(|suspect| suspect.id != it.id);
    let mut free: Vec<_> = listed.repositories.iter().filter(is_free).collect();
    if free.is_empty() {
        free = known.repositories.iter().filter(is_free).collect();
    }
    reconcile::siblings(&free).into_iter().copied().cloned().collect()
}

/// Forgets the chosen items, lane by lane: each is either held with its coverage, or neither is.
fn clear(room: &Room<'_>, pull: &Pull) -> Result<(), Error> {
    let surfaces = [Surface::Repositories].into_iter().chain(pull.surfaces());
    for surface in surfaces.chain(pull.comment_surfaces()) {
        if pull.items.contains(&surface.choice()) {
            room.fetch.herald().tell(|| News::Clearing { surface });
        }
    }
    let known = Known::of(room.store, pull)?;
    let is_chosen = |it: &&Repository| pull.only.is_empty() || pull.is_named(&it.name);
    for repository in known.repositories.iter().filter(is_chosen) {
        for surface in pull.surfaces().chain(pull.comment_surfaces()) {
            let lane = Lane::of_repository(&pull.host, repository.id, surface);
            room.store.clear_lane(room.lease, &lane)?;
        }
    }
    if pull.items.contains(&Choice::Repositories) && pull.only.is_empty() {
        room.store.clear_lane(room.lease, &pull.lane())?;
    }
    Ok(())
}

fn tell_moved(room: &Room<'_>, surfaces: impl Iterator<Item = Surface>, wishes: &[Wish]) {
    let mut lanes: BTreeMap<Choice, LanesToRead> =
        surfaces.map(|surface| (surface.choice(), LanesToRead::NONE)).collect();
    for wish in wishes {
        let choice = wish.followed.surface().choice();
        lanes.entry(choice).or_insert(LanesToRead::NONE).add(wish.expected);
    }
    if !lanes.is_empty() {
        room.fetch.herald().tell(|| News::Moved { lanes });
    }
}

impl Pull {
    /// The listing of the organisation's repositories.
    pub fn lane(&self) -> Lane {
        // GitHub does not mind the case of a login
        Lane::repositories(&self.host, &self.organization.to_lowercase())
    }

    /// The listings of each repository's threads that are chosen.
    pub(crate) fn surfaces(&self) -> impl Iterator<Item = Surface> {
        let chosen = |surface: &Surface| self.items.contains(&surface.choice());
        Surface::THREADS.into_iter().filter(chosen)
    }

    /// The listings of what is said in those threads, if comments are chosen.
    pub(crate) fn comment_surfaces(&self) -> impl Iterator<Item = Surface> {
        let is_chosen = self.items.contains(&Choice::Comments);
        let says = |surface: &Surface| {
            surface.commented_threads().iter().any(|threads| self.items.contains(&threads.choice()))
        };
        Surface::COMMENTS.into_iter().filter(move |surface| is_chosen && says(surface))
    }

    pub(crate) fn is_owner(&self, owner: &str) -> bool {
        owner.eq_ignore_ascii_case(&self.organization)
    }

    /// Whether a repository belongs into the mirror.
    pub(crate) fn is_ours(&self, repository: &Repository) -> bool {
        !repository.is_archived && !repository.is_fork && self.is_owner(&repository.owner)
    }

    /// Whether a repository's items are followed.
    pub(crate) fn follows(&self, repository: &Repository) -> bool {
        self.is_ours(repository) && !self.is_excluded(&repository.name)
    }

    pub(crate) fn is_excluded(&self, name: &str) -> bool {
        self.excluded.iter().any(|excluded| excluded.eq_ignore_ascii_case(name))
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.only.iter().any(|only| only.eq_ignore_ascii_case(name))
    }
}
