//! The tool `get_thread`: a thread with its comments. It is part of the toolset `threads`.

use std::borrow::Cow;

use hw_rules::item::{Comment, CommentKind};
use hw_rules::lane::Surface;
use hw_rules::safe_text::{sanitize_for_display, truncate_echo};
use hw_rules::thread_address::ThreadAddress;
use hw_rules::thread_order::{self, CommentLinks};
use hw_store::{CommentRow, Completeness, ThreadView};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::{ToolContext, ToolDefinition, ToolEffect};
use crate::arguments::{ToolArguments, ToolParameter};
use crate::bounded_text::{AnswerText, BoundedText, MAX_ANSWER_BYTES};
use crate::item_template::{ITEM_RULE, ItemTemplate, single_line};
use crate::list_tool::{thread_object, time_or_empty};
use crate::schema::{self, count_schema};
use crate::tool_answer::{ToolAnswer, format_warning, take_fitting};
use crate::tool_error::ToolError;

pub(super) static DEFINITION: ToolDefinition = ToolDefinition {
    name: "get_thread",
    title: "Get a thread",
    description: "Gets one discussion, issue or pull request with its comments, in reading order: replies follow the comment they answer, and line comments follow their review. The thread and its comments are separated by ---.",
    effect: ToolEffect::Reads,
    parameters: &[ToolParameter::text(
        "thread",
        "The thread: owner/repository#number, or its URL. Example: acme/auth-service#12.",
    )
    .required()],
    output_schema: thread_schema,
    handler: answer_call,
};

static THREAD_TEMPLATE: ItemTemplate = ItemTemplate {
    fields: &[
        "title",
        "url",
        "type",
        "repository",
        "created_at",
        "closed_at",
        "author",
        "state",
        "labels",
        "body",
    ],
    lines: &[
        ("url", "URL"),
        ("type", "Type"),
        ("repository", "Repository"),
        ("created_at", "Created at"),
        ("closed_at", "Closed at"),
        ("author", "Author"),
        ("state", "State"),
        ("labels", "Labels"),
    ],
};

fn thread_schema() -> JsonObject {
    let text = json!({ "type": "string" });
    let nullable = json!({ "type": ["string", "null"] });
    schema::output_schema(&json!({
        "comments": {
            "type": "array",
            "description": "The comments in the text, in the same order, without their bodies; as many as fit.",
            "items": {
                "type": "object",
                "properties": {
                    "type": text, "id": { "type": "integer" }, "url": text, "author": nullable,
                    "created_at": text, "updated_at": text, "state": nullable,
                    "reply_to": { "type": ["integer", "null"] }, "path": nullable, "line": { "type": ["integer", "null"] }
                }
            }
        },
        "comments_total": count_schema("Number of the thread's comments in the mirror."),
    }))
}

fn answer_call(
    context: &ToolContext<'_>,
    arguments: &ToolArguments<'_>,
) -> Result<ToolAnswer, ToolError> {
    let name = arguments.required_text("thread")?;
    let address =
        ThreadAddress::parse(name).map_err(|error| ToolError(format!("`thread`: {error}")))?;
    let name = truncate_echo(&single_line(name)).into_owned();
    let store = context.workspace.store()?;
    if let urls @ [_, _, ..] = store.thread_urls(&address)?.as_slice() {
        let urls = urls.join(", ");
        return Err(ToolError(format!("{name} names several threads; pass one of these: {urls}")));
    }
    let Some(view) = store.find_thread(&address)? else {
        let owner = address.owner.as_ref().map(|owner| format!("{owner}/")).unwrap_or_default();
        let repository = format!("{owner}{}", address.repository);
        let completeness = store.completeness(&Surface::THREADS, Some(&repository))?;
        let mut lines = vec![format!("{name} is not in this mirror.")];
        lines.extend(completeness.missing.iter().map(format_warning));
        return Err(ToolError(lines.join("\n")));
    };
    let completeness = store.thread_completeness(&view)?;
    Ok(build_answer(&view, completeness))
}

