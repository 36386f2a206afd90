//! The GraphQL names of a repository's thread listings, and the fields to request for their rows.

use hw_rules::item::ThreadKind;

use super::node::ACTOR_FIELDS;

/// One listing of a repository, in GitHub's terms.
pub(super) struct ThreadSchema {
    pub connection: &'static str,
    pub type_name: &'static str,
    /// The rows' numeric id. Discussions have only the short one, which the others are outgrowing.
    pub id_field: &'static str,
    /// The repository's field that is true if it has this listing at all.
    pub enabled_field: Option<&'static str>,
    /// The fields that only these rows have.
    own_fields: &'static str,
}

const DISCUSSIONS: ThreadSchema = ThreadSchema {
    connection: "discussions",
    type_name: "Discussion",
    id_field: "databaseId",
    enabled_field: Some("hasDiscussionsEnabled"),
    own_fields: "closed stateReason isAnswered category { name }",
};

const ISSUES: ThreadSchema = ThreadSchema {
    connection: "issues",
    type_name: "Issue",
    id_field: "fullDatabaseId",
    enabled_field: Some("hasIssuesEnabled"),
    own_fields: "state stateReason",
};

const PULL_REQUESTS: ThreadSchema = ThreadSchema {
    connection: "pullRequests",
    type_name: "PullRequest",
    id_field: "fullDatabaseId",
    enabled_field: None,
    own_fields: "state isDraft mergedAt headRefName headRefOid",
};

/// Returns the listing of the threads of this kind.
pub(super) fn for_kind(kind: ThreadKind) -> &'static ThreadSchema {
    match kind {
        ThreadKind::Discussion => &DISCUSSIONS,
        ThreadKind::Issue => &ISSUES,
        ThreadKind::PullRequest => &PULL_REQUESTS,
    }
}

impl ThreadSchema {
    /// Returns all fields of a row that the mirror stores.
    pub(super) fn mirrored_fields(&self) -> String {
        let Self { id_field: id, own_fields: own, .. } = self;
        format!(
            "id {id} number url title body createdAt updatedAt closedAt {own}
        author {{ {ACTOR_FIELDS} }} authorAssociation labels(first: 100) {{ nodes {{ name }} }}
        repository {{ databaseId }}"
        )
    }

    /// Returns the fields that identify the repository and report whether it has such a listing.
    pub(super) fn repository_fields(&self) -> String {
        format!("databaseId {}", self.enabled_field.unwrap_or_default())
    }
}
