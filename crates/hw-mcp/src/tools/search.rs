//! The tool `search`.

use std::borrow::Cow;

use hw_rules::item::{ObjectKind, ThreadKind};
use hw_rules::safe_text::truncate_echo;
use hw_store::{Hit, MatchCount, RankedMatches, SearchRequest, SearchResults};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::{ToolContext, ToolDefinition, ToolEffect};
use crate::arguments::{ToolArguments, ToolParameter};
use crate::bounded_text::{AnswerText, BoundedText};
use crate::item_template::{FieldSelection, ItemTemplate, single_line};
use crate::missing_words;
use crate::schema::{self, nullable_schema};
use crate::tool_answer::ToolAnswer;
use crate::tool_error::ToolError;

pub(super) static DEFINITION: ToolDefinition = ToolDefinition {
    name: "search",
    title: "Search",
    description: "Full-text search across discussions, issues, and pull requests.",
    effect: ToolEffect::Reads,
    parameters: &[
        ToolParameter::text("query", "Search query string. Example: authentication bug.")
            .required()
            .with_examples(&QUERY_EXAMPLES),
        ToolParameter::text_list(
            "fields",
            "Array of fields to include in the response. Available fields: [\"title\", \"url\", \"repository\", \"created_at\", \"author\", \"type\", \"state\", \"body\"]. Defaults to all fields.",
        ),
    ],
    output_schema: search_schema,
    handler: answer_call,
};

/// Shows the query grammar by example, because the description is prescribed.
const QUERY_EXAMPLES: [&str; 8] = [
    "tide gauge",
    "\"last reading\" state:open",
    "calibrat* -draft",
    "timeout OR deadline",
    "overflow repo:pump type:issue",
    "author:anchor type:pr state:merged",
    "label:\"help wanted\" updated:>=2026-01-01",
    "valve created:<2026-02-01",
];

pub(super) static HIT_TEMPLATE: ItemTemplate = ItemTemplate {
    fields: &["title", "url", "repository", "created_at", "author", "type", "state", "body"],
    lines: &[
        ("url", "URL"),
        ("type", "Type"),
        ("repository", "Repository"),
        ("created_at", "Created at"),
        ("author", "Author"),
        ("state", "State"),
    ],
};

fn search_schema() -> JsonObject {
    schema::output_schema(&json!({
        "total_is_exact": {
            "type": "boolean",
            "description": "True if total is exact; false if it is a lower bound."
        },
        "total_note": {
            "type": ["string", "null"],
            "description": "The reason why total is a lower bound, if it is one."
        },
        "misread": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Notes on parts of the query that were searched as text, ignored, or applied differently than written, and on repositories that are not in the mirror."
        },
        "notes": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Reasons why there are no results, such as words that no text contains."
        },
        "ranked": nullable_schema("string", "A note on which matches were ranked; null if all were."),
    }))
}

fn answer_call(
    context: &ToolContext<'_>,
    arguments: &ToolArguments<'_>,
) -> Result<ToolAnswer, ToolError> {
    let query = arguments.required_text("query")?;
    let selection = HIT_TEMPLATE.select_fields(&arguments.text_list("fields")?)?;
    let engine = context.workspace.search_engine()?;
    let results = engine.search(&SearchRequest::new(query))?;
    let explanation =
        if results.hits.is_empty() { missing_words::explain_no_hits(engine, query)? } else { None };
    Ok(build_answer(query, &selection, results, explanation.as_deref()))
}

