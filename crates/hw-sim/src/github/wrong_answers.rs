//! Responses that are well formed but wrong.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::admission::AdmittedRequest;
use super::{HttpReply, ServedResponse, SimulatedGitHub};
use crate::world::ThreadKind;

/// The way in which the pages of a listing never end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaginationLoop {
    /// The first page follows the last one.
    Wrapping,
    /// Empty pages follow the first one, each with another cursor.
    Empty,
    /// Each page is the first one, under another cursor.
    Repeating,
}

/// The part of a response that quotes the `Authorization` of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEcho {
    /// In the message of a 500.
    ServerError,
    /// In the message of a FORBIDDEN beside no data; over REST, of a 500.
    GraphQlError,
    /// In the URL of a redirect.
    Location,
    /// In a row that is wrong because of it; a response without rows does not quote it.
    Node,
}

impl TokenEcho {
    pub const ALL: [Self; 4] = [Self::ServerError, Self::GraphQlError, Self::Location, Self::Node];
}

/// A field of a node that is served with a wrong value.
#[derive(Debug)]
struct FieldOverride {
    node_id: String,
    field: String,
    value: Value,
}

/// The current configuration of wrong responses.
#[derive(Debug, Default)]
pub(super) struct WrongAnswers {
    /// The error in the `Date` of each of the next responses.
    pub(super) date_offsets_ms: VecDeque<i64>,
    /// The lag of the replica for each of the next reads.
    pub(super) replica_lags_ms: VecDeque<u64>,
    /// True if lists of issues and comments are always reported as unchanged.
    blind_etags: bool,
    /// The number of further changes that ETags miss.
    missed_changes: u32,
    /// True if `since` means "after".
    pub(super) strict_since: bool,
    pub(super) forbidden_lists: BTreeSet<(i64, ThreadKind)>,
    pub(super) pagination_loop: Option<PaginationLoop>,
    /// The part of each of the next responses that quotes the token.
    token_echoes: VecDeque<Option<TokenEcho>>,
    overrides: Vec<FieldOverride>,
    /// The nodes that were ever configured with a wrong value.
    overridden_nodes: BTreeSet<String>,
    /// The number of wrong values that were served.
    pub(super) served_count: u64,
}

impl WrongAnswers {
    pub(super) fn has_blind_etags(&self) -> bool {
        self.blind_etags || self.missed_changes > 0
    }

    /// Counts a 304 for content that did change.
    pub(super) fn count_hidden_change(&mut self) {
        if !self.blind_etags {
            self.missed_changes -= 1;
        }
        self.served_count += 1;
    }
}

impl SimulatedGitHub {
    /// Shifts the `Date` of each of the next responses.
    pub fn offset_next_dates(&mut self, offsets_ms: &[i64]) {
        self.wrong_answers.date_offsets_ms.extend(offsets_ms);
    }

    /// Discards the configured date errors and replica lags.
    pub fn clear_dates_and_lags(&mut self) {
        self.wrong_answers.date_offsets_ms.clear();
        self.wrong_answers.replica_lags_ms.clear();
    }

    /// Serves each of the next reads from a replica with this lag.
    pub fn lag_next_replicas(&mut self, lags_ms: &[u64]) {
        self.wrong_answers.replica_lags_ms.extend(lags_ms);
    }

    /// Reports lists of issues and comments that are requested with an `If-None-Match` as unchanged while this is on.
    pub fn set_blind_etags(&mut self, are_blind: bool) {
        self.wrong_answers.blind_etags = are_blind;
    }

    /// Reports the next lists of issues and comments that did change, and are requested with an `If-None-Match`, as
    /// unchanged.
    pub fn blind_next_etags(&mut self, times: u32) {
        self.wrong_answers.missed_changes += times;
    }

    /// Treats `since` as "after", as documented, instead of "at or after" while this is on.
    pub fn set_strict_since(&mut self, is_strict: bool) {
        self.wrong_answers.strict_since = is_strict;
    }

    /// Denies the token access to this listing of this repository.
    pub fn forbid_list(&mut self, repository: i64, kind: ThreadKind) {
        self.wrong_answers.forbidden_lists.insert((repository, kind));
    }

    /// Allows access to all listings again.
    pub fn allow_all_lists(&mut self) {
        self.wrong_answers.forbidden_lists.clear();
    }

    /// Makes listings of threads and comments loop in this way; `None` ends this.
    pub fn set_pagination_loop(&mut self, pagination_loop: Option<PaginationLoop>) {
        self.wrong_answers.pagination_loop = pagination_loop;
    }

    /// Quotes the `Authorization` of the request in each of the next responses, in this part or not at all.
    pub fn echo_authorization(&mut self, echoes: &[Option<TokenEcho>]) {
        self.wrong_answers.token_echoes = echoes.iter().copied().collect();
    }

