//! Lies: answers that are well formed, and wrong.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::door::Visit;
use super::{GitHub, Reply, Served};
use crate::world::ThreadKind;

/// How a listing leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// After its last page comes its first one again.
    Wrapping,
    /// After its first page come empty ones, each with another cursor.
    Empty,
    /// Each page is the first one, under another cursor.
    Repeating,
}

/// Where an answer quotes the `Authorization` of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// In the message of a 500.
    ServerError,
    /// In the message of a FORBIDDEN beside no data; over REST, of a 500.
    GraphQlError,
    /// In the address of a redirect.
    Location,
    /// In a row that is wrong because of it; where an answer has no rows, nowhere.
    Node,
}

impl Echo {
    pub const ALL: [Self; 4] = [Self::ServerError, Self::GraphQlError, Self::Location, Self::Node];
}

/// A field of a node that is shown with another value than its own.
#[derive(Debug)]
struct Falsehood {
    node_id: String,
    field: String,
    value: Value,
}

/// What the service lies about now.
#[derive(Debug, Default)]
pub(super) struct Lies {
    /// By how much the `Date` of each of the next answers is off.
    pub(super) misdated_ms: VecDeque<i64>,
    /// How far behind the replica of each of the next reads is.
    pub(super) replica_lags_ms: VecDeque<u64>,
    /// Whether a list of comments is called unchanged, whatever changed.
    pub(super) blind_etags: bool,
    /// Whether `since` means "after".
    pub(super) strict_since: bool,
    pub(super) forbidden: BTreeSet<(i64, ThreadKind)>,
    pub(super) circle: Option<Circle>,
    /// Where each of the next answers quotes the token.
    echoes: VecDeque<Option<Echo>>,
    falsehoods: Vec<Falsehood>,
    /// The nodes that were ever shown with a wrong value.
    falsified: BTreeSet<String>,
    /// How often each sort of lie was told.
    pub(super) told: u64,
}

impl GitHub {
    /// Each of the next answers bears a `Date` that is off by so much.
    pub fn misdate(&mut self, offsets_ms: &[i64]) {
        self.lies.misdated_ms.extend(offsets_ms);
    }

    /// Every answer from now on bears the right `Date` and comes from a replica that is up to date.
    pub fn date_and_serve_rightly(&mut self) {
        self.lies.misdated_ms.clear();
        self.lies.replica_lags_ms.clear();
    }

    /// Each of the next reads is served by a replica that is so far behind.
    pub fn lag_in_order(&mut self, lags_ms: &[u64]) {
        self.lies.replica_lags_ms.extend(lags_ms);
    }

    /// While this is on, a list of comments that is asked for with an `If-None-Match` is unchanged.
    pub fn blind_etags(&mut self, are_blind: bool) {
        self.lies.blind_etags = are_blind;
    }

    /// From now on `since` means "after", as it is documented, and not "at or after".
    pub fn read_since_strictly(&mut self, is_strict: bool) {
        self.lies.strict_since = is_strict;
    }

    /// From now on the token may not look into this listing of this repository.
    pub fn forbid(&mut self, repository: i64, kind: ThreadKind) {
        self.lies.forbidden.insert((repository, kind));
    }

    /// It may look into all of them again.
    pub fn forbid_nothing(&mut self) {
        self.lies.forbidden.clear();
    }

    /// From now on listings of threads and comments lead nowhere in this way; none leads to their end.
    pub fn turn_in_circles(&mut self, circle: Option<Circle>) {
        self.lies.circle = circle;
    }

    /// Each of the next answers quotes the `Authorization` of its request there, or nowhere; those after them do not.
    pub fn echo_authorization(&mut self, echoes: &[Option<Echo>]) {
        self.lies.echoes = echoes.iter().copied().collect();
    }

    /// From now on this node is shown with this value in that field, wherever the field is asked for.
    pub fn falsify(&mut self, node_id: &str, field: &str, value: Value) {
        self.lies.falsified.insert(node_id.to_owned());
        let (node_id, field) = (node_id.to_owned(), field.to_owned());
        self.lies.falsehoods.push(Falsehood { node_id, field, value });
    }

