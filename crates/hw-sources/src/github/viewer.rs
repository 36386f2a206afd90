//! Who the token speaks for: the principal that every limit belongs to.

use serde_json::{Value, json};

use super::graphql::{Answer, Query};
use crate::trouble::Trouble;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    pub id: i64,
    pub login: String,
}

pub fn query() -> Query {
    Query {
        document: "query Viewer { viewer { login databaseId } rateLimit { cost } }".into(),
        variables: json!({}),
    }
}

pub fn read(answer: &Answer) -> Result<Viewer, Trouble> {
    let login = answer.data.pointer("/viewer/login").and_then(Value::as_str);
    let id = answer.data.pointer("/viewer/databaseId").and_then(Value::as_i64);
    match (login, id) {
        (Some(login), Some(id)) => Ok(Viewer { id, login: login.to_owned() }),
        _ => Err(Trouble::Garbled("the viewer has no login or no id".into())),
    }
}
