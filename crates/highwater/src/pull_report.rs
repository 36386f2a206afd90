//! Formats the result of a pull, as lines and as JSON.

use hw_rules::format::{format_count, format_tenths, group_digits};
use hw_sync::{PullFailure, PullSummary, PullTally, RepairSummary};
use serde_json::{Map, Value, json};

/// The result of a pull, and its duration.
pub(crate) struct PullReport<'a> {
    /// The organization or user that the settings name.
    pub(crate) organization: Option<&'a str>,
    pub(crate) summary: &'a PullSummary,
    pub(crate) duration_ms: i64,
}

impl PullReport<'_> {
    /// Returns true if no list failed.
    pub(crate) fn is_complete(&self) -> bool {
        self.summary.failures.is_empty()
    }

    /// Returns the report as JSON; `docs/json.md` is the contract.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let PullSummary { items, cost, failures, repair, .. } = self.summary;
        let items =
            items.iter().map(|(surface, tally)| (surface.name().to_owned(), tally_json(tally)));
        let errors = failures.iter().map(failure_json);
        let fields = [
            ("organization", json!(self.organization)),
            ("sources", json!(self.summary.sources)),
            ("complete", json!(self.is_complete())),
            ("followed", json!(self.summary.followed)),
            ("items", Value::Object(items.collect())),
            ("requests", json!(cost.requests)),
            ("points", json!(cost.points)),
            ("not_modified", json!(cost.not_modified)),
            ("retries", json!(cost.retries)),
            ("replaced", json!(cost.replaced_characters)),
            ("duration_ms", json!(self.duration_ms)),
            ("repair", json!(repair.map(repair_json))),
            ("errors", Value::Array(errors.collect())),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns a table of the items, followed by the cost and the failures.
    pub(crate) fn to_lines(&self) -> Vec<String> {
        let headings = ["seen", "stored", "removed", "errors"].map(str::to_owned);
        let mut lines = vec![format_row("", &headings)];
        for (surface, tally) in &self.summary.items {
            let PullTally { seen, stored, removed, errors, .. } = *tally;
            lines.push(format_row(
                surface.name(),
                &[seen, stored, removed, errors].map(group_digits),
            ));
        }
        lines.push(self.cost_line());
        lines.extend(self.summary.repair.map(repair_line));
        for PullFailure { scope, message, .. } in &self.summary.failures {
            lines.push(format!("  failed: {scope}: {message}"));
        }
        lines
    }

    fn cost_line(&self) -> String {
        let cost = self.summary.cost;
        let took = format_tenths(self.duration_ms);
        let requests = format_count(cost.requests, "request");
        let points = format_count(cost.points.unsigned_abs(), "point");
        let retries = match cost.retries {
            1 => "1 retry".to_owned(),
            retries => format!("{} retries", group_digits(retries)),
        };
        format!("  {requests}, {points}, {retries}, {took}")
    }
}

fn failure_json(failure: &PullFailure) -> Value {
    json!({
        "scope": failure.scope,
        "message": failure.message,
        "items": failure.items.names,
        "items_total": failure.items.total,
    })
}

fn repair_json(repair: RepairSummary) -> Value {
    json!({ "found": repair.found, "waiting": repair.waiting })
}

fn repair_line(repair: RepairSummary) -> String {
    let RepairSummary { found, waiting } = repair;
    let items = format_count(found, "damaged item");
    match (found, waiting) {
        (0, 0) => "  repair: no damaged items found".to_owned(),
        (_, 0) => format!("  repair: {items} found and downloaded again"),
        (_, waiting) => format!("  repair: {items} found, {} still missing", group_digits(waiting)),
    }
}

fn tally_json(tally: &PullTally) -> Value {
    let PullTally { seen, stored, removed, errors, .. } = tally;
    json!({ "seen": seen, "stored": stored, "removed": removed, "errors": errors })
}

fn format_row(name: &str, columns: &[String; 4]) -> String {
    let [seen, stored, removed, errors] = columns;
    format!("  {name:<13} {seen:>9} {stored:>9} {removed:>9} {errors:>9}")
}
