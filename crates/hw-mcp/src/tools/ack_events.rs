//! The tool `ack_events`: acknowledges events. It is part of the toolset `events`.

use hw_rules::format::format_count;
use hw_rules::safe_text::truncate_echo;
use hw_store::{AckOutcome, Completeness, DeliveryRef};
use rmcp::model::JsonObject;
use serde_json::{Map, json};

use super::read_events::{CONSUMER, consumer_name};
use super::{ToolContext, ToolDefinition, ToolEffect};
use crate::arguments::{ToolArguments, ToolParameter};
use crate::bounded_text::BoundedText;
use crate::schema;
use crate::tool_answer::ToolAnswer;
use crate::tool_error::ToolError;

pub(super) static DEFINITION: ToolDefinition = ToolDefinition {
    name: "ack_events",
    title: "Acknowledge events",
    description: "Acknowledges events that were read with read_events, so that they do not come again for this consumer. Acknowledging an event twice changes nothing. Nothing is posted anywhere.",
    effect: ToolEffect::Acknowledges,
    parameters: &[
        ToolParameter::text_list(
            "ids",
            "Array of the ids of events. Example: [5f0c7d0e6a4b4c0f9d0e1a2b3c4d5e6f].",
        )
        .required(),
        CONSUMER,
    ],
    output_schema,
    handler: answer_call,
};

/// The number of events that one call can acknowledge.
const MAX_IDS: usize = 1_000;

fn output_schema() -> JsonObject {
    let ids = json!({ "type": "array", "items": { "type": "string" } });
    schema::output_schema(&json!({
        "consumer": { "type": "string", "description": "The consumer that the events were acknowledged for." },
        "acknowledged": ids,
        "unknown": ids,
    }))
}

fn answer_call(
    context: &ToolContext<'_>,
    arguments: &ToolArguments<'_>,
) -> Result<ToolAnswer, ToolError> {
    let ids = arguments.text_list("ids")?;
    if ids.is_empty() {
        return Err(ToolError("the parameter `ids` is missing".to_owned()));
    }
    if ids.len() > MAX_IDS {
        return Err(ToolError(format!("`ids` must have at most {MAX_IDS} entries")));
    }
    let consumer = consumer_name(arguments)?;
    let decisions = context.workspace.decisions()?;
    if !decisions.consumers()?.iter().any(|row| row.name == consumer) {
        let message = format!("there is no consumer named {consumer}; read_events creates it");
        return Err(ToolError(message));
    }
    let deliveries: Vec<DeliveryRef> =
        ids.iter().map(|id| DeliveryRef::Event(id.trim().to_lowercase())).collect();
    let outcomes = decisions.acknowledge_events(&consumer, &deliveries, context.now.0)?;
    let (mut acknowledged, mut unknown) = (Vec::new(), Vec::new());
    for (id, outcome) in ids.iter().zip(outcomes) {
        match outcome {
            AckOutcome::Acknowledged | AckOutcome::AlreadyAcknowledged => acknowledged.push(id),
            AckOutcome::LeaseEnded | AckOutcome::Unknown => unknown.push(truncate_echo(id)),
        }
    }
    let count = acknowledged.len() as u64;
    let mut text = BoundedText::default();
    let _fits = text.push_item(&format!("Acknowledged {}.", format_count(count, "event")));
    let notes = unknown.iter().map(|id| format!("Note: there is no event {id}.")).collect();
    let mut extra_facts = Map::new();
    extra_facts.insert("consumer".to_owned(), json!(consumer));
    extra_facts.insert("acknowledged".to_owned(), json!(acknowledged));
    extra_facts.insert("unknown".to_owned(), json!(unknown));
    Ok(ToolAnswer {
        page: text.finish_plain(),
        items: Vec::new(),
        total: count,
        next_cursor: None,
        completeness: Completeness::default(),
        extra_facts,
        notes,
    })
}
