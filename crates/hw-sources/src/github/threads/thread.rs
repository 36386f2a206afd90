//! One thread as it came, and as it is kept.

use hw_rules::clean::storable;
use hw_rules::item::{Discussion, PullRequest, Sort, Thread};
use hw_rules::lane::Surface;
use hw_rules::time::SourceTime;
use serde::Deserialize;
use serde_json::Value;

use crate::github::node::{Actor, BigInt};

/// What every thread has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    id: String,
    #[serde(alias = "fullDatabaseId")]
    database_id: BigInt,
    number: i64,
    url: String,
    title: String,
    body: String,
    /// A pull request has none.
    state_reason: Option<String>,
    created_at: SourceTime,
    updated_at: SourceTime,
    closed_at: Option<SourceTime>,
    author: Option<Actor>,
    labels: Option<Nodes<Named>>,
    repository: Owner,
}

#[derive(Deserialize)]
struct RawIssue {
    state: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPullRequest {
    state: String,
    is_draft: bool,
    merged_at: Option<SourceTime>,
    head_ref_name: String,
    closing_issues_references: Option<Nodes<Option<Reference>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDiscussion {
    closed: bool,
    category: Named,
    is_answered: Option<bool>,
}

#[derive(Deserialize)]
struct Nodes<T> {
    nodes: Vec<T>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Reference {
    number: i64,
    repository: Owner,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    database_id: i64,
}

/// Reads one row of a surface.
pub(super) fn read(surface: Surface, node: &Value) -> Result<Thread, String> {
    parse(surface, node).map_err(|error| error.to_string())
}

fn parse(surface: Surface, node: &Value) -> Result<Thread, serde_json::Error> {
    let raw = Raw::deserialize(node)?;
    let (state, sort) = match surface {
        Surface::Issues => (RawIssue::deserialize(node)?.state, Sort::Issue),
        Surface::PullRequests => {
            RawPullRequest::deserialize(node)?.into_sort(raw.repository.database_id)
        }
        Surface::Discussions => RawDiscussion::deserialize(node)?.into_sort(),
        Surface::Repositories
        | Surface::IssueComments
        | Surface::ReviewComments
        | Surface::Reviews
        | Surface::DiscussionComments => unreachable!("no thread: {surface:?}"),
    };
    Ok(raw.into_thread(state, sort))
}

impl RawPullRequest {
    /// Its state, and what only it has. Issues of other repositories go by numbers of their own.
    fn into_sort(self, repository_id: i64) -> (String, Sort) {
        let closes = self.closing_issues_references.map(|closes| closes.nodes).unwrap_or_default();
        let ours = closes.into_iter().flatten();
        let ours = ours.filter(|issue| issue.repository.database_id == repository_id);
        let mut closes: Vec<i64> = ours.map(|issue| issue.number).collect();
        closes.sort_unstable();
        let sort = PullRequest {
            is_draft: self.is_draft,
            merged_at: self.merged_at,
            head_ref: storable(&self.head_ref_name),
            closes,
        };
        (self.state, Sort::PullRequest(sort))
    }
}

impl RawDiscussion {
    /// Its state, told by the others in a word, and what only it has.
    fn into_sort(self) -> (String, Sort) {
        let state = if self.closed { "CLOSED" } else { "OPEN" };
        let category = storable(&self.category.name);
        let sort = Discussion { category, is_answered: self.is_answered };
        (state.to_owned(), Sort::Discussion(sort))
    }
}

impl Raw {
    fn into_thread(self, state: String, sort: Sort) -> Thread {
        let labels = self.labels.map(|labels| labels.nodes).unwrap_or_default();
        let mut labels: Vec<String> = labels.iter().map(|label| storable(&label.name)).collect();
        labels.sort_unstable();
        Thread {
            id: self.database_id.0,
            node_id: self.id,
            number: self.number,
            repository_id: self.repository.database_id,
            url: storable(&self.url),
            title: storable(&self.title),
            body: self.body,
            state,
            state_reason: self.state_reason,
            labels,
            author: self.author.as_ref().map(|author| storable(&author.login)),
            author_id: self.author.and_then(|author| author.database_id),
            created_at: self.created_at,
            updated_at: self.updated_at,
            closed_at: self.closed_at,
            sort,
        }
    }
}

/// A row's names and time: all that a roll and a light page ask for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Brief {
    pub id: String,
    #[serde(alias = "fullDatabaseId")]
    pub database_id: BigInt,
    pub updated_at: SourceTime,
}

impl Brief {
    pub(super) fn read(node: &Value) -> Result<Self, String> {
        Self::deserialize(node).map_err(|error| error.to_string())
    }
}
