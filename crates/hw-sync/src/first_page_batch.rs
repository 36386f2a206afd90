//! Reads the first pages of many lanes in one request: for many small repositories, or many lanes that moved a
//! little.

use std::sync::atomic::Ordering;

use hw_rules::coverage::Coverage;
use hw_rules::item::ThreadKind;
use hw_rules::plan::LaneState;
use hw_rules::probe;
use hw_sources::error::SourceError;
use hw_sources::github::threads::{FirstPageTarget, FirstPagesQuery};
use hw_sources::page::ItemsPage;
use hw_store::IngestPage;

use crate::SyncError;
use crate::api_client::FetchError;
use crate::lane_turn::{LaneReading, LaneTurn};
use crate::newest_first::{build_ingest_page, step_coverage};
use crate::quarantine;
use crate::retry_policy::RequestOptions;
use crate::turn::{IngestedPage, LaneTarget, PullContext, PullTally};

/// A lane whose first page is due.
#[derive(Debug, Clone)]
pub(crate) struct FirstPageLane {
    pub(crate) target: LaneTarget,
    pub(crate) kind: ThreadKind,
    pub(crate) state: LaneState,
    pub(crate) rows: u32,
}

/// The state of a lane after its first page.
pub(crate) enum FirstPageOutcome {
    /// Its walk is complete.
    Closed(PullTally),
    /// There is more to read, in a turn of its own.
    Unfinished(LaneReading, PullTally),
}

impl FirstPageOutcome {
    /// The first page was not used, so a turn of the lane's own reads it again.
    fn unused() -> Self {
        Self::Unfinished(LaneReading::Unread, PullTally::default())
    }
}

/// A first page and the lane's coverage after it.
struct SteppedPage {
    page: IngestPage,
    next: Coverage,
}

/// Splits lanes into groups whose first pages fit into one request each.
pub(crate) fn group_requests(lanes: Vec<FirstPageLane>, max_rows: u32) -> Vec<Vec<FirstPageLane>> {
    let mut rest = lanes.into_iter();
    let mut groups = Vec::new();
    while !rest.as_slice().is_empty() {
        let count = count_fitting_lanes(rest.as_slice(), max_rows);
        // a vector of its own: one that was split off would keep the memory of all lanes
        groups.push(rest.by_ref().take(count).collect());
    }
    groups
}

fn count_fitting_lanes(lanes: &[FirstPageLane], max_rows: u32) -> usize {
    probe::count_fitting_pages(lanes.iter().map(|lane| lane.rows), max_rows)
}

/// Reads and stores the first pages of these lanes, in as few requests as the server can serve.
pub(crate) async fn read_first_pages(
    context: &PullContext<'_>,
    lanes: &[FirstPageLane],
) -> Result<Vec<FirstPageOutcome>, SyncError> {
    let mut outcomes = Vec::with_capacity(lanes.len());
    while outcomes.len() < lanes.len() {
        let rest = &lanes[outcomes.len()..];
        match fetch_batch(context, rest).await {
            Ok(pages) => outcomes.extend(store_batch(context, rest, pages).await?),
            // a lane that cannot be read with others fails, if at all, in a turn of its own
            Err(FetchError::Source(error)) if !matches!(error, SourceError::TokenRejected(_)) => {
                outcomes.extend(rest.iter().map(|_| FirstPageOutcome::unused()));
            }
            Err(FetchError::Source(error)) => {
                let lane = rest.first().map_or_else(String::new, |lane| lane.target.display_name());
                return Err(SyncError::Source { lane, error });
            }
            Err(FetchError::Sync(error)) => return Err(error),
        }
    }
    Ok(outcomes)
}

/// Fetches the first pages of as many of these lanes as fit, but of at least one.
async fn fetch_batch(
    context: &PullContext<'_>,
    lanes: &[FirstPageLane],
) -> Result<Vec<Result<ItemsPage, SourceError>>, FetchError> {
    let mut size = context.run.batch_rows.load(Ordering::Relaxed);
    for lane in lanes.iter().take(count_fitting_lanes(lanes, size)) {
        context.emit_page_requested(&lane.target, 1);
    }
    let targets = lanes.iter().map(FirstPageLane::first_page_target).collect();
    let query = FirstPagesQuery { targets };
    let result = context.client.fetch(&query, RequestOptions::PAGE, &mut size).await;
    context.run.batch_rows.store(size, Ordering::Relaxed);
    result
}

