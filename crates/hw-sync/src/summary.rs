//! What a pull did, added up while it works.

use std::collections::BTreeMap;

use hw_rules::item_names::ItemNames;
use hw_rules::lane::{Choice, Surface};

use crate::Error;
use crate::fetch::Cost;
use crate::follow::Known;
use crate::list::Listed;
use crate::news::News;
use crate::repair::Repair;
use crate::run::Pull;
use crate::turn::{Followed, Room, Tally};
use crate::work::{Ended, Outcome};

/// What a pull did.
#[derive(Debug, Default)]
pub struct Summary {
    pub viewer: String,
    /// By what was pulled.
    pub items: BTreeMap<Choice, Tally>,
    pub cost: Cost,
    /// What a repair came to, if one was asked for.
    pub repair: Option<Repair>,
    /// What could not be done. Everything else was read to its end.
    pub failures: Vec<Failure>,
    /// The lanes that were read.
    read: Vec<Followed>,
}

/// Something that could not be done, while the rest went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub surface: Surface,
    pub scope: String,
    pub message: String,
    /// Whether it was the brake: a person may say that it is meant.
    pub is_brake: bool,
    /// The items whose removal was not confirmed, or stopped by a brake.
    pub items: ItemNames,
}

impl Failure {
    pub(crate) fn of(surface: Surface, scope: String, error: &Error) -> Self {
        let (message, items) = (error.reason(), error.items());
        Self { surface, scope, message, is_brake: error.is_brake(), items }
    }

    pub(crate) fn tell(&self, room: &Room<'_>) {
        let Self { surface, scope, message, .. } = self.clone();
        room.fetch.herald().tell(|| News::Failed { surface, scope, message });
    }
}

impl Summary {
    /// The sum over everything that was pulled.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.items.values().for_each(|tally| total.add(tally));
        total
    }

    pub(crate) fn of(pull: &Pull) -> Self {
        let items = pull.items.iter().map(|choice| (*choice, Tally::default())).collect();
        Self { items, ..Self::default() }
    }

    /// Repositories are listed even when they are not asked for; then they are not counted.
    pub(crate) fn count(&mut self, surface: Surface, tally: &Tally) {
        if let Some(sum) = self.items.get_mut(&surface.choice()) {
            sum.add(tally);
        }
    }

    pub(crate) fn take(&mut self, room: &Room<'_>, outcome: Outcome) {
        let surface = outcome.followed.surface();
        match outcome.ended {
            Ended::Done(tally) => {
                self.count(surface, &tally);
                self.read.push(outcome.followed);
            }
            Ended::Hidden(error) => {
                self.fail_by(room, surface, outcome.followed.scope(), &error);
            }
            Ended::Failed(failure) => self.note(failure),
        }
    }

    pub(crate) fn fail(&mut self, room: &Room<'_>, surface: Surface, scope: String, message: &str) {
        let message = message.to_owned();
        let items = ItemNames::default();
        self.push(room, Failure { surface, scope, message, is_brake: false, items });
    }

    pub(crate) fn fail_by(
        &mut self,
        room: &Room<'_>,
        surface: Surface,
        scope: String,
        error: &Error,
    ) {
        self.push(room, Failure::of(surface, scope, error));
    }

    fn push(&mut self, room: &Room<'_>, failure: Failure) {
        failure.tell(room);
        self.note(failure);
    }

    /// Counts what was told before.
    fn note(&mut self, failure: Failure) {
        self.count(failure.surface, &Tally { errors: 1, ..Tally::default() });
        self.failures.push(failure);
    }

    /// Names what the listing could not show.
    pub(crate) fn name_unlisted(
        &mut self,
        room: &Room<'_>,
        pull: &Pull,
        known: &Known,
        listed: &Listed,
    ) {
        let surface = Surface::Repositories;
        let scope = |name: &str| format!("{}/{name}", pull.organization);
        for subject in &listed.unreadable {
            let message = format!("a repository could not be read: {subject}");
            self.fail(room, surface, pull.organization.clone(), &message);
        }
        // one that was never there may be a ghost, and fails nothing
        for held in known.repositories.iter().filter(|it| listed.impossible.contains(&it.node_id)) {
            let message = "its listing cannot be right, so it was not read; see `highwater doctor`";
            self.fail(room, surface, scope(&held.name), message);
        }
        for surface in &listed.denied {
            let message = "the token may not read these; nothing of them was asked for";
            self.fail(room, *surface, format!("{} {}", pull.organization, surface.name()), message);
        }
        for (id, surface) in &listed.denied_lanes {
            let home = listed.repositories.iter().find(|it| it.id == *id);
            let Some(home) = home.filter(|_| !listed.denied.contains(surface)) else { continue };
            let message = "the token may not read these; nothing of them was asked for";
            self.fail(room, *surface, format!("{} {}", scope(&home.name), surface.name()), message);
        }
        for (name, why) in &listed.refused {
            self.fail(room, surface, scope(name), why);
        }
        for name in &listed.missing {
            if !known.repositories.iter().any(|held| held.name.eq_ignore_ascii_case(name)) {
                self.fail(room, surface, scope(name), "not there, or hidden from this token");
            }
        }
    }

    /// Names the lanes that were read and in which some rows could not be.
    pub(crate) fn name_waiting(&mut self, room: &Room<'_>) -> Result<(), Error> {
        let waiting = room.store.waiting_lanes()?;
        for followed in std::mem::take(&mut self.read) {
            // what is out of sight cannot be read, and is not missing, either
            if waiting.contains(&followed.lane.to_string()) && followed.can_be_swept() {
                let message = "some could not be read; the next pull asks for them again";
                self.fail(room, followed.surface(), followed.scope(), message);
            }
        }
        Ok(())
    }
}
