//! Errors inside a 200, as GitHub writes them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::github::reply::HttpReply;

/// One step of the path to a field of the response.
#[derive(Debug, Clone)]
pub(crate) enum PathStep {
    Key(Arc<str>),
    Index(usize),
}

/// A position in the text of a document, counted from 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceLocation {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl SourceLocation {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

#[derive(Debug, Clone)]
pub(crate) struct GraphqlProblem {
    pub(crate) kind: Option<&'static str>,
    pub(crate) message: String,
    pub(crate) path: Vec<PathStep>,
    pub(crate) location: Option<SourceLocation>,
    pub(crate) extensions: Option<Value>,
}

impl GraphqlProblem {
    pub(crate) fn new(kind: &'static str, message: String) -> Self {
        Self { kind: Some(kind), ..Self::without_kind(message) }
    }

    pub(crate) fn without_kind(message: String) -> Self {
        Self { kind: None, message, path: Vec::new(), location: None, extensions: None }
    }

    pub(crate) fn at_path(mut self, path: &[PathStep], location: SourceLocation) -> Self {
        self.path = path.to_vec();
        self.location = Some(location);
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut fields = Map::new();
        if let Some(kind) = self.kind {
            fields.insert("type".to_owned(), kind.into());
        }
        if !self.path.is_empty() {
            let steps = self.path.iter().map(|step| match step {
                PathStep::Key(key) => json!(&**key),
                PathStep::Index(index) => json!(index),
            });
            fields.insert("path".to_owned(), steps.collect());
        }
        if let Some(extensions) = &self.extensions {
            fields.insert("extensions".to_owned(), extensions.clone());
        }
        if let Some(SourceLocation { line, column }) = self.location {
            fields.insert("locations".to_owned(), json!([{ "line": line, "column": column }]));
        }
        fields.insert("message".to_owned(), self.message.clone().into());
        Value::Object(fields)
    }
}

/// Refuses a request as a whole: 200 with errors and without data.
pub(crate) fn refusal_reply(problems: &[GraphqlProblem]) -> HttpReply {
    let errors: Vec<Value> = problems.iter().map(GraphqlProblem::to_json).collect();
    HttpReply::from_json(200, json!({ "errors": errors }).to_string())
}
