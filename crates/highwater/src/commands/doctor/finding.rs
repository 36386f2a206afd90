//! What one check found.

use hw_store::DamagedItem;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    Warn,
    Fail,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) status: Status,
    pub(super) check: String,
    pub(super) detail: String,
    /// What to do about it.
    pub(super) advice: Option<String>,
    /// The damaged item it is about.
    pub(super) item: Option<DamagedItem>,
    /// Whether people are only told how many more there are.
    pub(super) is_one_of_too_many: bool,
}

impl Finding {
    pub(super) fn ok(check: &str, detail: impl Into<String>) -> Self {
        Self {
            status: Status::Ok,
            check: check.to_owned(),
            detail: detail.into(),
            advice: None,
            item: None,
            is_one_of_too_many: false,
        }
    }

    pub(super) fn warn(check: &str, detail: impl Into<String>, advice: &str) -> Self {
        let advice = Some(advice.to_owned());
        Self { status: Status::Warn, advice, ..Self::ok(check, detail) }
    }

    pub(super) fn fail(check: &str, detail: impl Into<String>, advice: &str) -> Self {
        Self { status: Status::Fail, ..Self::warn(check, detail, advice) }
    }

    /// The finding for people.
    pub(super) fn line(&self) -> String {
        let Self { status, check, detail, advice, .. } = self;
        let advice = advice.as_ref().map_or_else(String::new, |advice| format!(" → {advice}"));
        format!("{:<4}  {check:<14} – {detail}{advice}", status.name())
    }

    /// The finding for programs; `docs/json.md` is its contract.
    pub(super) fn object(&self) -> Value {
        let Self { status, check, detail, advice, item, .. } = self;
        let item = item.as_ref().map(object_of);
        json!({
            "check": check,
            "status": status.name(),
            "detail": detail,
            "advice": advice,
            "item": item,
        })
    }
}

fn object_of(item: &DamagedItem) -> Value {
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
    fn a_finding_is_one_line_with_what_to_do_at_its_end() {
        let line = Finding::fail("token", "none is set", "set GITHUB_TOKEN").line();
        assert_eq!(line, "fail  token          – none is set → set GITHUB_TOKEN");
        assert_eq!(Finding::ok("clock", "fine").line(), "ok    clock          – fine");
    }
}
