//! Sums up what a pull did, while it runs.

use std::collections::BTreeMap;

use hw_rules::followed_source::FollowedSource;
use hw_rules::item::Repository;
use hw_rules::item_names::ItemNames;
use hw_rules::lane::{PullItem, Surface};
use hw_sources::error::SourceError;

use crate::SyncError;
use crate::api_client::RequestCost;
use crate::discover::{DiscoveryResult, NOT_FOUND_MESSAGE, SkippedRepository};
use crate::plan_lanes::MirrorSnapshot;
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::repair::RepairSummary;
use crate::schedule::{LaneOutcome, LaneResult};
use crate::sources::FailedSource;
use crate::turn::{LaneTarget, PullContext, PullTally};

const DENIED_MESSAGE: &str = "skipped: this token has no access";

/// The results of a pull.
#[derive(Debug, Default)]
pub struct PullSummary {
    pub viewer: String,
    /// The names of the sources that were pulled, those that failed included.
    pub sources: Vec<String>,
    /// The process that pulled the same meanwhile, so that this one only helped it.
    pub followed: Option<String>,
    /// True if other processes have read comments for this pull, which its tallies do not count.
    pub was_helped: bool,
    /// Tallies by pulled item.
    pub items: BTreeMap<PullItem, PullTally>,
    pub cost: RequestCost,
    /// The result of the repair, if one was requested.
    pub repair: Option<RepairSummary>,
    /// Failures; everything else was read completely.
    pub failures: Vec<PullFailure>,
    /// Sources that could not be read. Each is a failure, too.
    pub(crate) failed_sources: Vec<FailedSource>,
    read_lanes: Vec<LaneTarget>,
}

/// A failure that did not stop the rest of the pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullFailure {
    pub surface: Surface,
    pub scope: String,
    pub message: String,
    pub kind: FailureKind,
    /// The items whose removal was not confirmed, or was stopped by a brake.
    pub items: ItemNames,
}

/// What the user can do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A brake stopped a removal, which the user can allow.
    Brake,
    /// The name is wrong, or the token has no access; a retry does not help.
    NotFound,
    /// The settings or arguments exclude it; a retry does not help.
    Skipped,
    /// The next pull retries it.
    Other,
}

impl FailureKind {
    fn from_error(error: &SyncError) -> Self {
        let is_hidden = matches!(error, SyncError::Source { error: SourceError::Hidden(_), .. });
        if error.is_brake() {
            Self::Brake
        } else if is_hidden {
            Self::NotFound
        } else {
            Self::Other
        }
    }
}

impl PullFailure {
    pub fn is_brake(&self) -> bool {
        self.kind == FailureKind::Brake
    }

    pub(crate) fn from_error(surface: Surface, scope: String, error: &SyncError) -> Self {
        let (message, items) = (error.reason(), error.items());
        Self { surface, scope, message, kind: FailureKind::from_error(error), items }
    }

    pub(crate) fn emit_event(&self, context: &PullContext<'_>) {
        let Self { surface, scope, message, .. } = self.clone();
        context.client.progress().emit(|| ProgressEvent::LaneFailed { surface, scope, message });
    }
}

impl PullSummary {
    /// Returns the sum over all pulled items.
    pub fn total_tally(&self) -> PullTally {
        let mut total = PullTally::default();
        self.items.values().for_each(|tally| total.add(tally));
        total
    }

    /// Returns the names of the sources that did not fail as a whole.
    pub fn read_sources(&self) -> Vec<&str> {
        let names = self.sources.iter().map(String::as_str);
        names
            .filter(|name| {
                let mut failed = self.failed_sources.iter();
                !failed.any(|failed| failed.source.to_string().eq_ignore_ascii_case(name))
            })
            .collect()
    }

    pub(crate) fn new(pull: &PullSpec) -> Self {
        let items = pull.items.iter().map(|item| (*item, PullTally::default())).collect();
        let sources = pull.sources.iter().map(|followed| followed.source.to_string()).collect();
        Self { items, sources, ..Self::default() }
    }

    /// Adds a tally. Repositories are listed even when they were not requested; then they are not counted.
    pub(crate) fn add_tally(&mut self, surface: Surface, tally: &PullTally) {
        if let Some(sum) = self.items.get_mut(&surface.pull_item()) {
            sum.add(tally);
        }
    }

    pub(crate) fn add_outcome(&mut self, context: &PullContext<'_>, outcome: LaneOutcome) {
        let surface = outcome.target.surface();
        match outcome.result {
            LaneResult::Done(tally) => {
                self.add_tally(surface, &tally);
                self.read_lanes.push(outcome.target);
            }
            LaneResult::Hidden(error) => {
                self.add_error(context, surface, outcome.target.display_name(), &error);
            }
            LaneResult::Failed(failure) => self.record_failure(failure),
            // it is read further before its pull ends
            LaneResult::Yielded => {}
        }
    }

