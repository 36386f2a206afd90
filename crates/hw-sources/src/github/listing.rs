//! The listings of one repository: what GitHub calls each, and what of its rows is asked for.

use hw_rules::lane::Surface;

use super::node::ACTOR;

/// One listing of a repository, in GitHub's words.
pub(super) struct Listing {
    pub connection: &'static str,
    pub type_name: &'static str,
    /// The rows' numeric id. Discussions have only the short one, which the others are outgrowing.
    pub id: &'static str,
    /// The repository's field that tells whether it has this listing at all.
    pub switch: Option<&'static str>,
    /// What is asked of these rows alone.
    own: &'static str,
}

const DISCUSSIONS: Listing = Listing {
    connection: "discussions",
    type_name: "Discussion",
    id: "databaseId",
    switch: Some("hasDiscussionsEnabled"),
    own: "closed stateReason isAnswered category { name }",
};

const ISSUES: Listing = Listing {
    connection: "issues",
    type_name: "Issue",
    id: "fullDatabaseId",
    switch: Some("hasIssuesEnabled"),
    own: "state stateReason",
};

const PULL_REQUESTS: Listing = Listing {
    connection: "pullRequests",
    type_name: "PullRequest",
    id: "fullDatabaseId",
    switch: None,
    own: "state isDraft mergedAt headRefName
        closingIssuesReferences(first: 100) { nodes { number repository { databaseId } } }",
};

/// The listing behind a surface, which is one of [`Surface::THREADS`].
pub(super) fn of(surface: Surface) -> &'static Listing {
    match surface {
        Surface::Discussions => &DISCUSSIONS,
        Surface::Issues => &ISSUES,
        Surface::PullRequests => &PULL_REQUESTS,
        Surface::Repositories
        | Surface::IssueComments
        | Surface::ReviewComments
        | Surface::Reviews
        | Surface::DiscussionComments => unreachable!("not a listing of threads: {surface:?}"),
    }
}

impl Listing {
    /// Everything the mirror keeps of a row.
    pub(super) fn fields(&self) -> String {
        let Self { id, own, .. } = self;
        format!(
            "id {id} number url title body createdAt updatedAt closedAt {own}
        author {{ {ACTOR} }} labels(first: 100) {{ nodes {{ name }} }} repository {{ databaseId }}"
        )
    }

    /// What is asked of the repository beside its rows: which it is, and whether it has such a listing.
    pub(super) fn owner_fields(&self) -> String {
        format!("databaseId {}", self.switch.unwrap_or_default())
    }
}
