//! Runs the lanes' turns concurrently: some have a turn of their own, others share requests for first pages.

use std::sync::atomic::Ordering;

use futures_util::stream::{self, StreamExt as _};
use hw_rules::lane::ReadStrategy;
use hw_rules::plan::{
    self, ChangeSign, LanePlan, LaneRequest, LaneState, SweepRequest, TurnTiming,
};
use hw_sources::error::SourceError;

use crate::SyncError;
use crate::first_page_batch::{FirstPageLane, FirstPageOutcome, group_requests, read_first_pages};
use crate::lane_turn::{LaneReading, LaneTurn};
use crate::plan_lanes::PlannedLane;
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::summary::PullFailure;
use crate::turn::{LaneTarget, PullContext, PullTally};

/// Lanes in progress at once. The rate limiter decides how many of them send a request; the others wait for it.
const MAX_CONCURRENT_LANES: usize = 50;

/// The result of a lane's turn.
pub(crate) enum LaneResult {
    Done(PullTally),
    /// The repository seems to be gone; a second lookup decides.
    Hidden(SyncError),
    /// Already reported as a progress event.
    Failed(PullFailure),
    /// It gave way, and has something left to read.
    Yielded,
}

pub(crate) struct LaneOutcome {
    pub(crate) target: LaneTarget,
    pub(crate) result: LaneResult,
}

enum LaneTask {
    Turn(LaneTarget, LaneReading),
    FirstPages(Vec<FirstPageLane>),
}

/// A lane that still needs a turn after its first page.
struct UnfinishedLane {
    target: LaneTarget,
    reading: LaneReading,
    tally: PullTally,
}

/// Gives every lane what it needs. A lane that fails never stops the others.
pub(crate) async fn run_lanes(
    context: &PullContext<'_>,
    pull: &PullSpec,
    lanes: Vec<PlannedLane>,
) -> Result<Vec<LaneOutcome>, SyncError> {
    let (mut turns, mut first_pages) = (Vec::new(), Vec::new());
    for PlannedLane { target, plan, state, reading, .. } in lanes {
        match plan {
            LanePlan::Skip => {}
            LanePlan::FirstPage { rows } => match target.strategy {
                ReadStrategy::NewestFirst(kind) => {
                    first_pages.push(FirstPageLane { target, kind, state, rows });
                }
                ReadStrategy::Since(_) | ReadStrategy::PerThread(_) => {
                    turns.push(LaneTask::Turn(target, LaneReading::Unread));
                }
            },
            LanePlan::Sweep { scan_first: false } => {
                turns.push(LaneTask::Turn(target, LaneReading::UpToDate));
            }
            LanePlan::Scan | LanePlan::Sweep { scan_first: true } | LanePlan::Sleep { .. } => {
                turns.push(LaneTask::Turn(target, reading));
            }
        }
    }
    let groups = group_requests(first_pages, context.run.batch_rows.load(Ordering::Relaxed));
    let tasks = turns.into_iter().chain(groups.into_iter().map(LaneTask::FirstPages));
    let mut running = stream::iter(tasks)
        .map(|task| task.run(context, pull))
        .buffer_unordered(MAX_CONCURRENT_LANES);
    let mut outcomes = Vec::new();
    while let Some(result) = running.next().await {
        outcomes.extend(result?);
    }
    Ok(outcomes)
}

impl LaneTask {
    async fn run(
        self,
        context: &PullContext<'_>,
        pull: &PullSpec,
    ) -> Result<Vec<LaneOutcome>, SyncError> {
        match self {
            Self::Turn(target, reading) => {
                let lane = UnfinishedLane { target, reading, tally: PullTally::default() };
                Ok(vec![run_lane_turn(context, pull, lane).await?])
            }
            Self::FirstPages(lanes) => run_first_pages(context, pull, lanes).await,
        }
    }
}

/// Reads first pages together, then runs a turn for each lane that needs more.
async fn run_first_pages(
    context: &PullContext<'_>,
    pull: &PullSpec,
    lanes: Vec<FirstPageLane>,
) -> Result<Vec<LaneOutcome>, SyncError> {
    let first_pages = read_first_pages(context, &lanes).await?;
    let (mut outcomes, mut unfinished) = (Vec::new(), Vec::new());
    for (FirstPageLane { target, .. }, outcome) in lanes.into_iter().zip(first_pages) {
        match outcome {
            FirstPageOutcome::Unfinished(reading, tally) => {
                unfinished.push(UnfinishedLane { target, reading, tally });
            }
            FirstPageOutcome::Closed(tally) => {
                let rest = plan_rest(context, &target, pull.sweep_request()).await?;
                if rest == LanePlan::Skip {
                    outcomes.push(finish_lane(context, target, tally));
                } else {
                    let reading = LaneReading::UpToDate;
                    unfinished.push(UnfinishedLane { target, reading, tally });
                }
            }
        }
    }
    let turns = stream::iter(unfinished).map(|lane| run_lane_turn(context, pull, lane));
    let mut running = turns.buffer_unordered(MAX_CONCURRENT_LANES);
    while let Some(result) = running.next().await {
        outcomes.push(result?);
    }
    Ok(outcomes)
}

