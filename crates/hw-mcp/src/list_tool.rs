//! The common part of the three lists: their filters, their iteration over the store, their pages.

use std::borrow::Cow;
use std::ops::ControlFlow;

use hw_rules::item::{Thread, ThreadDetails, ThreadKind};
use hw_rules::lane::Surface;
use hw_rules::source_time::SourceTime;
use hw_store::{SkippedRows, StoreReader, ThreadCursor, ThreadFilter, ThreadRow, WorkspaceHandle};
use serde_json::{Map, Value, json};

use crate::arguments::{ToolArguments, ToolParameter};
use crate::bounded_text::{BoundedText, ListWording};
use crate::item_template::{FieldSelection, ItemTemplate, single_line};
use crate::tool_answer::ToolAnswer;
use crate::tool_error::ToolError;

pub(crate) const REPOSITORY: ToolParameter = ToolParameter::text(
    "repository",
    "Filter by repository name. Example: auth-service. Defaults to any repository in the organization.",
);
pub(crate) const AUTHORS: ToolParameter = ToolParameter::text_list(
    "authors",
    "Array of author usernames. Example: [john_doe, jane_doe]. Defaults to any author.",
);
pub(crate) const LIMIT: ToolParameter = ToolParameter::count(
    "limit",
    "Maximum number of items to list. Example: 20. Defaults to as many as fit into 990 kB.",
);
pub(crate) const CURSOR: ToolParameter = ToolParameter::text(
    "cursor",
    "next_cursor from the previous page, with the same filters. Defaults to the beginning.",
);

/// A tool that lists the threads of one kind.
pub(crate) struct ListTool {
    pub(crate) kind: ThreadKind,
    pub(crate) template: ItemTemplate,
    pub(crate) wording: ListWording,
}

/// The items of a page.
#[derive(Default)]
struct ListedItems {
    text: BoundedText,
    items: Vec<Value>,
    cursors: Vec<ThreadCursor>,
    /// Number of matches from the first item of the page on.
    found: u64,
    skipped: SkippedRows,
}

impl ListTool {
    pub(crate) fn answer_call(
        &'static self,
        workspace: &WorkspaceHandle,
        arguments: &ToolArguments<'_>,
    ) -> Result<ToolAnswer, ToolError> {
        let selection = self.template.select_fields(&arguments.text_list("fields")?)?;
        let filter = self.parse_filter(arguments)?;
        let store = workspace.store()?;
        let ListedItems { text, mut items, cursors, found, skipped } =
            self.collect_items(&store, &selection, &filter)?;
        let total = match &filter.after {
            Some(_) => self.count_matches(&store, &filter)?,
            None => found,
        };
        let mut completeness =
            store.completeness(&[Surface::Threads(self.kind)], filter.repository.as_deref())?;
        completeness.missing.extend(skipped.to_missing());
        let page = text.finish_list(&self.wording, found, total);
        items.truncate(page.item_count);
        let last = page.item_count.checked_sub(1).filter(|_| (page.item_count as u64) < found);
        let next_cursor = last.map(|last| self.format_cursor(&cursors[last]));
        Ok(ToolAnswer {
            page,
            items,
            total,
            next_cursor,
            completeness,
            extra_facts: Map::new(),
            notes: vec![],
        })
    }

    /// Collects the items that fit on a page, and counts all that match from there on.
    fn collect_items(
        &self,
        store: &StoreReader,
        selection: &FieldSelection,
        filter: &ThreadFilter,
    ) -> Result<ListedItems, ToolError> {
        let mut listed = ListedItems::default();
        let threads = store.each_thread_with_total(self.kind, filter, &mut |row| {
            if !listed.text.push_item(&selection.render_item(&|name| thread_field(&row, name))) {
                return ControlFlow::Break(());
            }
            listed.items.push(selection.narrow_item(thread_object(&row)));
            listed.cursors.push(ThreadCursor::from_row(&row));
            ControlFlow::Continue(())
        })?;
        Ok(ListedItems { found: threads.total, skipped: threads.skipped, ..listed })
    }

    /// Formats a cursor for the caller. Other lists do not accept it.
    fn format_cursor(&self, cursor: &ThreadCursor) -> String {
        format!("{}:{cursor}", self.kind.name())
    }

    fn parse_cursor(&self, cursor: &str) -> Result<ThreadCursor, ToolError> {
        let (kind, position) = cursor.split_once(':').unwrap_or_default();
        match position.parse::<ThreadCursor>() {
            Ok(after) if kind == self.kind.name() => Ok(after),
            Ok(_) if ThreadKind::ALL.iter().any(|thread| thread.name() == kind) => {
                Err(ToolError("`cursor` belongs to another list".to_owned()))
            }
            Ok(_) | Err(_) => Err(ToolError(
                "`cursor` is invalid: pass next_cursor of the previous page unchanged".to_owned(),
            )),
        }
    }

