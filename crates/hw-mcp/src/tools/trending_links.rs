//! The tool `trending_links`: links by the number of accounts on Bluesky that shared them. It is part of the toolset
//! `bluesky`.

use std::borrow::Cow;

use hw_store::TrendingLink;
use serde_json::{Map, Value, json};

use super::list_posts::NO_ACCOUNTS;
use super::{ToolContext, ToolDefinition, ToolEffect, list_schema};
use crate::arguments::{ToolArguments, ToolParameter};
use crate::bounded_text::{BoundedText, ListWording};
use crate::item_template::{ItemTemplate, single_line};
use crate::tool_answer::ToolAnswer;
use crate::tool_error::ToolError;

pub(super) static DEFINITION: ToolDefinition = ToolDefinition {
    name: "trending_links",
    title: "Trending links",
    description: "Lists the links that most accounts on Bluesky shared recently, with the accounts and the newest post. Links are separated by ---.",
    effect: ToolEffect::Reads,
    parameters: &[
        ToolParameter::count(
            "hours",
            "Count posts and reposts of the last hours. Example: 168. Defaults to 24.",
        ),
        ToolParameter::count(
            "limit",
            "Maximum number of links to list. Example: 5. Defaults to 20.",
        ),
        ToolParameter::text_list(
            "fields",
            "Array of fields to include in the response. Available fields: [\"url\", \"accounts\", \"posts\", \"shared_by\", \"newest_url\", \"newest_at\", \"newest_author\", \"body\"]. Defaults to all fields.",
        ),
    ],
    output_schema: list_schema,
    handler: answer_call,
};

static LINK_TEMPLATE: ItemTemplate = ItemTemplate {
    fields: &[
        "url",
        "accounts",
        "posts",
        "shared_by",
        "newest_url",
        "newest_at",
        "newest_author",
        "body",
    ],
    lines: &[
        ("url", "URL"),
        ("accounts", "Accounts"),
        ("posts", "Posts"),
        ("shared_by", "Shared by"),
        ("newest_url", "Newest post"),
        ("newest_at", "Posted at"),
        ("newest_author", "Author"),
    ],
};

const WORDING: ListWording = ListWording { plural: "links", prints_total: false, advice: "" };

const DEFAULT_HOURS: u64 = 24;
const DEFAULT_LIMIT: u64 = 20;
const HOUR_MS: i64 = 3_600_000;

fn answer_call(
    context: &ToolContext<'_>,
    arguments: &ToolArguments<'_>,
) -> Result<ToolAnswer, ToolError> {
    let selection = LINK_TEMPLATE.select_fields(&arguments.text_list("fields")?)?;
    let hours = arguments.positive_count("hours")?.unwrap_or(DEFAULT_HOURS);
    let hours_ms = i64::try_from(hours).unwrap_or(i64::MAX).saturating_mul(HOUR_MS);
    let limit = arguments.positive_count("limit")?.unwrap_or(DEFAULT_LIMIT);
    let store = context.workspace.store()?;
    let links = store.trending_links(context.now.minus_ms(hours_ms), limit)?;
    let mut text = BoundedText::default();
    let mut items: Vec<Value> = Vec::new();
    for link in &links {
        if !text.push_item(&selection.render_item(&|name| link_field(link, name))) {
            break;
        }
        items.push(selection.narrow_item(link_object(link)));
    }
    let total = links.len() as u64;
    let page = text.finish_list(&WORDING, total, total);
    items.truncate(page.item_count);
    let has_no_accounts = total == 0 && store.accounts()?.is_empty();
    Ok(ToolAnswer {
        page,
        items,
        total,
        next_cursor: None,
        completeness: store.post_completeness(&[])?,
        extra_facts: Map::new(),
        notes: has_no_accounts.then(|| NO_ACCOUNTS.to_owned()).into_iter().collect(),
    })
}

/// Returns a field of a link for the text; `body` is the text of the newest post.
fn link_field<'a>(link: &'a TrendingLink, name: &str) -> Cow<'a, str> {
    let newest = &link.newest;
    Cow::Owned(match name {
        "url" => return Cow::Borrowed(&link.url),
        "accounts" => link.sharer_count.to_string(),
        "posts" => link.post_count.to_string(),
        "shared_by" => link.sharers.join(", "),
        "newest_url" => newest.post.web_url(),
        "newest_at" => newest.post.sort_at.to_string(),
        "newest_author" => newest.author_name().to_owned(),
        "body" => return Cow::Borrowed(&newest.post.text),
        _ => String::new(),
    })
}

/// Returns a link as structured content, without the text of the newest post.
fn link_object(link: &TrendingLink) -> Value {
    let newest = &link.newest;
    json!({
        "type": "link",
        "url": single_line(&link.url),
        "accounts": link.sharer_count,
        "posts": link.post_count,
        "shared_by": link.sharers,
        "newest_url": newest.post.web_url(),
        "newest_at": newest.post.sort_at.as_str(),
        "newest_author": newest.author_name(),
    })
}
