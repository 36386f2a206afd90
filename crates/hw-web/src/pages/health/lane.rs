//! One list of one repository, as the health page shows it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hw_rules::coverage::{Coverage, Gap, Side};
use hw_rules::lane::{Lane, Scope};
use hw_rules::plan::LaneState;
use hw_rules::time::Mark;
use hw_rules::walk::Floor;
use hw_store::{Error, Store};

use crate::texts::{When, line};

pub(super) struct LaneView {
    /// The repository, or the organisation.
    pub(super) scope: String,
    pub(super) surface: &'static str,
    /// How far down it is complete.
    pub(super) from: String,
    /// The watermark.
    pub(super) through: Option<When>,
    pub(super) gap: Option<String>,
    pub(super) failures: u32,
    pub(super) error: Option<String>,
    pub(super) checked: Option<When>,
    pub(super) verdict: Verdict,
}

/// How a lane is; the worst is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Failing,
    Gap,
    Unfinished,
    Never,
    Well,
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Gap => "gap",
            Self::Unfinished => "unfinished",
            Self::Never => "never read",
            Self::Well => "well",
        }
    }

    /// Its name as a class of the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Failing => "failing",
            Self::Gap | Self::Unfinished | Self::Never => "behind",
            Self::Well => "well",
        }
    }

    fn of(lane: &Lane, state: &LaneState) -> Self {
        let Coverage { gap, through, .. } = &state.coverage;
        // the repositories of an organisation are listed whole each time, and have nothing to go on from
        let is_listed = matches!(lane.scope, Scope::Organization(_));
        if 0 < state.failures {
            Self::Failing
        } else if gap.is_some() {
            Self::Gap
        } else if state.checked_at_ms.is_none() && (is_listed || through.is_none()) {
            Self::Never
        } else if !is_listed && !state.coverage.is_complete() {
            Self::Unfinished
        } else {
            Self::Well
        }
    }
}

impl LaneView {
    pub(super) fn is_bad(&self) -> bool {
        self.verdict != Verdict::Well
    }
}

/// All lanes, the worst first.
pub(super) fn all(store: &Store) -> Result<Vec<LaneView>, Error> {
    let rows = store.lanes()?;
    let mut names = BTreeMap::new();
    for (lane, _, _) in &rows {
        if !names.contains_key(&lane.host) {
            let held = store.repositories(&lane.host)?.into_iter();
            let held = held.map(|it| (it.id, format!("{}/{}", it.owner, it.name)));
            names.insert(lane.host.clone(), held.collect::<BTreeMap<_, _>>());
        }
    }
    let name = |lane: &Lane| match &lane.scope {
        Scope::Organization(login) => login.clone(),
        Scope::Repository(id) => names
            .get(&lane.host)
            .and_then(|held| held.get(id).cloned())
            .unwrap_or_else(|| format!("repository {id}, no longer held")),
    };
    let lanes =
        rows.into_iter().map(|(lane, state, error)| view(&lane, &name(&lane), &state, error));
    let mut lanes: Vec<LaneView> = lanes.collect();
    lanes.sort_by_cached_key(|it| (it.verdict, Reverse(it.failures), it.scope.clone(), it.surface));
    Ok(lanes)
}

fn view(lane: &Lane, scope: &str, state: &LaneState, error: Option<String>) -> LaneView {
    let coverage = &state.coverage;
    LaneView {
        scope: line(scope),
        surface: lane.surface.name(),
        from: match coverage.from {
            None => "—".to_owned(),
            Some(floor) => told(floor),
        },
        through: coverage.through.map(When::of),
        gap: coverage.gap.as_ref().map(gap),
        failures: state.failures,
        error: error.filter(|_| 0 < state.failures).map(|it| line(&it)),
        checked: state.checked_at_ms.map(|at| When::of(Mark(at))),
        verdict: Verdict::of(lane, state),
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