/// Builds the answer from a stored thread.
pub(super) fn build_answer(view: &ThreadView, completeness: Completeness) -> ToolAnswer {
    let mut text = BoundedText::default();
    let opening = render_opening(view);
    let mut has_room = text.push_item(&opening.text);
    let ordered =
        thread_order::order_thread(&view.comments, |row| CommentLinks::from(&row.comment));
    for nested in &ordered {
        has_room = has_room && text.push_item(&render_comment(&nested.comment.comment));
    }
    let page = text.finish_plain();
    let comment_count = page.item_count.saturating_sub(1);
    let mut notes = Vec::new();
    if opening.is_cut {
        let reason = "because the text would exceed 990 kB";
        notes.push(format!("Note: only the beginning of the body is shown, {reason}."));
    }
    match view.comments.len() - comment_count {
        0 => {}
        1 => {
            notes.push("Note: 1 comment is left out, because the text would exceed 990 kB.".into());
        }
        count => notes.push(format!(
            "Note: {count} comments are left out, because the text would exceed 990 kB."
        )),
    }
    let included = ordered.iter().take(comment_count);
    let comments: Vec<Value> = included.map(|nested| comment_object(nested.comment)).collect();
    let facts = [
        ("comments", json!(take_fitting(&comments, &page.text))),
        ("comments_total", json!(view.comments.len())),
    ];
    ToolAnswer {
        page: AnswerText { item_count: 1, is_cut: page.is_cut || opening.is_cut, ..page },
        items: vec![thread_object(&view.row)],
        total: 1,
        next_cursor: None,
        completeness,
        extra_facts: facts
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect::<Map<_, _>>(),
        notes,
    }
}

/// The thread itself, above its comments.
struct ThreadOpening {
    text: String,
    /// Only the beginning of the body fits.
    is_cut: bool,
}

fn render_opening(view: &ThreadView) -> ThreadOpening {
    let body = sanitize_for_display(&view.row.thread.body);
    let text = render_thread(view, &body);
    if text.len() <= MAX_ANSWER_BYTES {
        return ThreadOpening { text, is_cut: false };
    }
    let remaining = MAX_ANSWER_BYTES.saturating_sub(render_thread(view, "").len());
    let beginning = &body[..body.floor_char_boundary(remaining)];
    ThreadOpening { text: render_thread(view, beginning), is_cut: true }
}

fn render_thread(view: &ThreadView, body: &str) -> String {
    let selection =
        THREAD_TEMPLATE.select_fields(&[]).expect("a selection without names is always valid");
    selection.render_item(&|name| match name {
        "body" => Cow::Owned(body.to_owned()),
        _ => view_field(view, name),
    })
}

fn view_field<'a>(view: &'a ThreadView, name: &str) -> Cow<'a, str> {
    let thread = &view.row.thread;
    Cow::Borrowed(match name {
        "title" => &thread.title,
        "url" => &thread.url,
        "type" => thread.kind().name(),
        "repository" => return Cow::Owned(format!("{}/{}", view.owner, view.row.repository)),
        "created_at" => thread.created_at.as_str(),
        "closed_at" => time_or_empty(thread.closed_at.as_ref()),
        "author" => thread.author.as_deref().unwrap_or_default(),
        "state" => return Cow::Owned(thread.state.to_lowercase()),
        "labels" => return Cow::Owned(thread.labels.join(", ")),
        _ => "",
    })
}

/// Renders a comment as Markdown: its properties, then its text.
fn render_comment(comment: &Comment) -> String {
    let author = single_line(comment.author.as_deref().unwrap_or_default());
    let mut lines = vec![format!("- URL: {}", single_line(&comment.url))];
    lines.push(format!("- Created at: {}", comment.created_at.as_str()));
    lines.push(format!("- Author: {author}"));
    if let Some(state) = &comment.state {
        lines.push(format!("- State: {}", single_line(&state.to_lowercase())));
    }
    if let Some(path) = &comment.path {
        let line = comment.line.map_or(String::new(), |number| format!(":{number}"));
        lines.push(format!("- File: {}{line}", single_line(path)));
    }
    let heading = match comment.kind {
        CommentKind::Review => "Review",
        _ if comment.reply_to.is_some() => "Reply",
        CommentKind::ReviewComment => "Review comment",
        CommentKind::Conversation | CommentKind::DiscussionComment => "Comment",
    };
    format!(
        "### {heading}\n\n{}\n\n{}\n\n{ITEM_RULE}",
        lines.join("\n"),
        sanitize_for_display(&comment.body)
    )
}

/// Returns a comment as structured content, without its body.
fn comment_object(row: &CommentRow) -> Value {
    let comment = &row.comment;
    json!({
        "type": comment.kind.name(),
        "id": comment.id,
        "url": comment.url,
        "author": comment.author,
        "created_at": comment.created_at.as_str(),
        "updated_at": comment.updated_at.as_str(),
        "state": comment.state.as_ref().map(|state| state.to_lowercase()),
        "reply_to": comment.reply_to,
        "path": comment.path.as_ref().map(|path| single_line(path)),
        "line": comment.line,
    })
}