    /// Serves this node with this value in that field, wherever the field is requested.
    pub fn override_field(&mut self, node_id: &str, field: &str, value: Value) {
        self.wrong_answers.overridden_nodes.insert(node_id.to_owned());
        let (node_id, field) = (node_id.to_owned(), field.to_owned());
        self.wrong_answers.overrides.push(FieldOverride { node_id, field, value });
    }

    /// Serves this node with this numeric id, in both APIs.
    pub fn override_id(&mut self, node_id: &str, id: i64) {
        self.override_field(node_id, "fullDatabaseId", Value::String(id.to_string()));
        self.override_field(node_id, "databaseId", id.into());
        self.override_field(node_id, "id", id.into());
    }

    /// Returns true if this node ever had a wrong value.
    #[must_use]
    pub fn was_overridden(&self, node_id: &str) -> bool {
        self.wrong_answers.overridden_nodes.contains(node_id)
    }

    /// Serves all nodes with their own values again.
    pub fn clear_overrides(&mut self) {
        self.wrong_answers.overrides.clear();
    }

    /// Shifts the service's clock, and with it `Date` and all new timestamps.
    pub fn shift_clock(&mut self, ms: i64) {
        self.world.shift_clock(ms);
    }

    /// Returns the number of wrong values that were served.
    #[must_use]
    pub fn wrong_answers_served(&self) -> u64 {
        self.wrong_answers.served_count
    }
}

impl SimulatedGitHub {
    /// Returns the response that quotes the token, if the next one is configured to.
    pub(super) fn serve_token_echo(
        &mut self,
        admitted: &AdmittedRequest<'_>,
    ) -> Option<ServedResponse> {
        let echo = self.wrong_answers.token_echoes.pop_front()??;
        let quoted = admitted.request.header("authorization").unwrap_or_default();
        let message = format!("bad request: Authorization: {quoted}");
        let reply = match echo {
            TokenEcho::GraphQlError if admitted.query.is_some() => {
                let body = serde_json::json!({ "data": null, "errors": [{ "type": "FORBIDDEN", "message": message }] });
                HttpReply::from_json(200, body.to_string())
            }
            TokenEcho::ServerError | TokenEcho::GraphQlError => {
                HttpReply::from_message(500, &message)
            }
            TokenEcho::Location => {
                let to = format!("https://elsewhere.example/?{}", quoted.replace(' ', "="));
                HttpReply::from_message(302, "Found").with_header("Location", to)
            }
            TokenEcho::Node => {
                let served = self.serve_token_in_row(admitted, quoted)?;
                self.wrong_answers.served_count += 1;
                return Some(served);
            }
        };
        self.wrong_answers.served_count += 1;
        Some(ServedResponse::from_reply(reply, 0, admitted.latency_ms))
    }

    /// Serves a response in which the first time of a row is a list with the token.
    fn serve_token_in_row(
        &mut self,
        admitted: &AdmittedRequest<'_>,
        quoted: &str,
    ) -> Option<ServedResponse> {
        let mut served = self.serve_without_fault(admitted);
        let body = String::from_utf8(served.reply.body).ok()?;
        let field = if admitted.query.is_some() { "updatedAt" } else { "updated_at" };
        let wrong = format!(r#""{field}":["{quoted}"],"was":""#);
        served.reply.body = body.replacen(&format!(r#""{field}":""#), &wrong, 1).into_bytes();
        Some(served)
    }

    /// Puts the overrides into a response. One with a lone surrogate stays as it is, because no JSON value can hold it.
    pub(super) fn apply_overrides(&mut self, reply: &mut HttpReply) {
        if self.wrong_answers.overrides.is_empty() {
            return;
        }
        let Ok(mut body) = serde_json::from_slice::<Value>(&reply.body) else { return };
        let replaced = override_all(&mut body, &self.wrong_answers.overrides);
        if replaced > 0 {
            reply.body = body.to_string().into_bytes();
            self.wrong_answers.served_count += replaced;
        }
    }
}

fn override_all(value: &mut Value, overrides: &[FieldOverride]) -> u64 {
    let own = override_node(value, overrides);
    let below: u64 = match value {
        Value::Array(values) => values.iter_mut().map(|value| override_all(value, overrides)).sum(),
        Value::Object(fields) => {
            fields.values_mut().map(|value| override_all(value, overrides)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    own + below
}

fn override_node(value: &mut Value, overrides: &[FieldOverride]) -> u64 {
    let Value::Object(fields) = value else { return 0 };
    let name =
        ["node_id", "id"].into_iter().find_map(|name| Some((name, fields.get(name)?.as_str()?)));
    let Some((name, node_id)) = name else { return 0 };
    // over REST `id` is the numeric id
    let is_rest = name == "node_id";
    let own: Vec<_> = overrides
        .iter()
        .filter(|entry| entry.node_id == node_id && (is_rest || entry.field != "id"))
        .collect();
    let mut replaced = 0;
    for FieldOverride { field, value, .. } in own {
        if let Some(served) = fields.get_mut(field) {
            *served = value.clone();
            replaced += 1;
        }
    }
    replaced
}
