//! The tool `list_posts`: posts and reposts of accounts on Bluesky. It is part of the toolset `bluesky`.

use std::borrow::Cow;
use std::ops::ControlFlow;

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::record_uri::RecordUri;
use hw_store::{
    PostCursor, PostFilter, PostRow, ReplySelection, RepostSelection, SkippedRows, StoreReader,
};
use serde_json::{Map, Value, json};

use super::{ToolContext, ToolDefinition, ToolEffect, list_schema};
use crate::arguments::{ToolArguments, ToolParameter};
use crate::bounded_text::{BoundedText, ListWording};
use crate::item_template::{FieldSelection, ItemTemplate, single_line};
use crate::list_tool::{CURSOR, LIMIT};
use crate::tool_answer::ToolAnswer;
use crate::tool_error::ToolError;

pub(super) static DEFINITION: ToolDefinition = ToolDefinition {
    name: "list_posts",
    title: "List posts",
    description: "Lists posts and reposts of accounts on Bluesky with optional filtering, newest first. Posts are separated by ---.",
    effect: ToolEffect::Reads,
    parameters: &[
        ToolParameter::text_list(
            "accounts",
            "Array of handles or DIDs of the accounts that posted or reposted. Example: [alice.bsky.social]. Defaults to any account.",
        ),
        ToolParameter::text(
            "created_from",
            "Filter by the time of the post or repost, at or after the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        ToolParameter::text(
            "created_to",
            "Filter by the time of the post or repost, at or before the specified date. Example: 2025-06-18T19:19:08Z. Defaults to any date.",
        ),
        ToolParameter::flag("no_reposts", "True to leave out reposts. Defaults to false."),
        ToolParameter::flag("no_replies", "True to leave out replies. Defaults to false."),
        ToolParameter::text_list(
            "fields",
            "Array of fields to include in the response. Available fields: [\"url\", \"uri\", \"kind\", \"account\", \"author\", \"posted_at\", \"reply_to\", \"quote\", \"links\", \"body\"]. Defaults to all fields.",
        ),
        LIMIT,
        CURSOR,
    ],
    output_schema: list_schema,
    handler: answer_call,
};

static POST_TEMPLATE: ItemTemplate = ItemTemplate {
    fields: &[
        "url",
        "uri",
        "kind",
        "account",
        "author",
        "posted_at",
        "reply_to",
        "quote",
        "links",
        "body",
    ],
    lines: &[
        ("url", "URL"),
        ("uri", "URI"),
        ("kind", "Kind"),
        ("account", "Account"),
        ("author", "Author"),
        ("posted_at", "Posted at"),
        ("reply_to", "Reply to"),
        ("quote", "Quote"),
        ("links", "Links"),
    ],
};

const WORDING: ListWording = ListWording { plural: "posts", prints_total: false, advice: "" };

/// Explains an empty answer of a workspace that follows no accounts.
pub(super) const NO_ACCOUNTS: &str =
    "Note: this workspace follows no accounts on Bluesky; `highwater bluesky add HANDLE` adds one.";

fn answer_call(
    context: &ToolContext<'_>,
    arguments: &ToolArguments<'_>,
) -> Result<ToolAnswer, ToolError> {
    let selection = POST_TEMPLATE.select_fields(&arguments.text_list("fields")?)?;
    let filter = parse_filter(arguments)?;
    let store = context.workspace.store()?;
    let ListedPosts { text, mut items, cursors, found, skipped } =
        collect_posts(&store, &selection, &filter)?;
    let total = match &filter.after {
        Some(_) => store.count_posts(&PostFilter { after: None, ..filter.clone() })?,
        None => found,
    };
    let mut completeness = store.post_completeness(&filter.accounts)?;
    completeness.missing.extend(skipped.to_missing());
    let page = text.finish_list(&WORDING, found, total);
    items.truncate(page.item_count);
    let last = page.item_count.checked_sub(1).filter(|_| (page.item_count as u64) < found);
    let has_no_accounts = found == 0 && store.accounts()?.is_empty();
    Ok(ToolAnswer {
        items,
        total,
        next_cursor: last.map(|last| format_cursor(&cursors[last])),
        completeness,
        extra_facts: Map::new(),
        notes: has_no_accounts.then(|| NO_ACCOUNTS.to_owned()).into_iter().collect(),
        page,
    })
}

fn parse_filter(arguments: &ToolArguments<'_>) -> Result<PostFilter, ToolError> {
    let reposts = if arguments.flag("no_reposts")? {
        RepostSelection::Excluded
    } else {
        RepostSelection::Included
    };
    let replies = if arguments.flag("no_replies")? {
        ReplySelection::Excluded
    } else {
        ReplySelection::Included
    };
    Ok(PostFilter {
        accounts: parse_accounts(&arguments.text_list("accounts")?)?,
        created: arguments.date_span("created_from", "created_to")?,
        reposts,
        replies,
        after: arguments.optional_text("cursor")?.map(parse_cursor).transpose()?,
        limit: arguments.positive_count("limit")?,
    })
}

