//! The tool `list_discussions`.

use hw_rules::item::ThreadKind;

use super::{ToolDefinition, ToolEffect, list_schema};
use crate::arguments::ToolParameter;
use crate::bounded_text::ListWording;
use crate::item_template::ItemTemplate;
use crate::list_tool::{AUTHORS, CURSOR, LIMIT, ListTool, REPOSITORY};

pub(super) static DEFINITION: ToolDefinition = ToolDefinition {
    name: "list_discussions",
    title: "List discussions",
    description: "Lists discussions with optional filtering. Discussions are separated by ---.",
    effect: ToolEffect::Reads,
    parameters: &[
        REPOSITORY,
        ToolParameter::text(
            "created_from",
            "Filter by created_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        ToolParameter::text(
            "created_to",
            "Filter by created_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        AUTHORS,
        ToolParameter::text_list(
            "fields",
            "Array of fields to include in the response. Available fields: [\"title\", \"url\", \"repository\", \"created_at\", \"author\", \"body\"]. Defaults to all fields.",
        ),
        LIMIT,
        CURSOR,
    ],
    output_schema: list_schema,
    handler: |context, arguments| LIST_TOOL.answer_call(context.workspace, arguments),
};

pub(super) static LIST_TOOL: ListTool = ListTool {
    kind: ThreadKind::Discussion,
    template: ItemTemplate {
        fields: &["title", "url", "repository", "created_at", "author", "body"],
        lines: &[
            ("url", "URL"),
            ("repository", "Repository"),
            ("created_at", "Created at"),
            ("author", "Author"),
        ],
    },
    wording: ListWording {
        plural: "discussions",
        prints_total: false,
        advice: " Use `created_from` and `created_to` parameters\nto narrow the results.",
    },
};
