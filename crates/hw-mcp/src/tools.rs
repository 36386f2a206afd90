//! The tools: one file each, with its words.

mod get_thread;
mod list_discussions;
mod list_issues;
mod list_pull_requests;
mod search;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use crate::answer::Answer;
use crate::arguments::{Arguments, Parameter, Refusal};
use crate::desk::Desk;
use crate::schema;

/// What a tool is called, what it is for, what it takes and gives, and how it is answered.
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    title: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    output: fn() -> JsonObject,
    answer: fn(&Desk, &Arguments<'_>) -> Result<Answer, Refusal>,
}

/// Always offered.
static USUAL: [&Definition; 4] = [
    &list_discussions::DEFINITION,
    &list_issues::DEFINITION,
    &list_pull_requests::DEFINITION,
    &search::DEFINITION,
];

/// Offered with the toolset `threads`.
static THREADS: [&Definition; 1] = [&get_thread::DEFINITION];

/// Tools that are offered only when somebody asks for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    /// `get_thread`
    Threads,
}

impl Toolset {
    pub const ALL: [Self; 1] = [Self::Threads];

    pub fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
        }
    }

    /// The toolset of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    fn tools(self) -> &'static [&'static Definition] {
        match self {
            Self::Threads => &THREADS,
        }
    }
}

/// The tools that are offered, in their order.
pub(crate) fn offered(toolsets: &[Toolset]) -> Vec<&'static Definition> {
    let asked_for = Toolset::ALL.into_iter().filter(|it| toolsets.contains(it));
    let asked_for = asked_for.flat_map(Toolset::tools);
    USUAL.iter().chain(asked_for).copied().collect()
}

impl Definition {
    /// The tool as clients are told of it.
    pub(crate) fn tool(&self) -> Tool {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        Tool::new(self.name, self.about, schema::input(self.parameters))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new((self.output)()))
            .with_annotations(annotations)
    }

    pub(crate) fn call(&self, desk: &Desk, given: &JsonObject) -> Result<Answer, Refusal> {
        (self.answer)(desk, &Arguments::checked(given, self.parameters)?)
    }
}

/// The output of a list, which has nothing of its own.
fn of_a_list() -> JsonObject {
    schema::output(&serde_json::json!({}))
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