/// Builds the answer from the results of a query; the explanation says why there are none.
pub(super) fn build_answer(
    query: &str,
    selection: &FieldSelection,
    results: SearchResults,
    explanation: Option<&str>,
) -> ToolAnswer {
    let page = render_hits(query, selection, &results.hits);
    let (total, is_exact) = match results.matches {
        MatchCount::Exactly(count) => (count, true),
        MatchCount::AtLeast(count) => (count, false),
    };
    let at_least = if is_exact { "" } else { "at least " };
    let ranked = (results.ranked_matches == RankedMatches::Newest)
        .then(|| format!("{at_least}{total} matches, of which only the newest were ranked"));
    let sentences = results.misread.iter().chain(&ranked).map(String::as_str).chain(explanation);
    let mut notes: Vec<String> =
        sentences.map(|note| format!("Note: {}.", single_line(note))).collect();
    notes.extend(comment_notes(&results.hits[..page.item_count]));
    notes.extend(repost_notes(&results.hits[..page.item_count]));
    if page.is_cut {
        let left_out = match results.hits.len() - page.item_count {
            1 => "1 result is".to_owned(),
            count => format!("{count} results are"),
        };
        notes.push(format!("Note: {left_out} left out, because the text would exceed 990 kB; request fewer `fields`."));
    }
    let facts = [
        ("total_is_exact", json!(is_exact)),
        ("total_note", json!(results.count_note())),
        ("ranked", json!(ranked)),
        ("misread", json!(results.misread)),
        ("notes", json!(explanation.iter().map(|note| single_line(note)).collect::<Vec<_>>())),
    ];
    ToolAnswer {
        items: results
            .hits
            .iter()
            .take(page.item_count)
            .map(|hit| selection.narrow_item(hit_object(hit)))
            .collect(),
        page,
        total,
        next_cursor: None,
        completeness: results.completeness,
        extra_facts: facts
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect::<Map<_, _>>(),
        notes,
    }
}

fn render_hits(query: &str, selection: &FieldSelection, hits: &[Hit]) -> AnswerText {
    if hits.is_empty() {
        let text = format!("No results found for \"{}\".", truncate_echo(query));
        return AnswerText { text, item_count: 0, is_cut: false };
    }
    let mut text = BoundedText::default();
    for hit in hits {
        if !text.push_item(&selection.render_item(&|name| hit_field(hit, name))) {
            break;
        }
    }
    text.finish_plain()
}

fn hit_field<'a>(hit: &'a Hit, name: &str) -> Cow<'a, str> {
    let text = match name {
        "title" => &hit.title,
        "url" => &hit.url,
        "repository" => &hit.repository,
        "created_at" => hit.created_at.as_str(),
        "author" => hit.author.as_deref().unwrap_or_default(),
        "type" => hit.type_name(),
        "state" => text_state(hit),
        "body" => &hit.body,
        _ => "",
    };
    Cow::Borrowed(text)
}

/// Returns the state for the text, which is prescribed to be open for every discussion. Structured items have the
/// real one.
fn text_state(hit: &Hit) -> &str {
    if hit.kind == ObjectKind::Thread(ThreadKind::Discussion) { "open" } else { &hit.state }
}

/// Returns a result as structured content, without its body.
fn hit_object(hit: &Hit) -> Value {
    let mut object = json!({
        "type": hit.type_name(),
        "title": single_line(&hit.title),
        "url": hit.url,
        "created_at": hit.created_at.as_str(),
        "updated_at": hit.updated_at.as_str(),
        "author": hit.author,
        "labels": hit.labels.iter().map(|label| single_line(label)).collect::<Vec<_>>(),
    });
    if hit.kind != ObjectKind::Post {
        object["number"] = json!(hit.number);
        object["repository"] = json!(hit.repository);
        object["state"] = json!(hit.state);
    }
    if let Some(account) = &hit.reposted_by {
        object["reposted_by"] = json!(account);
    }
    if let Some(comment) = &hit.matched_comment {
        object["comment"] = json!({
            "url": comment.url,
            "author": comment.author,
            "created_at": comment.created_at.as_str(),
            "snippet": snippet_text(hit),
        });
    }
    object
}

/// Names the comment of each result that matched in one, because the text shows only the thread's own body.
fn comment_notes(hits: &[Hit]) -> impl Iterator<Item = String> {
    (1..).zip(hits).filter_map(|(number, hit)| {
        let comment = hit.matched_comment.as_ref()?;
        let author = comment.author.as_deref().unwrap_or("a deleted account");
        let snippet = snippet_text(hit);
        Some(format!(
            "Result {number} matches in a comment by {author}, {}: {snippet}",
            comment.url
        ))
    })
}

/// Names the account of each result that is a repost, because the text shows only the author's.
fn repost_notes(hits: &[Hit]) -> impl Iterator<Item = String> {
    (1..).zip(hits).filter_map(|(number, hit)| {
        let account = hit.reposted_by.as_ref()?;
        Some(format!("Result {number} is a repost by {account}."))
    })
}

fn snippet_text(hit: &Hit) -> String {
    single_line(&hit.snippet.iter().map(|piece| piece.text.as_str()).collect::<String>())
}
