//! What is said in the threads: which of its lanes are due, once the threads were read.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::Repository;
use hw_rules::lane::{Lane, Reading, Scope, Surface};
use hw_rules::plan::LaneState;
use hw_rules::probe::Need;
use hw_rules::since;

use crate::Error;
use crate::follow::{Wish, is_on};
use crate::run::Pull;
use crate::turn::{Followed, Home, Room};

/// The listings of threads that moved in this pull, each with its repository.
pub(crate) type Moved = BTreeSet<(i64, Surface)>;

/// What is to be read, and what needs no reading.
pub(crate) struct Due {
    pub(crate) wishes: Vec<Wish>,
    /// Lanes that are as fresh as the listing of their threads, with the time of that.
    pub(crate) quiet: Vec<(Lane, i64)>,
}

/// What is known before anything is asked.
struct Known {
    states: BTreeMap<Lane, LaneState>,
    /// Lanes with threads whose talk is to be read.
    talks: BTreeSet<Lane>,
    /// Lanes with rows that could not be read yet.
    waiting: BTreeSet<String>,
}

/// Which listings of threads these wishes are about.
pub(crate) fn moved(wishes: &[Wish]) -> Moved {
    wishes.iter().map(|wish| (wish.followed.home.id, wish.followed.surface())).collect()
}

/// Decides which lanes of these repositories are read in this pull.
pub(crate) fn due(
    room: &Room<'_>,
    pull: &Pull,
    repositories: &[Repository],
    moved: &Moved,
) -> Result<Due, Error> {
    let mut due = Due { wishes: Vec::new(), quiet: Vec::new() };
    if pull.comment_surfaces().next().is_none() {
        return Ok(due);
    }
    let lanes = room.store.lanes()?.into_iter();
    let known = Known {
        states: lanes.map(|(lane, state, _)| (lane, state)).collect(),
        talks: room.store.lanes_with_talks()?,
        waiting: room.store.waiting_lanes()?,
    };
    for repository in repositories.iter().filter(|it| pull.follows(it)) {
        let home = Home::of(repository);
        for surface in pull.comment_surfaces().filter(|surface| is_on(repository, *surface)) {
            let lane = Lane::of_repository(&pull.host, repository.id, surface);
            let mut state = known.states.get(&lane).cloned().unwrap_or_else(LaneState::new);
            let followed = Followed { lane, home: home.clone() };
            // a sweep that waits for something to be switched on is nothing to do now
            state.sweep_due_ms = state.sweep_due_ms.filter(|_| followed.can_be_swept());
            if pull.reconcile || known.is_due(room, &followed, &state, moved) {
                due.wishes.push(Wish { followed, need: Need::Turn, state, expected: None });
            } else if let Some(at) = known.threads_looked_at(&followed) {
                due.quiet.push((followed.lane, at));
            }
        }
    }
    Ok(due)
}

/// The lanes of threads that are to be swept by now.
pub(crate) fn to_be_swept(
    room: &Room<'_>,
    pull: &Pull,
    repositories: &[Repository],
) -> Result<Vec<Wish>, Error> {
    if pull.comment_surfaces().next().is_none() {
        return Ok(Vec::new());
    }
    let lanes = room.store.lanes()?.into_iter();
    let due = lanes.filter(|(lane, state, _)| {
        state.sweep_due_ms.is_some() && pull.surfaces().any(|surface| lane.surface == surface)
    });
    let wish = |(lane, state, _): (Lane, LaneState, _)| {
        let home = repositories.iter().find(|it| lane.scope == Scope::Repository(it.id))?;
        let followed = Followed { lane, home: Home::of(home) };
        let is_followed = pull.follows(home) && is_on(home, followed.surface());
        is_followed.then_some(Wish { followed, need: Need::Turn, state, expected: None })
    };
    Ok(due.filter_map(wish).collect())
}

impl Known {
    fn is_due(
        &self,
        room: &Room<'_>,
        followed: &Followed,
        state: &LaneState,
        moved: &Moved,
    ) -> bool {
        let (lane, surface) = (&followed.lane, followed.surface());
        let behind = surface.commented_threads();
        let has_moved = behind.iter().any(|threads| {
            let lane = Lane::of_repository(&lane.host, followed.home.id, *threads);
            let is_behind = |threads| since::is_behind(state, threads);
            moved.contains(&(followed.home.id, *threads))
                || self.states.get(&lane).is_some_and(is_behind)
        });
        let is_due = match surface.reading() {
            Reading::Talks => self.talks.contains(lane) || state.has_leftovers(),
            Reading::Since | Reading::Walk if !followed.can_be_swept() => {
                since::is_due_in_doubt(state, has_moved, room.fetch.last_date())
            }
            Reading::Since | Reading::Walk => {
                since::is_due(state, room.window(surface), has_moved, room.fetch.last_date())
            }
        };
        is_due || self.waiting.contains(&lane.to_string())
    }

    /// When the threads whose talk this is were last looked at.
    fn threads_looked_at(&self, followed: &Followed) -> Option<i64> {
        self.states.get(&followed.threads()?)?.checked_at_ms
    }
}
