//! One thread as it came, and as it is kept.

use hw_rules::clean::storable;
use hw_rules::item::{Discussion, PullRequest, Sort, Thread};
use hw_rules::lane::Surface;
use hw_rules::plausible;
use hw_rules::time::SourceTime;
use serde::Deserialize;

use crate::github::node::{Actor, BigInt};
use crate::raw_json::{BoundedVec, RawNode};

/// A thread of any sort, as it came.
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
    /// A discussion has none.
    state: Option<String>,
    /// A pull request has none.
    state_reason: Option<String>,
    created_at: SourceTime,
    updated_at: SourceTime,
    closed_at: Option<SourceTime>,
    author: Option<Actor>,
    labels: Option<Nodes<Named>>,
    repository: Owner,
    // what only a pull request has
    is_draft: Option<bool>,
    merged_at: Option<SourceTime>,
    head_ref_name: Option<String>,
    closing_issues_references: Option<Nodes<Option<Reference>>>,
    // what only a discussion has
    closed: Option<bool>,
    category: Option<Named>,
    is_answered: Option<bool>,
}

#[derive(Deserialize)]
struct Nodes<T> {
    nodes: BoundedVec<T>,
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
pub(super) fn read(surface: Surface, node: RawNode<'_>) -> Result<Thread, String> {
    let mut raw: Raw = node.read()?;
    let (state, sort) = match surface {
        Surface::Issues => (needed("state", raw.state.take())?, Sort::Issue),
        Surface::PullRequests => raw.take_pull_request()?,
        Surface::Discussions => raw.take_discussion()?,
        Surface::Repositories
        | Surface::IssueComments
        | Surface::ReviewComments
        | Surface::Reviews
        | Surface::DiscussionComments => unreachable!("no thread: {surface:?}"),
    };
    let thread = raw.into_thread(state, sort);
    match plausible::check_thread(&thread) {
        Ok(()) => Ok(thread),
        Err(impossible) => Err(impossible.to_string()),
    }
}

fn needed<T>(name: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("missing field `{name}`"))
}

impl Raw {
    /// Its state, and what only a pull request has. Issues of other repositories go by numbers of their own.
    fn take_pull_request(&mut self) -> Result<(String, Sort), String> {
        let closes = self.closing_issues_references.take().map(|closes| closes.nodes.0);
        let ours = closes.into_iter().flatten().flatten();
        let ours = ours.filter(|it| it.repository.database_id == self.repository.database_id);
        let mut closes: Vec<i64> = ours.map(|issue| issue.number).collect();
        closes.sort_unstable();
        let sort = PullRequest {
            is_draft: needed("isDraft", self.is_draft)?,
            merged_at: self.merged_at.take(),
            head_ref: storable(&needed("headRefName", self.head_ref_name.take())?),
            closes,
        };
        Ok((needed("state", self.state.take())?, Sort::PullRequest(sort)))
    }

    /// Its state, told by the others in a word, and what only a discussion has.
    fn take_discussion(&mut self) -> Result<(String, Sort), String> {
        let state = if needed("closed", self.closed)? { "CLOSED" } else { "OPEN" };
        let category = storable(&needed("category", self.category.take())?.name);
        let sort = Discussion { category, is_answered: self.is_answered };
        Ok((state.to_owned(), Sort::Discussion(sort)))
    }

    fn into_thread(self, state: String, sort: Sort) -> Thread {
        let labels = self.labels.map(|labels| labels.nodes.0).unwrap_or_default();
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
    pub(super) fn read(node: RawNode<'_>) -> Result<Self, String> {
        let brief: Self = node.read()?;
        match plausible::check_ids(brief.database_id.0, &brief.id) {
            Ok(()) => Ok(brief),
            Err(impossible) => Err(impossible.to_string()),
        }
    }
}
