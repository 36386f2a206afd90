//! Sums up what a pull did, while it runs.

use std::collections::BTreeMap;

use hw_rules::item_names::ItemNames;
use hw_rules::lane::{PullItem, Surface};

use crate::SyncError;
use crate::api_client::RequestCost;
use crate::discover::{DiscoveryResult, SkippedRepository};
use crate::plan_lanes::MirrorSnapshot;
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::repair::RepairSummary;
use crate::schedule::{LaneOutcome, LaneResult};
use crate::turn::{LaneTarget, PullContext, PullTally};

const DENIED_MESSAGE: &str = "the token cannot read these; skipped them";

/// The results of a pull.
#[derive(Debug, Default)]
pub struct PullSummary {
    pub viewer: String,
    /// Tallies by pulled item.
    pub items: BTreeMap<PullItem, PullTally>,
    pub cost: RequestCost,
    /// The result of the repair, if one was requested.
    pub repair: Option<RepairSummary>,
    /// Failures; everything else was read completely.
    pub failures: Vec<PullFailure>,
    read_lanes: Vec<LaneTarget>,
}

/// A failure that did not stop the rest of the pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullFailure {
    pub surface: Surface,
    pub scope: String,
    pub message: String,
    /// True if a brake stopped a removal, which the user can allow.
    pub is_brake: bool,
    /// The items whose removal was not confirmed, or was stopped by a brake.
    pub items: ItemNames,
}

impl PullFailure {
    pub(crate) fn from_error(surface: Surface, scope: String, error: &SyncError) -> Self {
        let (message, items) = (error.reason(), error.items());
        Self { surface, scope, message, is_brake: error.is_brake(), items }
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

    pub(crate) fn new(pull: &PullSpec) -> Self {
        let items = pull.items.iter().map(|item| (*item, PullTally::default())).collect();
        Self { items, ..Self::default() }
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
        self.emit_failure(context, PullFailure { surface, scope, message, is_brake: false, items });
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
            self.add_failure(context, surface, pull.organization.clone(), &message);
        }
        // a row that was never stored may not be a repository at all, and is not a failure
        for stored in &known.repositories {
            if discovery.impossible.contains(&stored.node_id) {
                let message =
                    "its listing has impossible values, so it was not read; see `highwater doctor`";
                self.add_failure(context, surface, pull.full_name(&stored.name), message);
            }
        }
        for surface in &discovery.denied_surfaces {
            let scope = format!("{} {}", pull.organization, surface.name());
            self.add_failure(context, *surface, scope, DENIED_MESSAGE);
        }
        for (id, surface) in &discovery.denied_lanes {
            if discovery.denied_surfaces.contains(surface) {
                continue;
            }
            if let Some(repository) =
                discovery.repositories.iter().find(|repository| repository.id == *id)
            {
                let scope = format!("{} {}", pull.full_name(&repository.name), surface.name());
                self.add_failure(context, *surface, scope, DENIED_MESSAGE);
            }
        }
        for SkippedRepository { name, reason } in &discovery.skipped {
            self.add_failure(context, surface, pull.full_name(name), reason);
        }
        for name in &discovery.missing {
            if !known.repositories.iter().any(|stored| stored.name.eq_ignore_ascii_case(name)) {
                let message = "not found, or this token has no access";
                self.add_failure(context, surface, pull.full_name(name), message);
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
            if waiting.contains(&target.lane.to_string()) && target.can_be_swept() {
                let message = "some items could not be read; the next pull retries them";
                self.add_failure(context, target.surface(), target.display_name(), message);
            }
        }
        Ok(())
    }
}
