//! Nodes parsed one by one: a bad one spoils nothing but itself.

use hw_rules::item::{Item, Observation};
use hw_rules::plausible;
use hw_rules::time::SourceTime;
use hw_rules::version::Seen;
use hw_rules::walk::{Cursor, Entry, Page};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use super::graphql::Answer;
use super::twins;
use crate::page::{ItemsPage, Subject, Unreadable};
use crate::raw_json::{BoundedVec, RawNode};
use crate::trouble::Trouble;

/// How much of an unreadable node is kept.
const RAW_BYTES: usize = 64 << 10;
/// How long a cursor can be: it is stored, and sent back.
const CURSOR_BYTES: usize = 2_048;

/// A 64-bit id, which GitHub sends as a number or, where it outgrew 32 bits, as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BigInt(pub i64);

impl<'de> Deserialize<'de> for BigInt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BigIntVisitor)
    }
}

struct BigIntVisitor;

impl Visitor<'_> for BigIntVisitor {
    type Value = BigInt;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an id")
    }

    fn visit_i64<E: serde::de::Error>(self, id: i64) -> Result<BigInt, E> {
        Ok(BigInt(id))
    }

    fn visit_u64<E: serde::de::Error>(self, id: u64) -> Result<BigInt, E> {
        i64::try_from(id).map(BigInt).map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<BigInt, E> {
        id.parse().map(BigInt).map_err(E::custom)
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
        let twins = twins::take_out(&mut observations);
        if !twins.is_empty() {
            entries.retain(|entry| observations.iter().any(|row| row.key().id == entry.id));
        }
        let mut unreadable = self.unreadable;
        unreadable.extend(twins);
        let (date, total_count, next) = (answer.date(), self.total_count, self.next);
        let shape = Page { date, entries, total_count, next };
        ItemsPage { observations, shape, unreadable }
    }
}

/// A connection as it came.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawConnection<'a> {
    #[serde(borrow)]
    edges: BoundedVec<RawEdge<'a>>,
    #[serde(borrow)]
    total_count: Option<RawNode<'a>>,
    #[serde(borrow)]
    page_info: RawNode<'a>,
}

/// One row as it came.
#[derive(Deserialize)]
pub(super) struct RawEdge<'a> {
    #[serde(borrow)]
    cursor: RawNode<'a>,
    #[serde(borrow)]
    pub node: Option<RawNode<'a>>,
}

impl RawEdge<'_> {
    pub(super) fn cursor(&self) -> Option<Cursor> {
        self.cursor.as_text().filter(|text| text.len() <= CURSOR_BYTES).map(Cursor)
    }
}

/// The rows of a connection, none of them read.
pub(super) fn edges(connection: RawNode<'_>) -> Vec<RawEdge<'_>> {
    connection.read::<RawConnection<'_>>().map(|it| it.edges.0).unwrap_or_default()
}

/// Reads a connection, which stands at `path` (`node.issues`) and was asked for after `after`.
///
/// `read` is given a row's place (`node.issues.edges.0`) and what stands there.
pub(super) fn connection<T>(
    answer: &Answer,
    (path, connection): (&str, RawNode<'_>),
    after: Option<&Cursor>,
    request: i64,
    read: impl Fn(&str, RawNode<'_>) -> Result<T, String>,
) -> Option<Connection<T>> {
    let raw: RawConnection<'_> = connection.read().ok()?;
    let mut out = Connection {
        rows: Vec::with_capacity(raw.edges.0.len()),
        unreadable: Vec::new(),
        total_count: raw.total_count.and_then(RawNode::as_i64),
        next: next(raw.page_info)?,
    };
    let mut before = after.cloned();
    for (index, edge) in raw.edges.0.iter().enumerate() {
        let place = format!("{path}.edges.{index}");
        // without its place a row cannot be asked for again: the page is no page
        let at = edge.cursor()?;
        match present(answer, &place, edge).and_then(|node| read(&place, node)) {
            Ok(node) => out.rows.push(Row { cursor: at.clone(), node }),
            Err(reason) => {
                let (subject, seen) = (subject(edge, &at, before), answer.seen(request));
                out.unreadable.push(unreadable(subject, edge.node, reason, seen));
            }
        }
        before = Some(at);
    }
    Some(out)
}

/// Where the connection goes on; none in the outer option when the page information itself is missing.
fn next(info: RawNode<'_>) -> Option<Option<Cursor>> {
    if !info.get("hasNextPage")?.as_bool()? {
        return Some(None);
    }
    let end = info.get("endCursor")?.as_text()?;
    (end.len() <= CURSOR_BYTES).then_some(Some(Cursor(end)))
}

/// The node of an edge, or why there is none.
fn present<'a>(answer: &Answer, place: &str, edge: &RawEdge<'a>) -> Result<RawNode<'a>, String> {
    let reason = || answer.error_at(place).map_or("null", |error| &error.message).to_owned();
    edge.node.ok_or_else(reason)
}

fn subject(edge: &RawEdge<'_>, at: &Cursor, before: Option<Cursor>) -> Subject {
    let place = || Subject::Place { at: at.clone(), after: before };
    edge.node.and_then(node_subject).unwrap_or_else(place)
}

/// How to ask for a node again, if its own id is one that can be.
pub(super) fn node_subject(node: RawNode<'_>) -> Option<Subject> {
    let text = |name| node.get(name).and_then(RawNode::as_text);
    let id = text("id").or_else(|| text("node_id"))?;
    plausible::check_ids(1, &id).ok()?;
    Some(Subject::Node(id))
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
) -> Result<Vec<RawNode<'a>>, Trouble> {
    let nodes = answer.data.root().get(name).and_then(RawNode::elements);
    let nodes = nodes.filter(|nodes| nodes.len() == count);
    let trouble = || Trouble::Garbled(format!("{name}: not as many nodes as ids"));
    nodes.ok_or_else(trouble)
}

/// A node that could not be read, with as much of it as can be told.
pub(super) fn unreadable(
    subject: Subject,
    node: Option<RawNode<'_>>,
    reason: String,
    seen: Seen,
) -> Unreadable {
    let time = node.and_then(|node| node.get("updatedAt").or_else(|| node.get("updated_at")));
    let time = time.and_then(RawNode::as_text);
    Unreadable {
        subject,
        reason,
        raw: node.unwrap_or(RawNode::NULL).clip(RAW_BYTES),
        updated_at: time.and_then(|time| SourceTime::parse(&time).ok()),
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
