//! The JSON schemas of what tools take and give.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use crate::arguments::{Parameter, Shape};

/// What a tool takes.
pub(crate) fn input(parameters: &[Parameter]) -> JsonObject {
    let properties: Map<String, Value> =
        parameters.iter().map(|it| (it.name.to_owned(), property(it))).collect();
    let required: Vec<&str> =
        parameters.iter().filter(|it| it.is_required).map(|it| it.name).collect();
    let mut schema = object(json!({ "type": "object", "properties": properties }));
    schema.insert("additionalProperties".to_owned(), json!(false));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property(parameter: &Parameter) -> Value {
    let about = parameter.about;
    match parameter.shape {
        Shape::Text if !parameter.examples.is_empty() => {
            json!({ "type": "string", "description": about, "examples": parameter.examples })
        }
        Shape::Text => json!({ "type": "string", "description": about }),
        Shape::Texts => {
            json!({ "type": "array", "items": { "type": "string" }, "description": about })
        }
        Shape::Count => json!({ "type": "integer", "minimum": 1, "description": about }),
    }
}

/// What a tool gives besides its text: what all of them give, and what only this one does.
pub(crate) fn output(more: &Value) -> JsonObject {
    let mut properties = object(json!({
        "items": {
            "type": "array",
            "items": item(),
            "description": "The items of the text, in its order, with the fields that were asked for. Bodies are left out: they are in the text."
        },
        "items_left_out": count("How many items of the text are not listed here, because the answer would become too large."),
        "total": count("How many match in all."),
        "shown": count("How many of them are in the text."),
        "cut": { "type": "boolean", "description": "Whether the text was cut at 990 kB." },
        "next_cursor": nullable("string", "Where the next page begins; null at the end."),
        "fresh_through": nullable("string", "The mirror holds everything up to this time, RFC 3339; null if that is not known."),
        "warnings": {
            "type": "array",
            "items": { "type": "string" },
            "description": "What may be missing from this answer; empty when all is well."
        },
        "notice": { "type": "string", "description": "How to take what others wrote." },
    }));
    properties.extend(object(more.clone()));
    let required: Vec<&String> = properties.keys().collect();
    object(json!({ "type": "object", "required": required, "properties": properties }))
}

/// An item of any tool; what does not apply, or is not among the requested fields, is absent.
fn item() -> Value {
    let text = json!({ "type": "string" });
    let or_null = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "properties": {
            "type": text, "number": { "type": "integer" }, "title": text, "url": text, "repository": text,
            "created_at": text, "updated_at": text, "closed_at": or_null, "merged_at": or_null,
            "author": or_null, "status": text, "state": text,
            "labels": { "type": "array", "items": text }, "node_id": text,
            "comment": {
                "type": "object",
                "description": "The comment that matched, where it matched better than the item's own text.",
                "properties": {
                    "url": text, "author": or_null, "created_at": text,
                    "snippet": { "type": "string", "description": "The part of the comment that matched." }
                }
            }
        }
    })
}

pub(crate) fn count(about: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": about })
}

pub(crate) fn nullable(kind: &str, about: &str) -> Value {
    json!({ "type": [kind, "null"], "description": about })
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