    /// From now on this node is shown under this numeric id, by both APIs.
    pub fn renumber(&mut self, node_id: &str, id: i64) {
        self.falsify(node_id, "fullDatabaseId", Value::String(id.to_string()));
        self.falsify(node_id, "databaseId", id.into());
        self.falsify(node_id, "id", id.into());
    }

    /// Whether this node was ever shown with a wrong value.
    #[must_use]
    pub fn was_falsified(&self, node_id: &str) -> bool {
        self.lies.falsified.contains(node_id)
    }

    /// All nodes are shown as they are again.
    pub fn falsify_nothing(&mut self) {
        self.lies.falsehoods.clear();
    }

    /// Sets the service's clock by so much: `Date` and whatever is stamped from now on.
    pub fn set_clock_by(&mut self, ms: i64) {
        self.world.set_clock_by(ms);
    }

    /// How many lies were told.
    #[must_use]
    pub fn lies_told(&self) -> u64 {
        self.lies.told
    }
}

impl GitHub {
    /// The answer that quotes the token; none when this one does not.
    pub(super) fn echo(&mut self, visit: &Visit<'_>) -> Option<Served> {
        let echo = self.lies.echoes.pop_front()??;
        let quoted = visit.request.header("authorization").unwrap_or_default();
        let message = format!("bad request: Authorization: {quoted}");
        let whole = |reply| Served::whole(reply, 0, visit.latency_ms);
        let served = match echo {
            Echo::GraphQlError if visit.call.is_some() => {
                let body = serde_json::json!({ "data": null, "errors": [{ "type": "FORBIDDEN", "message": message }] });
                whole(Reply::json(200, body.to_string()))
            }
            Echo::ServerError | Echo::GraphQlError => whole(Reply::message(500, &message)),
            Echo::Location => {
                let to = format!("https://elsewhere.example/?{}", quoted.replace(' ', "="));
                whole(Reply::message(302, "Found").with("Location", to))
            }
            Echo::Node => self.with_token_in_a_row(visit, quoted)?,
        };
        self.lies.told += 1;
        Some(served)
    }

    /// The first time of a row is a list that holds the token.
    fn with_token_in_a_row(&mut self, visit: &Visit<'_>, quoted: &str) -> Option<Served> {
        let mut served = self.serve_well(visit);
        let body = String::from_utf8(served.reply.body).ok()?;
        let field = if visit.call.is_some() { "updatedAt" } else { "updated_at" };
        let wrong = format!(r#""{field}":["{quoted}"],"was":""#);
        served.reply.body = body.replacen(&format!(r#""{field}":""#), &wrong, 1).into_bytes();
        Some(served)
    }

    /// Puts the falsehoods into an answer. One with half a pair of surrogates stays as it is: no JSON value holds it.
    pub(super) fn falsify_reply(&mut self, reply: &mut Reply) {
        if self.lies.falsehoods.is_empty() {
            return;
        }
        let Ok(mut body) = serde_json::from_slice::<Value>(&reply.body) else { return };
        let told = falsify_all(&mut body, &self.lies.falsehoods);
        if told > 0 {
            reply.body = body.to_string().into_bytes();
            self.lies.told += told;
        }
    }
}

fn falsify_all(value: &mut Value, falsehoods: &[Falsehood]) -> u64 {
    let own = falsify_node(value, falsehoods);
    let below: u64 = match value {
        Value::Array(values) => values.iter_mut().map(|it| falsify_all(it, falsehoods)).sum(),
        Value::Object(fields) => fields.values_mut().map(|it| falsify_all(it, falsehoods)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    own + below
}

fn falsify_node(value: &mut Value, falsehoods: &[Falsehood]) -> u64 {
    let Value::Object(fields) = value else { return 0 };
    let name =
        ["node_id", "id"].into_iter().find_map(|name| Some((name, fields.get(name)?.as_str()?)));
    let Some((name, node_id)) = name else { return 0 };
    // over REST `id` is the number
    let is_own = |it: &&Falsehood| it.node_id == node_id && !(name == "id" && it.field == "id");
    let own: Vec<_> = falsehoods.iter().filter(is_own).collect();
    let mut told = 0;
    for Falsehood { field, value, .. } in own {
        if let Some(shown) = fields.get_mut(field) {
            *shown = value.clone();
            told += 1;
        }
    }
    told
}