/// Checks that texts are handles or DIDs.
fn parse_accounts(texts: &[String]) -> Result<Vec<String>, ToolError> {
    let accounts = texts.iter().map(|text| match text.trim().parse::<AccountRef>() {
        Ok(account) => Ok(account.to_string()),
        Err(error) => Err(ToolError(format!("`accounts`: {error}"))),
    });
    accounts.collect()
}

/// Formats a cursor for the caller. Other lists do not accept it.
fn format_cursor(cursor: &PostCursor) -> String {
    format!("post:{cursor}")
}

fn parse_cursor(cursor: &str) -> Result<PostCursor, ToolError> {
    let position = cursor.strip_prefix("post:").and_then(|position| position.parse().ok());
    position.ok_or_else(|| {
        ToolError(
            "`cursor` is invalid: pass next_cursor of the previous page of this list unchanged"
                .to_owned(),
        )
    })
}

/// The posts of a page.
#[derive(Default)]
struct ListedPosts {
    text: BoundedText,
    items: Vec<Value>,
    cursors: Vec<PostCursor>,
    /// Number of matches from the first post of the page on.
    found: u64,
    skipped: SkippedRows,
}

/// Collects the posts that fit on a page, and counts all that match from there on.
fn collect_posts(
    store: &StoreReader,
    selection: &FieldSelection,
    filter: &PostFilter,
) -> Result<ListedPosts, ToolError> {
    let mut listed = ListedPosts::default();
    let mut is_cut = false;
    let skipped = store.each_post(filter, &mut |row| {
        if !listed.text.push_item(&selection.render_item(&|name| post_field(&row, name))) {
            is_cut = true;
            return ControlFlow::Break(());
        }
        listed.items.push(selection.narrow_item(post_object(&row)));
        listed.cursors.push(PostCursor::from_row(&row));
        ControlFlow::Continue(())
    })?;
    let listed_count = listed.items.len() as u64;
    let is_at_end = !is_cut && filter.limit.is_none_or(|limit| listed_count + skipped.0 < limit);
    let found = if is_at_end { listed_count } else { store.count_posts(filter)? };
    Ok(ListedPosts { found, skipped, ..listed })
}

/// Returns a field of a post for the text; null becomes empty.
fn post_field<'a>(row: &'a PostRow, name: &str) -> Cow<'a, str> {
    let post = &row.post;
    let text = match name {
        "url" => return Cow::Owned(post.web_url()),
        "uri" => post.uri.as_str(),
        "kind" => post.kind_name(),
        "account" => row.sharer_name(),
        "author" => row.author_name(),
        "posted_at" => post.sort_at.as_str(),
        "reply_to" => return record_address(post.reply.as_ref().map(|reply| &reply.parent)),
        "quote" => return record_address(post.quote.as_ref()),
        "links" => return Cow::Owned(post.distinct_urls().join(" ")),
        "body" => &post.text,
        _ => "",
    };
    Cow::Borrowed(text)
}

/// Returns the URL of a record's page; the URI of one that has none.
fn record_address(uri: Option<&RecordUri>) -> Cow<'_, str> {
    let Some(uri) = uri else { return Cow::Borrowed("") };
    uri.web_url().map_or(Cow::Borrowed(uri.as_str()), Cow::Owned)
}

/// Returns a post as structured content, without its text.
fn post_object(row: &PostRow) -> Value {
    let post = &row.post;
    json!({
        "type": "post",
        "kind": post.kind_name(),
        "url": post.web_url(),
        "uri": post.uri,
        "account": row.sharer_name(),
        "account_did": post.sharer(),
        "author": row.author_name(),
        "author_did": post.did,
        "posted_at": post.sort_at.as_str(),
        "reply_to": post.reply.as_ref().map(|reply| &reply.parent),
        "quote": post.quote,
        "repost_of": post.repost.as_ref().map(|repost| &repost.subject),
        "langs": post.langs,
        "links": post.distinct_urls().into_iter().map(single_line).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_list_accepts_only_its_own_cursors() {
        let cursor = PostCursor { sort_ms: 12, host: "bsky.app".to_owned(), id: 7 };
        assert_eq!(parse_cursor(&format_cursor(&cursor)), Ok(cursor));
        for text in ["", "post:", "issue:2025-01-02T03:04:05Z_12", "post:1_2_a\0", "12_7_bsky.app"]
        {
            let error = parse_cursor(text).unwrap_err().0;
            assert!(error.starts_with("`cursor` is invalid"), "{text}: {error}");
        }
    }
}