impl FirstPageLane {
    fn first_page_target(&self) -> FirstPageTarget {
        FirstPageTarget {
            kind: self.kind,
            repository_id: self.target.repository.id,
            node_id: self.target.repository.node_id.clone(),
            row_count: self.rows,
        }
    }
}

/// Stores the pages of one response in one transaction.
async fn store_batch(
    context: &PullContext<'_>,
    lanes: &[FirstPageLane],
    pages: Vec<Result<ItemsPage, SourceError>>,
) -> Result<Vec<FirstPageOutcome>, SyncError> {
    let mut ingest_pages = Vec::new();
    let mut coverages = Vec::with_capacity(pages.len());
    for (lane, page) in lanes.iter().zip(pages) {
        let stepped = match page {
            Ok(page) => step_first_page(context, lane, page).await?,
            Err(_) => None,
        };
        coverages.push(stepped.map(|SteppedPage { page, next }| {
            ingest_pages.push(page);
            next
        }));
    }
    let mut stored_pages = context.ingest_pages(ingest_pages).await?.into_iter();
    let outcomes = coverages.into_iter().map(|next| {
        let stored = next.and_then(|next| Some((next, stored_pages.next()?)));
        let Some((next, IngestedPage { surface, seen, counts })) = stored else {
            return FirstPageOutcome::unused();
        };
        let mut tally = PullTally::default();
        tally.count_page(&counts, seen);
        context.emit_page_stored(surface, 1, seen, &counts);
        if next.has_unfinished_head() {
            FirstPageOutcome::Unfinished(LaneReading::MidWalk(Box::new(next)), tally)
        } else {
            FirstPageOutcome::Closed(tally)
        }
    });
    Ok(outcomes.collect())
}

/// Applies a first page to the lane's coverage; none when the lane needs a turn of its own for it.
async fn step_first_page(
    context: &PullContext<'_>,
    lane: &FirstPageLane,
    mut page: ItemsPage,
) -> Result<Option<SteppedPage>, SyncError> {
    let FirstPageLane { target, state, .. } = lane;
    let window = context.window_floor(target.surface());
    let coverage = state.coverage.clone().open_turn(window);
    let request = coverage.next_head_request(window);
    let Ok(next) = step_coverage(coverage, &request, &mut page, window) else { return Ok(None) };
    let turn = LaneTurn::new(context, target, state.clone());
    match quarantine::retry_unreadable(&turn, &mut page).await {
        Ok(()) => {
            let page = build_ingest_page(target, page, &next, &request, state.page_size);
            Ok(Some(SteppedPage { page, next }))
        }
        Err(FetchError::Source(_)) => Ok(None),
        Err(FetchError::Sync(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hw_rules::lane::Lane;

    use hw_rules::repository_key::RepositoryKey;

    use super::*;
    use crate::retry_policy::RepositoryRetryBudget;
    use crate::turn::TargetRepository;

    #[test]
    fn groups_of_lanes_fill_requests_and_hold_no_memory_of_other_groups() {
        let groups = group_requests((0..1_000).map(lane_with_ten_rows).collect(), 100);
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        assert_eq!(sizes, [10; 100]);
        let capacity: usize = groups.iter().map(Vec::capacity).sum();
        assert!(capacity <= 2_000, "1,000 lanes take the memory of {capacity}");
    }

    fn lane_with_ten_rows(repository: i64) -> FirstPageLane {
        let lane = Lane::repository_issues(RepositoryKey::new("github.com", repository));
        let repository = TargetRepository {
            id: repository,
            node_id: String::new(),
            full_name: format!("acme/{repository}"),
            has_issues_enabled: true,
            retry_budget: RepositoryRetryBudget::default(),
            class: None,
            yield_signal: crate::yield_signal::YieldSignal::default(),
        };
        let target = LaneTarget::new(lane, Arc::new(repository)).unwrap();
        FirstPageLane { target, kind: ThreadKind::Issue, state: LaneState::new(), rows: 10 }
    }
}
