//! What a pull did, for people and for programs.

use hw_sync::{Failure, Repair, Summary, Tally};
use hw_tui::words::{counted, grouped};
use serde_json::{Map, Value, json};

/// What was pulled, and how long it took.
pub(crate) struct Pulled<'a> {
    pub(crate) organization: &'a str,
    pub(crate) summary: &'a Summary,
    pub(crate) duration_ms: i64,
}

impl Pulled<'_> {
    /// Whether everything was read to its end.
    pub(crate) fn is_complete(&self) -> bool {
        self.summary.failures.is_empty()
    }

    /// The summary for programs; `docs/json.md` is its contract.
    pub(crate) fn object(&self) -> Map<String, Value> {
        let Summary { items, cost, failures, repair, .. } = self.summary;
        let items = items.iter().map(|(surface, tally)| (surface.name().to_owned(), counts(tally)));
        let errors = failures.iter().map(error);
        let fields = [
            ("organization", json!(self.organization)),
            ("complete", json!(self.is_complete())),
            ("items", Value::Object(items.collect())),
            ("requests", json!(cost.requests)),
            ("points", json!(cost.points)),
            ("not_modified", json!(cost.not_modified)),
            ("retries", json!(cost.retries)),
            ("replaced", json!(cost.replaced)),
            ("duration_ms", json!(self.duration_ms)),
            ("repair", json!(repair.map(|it| json!({ "found": it.found, "waiting": it.waiting })))),
            ("errors", Value::Array(errors.collect())),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// A line for each item, what it cost, and what failed.
    pub(crate) fn lines(&self) -> Vec<String> {
        let heads = ["seen", "stored", "removed", "errors"].map(str::to_owned);
        let mut lines = vec![row("", &heads)];
        for (surface, tally) in &self.summary.items {
            let Tally { seen, stored, removed, errors, .. } = *tally;
            lines.push(row(surface.name(), &[seen, stored, removed, errors].map(grouped)));
        }
        lines.push(self.cost());
        lines.extend(self.summary.repair.map(repaired));
        let failures = self.summary.failures.iter();
        lines.extend(failures.map(|it| format!("  failed: {}: {}", it.scope, it.message)));
        lines
    }

    fn cost(&self) -> String {
        let cost = self.summary.cost;
        let (seconds, tenths) = (self.duration_ms / 1_000, self.duration_ms % 1_000 / 100);
        let requests = counted(cost.requests, "request");
        let points = counted(cost.points.unsigned_abs(), "point");
        let retries = match cost.retries {
            1 => "1 retry".to_owned(),
            retries => format!("{} retries", grouped(retries)),
        };
        format!("  {requests}, {points}, {retries}, {seconds}.{tenths} s")
    }
}

fn error(failure: &Failure) -> Value {
    json!({
        "scope": failure.scope,
        "message": failure.message,
        "items": failure.items.names,
        "items_total": failure.items.total,
    })
}

fn repaired(repair: Repair) -> String {
    let Repair { found, waiting } = repair;
    let found = counted(found, "damaged item");
    match waiting {
        0 => format!("  repair: {found} found, all read again"),
        waiting => format!("  repair: {found} found, {} still to be read", grouped(waiting)),
    }
}

fn counts(tally: &Tally) -> Value {
    let Tally { seen, stored, removed, errors, .. } = tally;
    json!({ "seen": seen, "stored": stored, "removed": removed, "errors": errors })
}

fn row(name: &str, columns: &[String; 4]) -> String {
    let [seen, stored, removed, errors] = columns;
    format!("  {name:<13} {seen:>9} {stored:>9} {removed:>9} {errors:>9}")
}
