//! Reads the newest row and the row count of a repository's listings, which come with the repository.
//!
//! A probe only saves work: an unreadable one is left out, and its repository is still used.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::ThreadKind;
use hw_rules::lane::Surface;
use hw_rules::probe::ListingProbe;
use hw_rules::source_time::SourceTime;
use serde::Deserialize;

use crate::github::graphql::{GraphqlError, GraphqlResponse};
use crate::github::node::BigInt;
use crate::github::thread_schema;
use crate::raw_json::{BoundedVec, RawNode};

/// Probes by repository and surface.
pub type ListingProbes = BTreeMap<(i64, Surface), ListingProbe>;

/// Returns the fields of a repository that probe these surfaces.
pub(super) fn probe_fields(surfaces: &[Surface]) -> String {
    let mut fields = String::new();
    for kind in ThreadKind::ALL {
        if !surfaces.contains(&Surface::Threads(kind)) {
            continue;
        }
        let listing = thread_schema::for_kind(kind);
        let (connection, id) = (listing.connection, listing.id_field);
        fields += &format!(
            "
        {connection}(first: 1, orderBy: {{ field: UPDATED_AT, direction: DESC }}) {{
          totalCount nodes {{ {id} updatedAt }}
        }}"
        );
    }
    fields
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProbeConnection {
    total_count: i64,
    nodes: BoundedVec<NewestRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewestRow {
    #[serde(alias = "fullDatabaseId")]
    database_id: BigInt,
    updated_at: SourceTime,
}

/// Reads the probes of the repository at this path, leaving out unreadable ones.
pub(super) fn read_repository_probes(
    response: &GraphqlResponse,
    path: &str,
    repository: RawNode<'_>,
) -> ListingProbes {
    let Some(id) = repository.get("databaseId").and_then(RawNode::as_i64) else {
        return ListingProbes::new();
    };
    let mut probes = ListingProbes::new();
    for kind in ThreadKind::ALL {
        if response.error_at_or_below(&connection_path(path, kind)).is_some() {
            continue;
        }
        let connection = repository.get(thread_schema::for_kind(kind).connection);
        let probe = connection.and_then(|node| node.parse_as::<ProbeConnection>().ok());
        probes.extend(probe.map(|probe| ((id, Surface::Threads(kind)), probe.into())));
    }
    probes
}

/// Returns the path of a listing of the repository at `path`.
fn connection_path(path: &str, kind: ThreadKind) -> String {
    format!("{path}.{}", thread_schema::for_kind(kind).connection)
}

impl From<ProbeConnection> for ListingProbe {
    fn from(raw: ProbeConnection) -> Self {
        let newest = raw.nodes.0.into_iter().next();
        let newest = newest.map(|newest| (newest.database_id.0, newest.updated_at));
        Self { newest, total_count: raw.total_count }
    }
}

/// Returns the surfaces of the repository at this path to which the token has no access.
pub(super) fn denied_surfaces(response: &GraphqlResponse, path: &str) -> BTreeSet<Surface> {
    let denied = ThreadKind::ALL.into_iter().filter(|kind| {
        let path = connection_path(path, *kind);
        response.errors.iter().any(|error| error.is_forbidden() && error.is_at_or_below(&path))
    });
    denied.map(Surface::Threads).collect()
}

/// Returns true if an error concerns only a probe of the repository at this path.
pub(super) fn is_probe_error(error: &GraphqlError, path: &str) -> bool {
    ThreadKind::ALL.into_iter().any(|kind| error.is_at_or_below(&connection_path(path, kind)))
}
