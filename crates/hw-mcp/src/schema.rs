//! The JSON schemas of the input and output of tools.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use crate::arguments::{ParameterType, ToolParameter};

/// Returns the input schema of a tool.
pub(crate) fn input_schema(parameters: &[ToolParameter]) -> JsonObject {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|parameter| (parameter.name.to_owned(), property_schema(parameter)))
        .collect();
    let required = parameters.iter().filter(|parameter| parameter.is_required);
    let required: Vec<&str> = required.map(|parameter| parameter.name).collect();
    let mut schema = into_object(json!({ "type": "object", "properties": properties }));
    schema.insert("additionalProperties".to_owned(), json!(false));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property_schema(parameter: &ToolParameter) -> Value {
    let description = parameter.description;
    match parameter.value_type {
        ParameterType::Text if !parameter.examples.is_empty() => {
            json!({ "type": "string", "description": description, "examples": parameter.examples })
        }
        ParameterType::Text => json!({ "type": "string", "description": description }),
        ParameterType::TextList => {
            json!({ "type": "array", "items": { "type": "string" }, "description": description })
        }
        ParameterType::Flag => json!({ "type": "boolean", "description": description }),
        ParameterType::Count => {
            json!({ "type": "integer", "minimum": 1, "description": description })
        }
    }
}

/// Returns the schema of a tool's structured content: the properties of all tools, and those of this one.
pub(crate) fn output_schema(own_properties: &Value) -> JsonObject {
    let mut properties = into_object(json!({
        "items": {
            "type": "array",
            "items": item_schema(),
            "description": "The items in the text, in the same order, with the requested fields. Bodies are in the text only."
        },
        "items_left_out": count_schema("Number of items in the text that are not listed here, because the answer would be too large."),
        "total": count_schema("Number of matches on all pages."),
        "shown": count_schema("Number of items in the text."),
        "cut": { "type": "boolean", "description": "True if the text was cut at 990 kB." },
        "next_cursor": nullable_schema("string", "Pass this as `cursor` to get the next page; null on the last page."),
        "fresh_through": nullable_schema("string", "The mirror is complete up to this time, RFC 3339; null if unknown."),
        "warnings": {
            "type": "array",
            "items": { "type": "string" },
            "description": "What may be missing from this answer; empty if it is complete."
        },
        "notice": { "type": "string", "description": "How to treat texts that others wrote." },
    }));
    properties.extend(into_object(own_properties.clone()));
    let required: Vec<&String> = properties.keys().collect();
    into_object(json!({ "type": "object", "required": required, "properties": properties }))
}

/// Returns the schema of an item of any tool. Properties that do not apply, or are not requested, are absent.
fn item_schema() -> Value {
    let text = json!({ "type": "string" });
    let nullable = json!({ "type": ["string", "null"] });
    let mut properties = into_object(json!({
        "type": text, "number": { "type": "integer" }, "title": text, "url": text, "repository": text,
        "created_at": text, "updated_at": text, "closed_at": nullable, "merged_at": nullable,
        "author": nullable, "status": text, "state": text,
        "labels": { "type": "array", "items": text }, "node_id": text,
        "comment": {
            "type": "object",
            "description": "The comment that matched, where it matched better than the item's own text.",
            "properties": {
                "url": text, "author": nullable, "created_at": text,
                "snippet": { "type": "string", "description": "The part of the comment that matched." }
            }
        }
    }));
    properties.extend(post_properties());
    properties.extend(event_properties());
    json!({ "type": "object", "properties": properties })
}

/// Returns the schema of what only posts and links have.
fn post_properties() -> JsonObject {
    let text = json!({ "type": "string" });
    let nullable = json!({ "type": ["string", "null"] });
    let texts = json!({ "type": "array", "items": text });
    into_object(json!({
        "kind": text, "uri": text, "account": text, "account_did": text, "author_did": text,
        "posted_at": text, "reply_to": { "type": ["string", "integer", "null"] }, "quote": nullable, "repost_of": nullable,
        "langs": texts, "links": texts,
        "accounts": { "type": "integer" }, "posts": { "type": "integer" }, "shared_by": texts,
        "reposted_by": text, "newest_url": text, "newest_at": text, "newest_author": text,
    }))
}

/// Returns the schema of what only events have.
fn event_properties() -> JsonObject {
    let text = json!({ "type": "string" });
    let nullable = json!({ "type": ["string", "null"] });
    let number = json!({ "type": ["integer", "null"] });
    into_object(json!({
        "id": text, "token": text, "seq": { "type": "integer" }, "tries": { "type": "integer" }, "key": text,
        "change": text, "state_change": nullable, "class": text, "thread": text, "thread_kind": text,
        "thread_title": nullable, "object_id": { "type": "integer" }, "author_kind": nullable,
        "association": nullable, "path": nullable, "line": number, "review_id": number,
        "verdict": nullable, "head_sha": nullable,
    }))
}

pub(crate) fn count_schema(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

pub(crate) fn nullable_schema(value_type: &str, description: &str) -> Value {
    json!({ "type": [value_type, "null"], "description": description })
}

fn into_object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
