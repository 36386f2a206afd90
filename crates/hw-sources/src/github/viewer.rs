//! Who the token speaks for: the principal that every limit belongs to.

use hw_rules::clean::storable;
use serde_json::Value;

use super::graphql::Answer;
use crate::trouble::Trouble;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    pub id: i64,
    pub login: String,
}

/// What is asked of the viewer. It is no document of its own: it rides along in a first one.
pub(super) const FIELD: &str = "viewer { login databaseId }";

pub fn read(answer: &Answer) -> Result<Viewer, Trouble> {
    let login = answer.data.pointer("/viewer/login").and_then(Value::as_str);
    let id = answer.data.pointer("/viewer/databaseId").and_then(Value::as_i64);
    match (login, id) {
        (Some(login), Some(id)) => Ok(Viewer { id, login: storable(login) }),
        _ => Err(Trouble::Garbled("the viewer has no login or no id".into())),
    }
}
