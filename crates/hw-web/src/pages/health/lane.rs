//! One list of one repository, as the health page shows it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hw_rules::coverage::{Coverage, Gap, Side};
use hw_rules::lane::{Lane, Reading, Scope};
use hw_rules::plan::LaneState;
use hw_rules::time::Mark;
use hw_rules::walk::Floor;
use hw_store::{Error, LaneNames, Store};

use crate::texts::{When, line};

pub(super) struct LaneView {
    /// The repository, or the organization.
    pub(super) scope: String,
    /// Empty for all lists of a repository.
    pub(super) surface: &'static str,
    /// How far down it is complete.
    pub(super) from: String,
    /// The watermark.
    pub(super) through: Option<When>,
    pub(super) gap: Option<String>,
    pub(super) failures: u32,
    pub(super) error: Option<String>,
    pub(super) checked: Option<When>,
    pub(super) status: LaneStatus,
}

/// The state of a lane; the worst is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LaneStatus {
    Failing,
    Gap,
    /// A walk has begun and was not finished, and no pull is running.
    Interrupted,
    /// The same, while a pull is running.
    Reading,
    Unfinished,
    NotStarted,
    Complete,
}

/// Whether a process is reading lanes now.
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
            Self::Complete => "well",
        }
    }

    /// Its name as a class of the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Gap | Self::Interrupted | Self::Reading | Self::Unfinished | Self::NotStarted => {
                "behind"
            }
            Self::Complete => "well",
        }
    }

    fn new(lane: &Lane, state: &LaneState, pull: PullState) -> Self {
        // the repositories of an organization are listed whole each time, and have nothing to go on from
        let is_listed = matches!(lane.scope, Scope::Organization(_));
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

/// Whether something was read, but not to the end.
fn has_begun(lane: &Lane, state: &LaneState) -> bool {
    let Coverage { walk, since, through, .. } = &state.coverage;
    // what is read thread by thread has no cursor: its row alone tells that it has begun
    let is_by_thread = lane.surface.reading() == Reading::Talks;
    let never_finished = state.checked_at_ms.is_none() && through.is_none();
    walk.is_some() || since.is_some() || is_by_thread && never_finished
}

impl LaneView {
    pub(super) fn is_bad(&self) -> bool {
        self.status != LaneStatus::Complete
    }

    /// A repository of which no list was begun.
    fn not_started(name: &str) -> Self {
        Self {
            scope: line(name),
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

/// All lanes and all repositories without any, the worst first.
pub(super) fn all(store: &Store, pull: PullState) -> Result<Vec<LaneView>, Error> {
    let (rows, names) = (store.lanes()?, store.lane_names()?);
    let begun: BTreeSet<(&str, i64)> =
        rows.iter().filter_map(|(lane, _, _)| Some((&*lane.host, repository_id(lane)?))).collect();
    let untouched = names.repositories().filter(|(host, id, _)| !begun.contains(&(*host, *id)));
    let mut lanes: Vec<LaneView> =
        untouched.map(|(_, _, name)| LaneView::not_started(name)).collect();
    lanes.extend(rows.iter().map(|(lane, state, error)| {
        let error = error.as_deref().filter(|_| state.failures > 0);
        view(lane, &names, state, error, pull)
    }));
    lanes.sort_by_cached_key(|it| (it.status, Reverse(it.failures), it.scope.clone(), it.surface));
    Ok(lanes)
}

fn repository_id(lane: &Lane) -> Option<i64> {
    match lane.scope {
        Scope::Repository(id) => Some(id),
        Scope::Organization(_) => None,
    }
}

fn view(
    lane: &Lane,
    names: &LaneNames,
    state: &LaneState,
    error: Option<&str>,
    pull: PullState,
) -> LaneView {
    let coverage = &state.coverage;
    LaneView {
        scope: line(&names.scope(lane)),
        surface: lane.surface.name(),
        from: match coverage.from {
            None => "—".to_owned(),
            Some(floor) => told(floor),
        },
        through: coverage.through.map(When::of),
        gap: coverage.gap.as_ref().map(gap),
        failures: state.failures,
        error: error.map(|message| line(&names.replace_keys(message))),
        checked: state.checked_at_ms.map(|at| When::of(Mark(at))),
        status: LaneStatus::new(lane, state, pull),
    }
}

fn gap(gap: &Gap) -> String {
    let side = match gap.side {
        Side::Above => "above the watermark",
        Side::Below => "below what is complete",
    };
    format!("{side}: {} to {}", told(gap.floor), When::of(gap.target).shown)
}

fn told(floor: Floor) -> String {
    match floor {
        Floor::Beginning => "the beginning".to_owned(),
        Floor::At(mark) => When::of(mark).shown,
    }
}
