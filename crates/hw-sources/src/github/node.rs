//! Nodes parsed one by one: a bad one spoils nothing but itself.

use hw_rules::version::Seen;
use hw_rules::walk::Cursor;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::graphql::Answer;
use crate::page::{Subject, Unreadable};
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

/// Reads the connection found at `path` (`node.issues`), which was asked for after `after`.
pub(super) fn connection<T: DeserializeOwned>(
    answer: &Answer,
    path: &str,
    after: Option<&Cursor>,
    request: i64,
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
        match row(edge).and_then(|row| whole(answer, &place, row)) {
            Ok(row) => out.rows.push(row),
            Err(reason) => {
                out.unreadable.push(unreadable(
                    answer,
                    edge,
                    &place,
                    &reason,
                    before.as_ref(),
                    request,
                ));
            }
        }
        before = cursor(edge).or(before);
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

fn row<T: DeserializeOwned>(edge: &Value) -> Result<Row<T>, String> {
    let cursor = cursor(edge).ok_or("no cursor")?;
    let node = edge.get("node").filter(|node| !node.is_null()).ok_or("null")?;
    let node = T::deserialize(node).map_err(|error| error.to_string())?;
    Ok(Row { cursor, node })
}

/// A row with an error anywhere inside is not what the source holds: a null in it may be no ghost and no
/// missing label, but a fault.
fn whole<T>(answer: &Answer, place: &str, row: Row<T>) -> Result<Row<T>, String> {
    match answer.error_at(place) {
        Some(error) => Err(error.message.clone()),
        None => Ok(row),
    }
}

fn unreadable(
    answer: &Answer,
    edge: &Value,
    place: &str,
    reason: &str,
    before: Option<&Cursor>,
    request: i64,
) -> Unreadable {
    let id = edge.pointer("/node/id").and_then(Value::as_str);
    let subject =
        id.map_or_else(|| Subject::After(before.cloned()), |id| Subject::Node(id.to_owned()));
    let told = answer.error_at(place).map(|error| error.message.as_str());
    Unreadable {
        subject,
        reason: told.unwrap_or(reason).to_owned(),
        raw: edge.to_string(),
        seen: answer.seen(request),
    }
}

/// One node asked for by its id.
pub(super) fn lone_unreadable(id: &str, node: &Value, reason: String, seen: Seen) -> Unreadable {
    Unreadable { subject: Subject::Node(id.to_owned()), reason, raw: node.to_string(), seen }
}

/// Why a root is null: only a NOT_FOUND says that it is not there; anything else is a fault.
pub(super) fn missing(answer: &Answer, path: &str) -> Trouble {
    match answer.error_at(path) {
        Some(error) if error.is_not_found() => Trouble::Hidden(error.message.clone()),
        Some(error) => Trouble::Server(error.message.clone()),
        None => Trouble::Garbled(format!("{path} is null without an error")),
    }
}
