//! The result of one check, as a line and as JSON.

use hw_store::DamagedItem;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckStatus {
    Ok,
    Warn,
    Fail,
}

impl CheckStatus {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoctorFinding {
    pub(super) status: CheckStatus,
    pub(super) check: String,
    pub(super) detail: String,
    /// The suggested fix.
    pub(super) advice: Option<String>,
    /// The damaged item, if the finding is about one.
    pub(super) item: Option<DamagedItem>,
    /// Leaves the finding out of the lines and keeps it in the JSON.
    pub(super) is_beyond_limit: bool,
}

impl DoctorFinding {
    pub(super) fn ok(check: &str, detail: impl Into<String>) -> Self {
        Self {
            status: CheckStatus::Ok,
            check: check.to_owned(),
            detail: detail.into(),
            advice: None,
            item: None,
            is_beyond_limit: false,
        }
    }

    pub(super) fn warn(check: &str, detail: impl Into<String>, advice: &str) -> Self {
        let advice = Some(advice.to_owned());
        Self { status: CheckStatus::Warn, advice, ..Self::ok(check, detail) }
    }

    pub(super) fn fail(check: &str, detail: impl Into<String>, advice: &str) -> Self {
        Self { status: CheckStatus::Fail, ..Self::warn(check, detail, advice) }
    }

    /// Returns the finding as one line.
    pub(super) fn to_line(&self) -> String {
        let Self { status, detail, advice, .. } = self;
        let check = self.printed_name();
        let advice = advice.as_ref().map_or_else(String::new, |advice| format!(" → {advice}"));
        format!("{:<4}  {check:<14} – {detail}{advice}", status.name())
    }

    /// Returns the name of the check in a line. The names in JSON are a contract, and some of them are words that only
    /// the code uses.
    fn printed_name(&self) -> &str {
        match self.check.as_str() {
            "held" => "stored",
            "lanes" => "lists",
            "lease" => "running",
            name => name,
        }
    }

    /// Returns the finding as JSON; `docs/json.md` is the contract.
    pub(super) fn to_json(&self) -> Value {
        let Self { status, check, detail, advice, item, .. } = self;
        let item = item.as_ref().map(damaged_item_json);
        json!({
            "check": check,
            "status": status.name(),
            "detail": detail,
            "advice": advice,
            "item": item,
        })
    }
}

fn damaged_item_json(item: &DamagedItem) -> Value {
    let DamagedItem { kind, host, id, repository, number, url, reason, .. } = item;
    json!({
        "kind": kind.name(),
        "host": host,
        "id": id,
        "repository": repository,
        "number": number,
        "url": url,
        "reason": reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_is_one_line_that_ends_with_its_advice() {
        let line = DoctorFinding::fail("token", "not set", "set GITHUB_TOKEN").to_line();
        assert_eq!(line, "fail  token          – not set → set GITHUB_TOKEN");
        assert_eq!(DoctorFinding::ok("clock", "fine").to_line(), "ok    clock          – fine");
    }

    #[test]
    fn finding_prints_a_plain_word_and_keeps_its_name_in_json() {
        for (name, printed) in [("held", "stored"), ("lanes", "lists"), ("lease", "running")] {
            let finding = DoctorFinding::ok(name, "fine");
            assert_eq!(finding.to_line(), format!("ok    {printed:<14} – fine"));
            assert_eq!(finding.to_json()["check"], name);
        }
    }
}
