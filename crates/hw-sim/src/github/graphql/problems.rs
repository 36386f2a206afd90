//! Errors inside a 200, in GitHub's words.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::github::reply::Reply;

/// One step of the path to a field of the answer.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Key(Arc<str>),
    Index(usize),
}

#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) kind: Option<&'static str>,
    pub(crate) message: String,
    pub(crate) path: Vec<Step>,
    pub(crate) location: (usize, usize),
    pub(crate) extensions: Option<Value>,
}

impl Problem {
    pub(crate) fn new(kind: &'static str, message: String) -> Self {
        Self { kind: Some(kind), message, path: Vec::new(), location: (0, 0), extensions: None }
    }

    pub(crate) fn at(mut self, path: &[Step], location: (usize, usize)) -> Self {
        self.path = path.to_vec();
        self.location = location;
        self
    }

    pub(crate) fn json(&self) -> Value {
        let mut fields = Map::new();
        if let Some(kind) = self.kind {
            fields.insert("type".to_owned(), kind.into());
        }
        if !self.path.is_empty() {
            let steps = self.path.iter().map(|step| match step {
                Step::Key(key) => json!(&**key),
                Step::Index(index) => json!(index),
            });
            fields.insert("path".to_owned(), steps.collect());
        }
        if let Some(extensions) = &self.extensions {
            fields.insert("extensions".to_owned(), extensions.clone());
        }
        if self.location != (0, 0) {
            let (line, column) = self.location;
            fields.insert("locations".to_owned(), json!([{ "line": line, "column": column }]));
        }
        fields.insert("message".to_owned(), self.message.clone().into());
        Value::Object(fields)
    }
}

/// A request refused as a whole: 200, errors, and no data at all.
pub(crate) fn refusal(problems: &[Problem]) -> Reply {
    let errors: Vec<Value> = problems.iter().map(Problem::json).collect();
    Reply::json(200, json!({ "errors": errors }).to_string())
}
