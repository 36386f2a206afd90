//! The duty of a pull: discovers repositories, reads the lanes that moved, rechecks what seems gone, has the comments
//! read, reads closing references, and sums up the results.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::OVERLAP_MS;
use hw_rules::follow_reason::LaneUse;
use hw_rules::item::Repository;
use hw_rules::lane::{Lane, PullItem, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::second_lookup;
use hw_store::IngestPage;

use crate::comment_lanes::MovedLists;
use crate::discover::{DiscoveryResult, SkippedRepository};
use crate::missing_repositories::RepositorySuspects;
use crate::plan_lanes::{LaneProbes, MirrorSnapshot, PlannedLane, plan_repository_lanes};
use crate::progress::{LanesToRead, ProgressEvent};
use crate::pull::PullSpec;
use crate::pull_run::{OtherPull, PullRun};
use crate::repair::{self, RepairSummary};
use crate::schedule::{LaneResult, run_lanes};
use crate::summary::PullSummary;
use crate::turn::{LaneTarget, PullContext, PullTally};
use crate::{
    SyncError, chores, closing_references, comment_lanes, discover, missing_repositories,
    run_removals, sources,
};

/// Stores the state of the source's clock for the next run.
pub(crate) fn store_source_clock(
    context: &PullContext<'_>,
    pull: &PullSpec,
) -> Result<(), hw_store::StoreError> {
    let clock = context.client.source_time().clock().cloned();
    let Some(clock) = clock else { return Ok(()) };
    context.store.store_source_clock(&pull.host, &pull.worker.machine, &clock)
}

/// Performs the duty, from where another worker left it if that one died while this one followed it.
pub(crate) async fn perform_pull(
    run: &PullRun<'_>,
    context: &PullContext<'_>,
    pull: &PullSpec,
    taken_over: Option<&OtherPull>,
) -> Result<PullSummary, SyncError> {
    let pull = &mut sources::load_sources(context, pull)?;
    run_chores(context).await?;
    if pull.force {
        clear_chosen_items(context, pull)?;
        run_chores(context).await?;
    }
    let repair = if pull.repair { Some(repair::mark_damaged(context).await?) } else { None };
    let machine = &pull.worker.machine;
    context.client.source_time().resume_clock(context.store.source_clock(&pull.host, machine)?);
    let mut known = MirrorSnapshot::from_store(context.store, pull)?;
    let mut summary = PullSummary::new(pull);
    let read_pages = match taken_over {
        Some(other) => context.store.resume_discovery(&pull.host, other.epoch)?,
        None => Vec::new(),
    };
    let resumed_from = read_pages.first().map(|page| page.date);
    let mut discovery = discover::discover_repositories(context, pull, &known, read_pages).await?;
    run_chores(context).await?;
    // stored early, so that a run that dies leaves the next one something to compare with
    store_source_clock(context, pull)?;
    if reset_future_lanes(context, pull, &known)? > 0 {
        known = MirrorSnapshot::from_store(context.store, pull)?;
        discovery = discover::discover_repositories(context, pull, &known, Vec::new()).await?;
        run_chores(context).await?;
    }
    let pull = &*pull;
    summary.viewer = std::mem::take(&mut discovery.viewer);
    summary.add_tally(Surface::Repositories, &discovery.tally);
    summary.add_unlisted_failures(context, pull, &known, &discovery);
    summary.failed_sources = std::mem::take(&mut discovery.failed_sources);
    drop_unstored(context, pull, &mut discovery, &mut summary)?;
    context.store.follow_lanes(&known.new_lanes(&discovery.lanes), LaneUse::Mirror)?;
    emit_moved(context, pull.thread_surfaces(), &discovery.lanes);
    let moved = comment_lanes::moved_surfaces(&discovery.lanes);

    let mut hidden: Vec<LaneTarget> = Vec::new();
    for outcome in run_lanes(context, pull, std::mem::take(&mut discovery.lanes)).await? {
        match outcome.result {
            LaneResult::Hidden(_) => hidden.push(outcome.target),
            LaneResult::Done(_) | LaneResult::Failed(_) | LaneResult::Yielded => {
                summary.add_outcome(context, outcome);
            }
        }
    }
    run_removals::apply_removals(context, pull, &mut summary)?;
    let present = recheck_missing(context, pull, &known, &discovery, hidden, &mut summary).await?;
    run_chores(context).await?;
    run_removals::apply_removals(context, pull, &mut summary)?;
    let repositories = retain_stored(context, pull, discovery.repositories.iter().chain(&present))?;
    let moved = MovedLists { surfaces: &moved, resumed_from };
    read_comments(run, context, pull, &repositories, &moved, &mut summary).await?;
    closing_references::read_closing_references(context, pull, &repositories, &mut summary).await?;
    run_removals::finish_removals(context, pull, &summary)?;
    // the listing of this pull has recorded the reason of each repository that it mirrors
    context.store.remove_unfollowed(&pull.host)?;
    context.store.forget_discovery(&pull.host)?;
    run_chores(context).await?;
    if context.client.source_time().unresolved_step().is_some() {
        // lanes that were read before this was noticed may rely on a wrong time
        reset_future_lanes(context, pull, &MirrorSnapshot::from_store(context.store, pull)?)?;
        let message = "its clock was set back during this pull; the next pull rereads what may have been missed";
        summary.add_failure(context, Surface::Repositories, pull.host.clone(), message);
    }
    summary.add_unread_failures(context)?;
    if let Some(repair) = repair {
        let waiting = context.store.count_waiting_repairs()?;
        summary.repair = Some(RepairSummary { waiting, ..repair });
    }
    summary.cost = context.client.cost();
    Ok(summary)
}

/// Resets the lanes whose claims lie beyond the source's own time, and returns their number.
///
/// Such claims appear when the source's clock was set back, or a response carried a wrong date.
fn reset_future_lanes(
    context: &PullContext<'_>,
    pull: &PullSpec,
    known: &MirrorSnapshot,
) -> Result<u64, SyncError> {
    let (latest, step) = {
        let time = context.client.source_time();
        (time.latest_stamp(), time.unresolved_step())
    };
    let Some(latest) = latest.map(|date| date.plus_ms(OVERLAP_MS)) else { return Ok(0) };
    let base = step.map_or(latest, |base| base.min(latest));
    let mut reset = 0;
    if step.is_some() || known.has_claims_beyond(&pull.host, base) {
        reset = context.store.reset_lanes_beyond(&pull.host, base)?;
    }
    if step.is_some() {
        context.client.source_time().resolve_step();
        store_source_clock(context, pull)?;
    }
    Ok(reset)
}

/// Drops repositories that are listed but were not stored: nothing of theirs may be stored, either.
///
/// A repository gets here when it was removed moments ago and is listed again with a time that the source has not
/// reached. The order of the two events is known a few minutes later.
fn drop_unstored(
    context: &PullContext<'_>,
    pull: &PullSpec,
    discovery: &mut DiscoveryResult,
    summary: &mut PullSummary,
) -> Result<(), SyncError> {
    let stored = retain_stored(context, pull, discovery.repositories.iter())?;
    let stored: BTreeSet<i64> = stored.iter().map(|repository| repository.id).collect();
    for repository in &discovery.repositories {
        if stored.contains(&repository.id) {
            continue;
        }
        let scope = format!("{}/{}", repository.owner, repository.name);
        let message = "listed with a time in the future; a later pull will read it";
        summary.add_failure(context, Surface::Repositories, scope, message);
    }
    discovery.lanes.retain(|planned| stored.contains(&planned.target.repository.id));
    discovery.repositories.retain(|repository| stored.contains(&repository.id));
    Ok(())
}

/// Looks up the repositories that seem to be gone, and reads the lanes of those that still exist.
async fn recheck_missing(
    context: &PullContext<'_>,
    pull: &PullSpec,
    known: &MirrorSnapshot,
    discovery: &DiscoveryResult,
    hidden: Vec<LaneTarget>,
    summary: &mut PullSummary,
) -> Result<Vec<Repository>, SyncError> {
    let mut suspects = discovery.missing_suspects(pull, known);
    let hidden_ids: BTreeSet<i64> = hidden.iter().map(|target| target.repository.id).collect();
    let candidates = discovery.repositories.iter().chain(&known.repositories);
    suspects.extend(candidates.filter(|candidate| hidden_ids.contains(&candidate.id)).cloned());
    suspects.sort_by_key(|suspect| suspect.id);
    suspects.dedup_by_key(|suspect| suspect.id);
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let suspects = RepositorySuspects {
        repositories: &suspects,
        listed_ids: &discovery.repositories.iter().map(|listed| listed.id).collect(),
        siblings: &choose_siblings(discovery, known, &suspects),
        stored_count: known.repositories.len(),
    };
    let recheck = match missing_repositories::recheck_repositories(context, pull, suspects).await {
        Ok(recheck) => recheck,
        Err(error) if error.is_lane_error() => {
            let scope = pull.source_names();
            summary.add_error(context, Surface::Repositories, scope, &error);
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    if recheck.removed > 0 {
        let removed = PullTally { removed: recheck.removed, ..PullTally::default() };
        summary.add_tally(Surface::Repositories, &removed);
        let (surface, scope) = (Surface::Repositories, pull.source_names());
        context.client.progress().emit(|| ProgressEvent::ItemsRemoved {
            surface,
            scope,
            count: recheck.removed,
        });
    }
    for SkippedRepository { name, reason } in &recheck.undecided {
        summary.add_failure(context, Surface::Repositories, name.to_string(), reason);
    }
    run_chores(context).await?;
    let lanes = replan_present(context, pull, known, &recheck.present, &hidden);
    for outcome in run_lanes(context, pull, lanes).await? {
        summary.add_outcome(context, outcome);
    }
    Ok(recheck.present)
}

/// Returns the repositories that this pull has not removed: comments of the others must not be stored.
fn retain_stored<'a>(
    context: &PullContext<'_>,
    pull: &PullSpec,
    repositories: impl Iterator<Item = &'a Repository>,
) -> Result<Vec<Repository>, SyncError> {
    let stored = context.store.repositories(&pull.host)?;
    let stored: BTreeSet<i64> = stored.iter().map(|repository| repository.id).collect();
    Ok(repositories.filter(|repository| stored.contains(&repository.id)).cloned().collect())
}

/// Reads comments. Threads come first, because they show which comments are due.
async fn read_comments(
    run: &PullRun<'_>,
    context: &PullContext<'_>,
    pull: &PullSpec,
    repositories: &[Repository],
    moved: &MovedLists<'_>,
    summary: &mut PullSummary,
) -> Result<(), SyncError> {
    let due = comment_lanes::find_due_lanes(context, pull, repositories, moved)?;
    emit_moved(context, pull.comment_surfaces(), &due.lanes);
    if let Some(lane) = pull.listing_lanes().into_iter().next() {
        let page_size = context.store.lane_state(&lane)?.page_size;
        let page =
            IngestPage { checked_lanes: due.fresh_lanes, ..IngestPage::new(lane, page_size) };
        context.store.ingest_page(&page)?;
    }
    for outcome in run.read_comment_lanes(context, due.lanes).await? {
        summary.add_outcome(context, outcome);
    }
    run_removals::apply_removals(context, pull, summary)?;
    run.end_kept_duties(context)?;
    // reading comments may have shown that their thread is gone
    let mut lanes_to_sweep = comment_lanes::find_lanes_to_sweep(context, pull, repositories)?;
    lanes_to_sweep.retain(|planned| !context.run.removals.is_stopped(&planned.target.lane));
    for outcome in run_lanes(context, pull, lanes_to_sweep).await? {
        summary.add_outcome(context, outcome);
    }
    run_removals::apply_removals(context, pull, summary)
}

/// Plans the lanes of repositories that still exist: those that were hidden, or all lanes of a repository that
/// the listing left out.
fn replan_present(
    context: &PullContext<'_>,
    pull: &PullSpec,
    known: &MirrorSnapshot,
    present: &[Repository],
    hidden: &[LaneTarget],
) -> Vec<PlannedLane> {
    let mut lanes = Vec::new();
    for repository in present {
        let hidden_surfaces: Vec<Surface> = hidden
            .iter()
            .filter(|target| target.repository.id == repository.id)
            .map(LaneTarget::surface)
            .collect();
        let mut planned =
            plan_repository_lanes(context, pull, known, repository, &LaneProbes::new());
        planned.retain(|lane| {
            hidden_surfaces.is_empty() || hidden_surfaces.contains(&lane.target.surface())
        });
        lanes.extend(planned);
    }
    lanes
}

/// Picks repositories that must exist, because they are listed and not suspected.
fn choose_siblings(
    discovery: &DiscoveryResult,
    known: &MirrorSnapshot,
    suspects: &[Repository],
) -> Vec<Repository> {
    let mut candidates = exclude_suspects(&discovery.repositories, suspects);
    if candidates.is_empty() {
        candidates = exclude_suspects(&known.repositories, suspects);
    }
    second_lookup::pick_siblings(&candidates).into_iter().copied().cloned().collect()
}

fn exclude_suspects<'a>(
    repositories: &'a [Repository],
    suspects: &[Repository],
) -> Vec<&'a Repository> {
    repositories
        .iter()
        .filter(|repository| suspects.iter().all(|suspect| suspect.id != repository.id))
        .collect()
}

