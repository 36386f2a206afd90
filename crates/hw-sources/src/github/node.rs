//! Parses connections node by node, so that an unreadable node does not affect the others.

use hw_rules::item::{AuthorKind, ItemObservation, MirrorItem};
use hw_rules::item_validation;
use hw_rules::source_time::SourceTime;
use hw_rules::version::ObservedAt;
use hw_rules::walk::{ListingEntry, ListingPage, PageCursor};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use super::duplicate_ids;
use super::graphql::GraphqlResponse;
use crate::error::SourceError;
use crate::page::{ItemsPage, UnreadableRow};
use crate::raw_json::{BoundedVec, RawNode};
use hw_rules::row_subject::RowSubject;

/// The part of an unreadable node that is stored.
const MAX_RAW_BYTES: usize = 64 << 10;
/// The longest cursor that is accepted: it is stored, and sent back.
const MAX_CURSOR_BYTES: usize = 2_048;

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

/// The author of an item; null once the account was deleted.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ActorNode {
    pub login: String,
    #[serde(rename = "databaseId")]
    pub database_id: Option<i64>,
    #[serde(rename = "__typename")]
    pub type_name: Option<String>,
}

impl ActorNode {
    /// Returns the kind of the account. A member of an enterprise is a user, as in the REST API.
    pub(super) fn kind(&self) -> Option<AuthorKind> {
        let name = match self.type_name.as_deref()? {
            "EnterpriseUserAccount" => "User",
            name => name,
        };
        Some(AuthorKind::from_name(name))
    }
}

/// The fields for the type, login and id of an actor, of every type that can write.
pub(super) const ACTOR_FIELDS: &str = "__typename login ... on User { databaseId } ... on Bot { databaseId } \
     ... on Mannequin { databaseId } ... on Organization { databaseId }";

/// One readable row of a connection.
pub(super) struct ConnectionRow<T> {
    pub cursor: PageCursor,
    pub node: T,
}

/// A connection with its rows, and the cursor at which it continues.
pub(super) struct ParsedConnection<T> {
    pub rows: Vec<ConnectionRow<T>>,
    pub unreadable: Vec<UnreadableRow>,
    pub total_count: Option<i64>,
    pub next: Option<PageCursor>,
}

impl<T> ParsedConnection<T> {
    /// Converts it into a page: observations for the store, and the position of each row for the rules.
    pub(super) fn into_page(
        self,
        response: &GraphqlResponse,
        item: impl Fn(T) -> MirrorItem,
    ) -> ItemsPage {
        let observed_at = response.observed_at();
        let mut entries = Vec::with_capacity(self.rows.len());
        let mut observations = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            let item = item(row.node);
            let (id, updated_at) = (item.key().id, item.updated_at().clone());
            entries.push(ListingEntry { id, updated_at, cursor: row.cursor });
            observations.push(ItemObservation { item, observed_at });
        }
        let duplicates = duplicate_ids::extract_duplicates(&mut observations);
        if !duplicates.is_empty() {
            entries.retain(|entry| observations.iter().any(|row| row.key().id == entry.id));
        }
        let mut unreadable = self.unreadable;
        unreadable.extend(duplicates);
        let (date, total_count, next) = (response.date(), self.total_count, self.next);
        let walk_page = ListingPage { date, entries, total_count, next };
        ItemsPage { observations, walk_page, unreadable }
    }
}

/// A connection as received.
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

/// One row as received.
#[derive(Deserialize)]
pub(super) struct RawEdge<'a> {
    #[serde(borrow)]
    cursor: RawNode<'a>,
    #[serde(borrow)]
    pub node: Option<RawNode<'a>>,
}

impl RawEdge<'_> {
    pub(super) fn cursor(&self) -> Option<PageCursor> {
        self.cursor.as_text().filter(|text| text.len() <= MAX_CURSOR_BYTES).map(PageCursor)
    }
}

/// Returns the rows of a connection unparsed.
pub(super) fn raw_edges(connection: RawNode<'_>) -> Vec<RawEdge<'_>> {
    connection.parse_as::<RawConnection<'_>>().map(|parsed| parsed.edges.0).unwrap_or_default()
}

/// A node, and its path in the response.
#[derive(Clone, Copy)]
pub(super) struct LocatedNode<'a> {
    /// Such as `node.issues`.
    pub path: &'a str,
    pub node: RawNode<'a>,
}

