//! The tools, one module each, with their descriptions.

mod ack_events;
mod get_thread;
mod list_discussions;
mod list_issues;
mod list_posts;
mod list_pull_requests;
mod read_events;
mod search;
mod trending_links;

use std::sync::Arc;

use hw_rules::source_time::SourceInstant;
use hw_store::WorkspaceHandle;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use crate::arguments::{ToolArguments, ToolParameter};
use crate::schema;
use crate::tool_answer::ToolAnswer;
use crate::tool_error::ToolError;

/// A tool: its description, its schemas and its handler.
pub(crate) struct ToolDefinition {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: ToolEffect,
    parameters: &'static [ToolParameter],
    output_schema: fn() -> JsonObject,
    handler: fn(&ToolContext<'_>, &ToolArguments<'_>) -> Result<ToolAnswer, ToolError>,
}

/// What a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolEffect {
    /// Nothing.
    Reads,
    /// The position of a consumer of events; the same call can have another result.
    MovesOn,
    /// The position of a consumer of events; the same call again changes nothing more.
    Acknowledges,
}

/// What a tool reads besides its arguments.
#[derive(Clone, Copy)]
pub(crate) struct ToolContext<'a> {
    pub(crate) workspace: &'a WorkspaceHandle,
    pub(crate) now: SourceInstant,
    /// Returns a random text.
    pub(crate) new_token: &'a dyn Fn() -> String,
}

/// Tools that are always offered.
static DEFAULT_TOOLS: [&ToolDefinition; 4] = [
    &list_discussions::DEFINITION,
    &list_issues::DEFINITION,
    &list_pull_requests::DEFINITION,
    &search::DEFINITION,
];

/// Tools of the toolset `threads`.
static THREAD_TOOLS: [&ToolDefinition; 1] = [&get_thread::DEFINITION];

/// Tools of the toolset `bluesky`.
static BLUESKY_TOOLS: [&ToolDefinition; 2] = [&list_posts::DEFINITION, &trending_links::DEFINITION];

/// Tools of the toolset `events`.
static EVENT_TOOLS: [&ToolDefinition; 2] = [&read_events::DEFINITION, &ack_events::DEFINITION];

/// A group of tools that is offered on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    /// `get_thread`
    Threads,
    /// `list_posts` and `trending_links`
    Bluesky,
    /// `read_events` and `ack_events`
    Events,
}

impl Toolset {
    pub const ALL: [Self; 3] = [Self::Threads, Self::Bluesky, Self::Events];

    pub fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Bluesky => "bluesky",
            Self::Events => "events",
        }
    }

    /// Returns the toolset of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|toolset| toolset.name() == name)
    }

    fn tools(self) -> &'static [&'static ToolDefinition] {
        match self {
            Self::Threads => &THREAD_TOOLS,
            Self::Bluesky => &BLUESKY_TOOLS,
            Self::Events => &EVENT_TOOLS,
        }
    }
}

/// Returns the offered tools in order.
pub(crate) fn offered_tools(toolsets: &[Toolset]) -> Vec<&'static ToolDefinition> {
    let requested = Toolset::ALL.into_iter().filter(|toolset| toolsets.contains(toolset));
    DEFAULT_TOOLS.iter().chain(requested.flat_map(Toolset::tools)).copied().collect()
}

impl ToolDefinition {
    /// Returns the tool as the protocol describes it to clients.
    pub(crate) fn to_mcp_tool(&self) -> Tool {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == ToolEffect::Reads)
            .destructive(false)
            .idempotent(self.effect != ToolEffect::MovesOn)
            .open_world(false);
        Tool::new(self.name, self.description, schema::input_schema(self.parameters))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new((self.output_schema)()))
            .with_annotations(annotations)
    }

    pub(crate) fn call_tool(
        &self,
        context: &ToolContext<'_>,
        arguments: &JsonObject,
    ) -> Result<ToolAnswer, ToolError> {
        (self.handler)(context, &ToolArguments::from_object(arguments, self.parameters)?)
    }
}

/// Returns the output schema of a list, which has no properties of its own.
fn list_schema() -> JsonObject {
    schema::output_schema(&serde_json::json!({}))
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
