//! The tool `list_issues`.

use hw_rules::item::ThreadKind;

use super::{ToolDefinition, ToolEffect, list_schema};
use crate::arguments::ToolParameter;
use crate::bounded_text::ListWording;
use crate::item_template::ItemTemplate;
use crate::list_tool::{AUTHORS, CURSOR, LIMIT, ListTool, REPOSITORY};

pub(super) static DEFINITION: ToolDefinition = ToolDefinition {
    name: "list_issues",
    title: "List issues",
    description: "Lists issues with optional filtering. Issues are separated by ---.",
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
        ToolParameter::text(
            "closed_from",
            "Filter by closed_at after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        ToolParameter::text(
            "closed_to",
            "Filter by closed_at before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        AUTHORS,
        ToolParameter::text_list(
            "fields",
            "Array of fields to include in the response. Available fields: [\"title\", \"url\", \"repository\", \"created_at\", \"closed_at\", \"author\", \"status\", \"body\"]. Defaults to all fields.",
        ),
        LIMIT,
        CURSOR,
    ],
    output_schema: list_schema,
    handler: |context, arguments| LIST_TOOL.answer_call(context.workspace, arguments),
};

pub(super) static LIST_TOOL: ListTool = ListTool {
    kind: ThreadKind::Issue,
    template: ItemTemplate {
        fields: &[
            "title",
            "url",
            "repository",
            "created_at",
            "closed_at",
            "author",
            "status",
            "body",
        ],
        lines: &[
            ("url", "URL"),
            ("repository", "Repository"),
            ("created_at", "Created at"),
            ("closed_at", "Closed at"),
            ("author", "Author"),
            ("status", "Status"),
        ],
    },
    wording: ListWording { plural: "issues", prints_total: false, advice: "" },
};
