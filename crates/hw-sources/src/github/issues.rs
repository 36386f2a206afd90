//! The issues of one repository, by its id: newest first, by id, and as a roll for the sweep.

mod documents;

use hw_rules::clean::storable;
use hw_rules::item::{Issue, Item, Observation};
use hw_rules::time::SourceTime;
use hw_rules::walk::{Cursor, Entry, Page};
use serde::Deserialize;
use serde_json::Value;

use super::graphql::Answer;
use super::node::{self, Actor, BigInt, Connection};
use crate::page::{ItemsPage, LookPage, RollPage, RollRow, Subject, Unreadable};
use crate::trouble::Trouble;

pub use documents::{light_query, look_query, page_query, roll_query};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    id: String,
    full_database_id: BigInt,
    number: i64,
    url: String,
    title: String,
    body: String,
    state: String,
    state_reason: Option<String>,
    created_at: SourceTime,
    updated_at: SourceTime,
    closed_at: Option<SourceTime>,
    author: Option<Actor>,
    labels: Option<Labels>,
    repository: Owner,
}

#[derive(Deserialize)]
struct Labels {
    nodes: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    database_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRoll {
    id: String,
    full_database_id: BigInt,
    updated_at: SourceTime,
}

/// Reads a page of the repository with this id, which was asked for after `after`.
pub fn read_page(
    answer: &Answer,
    repository_id: i64,
    after: Option<&Cursor>,
    request: i64,
) -> Result<ItemsPage, Trouble> {
    let listed: Connection<Raw> = connection(answer, repository_id, after, request)?;
    Ok(listed.into_page(answer, request, |raw| Item::Issue(raw.into())))
}

/// Reads a page of the roll.
pub fn read_roll(
    answer: &Answer,
    repository_id: i64,
    after: Option<&Cursor>,
    request: i64,
) -> Result<RollPage, Trouble> {
    let listed: Connection<RawRoll> = connection(answer, repository_id, after, request)?;
    let rows = listed.rows.into_iter().map(|row| RollRow {
        id: row.node.full_database_id.0,
        node_id: row.node.id,
        updated_at: row.node.updated_at,
    });
    Ok(RollPage {
        date: answer.date,
        seen: answer.seen(request),
        rows: rows.collect(),
        next: listed.next,
        unreadable: listed.unreadable.len(),
    })
}

/// Reads a light page: its rows stand in their places, and all of them wait to be read.
pub fn read_light(
    answer: &Answer,
    repository_id: i64,
    after: Option<&Cursor>,
    request: i64,
) -> Result<ItemsPage, Trouble> {
    let listed: Connection<RawRoll> = connection(answer, repository_id, after, request)?;
    let mut unreadable = listed.unreadable;
    let mut entries = Vec::new();
    for row in listed.rows {
        unreadable.push(Unreadable {
            subject: Subject::Node(row.node.id),
            reason: "too much for one answer".into(),
            raw: String::new(),
            updated_at: Some(row.node.updated_at.clone()),
            seen: answer.seen(request),
        });
        let (id, updated_at) = (row.node.full_database_id.0, row.node.updated_at);
        entries.push(Entry { id, updated_at, cursor: row.cursor });
    }
    let shape =
        Page { date: answer.date, entries, total_count: listed.total_count, next: listed.next };
    Ok(ItemsPage { observations: vec![], shape, unreadable })
}

/// The issues of the repository that was asked for.
///
/// An answer about another repository is a rename or a reused name, never data.
fn connection<T: serde::de::DeserializeOwned>(
    answer: &Answer,
    repository_id: i64,
    after: Option<&Cursor>,
    request: i64,
) -> Result<Connection<T>, Trouble> {
    let node = answer.data.get("node").unwrap_or(&Value::Null);
    if node.is_null() {
        return Err(node::missing(answer, "node"));
    }
    if node.get("databaseId").and_then(Value::as_i64) != Some(repository_id) {
        return Err(Trouble::Garbled("the answer is about another repository".into()));
    }
    if node.get("hasIssuesEnabled").and_then(Value::as_bool) == Some(false) {
        return Err(Trouble::Hidden("the repository's issues are switched off".into()));
    }
    node::connection(answer, "node.issues", after, request)
        .ok_or_else(|| Trouble::Garbled("no connection node.issues".into()))
}

/// Reads issues asked for by id; one that belongs to another repository by now is absent from this one.
pub fn read_look(
    answer: &Answer,
    node_ids: &[String],
    repository_id: i64,
    request: i64,
) -> Result<LookPage, Trouble> {
    let nodes = answer.data.get("nodes").and_then(Value::as_array);
    let nodes = nodes.filter(|nodes| nodes.len() == node_ids.len());
    let nodes = nodes.ok_or_else(|| Trouble::Garbled("not as many nodes as ids".into()))?;
    let seen = answer.seen(request);
    let mut look = LookPage {
        date: answer.date,
        seen,
        is_vouched_for: is_vouched_for(answer, repository_id),
        observations: Vec::new(),
        absent: Vec::new(),
        unreadable: Vec::new(),
    };
    for (index, (id, node)) in node_ids.iter().zip(nodes).enumerate() {
        match verdict(answer, index, node, repository_id) {
            Found::Here(raw) => {
                look.observations.push(Observation { item: Item::Issue((*raw).into()), seen });
            }
            Found::Absent => look.absent.push(id.clone()),
            Found::Unreadable(reason) => {
                let subject = Subject::Node(id.clone());
                look.unreadable.push(node::unreadable(subject, Some(node), reason, seen));
            }
        }
    }
    Ok(look)
}

/// Whether the repository itself answered, with its issues switched on, and, where siblings were asked for,
/// at least one of them.
fn is_vouched_for(answer: &Answer, repository_id: i64) -> bool {
    let id = |value: Option<&Value>| value.and_then(|value| value.get("databaseId")?.as_i64());
    let scope = answer.data.get("scope");
    let is_on = scope.and_then(|scope| scope.get("hasIssuesEnabled")?.as_bool()) == Some(true);
    let siblings = answer.data.get("siblings").and_then(Value::as_array);
    let siblings = siblings.map_or(&[][..], Vec::as_slice);
    let is_ours = |sibling: &Value| id(sibling.get("repository")) == Some(repository_id);
    let vouched = siblings.is_empty() || siblings.iter().any(is_ours);
    is_on && id(scope) == Some(repository_id) && vouched
}

enum Found {
    Here(Box<Raw>),
    Absent,
    Unreadable(String),
}

/// A null without a NOT_FOUND of its own is a fault of the answer, not an absence.
fn verdict(answer: &Answer, index: usize, node: &Value, repository_id: i64) -> Found {
    match answer.error_at(&format!("nodes.{index}")) {
        Some(error) if error.is_not_found() && node.is_null() => return Found::Absent,
        Some(error) => return Found::Unreadable(error.message.clone()),
        None if node.is_null() => return Found::Unreadable("null without an error".into()),
        None => {}
    }
    if node.get("__typename").and_then(Value::as_str).is_some_and(|name| name != "Issue") {
        return Found::Absent;
    }
    match Raw::deserialize(node) {
        Ok(raw) if raw.repository.database_id == repository_id => Found::Here(Box::new(raw)),
        Ok(_) => Found::Absent,
        Err(error) => Found::Unreadable(error.to_string()),
    }
}

impl From<Raw> for Issue {
    fn from(raw: Raw) -> Self {
        let labels = raw.labels.map(|labels| labels.nodes).unwrap_or_default();
        let mut labels: Vec<String> =
            labels.into_iter().map(|label| storable(&label.name)).collect();
        labels.sort_unstable();
        Self {
            id: raw.full_database_id.0,
            node_id: raw.id,
            number: raw.number,
            repository_id: raw.repository.database_id,
            url: storable(&raw.url),
            title: storable(&raw.title),
            body: raw.body,
            state: raw.state,
            state_reason: raw.state_reason,
            labels,
            author: raw.author.as_ref().map(|author| storable(&author.login)),
            author_id: raw.author.and_then(|author| author.database_id),
            created_at: raw.created_at,
            updated_at: raw.updated_at,
            closed_at: raw.closed_at,
        }
    }
}

#[cfg(test)]
#[path = "issues_tests.rs"]
mod tests;
