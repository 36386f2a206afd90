//! The token's user: the principal that all limits apply to.

use hw_rules::safe_text::sanitize_for_storage;

use super::graphql::GraphqlResponse;
use crate::error::SourceError;
use crate::raw_json::RawNode;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    pub id: i64,
    pub login: String,
}

/// The longest login that is accepted.
const MAX_LOGIN_BYTES: usize = 1_024;

/// The field for the viewer. It is part of the first query, so that it costs no request of its own.
pub(super) const FIELD: &str = "viewer { login databaseId }";

pub fn read_viewer(response: &GraphqlResponse) -> Result<Viewer, SourceError> {
    let viewer = response.data.root().get("viewer").unwrap_or(RawNode::NULL);
    let login = viewer.get("login").and_then(RawNode::as_text);
    let id = viewer.get("databaseId").and_then(RawNode::as_i64);
    match (login, id) {
        (Some(login), Some(id)) if login.len() <= MAX_LOGIN_BYTES => {
            Ok(Viewer { id, login: sanitize_for_storage(&login) })
        }
        _ => Err(SourceError::InvalidResponse("the viewer has no login or no id".into())),
    }
}