fn finish_lane(context: &PullContext<'_>, target: LaneTarget, tally: PullTally) -> LaneOutcome {
    let (surface, scope) = (target.surface(), target.display_name());
    context.client.progress().emit(|| ProgressEvent::LaneFinished { surface, scope });
    LaneOutcome { target, result: LaneResult::Done(tally) }
}

/// Runs a lane's turn and adds its tally to that of the first page.
async fn run_lane_turn(
    context: &PullContext<'_>,
    pull: &PullSpec,
    lane: UnfinishedLane,
) -> Result<LaneOutcome, SyncError> {
    let UnfinishedLane { target, reading, mut tally } = lane;
    match run_turn_and_sweep(context, pull, &target, reading).await {
        Ok(more) => {
            tally.add(&more);
            Ok(finish_lane(context, target, tally))
        }
        Err(error) if !error.is_lane_error() => Err(error),
        Err(SyncError::Yielded) => Ok(LaneOutcome { target, result: LaneResult::Yielded }),
        Err(error) => {
            tracing::warn!(%error, "a lane failed; continuing with the others");
            if matches!(&error, SyncError::Source { error: SourceError::Hidden(_), .. }) {
                return Ok(LaneOutcome { target, result: LaneResult::Hidden(error) });
            }
            let failure = PullFailure::from_error(target.surface(), target.display_name(), &error);
            failure.emit_event(context);
            Ok(LaneOutcome { target, result: LaneResult::Failed(failure) })
        }
    }
}

/// Runs a lane's turn, and its sweep when one is due or requested.
///
/// A user started this pull, so the lane is due now even if it was postponed.
async fn run_turn_and_sweep(
    context: &PullContext<'_>,
    pull: &PullSpec,
    target: &LaneTarget,
    reading: LaneReading,
) -> Result<PullTally, SyncError> {
    let mut state = context.lane_state(&target.lane).await?;
    if prepare_turn(context, pull, target, &state)? == LanePreparation::Changed {
        state = context.lane_state(&target.lane).await?;
    }
    let FinishedTurn { plan, mut tally } =
        run_turn_when_due(context, target, reading, state).await?;
    if !matches!(plan, LanePlan::Sweep { .. })
        && plan_rest(context, target, SweepRequest::WhenDue).await? != LanePlan::Skip
    {
        let state = context.lane_state(&target.lane).await?;
        let reading = LaneReading::UpToDate;
        tally.add(&run_turn_when_due(context, target, reading, state).await?.tally);
    }
    Ok(tally)
}

/// Plans what is left to do in a lane whose changes this pull has read: a sweep, or nothing.
async fn plan_rest(
    context: &PullContext<'_>,
    target: &LaneTarget,
    sweep: SweepRequest,
) -> Result<LanePlan, SyncError> {
    let state = context.lane_state(&target.lane).await?;
    let (request, now_ms) = (context.lane_request(target, sweep), context.client.clock().now_ms());
    Ok(plan::plan_lane(&state, ChangeSign::Unchanged, &request, now_ms))
}

/// Whether preparing a turn changed the lane's stored state.
#[derive(PartialEq, Eq)]
enum LanePreparation {
    Unchanged,
    Changed,
}

/// Makes a postponed lane due, and requests the sweep of a reconciling pull.
fn prepare_turn(
    context: &PullContext<'_>,
    pull: &PullSpec,
    target: &LaneTarget,
    state: &LaneState,
) -> Result<LanePreparation, SyncError> {
    let is_postponed = state.due_ms > 0;
    if is_postponed {
        context.store.make_lane_due(&target.lane)?;
    }
    if pull.reconcile && target.can_be_swept() {
        // an unfinished sweep began too early to know what was deleted since
        if state.is_sweeping {
            context.store.restart_sweep(&target.lane)?;
        }
        context.store.request_sweep(&target.lane, context.client.clock().now_ms())?;
        return Ok(LanePreparation::Changed);
    }
    Ok(if is_postponed { LanePreparation::Changed } else { LanePreparation::Unchanged })
}

/// What a turn did.
struct FinishedTurn {
    plan: LanePlan,
    tally: PullTally,
}

/// Runs a turn once the lane no longer has to wait.
async fn run_turn_when_due(
    context: &PullContext<'_>,
    target: &LaneTarget,
    reading: LaneReading,
    mut state: LaneState,
) -> Result<FinishedTurn, SyncError> {
    let request = LaneRequest {
        timing: TurnTiming::WhenDue,
        ..context.lane_request(target, SweepRequest::WhenDue)
    };
    loop {
        let now_ms = context.client.clock().now_ms();
        let plan = plan::plan_lane(&state, reading.change_sign(), &request, now_ms);
        let LanePlan::Sleep { until_ms, reason } = plan else {
            let tally = LaneTurn::new(context, target, state).run(plan, reading).await?;
            return Ok(FinishedTurn { plan, tally });
        };
        tracing::info!(lane = %target.lane, ?reason, "waiting");
        context.client.clock().sleep_until(until_ms).await;
        state = context.lane_state(&target.lane).await?;
    }
}
