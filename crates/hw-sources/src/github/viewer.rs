//! Who the token speaks for: the principal that every limit belongs to.

use hw_rules::clean::storable;

use super::graphql::Answer;
use crate::raw_json::RawNode;
use crate::trouble::Trouble;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    pub id: i64,
    pub login: String,
}

/// No login is longer.
const LOGIN_BYTES: usize = 1_024;

/// What is asked of the viewer. It is no document of its own: it rides along in a first one.
pub(super) const FIELD: &str = "viewer { login databaseId }";

pub fn read(answer: &Answer) -> Result<Viewer, Trouble> {
    let viewer = answer.data.root().get("viewer").unwrap_or(RawNode::NULL);
    let login = viewer.get("login").and_then(RawNode::as_text);
    let id = viewer.get("databaseId").and_then(RawNode::as_i64);
    match (login, id) {
        (Some(login), Some(id)) if login.len() <= LOGIN_BYTES => {
            Ok(Viewer { id, login: storable(&login) })
        }
        _ => Err(Trouble::Garbled("the viewer has no login or no id".into())),
    }
}
