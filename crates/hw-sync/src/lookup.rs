//! Looks up items by id, for lanes of any surface.

use hw_rules::item::{CommentKind, ItemObservation, MirrorItem, ThreadKind};
use hw_rules::lane::{Lane, ReadStrategy, SinceList};
use hw_rules::repository_key::RepositoryKey;
use hw_sources::error::SourceError;
use hw_sources::github::comments::CommentLookupQuery;
use hw_sources::github::graphql::{GraphqlEndpoint, GraphqlQuery, GraphqlResponse};
use hw_sources::github::threads::ThreadLookupQuery;
use hw_sources::page::LookupPage;
use hw_sources::query::Query;
use hw_store::IngestPage;

use crate::SyncError;
use crate::turn::{LaneTarget, PullContext, TargetRepository};

/// Ids that GitHub accepts in one list. The siblings are a list of their own in the same request.
pub(crate) const LOOKUP_BATCH_SIZE: u32 = 100;

/// Reason of a removal that is not confirmed, because no sibling answered in the same request.
pub(crate) const NO_SIBLING_REASON: &str =
    "nothing was removed, because GitHub did not confirm that these items are gone";

/// Looks up as many of these items of a lane as one request takes, together with some siblings.
pub(crate) struct ItemLookupQuery<'a> {
    pub(crate) target: &'a LaneTarget,
    pub(crate) ids: &'a [String],
    pub(crate) siblings: &'a [String],
}

/// The query for the kind of items that a lane lists.
enum LaneLookupQuery<'a> {
    Threads(ThreadLookupQuery<'a>),
    Comments(CommentLookupQuery<'a>),
}

impl<'a> ItemLookupQuery<'a> {
    fn lane_query(&self) -> LaneLookupQuery<'a> {
        match self.target.strategy {
            ReadStrategy::NewestFirst(kind) => LaneLookupQuery::Threads(self.thread_query(kind)),
            ReadStrategy::Since(SinceList::Comments(kind)) => {
                LaneLookupQuery::Comments(self.comment_query(kind.into()))
            }
            // the list of activity has no rows that are looked up: one that cannot be read fails the page
            ReadStrategy::Since(SinceList::Activity) => {
                LaneLookupQuery::Threads(self.thread_query(ThreadKind::Issue))
            }
            ReadStrategy::PerThread(kind) => {
                LaneLookupQuery::Comments(self.comment_query(kind.into()))
            }
        }
    }

    fn thread_query(&self, kind: ThreadKind) -> ThreadLookupQuery<'a> {
        let Self { target, ids, siblings } = *self;
        let TargetRepository { id: repository_id, node_id, .. } = &*target.repository;
        ThreadLookupQuery { kind, repository_id: *repository_id, node_id, ids, siblings }
    }

    fn comment_query(&self, kind: CommentKind) -> CommentLookupQuery<'a> {
        let Self { target, ids, siblings } = *self;
        let TargetRepository { id: repository_id, node_id, .. } = &*target.repository;
        CommentLookupQuery { kind, repository_id: *repository_id, node_id, ids, siblings }
    }
}

impl Query for ItemLookupQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = LookupPage;

    fn request(&self, size: u32) -> GraphqlQuery {
        match self.lane_query() {
            LaneLookupQuery::Threads(query) => query.request(size),
            LaneLookupQuery::Comments(query) => query.request(size),
        }
    }

    fn parse(&self, response: &GraphqlResponse, size: u32) -> Result<LookupPage, SourceError> {
        match self.lane_query() {
            LaneLookupQuery::Threads(query) => query.parse(response, size),
            LaneLookupQuery::Comments(query) => query.parse(response, size),
        }
    }
}

/// Looks up all of these items at once, whatever the size of a page is: they mean something only together.
pub(crate) struct TwinLookupQuery<'a>(pub(crate) ItemLookupQuery<'a>);

impl Query for TwinLookupQuery<'_> {
    type Endpoint = GraphqlEndpoint;
    type Page = LookupPage;

    fn request(&self, _size: u32) -> GraphqlQuery {
        self.0.request(u32::MAX)
    }

    fn parse(&self, response: &GraphqlResponse, _size: u32) -> Result<LookupPage, SourceError> {
        self.0.parse(response, u32::MAX)
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
        let lane = Lane::for_repository(RepositoryKey::new(host, comment.repository_id), surface);
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