    fn parse_filter(&self, arguments: &ToolArguments<'_>) -> Result<ThreadFilter, ToolError> {
        Ok(ThreadFilter {
            repository: arguments.optional_text("repository")?.map(str::to_owned),
            authors: arguments.text_list("authors")?,
            created: arguments.date_span("created_from", "created_to")?,
            closed: arguments.date_span("closed_from", "closed_to")?,
            merged: arguments.date_span("merged_from", "merged_to")?,
            after: arguments
                .optional_text("cursor")?
                .map(|cursor| self.parse_cursor(cursor))
                .transpose()?,
            limit: arguments.positive_count("limit")?,
            ..ThreadFilter::default()
        })
    }

    /// Counts the matches on all pages.
    fn count_matches(&self, store: &StoreReader, filter: &ThreadFilter) -> Result<u64, ToolError> {
        let all = ThreadFilter { after: None, limit: Some(1), ..filter.clone() };
        let found =
            store.each_thread_with_total(self.kind, &all, &mut |_| ControlFlow::Break(()))?;
        Ok(found.total)
    }
}

/// Returns a field of a thread for the text; null becomes empty.
pub(crate) fn thread_field<'a>(row: &'a ThreadRow, name: &str) -> Cow<'a, str> {
    let thread = &row.thread;
    let text = match name {
        "title" => &thread.title,
        "url" => &thread.url,
        "repository" => &row.repository,
        "created_at" => thread.created_at.as_str(),
        "closed_at" => time_or_empty(thread.closed_at.as_ref()),
        "merged_at" => time_or_empty(merged_at(thread)),
        "author" => thread.author.as_deref().unwrap_or_default(),
        "status" => thread_status(thread),
        "body" => &thread.body,
        _ => "",
    };
    Cow::Borrowed(text)
}

/// Returns a thread as structured content, without its body.
pub(crate) fn thread_object(row: &ThreadRow) -> Value {
    let thread = &row.thread;
    let mut object = json!({
        "type": thread.kind().name(),
        "number": thread.number,
        "title": single_line(&thread.title),
        "url": thread.url,
        "repository": row.repository,
        "created_at": thread.created_at.as_str(),
        "updated_at": thread.updated_at.as_str(),
        "closed_at": thread.closed_at.as_ref().map(SourceTime::as_str),
        "author": thread.author,
        "status": thread_status(thread),
        "state": thread.state.to_lowercase(),
        "labels": thread.labels.iter().map(|label| single_line(label)).collect::<Vec<_>>(),
        "node_id": thread.node_id,
    });
    if let ThreadDetails::PullRequest(_) = &thread.details {
        object["merged_at"] = json!(merged_at(thread).map(SourceTime::as_str));
    }
    object
}

fn thread_status(thread: &Thread) -> &'static str {
    if thread.closed_at.is_some() { "closed" } else { "open" }
}

fn merged_at(thread: &Thread) -> Option<&SourceTime> {
    match &thread.details {
        ThreadDetails::PullRequest(pull_request) => pull_request.merged_at.as_ref(),
        ThreadDetails::Issue | ThreadDetails::Discussion(_) => None,
    }
}

pub(crate) fn time_or_empty(time: Option<&SourceTime>) -> &str {
    time.map_or("", SourceTime::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUES: ListTool = ListTool {
        kind: ThreadKind::Issue,
        template: ItemTemplate { fields: &[], lines: &[] },
        wording: ListWording { plural: "issues", prints_total: false, advice: "" },
    };

    #[test]
    fn cursor_is_accepted_only_by_its_own_list() {
        let after = ThreadCursor { created_at: "2025-01-02T03:04:05Z".into(), id: 12 };
        let cursor = ISSUES.format_cursor(&after);
        assert_eq!(ISSUES.parse_cursor(&cursor), Ok(after));
        let others = ListTool { kind: ThreadKind::Discussion, ..ISSUES };
        let error = "`cursor` belongs to another list";
        assert_eq!(others.parse_cursor(&cursor), Err(ToolError(error.to_owned())));
        for text in ["", "x", ":", "issue:", "issue:x", "x:2025-01-02T03:04:05Z_12"] {
            let error = ISSUES.parse_cursor(text).unwrap_err().0;
            assert!(error.starts_with("`cursor` is invalid"), "{text}: {error}");
        }
    }
}
