//! What the three lists have in common: their filters, their walk through the store, their pages.

use std::borrow::Cow;
use std::ops::ControlFlow;

use hw_rules::item::{Kind, Sort, Thread};
use hw_rules::lane::Surface;
use hw_rules::time::SourceTime;
use hw_store::{After, SkippedRows, Store, ThreadFilter, ThreadRow};
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::arguments::{Arguments, Parameter, Refusal};
use crate::desk::Desk;
use crate::form::{Chosen, Form, line};
use crate::sheet::{Sheet, Words};

pub(crate) const REPOSITORY: Parameter = Parameter::text(
    "repository",
    "Filter by repository name. Example: auth-service. Defaults to any repository in the organization.",
);
pub(crate) const AUTHORS: Parameter = Parameter::texts(
    "authors",
    "Array of author usernames. Example: [john_doe, jane_doe]. Defaults to any author.",
);
pub(crate) const LIMIT: Parameter = Parameter::count(
    "limit",
    "How many to list at most. Example: 20. Defaults to as many as fit into 990 kB.",
);
pub(crate) const CURSOR: Parameter = Parameter::text(
    "cursor",
    "Where to go on: the next_cursor of the page before, with the same filters. Defaults to the beginning.",
);

/// One list: what it lists, how an item is set, and what is said about all of them.
pub(crate) struct Listing {
    pub(crate) surface: Surface,
    pub(crate) form: Form,
    pub(crate) words: Words,
}

/// What was shown so far.
#[derive(Default)]
struct Shown {
    sheet: Sheet,
    items: Vec<Value>,
    places: Vec<After>,
    skipped: SkippedRows,
}

impl Listing {
    pub(crate) fn answer(
        &'static self,
        desk: &Desk,
        arguments: &Arguments<'_>,
    ) -> Result<Answer, Refusal> {
        let chosen = self.form.choose(&arguments.texts("fields")?)?;
        let filter = self.filter(arguments)?;
        let store = desk.store()?;
        let (shown, found) = self.walk(&store, &chosen, &filter)?;
        let total = match &filter.after {
            Some(_) => self.count(&store, &filter)?,
            None => found,
        };
        let mut behind = store.behind(&[self.surface], filter.repository.as_deref())?;
        behind.missing.extend(shown.skipped.sentence());
        let Shown { sheet, mut items, places, .. } = shown;
        let page = sheet.page(&self.words, found, total);
        items.truncate(page.shown);
        let last = page.shown.checked_sub(1).filter(|_| (page.shown as u64) < found);
        let next_cursor = last.map(|last| self.cursor(&places[last]));
        Ok(Answer { page, items, total, next_cursor, behind, more: Map::new(), notes: vec![] })
    }

    /// Shows what fits; and tells how many there are from there on.
    fn walk(
        &self,
        store: &Store,
        chosen: &Chosen,
        filter: &ThreadFilter,
    ) -> Result<(Shown, u64), Refusal> {
        let mut shown = Shown::default();
        let found = store.each_thread_of(self.surface.kind(), filter, &mut |row| {
            if !shown.sheet.add(&chosen.entry(&|name| value(&row, name))) {
                return ControlFlow::Break(());
            }
            shown.items.push(chosen.narrow(object(&row)));
            shown.places.push(After::of(&row));
            ControlFlow::Continue(())
        })?;
        shown.skipped = found.skipped;
        Ok((shown, found.total))
    }

    /// A place in this list, for the caller to bring back; no other list takes it.
    fn cursor(&self, place: &After) -> String {
        format!("{}:{place}", self.surface.kind().name())
    }

    fn place(&self, cursor: &str) -> Result<After, Refusal> {
        let (kind, place) = cursor.split_once(':').unwrap_or_default();
        let parsed = place.parse::<After>();
        match parsed {
            Ok(after) if kind == self.surface.kind().name() => Ok(after),
            Ok(_) if Kind::THREADS.iter().any(|it| it.name() == kind) => {
                let list = self.words.plural;
                Err(Refusal(format!("`cursor` is one of another list, and not of {list}")))
            }
            Ok(_) | Err(_) => Err(Refusal(
                "`cursor` is not one that this tool has given: take next_cursor as it is"
                    .to_owned(),
            )),
        }
    }

