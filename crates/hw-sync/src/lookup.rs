//! Looks up items by id, for lanes of any surface.

use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::{Lane, ReadStrategy, Surface};
use hw_sources::error::SourceError;
use hw_sources::github::graphql::{GraphqlQuery, GraphqlResponse};
use hw_sources::github::{comments, threads};
use hw_sources::page::LookupPage;
use hw_store::IngestPage;

use crate::SyncError;
use crate::turn::{LaneTarget, PullContext, TargetRepository};

/// Ids that GitHub accepts in one list. The siblings are a list of their own in the same request.
pub(crate) const LOOKUP_BATCH_SIZE: u32 = 100;

/// Reason of a removal that is not confirmed, because no sibling answered in the same request.
pub(crate) const NO_SIBLING_REASON: &str = "could not confirm deletions, so nothing was removed";

/// The result of looking up as many items as the server could serve at once.
pub(crate) struct LookupBatch {
    pub(crate) page: LookupPage,
    /// Number of items looked up, siblings not included.
    pub(crate) count: usize,
}

/// Builds the query for these items of a repository, and for some siblings.
pub(crate) fn build_query(
    surface: Surface,
    repository: &TargetRepository,
    ids: &[String],
    siblings: &[String],
) -> GraphqlQuery {
    match surface.read_strategy() {
        ReadStrategy::NewestFirst => {
            threads::lookup_query(surface, &repository.node_id, ids, siblings)
        }
        ReadStrategy::Since | ReadStrategy::PerThread => {
            comments::lookup_query(surface, &repository.node_id, ids, siblings)
        }
    }
}

/// Reads the response to such a query.
pub(crate) fn read_answer(
    response: &GraphqlResponse,
    surface: Surface,
    ids: &[String],
    repository: &TargetRepository,
    request_id: i64,
) -> Result<LookupPage, SourceError> {
    match surface.read_strategy() {
        ReadStrategy::NewestFirst => {
            threads::read_lookup(response, surface, ids, repository.id, request_id)
        }
        ReadStrategy::Since | ReadStrategy::PerThread => {
            comments::read_lookup(response, surface, ids, repository.id, request_id)
        }
    }
}

/// Stores items that moved to another repository, if that repository is followed, and returns the stored ids.
/// The others must not be stored.
pub(crate) fn store_moved_items(
    context: &PullContext<'_>,
    target: &LaneTarget,
    elsewhere: Vec<ItemObservation>,
) -> Result<Vec<i64>, SyncError> {
    let mut stored = Vec::new();
    for observation in elsewhere {
        let MirrorItem::Comment(comment) = &observation.item else { continue };
        let (host, surface) = (&target.lane.host, target.surface());
        let lane = Lane::for_repository(host, comment.repository_id, surface);
        let state = context.store.lane_state(&lane)?;
        if state.coverage.through.is_none() {
            continue;
        }
        let id = comment.id;
        let page = IngestPage::new(lane, state.page_size);
        let page = IngestPage { observations: vec![observation], ..page };
        context.store.ingest_page(&page)?;
        stored.push(id);
    }
    Ok(stored)
}
