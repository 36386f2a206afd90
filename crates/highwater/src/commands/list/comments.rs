//! `highwater list comments`

use std::ops::ControlFlow;

use hw_rules::item::Comment;
use hw_store::{CommentFilter, CommentRow, Store};
use serde_json::{Value, json};

use super::{fresh, open};
use crate::cli::ListComments;
use crate::config::Settings;
use crate::terminal::{Page, shown_line};

/// How much of a text fits beside its author.
const SHOWN: usize = 80;

pub(super) fn run(args: &ListComments, settings: &Settings) -> anyhow::Result<()> {
    let store = open(settings)?;
    print(args, &store)?;
    fresh::warn_of_comments(&store, args.repository.as_deref())
}

fn print(args: &ListComments, store: &Store) -> anyhow::Result<()> {
    let filter = CommentFilter {
        repository: args.repository.clone(),
        thread: args.thread,
        authors: args.author.clone().into_iter().collect(),
        limit: args.limit,
        ..CommentFilter::default()
    };
    let mut page = Page::new();
    let mut written = Ok(());
    store.each_comment(&filter, &mut |row| {
        written = if args.json { page.object(&object(&row)) } else { page.line(&line(&row)) };
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    Ok(page.end()?)
}

/// The comment for programs; `docs/json.md` is its contract.
fn object(row: &CommentRow) -> Value {
    let said = &row.comment;
    json!({
        "type": said.kind.name(),
        "id": said.id,
        "number": said.thread,
        "url": said.url,
        "repository": row.repository,
        "created_at": said.created_at,
        "updated_at": said.updated_at,
        "author": said.author,
        "state": said.state.as_ref().map(|state| state.to_lowercase()),
        "labels": [],
        "reply_to": said.reply_to,
        "review_id": said.review_id,
        "path": said.path,
        "line": said.line,
        "node_id": said.node_id,
        "body": said.body,
    })
}

fn line(row: &CommentRow) -> String {
    let Comment { thread, author, body, created_at, .. } = &row.comment;
    let name = format!("{}#{thread}", shown_line(&row.repository));
    let author = shown_line(author.as_deref().unwrap_or("ghost"));
    let date = created_at.as_str().get(..10).unwrap_or(created_at.as_str());
    let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: String = shown_line(first).chars().take(SHOWN).collect();
    format!("{name:<28} {date}  {author:<16} {first}")
}