    fn filter(&self, arguments: &Arguments<'_>) -> Result<ThreadFilter, Refusal> {
        Ok(ThreadFilter {
            repository: arguments.text("repository")?.map(str::to_owned),
            authors: arguments.texts("authors")?,
            created: arguments.span("created_from", "created_to")?,
            closed: arguments.span("closed_from", "closed_to")?,
            merged: arguments.span("merged_from", "merged_to")?,
            after: arguments.text("cursor")?.map(|it| self.place(it)).transpose()?,
            limit: arguments.count("limit")?,
            ..ThreadFilter::default()
        })
    }

    /// How many match, wherever this page begins.
    fn count(&self, store: &Store, filter: &ThreadFilter) -> Result<u64, Refusal> {
        let all = ThreadFilter { after: None, limit: Some(1), ..filter.clone() };
        let found =
            store.each_thread_of(self.surface.kind(), &all, &mut |_| ControlFlow::Break(()))?;
        Ok(found.total)
    }
}

/// A field of a thread as it is printed; what is null is nothing.
pub(crate) fn value<'a>(row: &'a ThreadRow, name: &str) -> Cow<'a, str> {
    let thread = &row.thread;
    let text = match name {
        "title" => &thread.title,
        "url" => &thread.url,
        "repository" => &row.repository,
        "created_at" => thread.created_at.as_str(),
        "closed_at" => or_nothing(thread.closed_at.as_ref()),
        "merged_at" => or_nothing(merged_at(thread)),
        "author" => thread.author.as_deref().unwrap_or_default(),
        "status" => status(thread),
        "body" => &thread.body,
        _ => "",
    };
    Cow::Borrowed(text)
}

/// A thread for programs, without its body.
pub(crate) fn object(row: &ThreadRow) -> Value {
    let thread = &row.thread;
    let mut object = json!({
        "type": thread.kind().name(),
        "number": thread.number,
        "title": line(&thread.title),
        "url": thread.url,
        "repository": row.repository,
        "created_at": thread.created_at.as_str(),
        "updated_at": thread.updated_at.as_str(),
        "closed_at": thread.closed_at.as_ref().map(SourceTime::as_str),
        "author": thread.author,
        "status": status(thread),
        "state": thread.state.to_lowercase(),
        "labels": thread.labels.iter().map(|label| line(label)).collect::<Vec<_>>(),
        "node_id": thread.node_id,
    });
    if let Sort::PullRequest(_) = &thread.sort {
        object["merged_at"] = json!(merged_at(thread).map(SourceTime::as_str));
    }
    object
}

fn status(thread: &Thread) -> &'static str {
    if thread.closed_at.is_some() { "closed" } else { "open" }
}

fn merged_at(thread: &Thread) -> Option<&SourceTime> {
    match &thread.sort {
        Sort::PullRequest(pull_request) => pull_request.merged_at.as_ref(),
        Sort::Issue | Sort::Discussion(_) => None,
    }
}

pub(crate) fn or_nothing(time: Option<&SourceTime>) -> &str {
    time.map_or("", SourceTime::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUES: Listing = Listing {
        surface: Surface::Issues,
        form: Form { fields: &[], lines: &[] },
        words: Words { plural: "issues", tells_total: false, advice: "" },
    };

    #[test]
    fn a_cursor_is_taken_by_the_list_that_gave_it_alone() {
        let after = After { created_at: "2025-01-02T03:04:05Z".into(), id: 12 };
        let cursor = ISSUES.cursor(&after);
        assert_eq!(ISSUES.place(&cursor), Ok(after));
        let others = Listing { surface: Surface::Discussions, ..ISSUES };
        let told = "`cursor` is one of another list, and not of issues";
        assert_eq!(others.place(&cursor), Err(Refusal(told.to_owned())));
        for text in ["", "x", ":", "issue:", "issue:x", "x:2025-01-02T03:04:05Z_12"] {
            let told = ISSUES.place(text).unwrap_err().0;
            assert!(told.contains("not one that this tool has given"), "{text}: {told}");
        }
    }
}