    /// Adds a lane that this process has read for the pull of another one.
    pub(crate) fn add_read_lane(&mut self, outcome: &LaneOutcome) {
        if let LaneResult::Done(tally) = &outcome.result {
            self.add_tally(outcome.target.surface(), tally);
        }
    }

    pub(crate) fn add_failure(
        &mut self,
        context: &PullContext<'_>,
        surface: Surface,
        scope: String,
        message: &str,
    ) {
        let message = message.to_owned();
        let items = ItemNames::default();
        let kind = FailureKind::Other;
        self.emit_failure(context, PullFailure { surface, scope, message, kind, items });
    }

    pub(crate) fn add_error(
        &mut self,
        context: &PullContext<'_>,
        surface: Surface,
        scope: String,
        error: &SyncError,
    ) {
        self.emit_failure(context, PullFailure::from_error(surface, scope, error));
    }

    fn emit_failure(&mut self, context: &PullContext<'_>, failure: PullFailure) {
        failure.emit_event(context);
        self.record_failure(failure);
    }

    /// Records a failure whose event was emitted before.
    fn record_failure(&mut self, failure: PullFailure) {
        self.add_tally(failure.surface, &PullTally { errors: 1, ..PullTally::default() });
        self.failures.push(failure);
    }

    /// Adds a failure for each repository or surface that discovery could not read.
    pub(crate) fn add_unlisted_failures(
        &mut self,
        context: &PullContext<'_>,
        pull: &PullSpec,
        known: &MirrorSnapshot,
        discovery: &DiscoveryResult,
    ) {
        let surface = Surface::Repositories;
        for subject in &discovery.unreadable {
            let message = format!("a repository could not be read: {subject}");
            self.add_failure(context, surface, pull.source_names(), &message);
        }
        // a row that was never stored may not be a repository at all, and is not a failure
        for stored in &known.repositories {
            if discovery.is_impossible(stored) {
                let message = "GitHub lists it with invalid values, so it was not read; `highwater doctor` shows details";
                self.add_failure(context, surface, full_name(stored), message);
            }
        }
        self.add_denied_failures(context, discovery);
        for SkippedRepository { name, reason } in &discovery.skipped {
            let (scope, message) = (name.to_string(), reason.clone());
            let (kind, items) = (FailureKind::Skipped, ItemNames::default());
            self.emit_failure(context, PullFailure { surface, scope, message, kind, items });
        }
        for name in &discovery.missing {
            let mut stored = known.repositories.iter();
            if !stored.any(|stored| name.is_name_of(&stored.owner, &stored.name)) {
                let (scope, message) = (name.to_string(), NOT_FOUND_MESSAGE.to_owned());
                let (kind, items) = (FailureKind::NotFound, ItemNames::default());
                self.emit_failure(context, PullFailure { surface, scope, message, kind, items });
            }
        }
        for FailedSource { source, error } in &discovery.failed_sources {
            if let FollowedSource::Owner(login) = source {
                self.add_error(context, surface, login.to_string(), error);
            }
        }
    }

    /// Adds a failure for each listing to which the token has no access.
    fn add_denied_failures(&mut self, context: &PullContext<'_>, discovery: &DiscoveryResult) {
        for (owner, surface) in &discovery.denied_listings {
            let scope = format!("{owner} {}", surface.name());
            self.add_failure(context, *surface, scope, DENIED_MESSAGE);
        }
        for (id, surface) in &discovery.denied_lanes {
            let mut listed = discovery.repositories.iter();
            let Some(repository) = listed.find(|repository| repository.id == *id) else { continue };
            let is_covered = discovery.denied_listings.iter().any(|(owner, denied)| {
                owner.eq_ignore_ascii_case(&repository.owner) && denied == surface
            });
            if !is_covered {
                let scope = format!("{} {}", full_name(repository), surface.name());
                self.add_failure(context, *surface, scope, DENIED_MESSAGE);
            }
        }
    }

    /// Adds a failure for each lane that was read and has unreadable rows.
    pub(crate) fn add_unread_failures(
        &mut self,
        context: &PullContext<'_>,
    ) -> Result<(), SyncError> {
        let waiting = context.store.lanes_with_quarantine()?;
        for target in std::mem::take(&mut self.read_lanes) {
            // hidden rows cannot be read, but are not missing, either
            if waiting.contains(&target.lane) && target.can_be_swept() {
                let message = "some items could not be read; the next pull retries them";
                self.add_failure(context, target.surface(), target.display_name(), message);
            }
        }
        Ok(())
    }
}

fn full_name(repository: &Repository) -> String {
    format!("{}/{}", repository.owner, repository.name)
}
