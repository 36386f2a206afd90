//! The newest row and the number of rows of a repository's listings, which come with the repository.
//!
//! A probe only saves work: one that cannot be read is left out, and its repository is none the worse.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::lane::Surface;
use hw_rules::probe::Probe;
use hw_rules::time::SourceTime;
use serde::Deserialize;

use crate::github::graphql::{Answer, GraphqlError};
use crate::github::listing;
use crate::github::node::BigInt;
use crate::raw_json::{BoundedVec, RawNode};

/// Probes by repository and surface.
pub type Probes = BTreeMap<(i64, Surface), Probe>;

/// What is asked of a repository in order to probe these surfaces.
pub(super) fn fields(surfaces: &[Surface]) -> String {
    let asked = Surface::THREADS.into_iter().filter(|surface| surfaces.contains(surface));
    let probe = |surface| {
        let listing = listing::of(surface);
        let (connection, id) = (listing.connection, listing.id);
        format!(
            "
        {connection}(first: 1, orderBy: {{ field: UPDATED_AT, direction: DESC }}) {{
          totalCount nodes {{ {id} updatedAt }}
        }}"
        )
    };
    asked.map(probe).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    total_count: i64,
    nodes: BoundedVec<Newest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Newest {
    #[serde(alias = "fullDatabaseId")]
    database_id: BigInt,
    updated_at: SourceTime,
}

/// The probes that came with the repository at this path, as far as they can be read.
pub(super) fn read(answer: &Answer, path: &str, repository: RawNode<'_>) -> Probes {
    let Some(id) = repository.get("databaseId").and_then(RawNode::as_i64) else {
        return Probes::new();
    };
    let probe = |surface| {
        let connection = listing::of(surface).connection;
        let is_whole = answer.error_at(&format!("{path}.{connection}")).is_none();
        let raw = repository.get(connection).filter(|_| is_whole)?;
        Some(((id, surface), raw.read::<Raw>().ok()?.into()))
    };
    Surface::THREADS.into_iter().filter_map(probe).collect()
}

impl From<Raw> for Probe {
    fn from(raw: Raw) -> Self {
        let newest = raw.nodes.0.into_iter().next();
        let newest = newest.map(|newest| (newest.database_id.0, newest.updated_at));
        Self { newest, total_count: raw.total_count }
    }
}

/// The surfaces whose probes the token may not have at the repository at this path.
pub(super) fn denied(answer: &Answer, path: &str) -> BTreeSet<Surface> {
    let is_denied = |surface: &Surface| {
        let place = format!("{path}.{}", listing::of(*surface).connection);
        let is_at = |error: &&GraphqlError| error.is_at(&place);
        answer.errors.iter().filter(is_at).any(GraphqlError::is_forbidden)
    };
    Surface::THREADS.into_iter().filter(is_denied).collect()
}

/// Whether an error is about nothing but a probe of the repository at this path.
pub(super) fn is_of_a_probe(error: &GraphqlError, path: &str) -> bool {
    let is_of = |surface| error.is_at(&format!("{path}.{}", listing::of(surface).connection));
    Surface::THREADS.into_iter().any(is_of)
}
