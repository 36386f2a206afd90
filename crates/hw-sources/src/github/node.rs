//! Nodes parsed one by one: a bad one spoils nothing but itself.

use hw_rules::item::{Item, Observation};
use hw_rules::time::SourceTime;
use hw_rules::version::Seen;
use hw_rules::walk::{Cursor, Entry, Page};
use serde::Deserialize;
use serde_json::Value;

use super::graphql::Answer;
use crate::page::{ItemsPage, Subject, Unreadable};
use crate::trouble::Trouble;

/// A 64-bit id, which GitHub sends as a number or, where it outgrew 32 bits, as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct BigInt(pub i64);

impl TryFrom<Value> for BigInt {
    type Error = String;
    fn try_from(value: Value) -> Result<Self, String> {
        let number = value.as_str().map_or_else(|| value.as_i64(), |text| text.parse().ok());
        number.map(Self).ok_or_else(|| format!("not an id: {value}"))
    }
}

/// Who said it; nobody when the account was deleted.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Actor {
    pub login: String,
    #[serde(rename = "databaseId")]
    pub database_id: Option<i64>,
}

/// The login and the number of an actor, in every kind that can write.
pub(super) const ACTOR: &str = "login ... on User { databaseId } ... on Bot { databaseId } \
     ... on Mannequin { databaseId } ... on Organization { databaseId }";

/// One row of a connection that could be read.
pub(super) struct Row<T> {
    pub cursor: Cursor,
    pub node: T,
}

/// A connection: its rows read one by one, and where it goes on.
pub(super) struct Connection<T> {
    pub rows: Vec<Row<T>>,
    pub unreadable: Vec<Unreadable>,
    pub total_count: Option<i64>,
    pub next: Option<Cursor>,
}

impl<T> Connection<T> {
    /// The page of items it is: for the store what was seen, for the rules where each row stands.
    pub(super) fn into_page(
        self,
        answer: &Answer,
        request: i64,
        item: impl Fn(T) -> Item,
    ) -> ItemsPage {
        let seen = answer.seen(request);
        let mut entries = Vec::with_capacity(self.rows.len());
        let mut observations = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            let item = item(row.node);
            let (id, updated_at) = (item.key().id, item.updated_at().clone());
            entries.push(Entry { id, updated_at, cursor: row.cursor });
            observations.push(Observation { item, seen });
        }
        let (date, total_count, next) = (answer.date(), self.total_count, self.next);
        let shape = Page { date, entries, total_count, next };
        ItemsPage { observations, shape, unreadable: self.unreadable }
    }
}

/// Reads the connection found at `path` (`node.issues`), which was asked for after `after`.
///
/// `read` is given a row's place (`node.issues.edges.0`) and what stands there.
pub(super) fn connection<T>(
    answer: &Answer,
    path: &str,
    after: Option<&Cursor>,
    request: i64,
    read: impl Fn(&str, &Value) -> Result<T, String>,
) -> Option<Connection<T>> {
    let value = answer.data.pointer(&format!("/{}", path.replace('.', "/")))?;
    let edges = value.get("edges")?.as_array()?;
    let mut out = Connection {
        rows: Vec::with_capacity(edges.len()),
        unreadable: Vec::new(),
        total_count: value.get("totalCount").and_then(Value::as_i64),
        next: next(value)?,
    };
    let mut before = after.cloned();
    for (index, edge) in edges.iter().enumerate() {
        let place = format!("{path}.edges.{index}");
        // without its place a row cannot be asked for again: the page is no page
        let at = cursor(edge)?;
        match present(answer, &place, edge).and_then(|node| read(&place, node)) {
            Ok(node) => out.rows.push(Row { cursor: at.clone(), node }),
            Err(reason) => {
                let (subject, seen) = (subject(edge, &at, before), answer.seen(request));
                out.unreadable.push(unreadable(subject, edge.get("node"), reason, seen));
            }
        }
        before = Some(at);
    }
    Some(out)
}

/// Where the connection goes on; none in the outer option when the page information itself is missing.
fn next(connection: &Value) -> Option<Option<Cursor>> {
    let info = connection.get("pageInfo")?;
    if !info.get("hasNextPage")?.as_bool()? {
        return Some(None);
    }
    let end = info.get("endCursor")?.as_str()?;
    Some(Some(Cursor(end.to_owned())))
}

fn cursor(edge: &Value) -> Option<Cursor> {
    edge.get("cursor").and_then(Value::as_str).map(|text| Cursor(text.to_owned()))
}

/// The node of an edge, or why there is none.
fn present<'a>(answer: &Answer, place: &str, edge: &'a Value) -> Result<&'a Value, String> {
    let reason = || answer.error_at(place).map_or("null", |error| &error.message).to_owned();
    edge.get("node").filter(|node| !node.is_null()).ok_or_else(reason)
}

fn subject(edge: &Value, at: &Cursor, before: Option<Cursor>) -> Subject {
    match edge.pointer("/node/id").and_then(Value::as_str) {
        Some(id) => Subject::Node(id.to_owned()),
        None => Subject::Place { at: at.clone(), after: before },
    }
}

/// A row with an error anywhere inside is not what the source holds: a null in it may be no ghost and no
/// missing label, but a fault.
pub(super) fn whole(answer: &Answer, place: &str) -> Result<(), String> {
    answer.error_at(place).map_or(Ok(()), |error| Err(error.message.clone()))
}

/// Why a node that was asked for by its name is null.
pub(super) enum Null {
    NotFound,
    /// The token may not look there.
    Forbidden(String),
    Fault(String),
}

/// Only an error of its own tells that a node is not there: one below it is a fault that rose.
pub(super) fn null(answer: &Answer, place: &str) -> Null {
    match answer.error_of(place) {
        Some(error) if error.is_not_found() => Null::NotFound,
        Some(error) if error.is_forbidden() => Null::Forbidden(error.message.clone()),
        _ => Null::Fault(whole(answer, place).err().unwrap_or("null without an error".into())),
    }
}

/// The nodes found at `name`, as many as were asked for.
pub(super) fn as_many<'a>(
    answer: &'a Answer,
    name: &str,
    count: usize,
) -> Result<&'a [Value], Trouble> {
    let nodes = answer.data.get(name).and_then(Value::as_array);
    let nodes = nodes.filter(|nodes| nodes.len() == count);
    let trouble = || Trouble::Garbled(format!("{name}: not as many nodes as ids"));
    nodes.map(Vec::as_slice).ok_or_else(trouble)
}

/// A node that could not be read, with as much of it as can be told.
pub(super) fn unreadable(
    subject: Subject,
    node: Option<&Value>,
    reason: String,
    seen: Seen,
) -> Unreadable {
    let time = node.and_then(|node| node.get("updatedAt").or_else(|| node.get("updated_at")));
    let time = time.and_then(Value::as_str);
    Unreadable {
        subject,
        reason,
        raw: node.unwrap_or(&Value::Null).to_string(),
        updated_at: time.and_then(|time| SourceTime::parse(time).ok()),
        seen,
    }
}

/// Why a root is null: NOT_FOUND and FORBIDDEN say that it is not there for us; anything else is a fault.
pub(super) fn missing(answer: &Answer, path: &str) -> Trouble {
    match answer.error_at(path) {
        Some(error) if error.is_not_found() || error.is_forbidden() => {
            Trouble::Hidden(error.message.clone())
        }
        Some(error) => error.fault(),
        None => Trouble::Garbled(format!("{path} is null without an error")),
    }
}