/// Runs the chores that are pending, or that this pull has decided on.
async fn run_chores(context: &PullContext<'_>) -> Result<(), SyncError> {
    let client = context.client;
    chores::run_chores(context.store, client.clock(), client.crash_points()).await
}

/// Has the chosen items deleted lane by lane; each lane starts over.
fn clear_chosen_items(context: &PullContext<'_>, pull: &PullSpec) -> Result<(), SyncError> {
    let surfaces = [Surface::Repositories].into_iter().chain(pull.thread_surfaces());
    for surface in surfaces.chain(pull.comment_surfaces()) {
        if pull.items.contains(&surface.pull_item()) {
            context.client.progress().emit(|| ProgressEvent::ClearingSurface { surface });
        }
    }
    let known = MirrorSnapshot::from_store(context.store, pull)?;
    for repository in known.repositories.iter().filter(|stored| pull.is_chosen(stored)) {
        for surface in pull.thread_surfaces().chain(pull.comment_surfaces()) {
            let lane = Lane::for_repository(RepositoryKey::new(&pull.host, repository.id), surface);
            context.store.clear_lane(&lane)?;
        }
    }
    if pull.items.contains(&PullItem::Repositories) && pull.only_repositories.is_empty() {
        for lane in pull.listing_lanes() {
            context.store.clear_lane(&lane)?;
        }
    }
    Ok(())
}

fn emit_moved(
    context: &PullContext<'_>,
    surfaces: impl Iterator<Item = Surface>,
    planned_lanes: &[PlannedLane],
) {
    let mut lanes: BTreeMap<PullItem, LanesToRead> =
        surfaces.map(|surface| (surface.pull_item(), LanesToRead::NONE)).collect();
    for planned in planned_lanes {
        let item = planned.target.surface().pull_item();
        lanes.entry(item).or_insert(LanesToRead::NONE).add(planned.expected);
    }
    if !lanes.is_empty() {
        context.client.progress().emit(|| ProgressEvent::LanesMoved { lanes });
    }
}