/// Reads a connection that was requested after `after`.
///
/// `read` gets the path of a row (`node.issues.edges.0`) and its node. Returns `None` if the connection or one of its
/// cursors is missing.
pub(super) fn read_connection<T>(
    response: &GraphqlResponse,
    connection: LocatedNode<'_>,
    after: Option<&PageCursor>,
    read: impl Fn(&str, RawNode<'_>) -> Result<T, String>,
) -> Option<ParsedConnection<T>> {
    let raw: RawConnection<'_> = connection.node.parse_as().ok()?;
    let mut out = ParsedConnection {
        rows: Vec::with_capacity(raw.edges.0.len()),
        unreadable: Vec::new(),
        total_count: raw.total_count.and_then(RawNode::as_i64),
        next: read_next_cursor(raw.page_info)?,
    };
    let mut before = after.cloned();
    for (index, edge) in raw.edges.0.iter().enumerate() {
        let row_path = format!("{}.edges.{index}", connection.path);
        // without its cursor a row cannot be requested again, so the whole page is unusable
        let at = edge.cursor()?;
        match require_node(response, &row_path, edge).and_then(|node| read(&row_path, node)) {
            Ok(node) => out.rows.push(ConnectionRow { cursor: at.clone(), node }),
            Err(reason) => {
                let (subject, observed_at) =
                    (edge_subject(edge, &at, before), response.observed_at());
                out.unreadable.push(unreadable_row(subject, edge.node, reason, observed_at));
            }
        }
        before = Some(at);
    }
    Some(out)
}

/// Reads the cursor at which the connection continues; the outer option is `None` if the page information is missing.
fn read_next_cursor(info: RawNode<'_>) -> Option<Option<PageCursor>> {
    if !info.get("hasNextPage")?.as_bool()? {
        return Some(None);
    }
    let end = info.get("endCursor")?.as_text()?;
    (end.len() <= MAX_CURSOR_BYTES).then_some(Some(PageCursor(end)))
}

/// Returns the node of an edge, or the reason why there is none.
fn require_node<'a>(
    response: &GraphqlResponse,
    path: &str,
    edge: &RawEdge<'a>,
) -> Result<RawNode<'a>, String> {
    edge.node.ok_or_else(|| {
        response.error_at_or_below(path).map_or("null", |error| &error.message).to_owned()
    })
}

fn edge_subject(edge: &RawEdge<'_>, at: &PageCursor, before: Option<PageCursor>) -> RowSubject {
    edge.node
        .and_then(node_subject)
        .unwrap_or_else(|| RowSubject::Position { at: at.clone(), after: before })
}

/// Returns the subject by which to request a node again, if its id is valid.
pub(super) fn node_subject(node: RawNode<'_>) -> Option<RowSubject> {
    let id = node.get("id").and_then(RawNode::as_text);
    let id = id.or_else(|| node.get("node_id").and_then(RawNode::as_text))?;
    item_validation::check_ids(1, &id).ok()?;
    Some(RowSubject::Node(id))
}

/// Returns the GraphQL type of a node, where it was requested.
pub(super) fn type_name(node: RawNode<'_>) -> Option<String> {
    node.get("__typename").and_then(RawNode::as_text)
}

/// Fails if there is an error at this path or below it.
///
/// Such a node is not what the source stores: a null inside may mean a fault instead of a deleted account or a
/// missing label.
pub(super) fn check_no_errors(response: &GraphqlResponse, path: &str) -> Result<(), String> {
    response.error_at_or_below(path).map_or(Ok(()), |error| Err(error.message.clone()))
}

/// The reason why a node that was requested by name or id is null.
pub(super) enum NullReason {
    NotFound,
    /// The token has no access there.
    Forbidden(String),
    Fault(String),
}

/// Determines why the node at this path is null.
///
/// Only an error at exactly this path means that the node does not exist: one below it is a fault that propagated.
pub(super) fn null_reason(response: &GraphqlResponse, path: &str) -> NullReason {
    match response.error_exactly_at(path) {
        Some(error) if error.is_not_found() => NullReason::NotFound,
        Some(error) if error.is_forbidden() => NullReason::Forbidden(error.message.clone()),
        _ => NullReason::Fault(
            check_no_errors(response, path).err().unwrap_or("null without an error".into()),
        ),
    }
}

/// Returns the nodes found at `name`; fails unless there are as many as were requested.
pub(super) fn require_nodes<'a>(
    response: &'a GraphqlResponse,
    name: &str,
    count: usize,
) -> Result<Vec<RawNode<'a>>, SourceError> {
    let nodes = response.data.root().get(name).and_then(RawNode::as_elements);
    nodes
        .filter(|nodes| nodes.len() == count)
        .ok_or_else(|| SourceError::InvalidResponse(format!("{name}: not as many nodes as ids")))
}

/// Describes a node that could not be read, with as much of it as is known.
pub(super) fn unreadable_row(
    subject: RowSubject,
    node: Option<RawNode<'_>>,
    reason: String,
    observed_at: ObservedAt,
) -> UnreadableRow {
    let time = node.and_then(|node| node.get("updatedAt").or_else(|| node.get("updated_at")));
    let time = time.and_then(RawNode::as_text);
    UnreadableRow {
        subject,
        reason,
        raw: node.unwrap_or(RawNode::NULL).clip_text(MAX_RAW_BYTES),
        updated_at: time.and_then(|time| SourceTime::parse(&time).ok()),
        observed_at,
    }
}

/// Classifies a null root: NOT_FOUND and FORBIDDEN mean that this token cannot see it; anything else is a fault.
pub(super) fn missing_root_error(response: &GraphqlResponse, path: &str) -> SourceError {
    match response.error_at_or_below(path) {
        Some(error) if error.is_not_found() || error.is_forbidden() => {
            SourceError::hidden(&error.message)
        }
        Some(error) => error.to_source_error(),
        None => SourceError::InvalidResponse(format!("{path} is null without an error")),
    }
}
