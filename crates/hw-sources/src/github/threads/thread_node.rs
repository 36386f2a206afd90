//! Reads one thread from its GraphQL node.

use hw_rules::item::{
    DiscussionDetails, OPEN_STATE, PullRequestDetails, Thread, ThreadDetails, ThreadKind,
};
use hw_rules::item_validation;
use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::source_time::SourceTime;
use serde::Deserialize;

use crate::github::node::{ActorNode, BigInt};
use crate::raw_json::{BoundedVec, RawNode};

/// A thread of any kind, as received.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadNode {
    id: String,
    #[serde(alias = "fullDatabaseId")]
    database_id: BigInt,
    number: i64,
    url: String,
    title: String,
    body: String,
    /// A discussion has none.
    state: Option<String>,
    /// A pull request has none.
    state_reason: Option<String>,
    created_at: SourceTime,
    updated_at: SourceTime,
    closed_at: Option<SourceTime>,
    author: Option<ActorNode>,
    author_association: Option<String>,
    labels: Option<NodeList<NamedNode>>,
    repository: ThreadRepository,
    // fields of a pull request
    is_draft: Option<bool>,
    merged_at: Option<SourceTime>,
    head_ref_name: Option<String>,
    head_ref_oid: Option<String>,
    // fields of a discussion
    closed: Option<bool>,
    category: Option<NamedNode>,
    is_answered: Option<bool>,
}

#[derive(Deserialize)]
struct NodeList<T> {
    nodes: BoundedVec<T>,
}

#[derive(Deserialize)]
struct NamedNode {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadRepository {
    database_id: i64,
}

/// Reads a thread of this kind.
pub(super) fn read_thread(kind: ThreadKind, node: RawNode<'_>) -> Result<Thread, String> {
    let mut raw: ThreadNode = node.parse_as()?;
    let details = match kind {
        ThreadKind::Issue => ThreadDetails::Issue,
        ThreadKind::PullRequest => ThreadDetails::PullRequest(raw.take_pull_request()?),
        ThreadKind::Discussion => ThreadDetails::Discussion(raw.take_discussion()?),
    };
    let state = if kind == ThreadKind::Discussion {
        discussion_state(require_field("closed", raw.closed)?).to_owned()
    } else {
        require_field("state", raw.state.take())?
    };
    let thread = raw.into_thread(state, details);
    item_validation::check_thread(&thread).map_err(|impossible| impossible.to_string())?;
    Ok(thread)
}

/// Returns the state as issues and pull requests spell it: a discussion has only a flag.
fn discussion_state(is_closed: bool) -> &'static str {
    if is_closed { "CLOSED" } else { OPEN_STATE }
}

fn require_field<T>(name: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("missing field `{name}`"))
}

impl ThreadNode {
    /// Takes the fields of a pull request.
    fn take_pull_request(&mut self) -> Result<PullRequestDetails, String> {
        Ok(PullRequestDetails {
            is_draft: require_field("isDraft", self.is_draft)?,
            merged_at: self.merged_at.take(),
            head_ref: sanitize_for_storage(&require_field(
                "headRefName",
                self.head_ref_name.take(),
            )?),
            head_sha: self.head_ref_oid.take(),
        })
    }

    /// Takes the fields of a discussion.
    fn take_discussion(&mut self) -> Result<DiscussionDetails, String> {
        let category = sanitize_for_storage(&require_field("category", self.category.take())?.name);
        Ok(DiscussionDetails { category, is_answered: self.is_answered })
    }

    fn into_thread(self, state: String, details: ThreadDetails) -> Thread {
        let labels = self.labels.map(|labels| labels.nodes.0).unwrap_or_default();
        let mut labels: Vec<String> =
            labels.iter().map(|label| sanitize_for_storage(&label.name)).collect();
        labels.sort_unstable();
        Thread {
            id: self.database_id.0,
            node_id: self.id,
            number: self.number,
            repository_id: self.repository.database_id,
            url: sanitize_for_storage(&self.url),
            title: sanitize_for_storage(&self.title),
            body: self.body,
            state,
            state_reason: self.state_reason,
            labels,
            author: self.author.as_ref().map(|author| sanitize_for_storage(&author.login)),
            author_id: self.author.as_ref().and_then(|author| author.database_id),
            author_kind: self.author.and_then(|author| author.kind()),
            association: self.author_association,
            created_at: self.created_at,
            updated_at: self.updated_at,
            closed_at: self.closed_at,
            details,
        }
    }
}

/// A row's ids and time: all that inventories and id-only pages request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadStub {
    pub id: String,
    #[serde(alias = "fullDatabaseId")]
    pub database_id: BigInt,
    pub updated_at: SourceTime,
}

impl ThreadStub {
    pub(super) fn read(node: RawNode<'_>) -> Result<Self, String> {
        let stub: Self = node.parse_as()?;
        item_validation::check_ids(stub.database_id.0, &stub.id)
            .map_err(|impossible| impossible.to_string())?;
        Ok(stub)
    }
}
