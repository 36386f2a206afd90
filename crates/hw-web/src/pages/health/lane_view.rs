//! A list of a repository on the health page.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hw_rules::coverage::{Coverage, CoverageGap, GapSide};
use hw_rules::lane::{Lane, Scope};
use hw_rules::plan::LaneState;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::ListingFloor;
use hw_store::{LaneNames, StoreError, StoreReader};

use crate::format::{DisplayTime, format_line};

pub(super) struct LaneView {
    /// The repository, or the owner.
    pub(super) scope: String,
    /// Empty for all lists of a repository.
    pub(super) surface: &'static str,
    /// The time since which the list is complete.
    pub(super) from: String,
    /// The watermark.
    pub(super) through: Option<DisplayTime>,
    pub(super) gap: Option<String>,
    pub(super) failures: u32,
    pub(super) error: Option<String>,
    pub(super) checked: Option<DisplayTime>,
    pub(super) status: LaneStatus,
}

/// The state of a lane, ordered from the worst to the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LaneStatus {
    Failing,
    Gap,
    /// A walk is unfinished, and no pull is running.
    Interrupted,
    /// A walk is unfinished, and a pull is running.
    Reading,
    Unfinished,
    NotStarted,
    Complete,
}

/// Tells an interrupted walk from one in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PullState {
    Running,
    Idle,
}

impl LaneStatus {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Gap => "gap",
            Self::Interrupted => "interrupted",
            Self::Reading => "being read",
            Self::Unfinished => "unfinished",
            Self::NotStarted => "not started",
            Self::Complete => "ok",
        }
    }

    /// Returns the CSS class of the status.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Gap | Self::Interrupted | Self::Reading | Self::Unfinished | Self::NotStarted => {
                "behind"
            }
            Self::Complete => "ok",
        }
    }

    fn new(lane: &Lane, state: &LaneState, pull: PullState) -> Self {
        // lists of repositories are read whole each time, so there is nothing to resume
        let is_listed = matches!(lane.scope, Scope::Owner(_) | Scope::SingleRepositories);
        if state.failures > 0 {
            Self::Failing
        } else if state.coverage.gap.is_some() {
            Self::Gap
        } else if !is_listed && has_begun(lane, state) {
            match pull {
                PullState::Running => Self::Reading,
                PullState::Idle => Self::Interrupted,
            }
        } else if state.checked_at_ms.is_none() && (is_listed || state.coverage.through.is_none()) {
            Self::NotStarted
        } else if !is_listed && !state.coverage.is_complete() {
            Self::Unfinished
        } else {
            Self::Complete
        }
    }
}

/// Checks whether the list was read in part, but never to the end.
fn has_begun(lane: &Lane, state: &LaneState) -> bool {
    let Coverage { walk, since, through, .. } = &state.coverage;
    // a lane that is read thread by thread has no cursor: the existence of its row shows that it has begun
    let is_by_thread = lane.surface.is_per_thread();
    let never_finished = state.checked_at_ms.is_none() && through.is_none();
    walk.is_some() || since.is_some() || is_by_thread && never_finished
}

impl LaneView {
    pub(super) fn has_problem(&self) -> bool {
        self.status != LaneStatus::Complete
    }

    /// Creates the view of a repository of which no list was started.
    fn not_started(name: &str) -> Self {
        Self {
            scope: format_line(name),
            surface: "",
            from: "—".to_owned(),
            through: None,
            gap: None,
            failures: 0,
            error: None,
            checked: None,
            status: LaneStatus::NotStarted,
        }
    }
}

/// Reads all lanes, and all repositories without lanes, the worst first.
pub(super) fn read_lanes(
    store: &StoreReader,
    pull: PullState,
) -> Result<Vec<LaneView>, StoreError> {
    let (rows, names) = (store.lanes()?, store.lane_names()?);
    let started: BTreeSet<_> = rows.iter().filter_map(|(lane, _, _)| lane.repository()).collect();
    let others = names.repositories().filter(|(repository, _)| !started.contains(repository));
    let mut lanes: Vec<LaneView> = others.map(|(_, name)| LaneView::not_started(name)).collect();
    lanes.extend(rows.iter().map(|(lane, state, error)| {
        let error = error.as_deref().filter(|_| state.failures > 0);
        build_view(lane, &names, state, error, pull)
    }));
    lanes.sort_by_cached_key(|lane| {
        (lane.status, Reverse(lane.failures), lane.scope.clone(), lane.surface)
    });
    Ok(lanes)
}

fn build_view(
    lane: &Lane,
    names: &LaneNames,
    state: &LaneState,
    error: Option<&str>,
    pull: PullState,
) -> LaneView {
    let coverage = &state.coverage;
    LaneView {
        scope: format_line(&names.scope_name(lane)),
        surface: lane.surface.name(),
        from: match coverage.from {
            None => "—".to_owned(),
            Some(floor) => format_floor(floor),
        },
        through: coverage.through.map(DisplayTime::new),
        gap: coverage.gap.as_ref().map(format_gap),
        failures: state.failures,
        error: error.map(|message| format_line(&names.replace_keys(message))),
        checked: state.checked_at_ms.map(|at| DisplayTime::new(SourceInstant(at))),
        status: LaneStatus::new(lane, state, pull),
    }
}

fn format_gap(gap: &CoverageGap) -> String {
    let side = match gap.side {
        GapSide::Above => "after the complete period",
        GapSide::Below => "before the complete period",
    };
    format!("{side}: {} to {}", format_floor(gap.floor), DisplayTime::new(gap.target).text)
}

fn format_floor(floor: ListingFloor) -> String {
    match floor {
        ListingFloor::Beginning => "the beginning".to_owned(),
        ListingFloor::At(instant) => DisplayTime::new(instant).text,
    }
}
