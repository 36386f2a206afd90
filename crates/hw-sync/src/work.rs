//! The lanes' turns, many at once: those that need one of their own, and those that share first pages.

use futures_util::stream::{self, StreamExt as _};
use hw_rules::probe::Need;
use hw_sources::trouble::Trouble;

use crate::Error;
use crate::follow::Wish;
use crate::news::News;
use crate::run::Pull;
use crate::share::{Shared, Wanted, first_pages, groups};
use crate::summary::Failure;
use crate::turn::{Followed, Room, Start, Tally, Turned, turn};

/// How many lanes are at work at once. The gate decides how many of them ask; the others wait there.
const AT_ONCE: usize = 50;

/// How a lane's turn ended.
pub(crate) enum Ended {
    Done(Tally),
    /// Its repository did not answer as if it were there: a second look decides.
    Hidden(Error),
    /// Told when it happened.
    Failed(Failure),
}

pub(crate) struct Outcome {
    pub(crate) followed: Followed,
    pub(crate) ended: Ended,
}

enum Task {
    Turn(Followed, Start),
    FirstPages(Vec<Wanted>),
}

/// Gives every lane what it needs. One that fails never stops the others.
pub(crate) async fn work(
    room: &Room<'_>,
    pull: &Pull,
    wishes: Vec<Wish>,
) -> Result<Vec<Outcome>, Error> {
    let (mut turns, mut wanted) = (Vec::new(), Vec::new());
    for Wish { followed, need, state, .. } in wishes {
        match need {
            Need::Nothing => {}
            Need::Turn => turns.push(Task::Turn(followed, Start::Anew)),
            Need::Roll => turns.push(Task::Turn(followed, Start::Roll)),
            Need::FirstPage { rows } => wanted.push(Wanted { followed, state, rows }),
        }
    }
    let tasks = turns.into_iter().chain(groups(room, wanted).into_iter().map(Task::FirstPages));
    let mut running =
        stream::iter(tasks).map(|task| task.run(room, pull)).buffer_unordered(AT_ONCE);
    let mut outcomes = Vec::new();
    while let Some(came) = running.next().await {
        outcomes.extend(came?);
    }
    Ok(outcomes)
}

impl Task {
    async fn run(self, room: &Room<'_>, pull: &Pull) -> Result<Vec<Outcome>, Error> {
        match self {
            Self::Turn(followed, start) => {
                Ok(vec![own_turn(room, pull, followed, start, Tally::default()).await?])
            }
            Self::FirstPages(lanes) => share(room, pull, lanes).await,
        }
    }
}

/// First pages together, and then a turn for each lane that is not done with it.
async fn share(room: &Room<'_>, pull: &Pull, lanes: Vec<Wanted>) -> Result<Vec<Outcome>, Error> {
    let came = first_pages(room, &lanes).await?;
    let (mut outcomes, mut left) = (Vec::new(), Vec::new());
    for (Wanted { followed, .. }, shared) in lanes.into_iter().zip(came) {
        match shared {
            Shared::Left(start, tally) => left.push((followed, start, tally)),
            Shared::Closed(tally) if pull.reconcile || is_to_be_swept(room, &followed)? => {
                left.push((followed, Start::Roll, tally));
            }
            Shared::Closed(tally) => outcomes.push(done(room, followed, tally)),
        }
    }
    let turns = stream::iter(left)
        .map(|(followed, start, tally)| own_turn(room, pull, followed, start, tally));
    let mut running = turns.buffer_unordered(AT_ONCE);
    while let Some(came) = running.next().await {
        outcomes.push(came?);
    }
    Ok(outcomes)
}

fn done(room: &Room<'_>, followed: Followed, tally: Tally) -> Outcome {
    let (surface, scope) = (followed.surface(), followed.scope());
    room.fetch.herald().tell(|| News::Read { surface, scope });
    Outcome { followed, ended: Ended::Done(tally) }
}

/// A lane's turn; `tally` is what was done of it already.
async fn own_turn(
    room: &Room<'_>,
    pull: &Pull,
    followed: Followed,
    start: Start,
    mut tally: Tally,
) -> Result<Outcome, Error> {
    match whole_turn(room, pull, &followed, start).await {
        Ok(more) => {
            tally.add(&more);
            Ok(done(room, followed, tally))
        }
        Err(error) if !error.is_of_one_lane() => Err(error),
        Err(error) => {
            tracing::warn!(%error, "a lane failed; the others go on");
            let is_hidden = matches!(&error, Error::Source { trouble: Trouble::Hidden(_), .. });
            if is_hidden {
                return Ok(Outcome { followed, ended: Ended::Hidden(error) });
            }
            let failure = Failure::of(followed.surface(), followed.scope(), &error);
            failure.tell(room);
            Ok(Outcome { followed, ended: Ended::Failed(failure) })
        }
    }
}

/// A person asked for this pull, so the lane is due now, its sweep included when one is asked for.
async fn whole_turn(
    room: &Room<'_>,
    pull: &Pull,
    followed: &Followed,
    start: Start,
) -> Result<Tally, Error> {
    let state = room.store.lane_state(&followed.lane)?;
    if 0 < state.due_ms {
        room.store.make_due(room.lease, &followed.lane)?;
    }
    if pull.reconcile && followed.can_be_swept() {
        // what an earlier sweep left unfinished began too early to know what was deleted since
        if state.sweeping {
            room.store.restart_sweep(room.lease, &followed.lane)?;
        }
        room.store.request_sweep(&followed.lane, room.fetch.clock().now_ms())?;
    }
    let was_due = is_to_be_swept(room, followed)?;
    let mut tally = wait_for_turn(room, followed, start).await?;
    if !was_due && is_to_be_swept(room, followed)? {
        tally.add(&wait_for_turn(room, followed, Start::Roll).await?);
    }
    Ok(tally)
}

/// Whether the lane asks for a sweep: its listing became shorter, so something is gone.
fn is_to_be_swept(room: &Room<'_>, followed: &Followed) -> Result<bool, Error> {
    let state = room.store.lane_state(&followed.lane)?;
    Ok(followed.can_be_swept() && state.sweep_due_ms.is_some())
}

/// Waits out whatever the lane has to wait for.
async fn wait_for_turn(room: &Room<'_>, followed: &Followed, start: Start) -> Result<Tally, Error> {
    loop {
        match turn(room, followed, start.clone()).await? {
            Turned::Done(tally) => return Ok(tally),
            Turned::Slept { until_ms, why } => {
                tracing::info!(lane = %followed.lane, ?why, "waiting");
                room.fetch.clock().sleep_until(until_ms).await;
            }
        }
    }
}
