//! `get_thread`, which is offered on request only: one thread with what was said in it.

use std::borrow::Cow;

use hw_rules::address::ThreadAddress;
use hw_rules::clean::{for_reading, shorten_echo};
use hw_rules::item::{Comment, Kind};
use hw_rules::lane::Surface;
use hw_store::{Behind, CommentRow, ThreadView};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::Definition;
use crate::answer::{Answer, fitting, warning};
use crate::arguments::{Arguments, Parameter, Refusal};
use crate::desk::Desk;
use crate::form::{Form, RULE, line};
use crate::listing::{object, or_nothing};
use crate::schema::{self, count};
use crate::sheet::{MOST_BYTES, Page, Sheet};

pub(super) static DEFINITION: Definition = Definition {
    name: "get_thread",
    title: "Get a thread",
    about: "Gets one discussion, issue or pull request with its comments, oldest first. They are separated by ---.",
    parameters: &[Parameter::text(
        "thread",
        "The thread: owner/repository#number, or its URL. Example: acme/auth-service#12.",
    )
    .required()],
    output,
    answer,
};

static FORM: Form = Form {
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

fn output() -> JsonObject {
    let text = json!({ "type": "string" });
    let or_null = json!({ "type": ["string", "null"] });
    schema::output(&json!({
        "comments": {
            "type": "array",
            "description": "The comments of the text, in its order and as far as there is room, without their bodies.",
            "items": {
                "type": "object",
                "properties": {
                    "type": text, "id": { "type": "integer" }, "url": text, "author": or_null,
                    "created_at": text, "updated_at": text, "state": or_null,
                    "reply_to": { "type": ["integer", "null"] }, "path": or_null, "line": { "type": ["integer", "null"] }
                }
            }
        },
        "comments_total": count("How many comments the thread has in the mirror."),
    }))
}

fn answer(desk: &Desk, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    let named = arguments.required_text("thread")?;
    let address = ThreadAddress::parse(named).map_err(|why| Refusal(format!("`thread`: {why}")))?;
    let store = desk.store()?;
    if let urls @ [_, _, ..] = store.thread_urls(&address)?.as_slice() {
        let (named, urls) = (shorten_echo(&line(named)).into_owned(), urls.join(", "));
        return Err(Refusal(format!("{named} names several threads; pass one of these: {urls}")));
    }
    let Some(view) = store.thread(&address)? else {
        let behind = store.behind(&Surface::THREADS, Some(&address.repository))?;
        let mut lines = vec![format!("{} is not in this mirror.", shorten_echo(&line(named)))];
        lines.extend(behind.missing.iter().map(|it| warning(it)));
        return Err(Refusal(lines.join("\n")));
    };
    let behind = store.behind_thread(&view)?;
    Ok(told(&view, behind))
}

/// The answer, from what is held.
pub(super) fn told(view: &ThreadView, behind: Behind) -> Answer {
    let mut sheet = Sheet::default();
    let (opening, is_cut) = opening(view);
    let mut is_room = sheet.add(&opening);
    for row in &view.comments {
        is_room = is_room && sheet.add(&entry(&row.comment));
    }
    let page = sheet.plain();
    let comments = page.shown.saturating_sub(1);
    let left_out = view.comments.len() - comments;
    let cut = is_cut.then(|| {
        "Note: only the beginning of the body is shown, because the text would exceed 990 kB."
            .into()
    });
    let left_out = (0 < left_out).then(|| {
        format!("Note: {left_out} comments are left out, because the text would exceed 990 kB.")
    });
    let said: Vec<Value> = view.comments.iter().take(comments).map(said).collect();
    let more = [
        ("comments", json!(fitting(&said, &page.text))),
        ("comments_total", json!(view.comments.len())),
    ];
    Answer {
        page: Page { shown: 1, is_cut: page.is_cut || is_cut, ..page },
        items: vec![object(&view.row)],
        total: 1,
        next_cursor: None,
        behind,
        more: more.map(|(name, value)| (name.to_owned(), value)).into_iter().collect::<Map<_, _>>(),
        notes: cut.into_iter().chain(left_out).collect(),
    }
}

/// The thread itself, and whether its body had to be cut.
fn opening(view: &ThreadView) -> (String, bool) {
    let chosen = FORM.choose(&[]).expect("all fields of a form are its own");
    let whole = chosen.entry(&|name| value(view, name));
    if whole.len() <= MOST_BYTES {
        return (whole, false);
    }
    let with = |body: &str| {
        chosen.entry(&|name| match name {
            "body" => Cow::Owned(body.to_owned()),
            _ => value(view, name),
        })
    };
    let body = for_reading(&view.row.thread.body);
    let room = MOST_BYTES.saturating_sub(with("").len());
    (with(&body[..body.floor_char_boundary(room)]), true)
}

fn value<'a>(view: &'a ThreadView, name: &str) -> Cow<'a, str> {
    let thread = &view.row.thread;
    Cow::Borrowed(match name {
        "title" => &thread.title,
        "url" => &thread.url,
        "type" => thread.kind().name(),
        "repository" => return Cow::Owned(format!("{}/{}", view.owner, view.row.repository)),
        "created_at" => thread.created_at.as_str(),
        "closed_at" => or_nothing(thread.closed_at.as_ref()),
        "author" => thread.author.as_deref().unwrap_or_default(),
        "state" => return Cow::Owned(thread.state.to_lowercase()),
        "labels" => return Cow::Owned(thread.labels.join(", ")),
        "body" => &thread.body,
        _ => "",
    })
}

/// A comment as Markdown: who, where and when, then the text.
fn entry(comment: &Comment) -> String {
    let author = line(comment.author.as_deref().unwrap_or_default());
    let mut lines = vec![format!("- URL: {}", line(&comment.url))];
    lines.push(format!("- Created at: {}", comment.created_at.as_str()));
    lines.push(format!("- Author: {author}"));
    if let Some(state) = &comment.state {
        lines.push(format!("- Verdict: {}", line(&state.to_lowercase())));
    }
    if let Some(path) = &comment.path {
        let at = comment.line.map_or(String::new(), |number| format!(":{number}"));
        lines.push(format!("- File: {}{at}", line(path)));
    }
    let what = match comment.kind {
        Kind::Review => "Review",
        _ if comment.reply_to.is_some() => "Reply",
        Kind::ReviewComment => "Review comment",
        Kind::Repository
        | Kind::Discussion
        | Kind::Issue
        | Kind::PullRequest
        | Kind::IssueComment
        | Kind::DiscussionComment => "Comment",
    };
    format!("### {what}\n\n{}\n\n{}\n\n{RULE}", lines.join("\n"), for_reading(&comment.body))
}

/// A comment for programs, without its body.
fn said(row: &CommentRow) -> Value {
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
        "path": comment.path.as_ref().map(|path| line(path)),
        "line": comment.line,
    })
}
