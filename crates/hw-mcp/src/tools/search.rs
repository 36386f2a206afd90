//! `search`

use std::borrow::Cow;

use hw_rules::clean::shorten_echo;
use hw_rules::item::Kind;
use hw_store::{Found, Hit, Matches, Ranked, Search};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::Definition;
use crate::answer::Answer;
use crate::arguments::{Arguments, Parameter, Refusal};
use crate::desk::Desk;
use crate::form::{Chosen, Form, line};
use crate::missing_words;
use crate::schema::{self, nullable};
use crate::sheet::{Page, Sheet};

pub(super) static DEFINITION: Definition = Definition {
    name: "search",
    title: "Search",
    about: "Full-text search across discussions, issues, and pull requests.",
    parameters: &[
        Parameter::text("query", "Search query string. Example: authentication bug.")
            .required()
            .with_examples(&QUERY_EXAMPLES),
        Parameter::texts(
            "fields",
            "Array of fields to include in the response. Available fields: [\"title\", \"url\", \"repository\", \"created_at\", \"author\", \"type\", \"state\", \"body\"]. Defaults to all fields.",
        ),
    ],
    output,
    answer,
};

/// The grammar of a query by example; the words of the description are prescribed.
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

pub(super) static FORM: Form = Form {
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

fn output() -> JsonObject {
    schema::output(&json!({
        "total_is_exact": {
            "type": "boolean",
            "description": "Whether total is how many match, and not only how many at least."
        },
        "total_note": {
            "type": ["string", "null"],
            "description": "Why total is a lower bound, if it is one."
        },
        "misread": {
            "type": "array",
            "items": { "type": "string" },
            "description": "What looked like a filter of the query and was taken for words, or names a repository that is not held."
        },
        "notes": {
            "type": "array",
            "items": { "type": "string" },
            "description": "Why nothing was found: the words of the query that no text contains."
        },
        "ranked": nullable("string", "Which matches were ranked, when there were too many to rank all of them."),
    }))
}

fn answer(desk: &Desk, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    let query = arguments.required_text("query")?;
    let chosen = FORM.choose(&arguments.texts("fields")?)?;
    let engine = desk.engine()?;
    let found = engine.search(&Search::new(query))?;
    let explanation =
        if found.hits.is_empty() { missing_words::explain_no_hits(engine, query)? } else { None };
    Ok(told(query, &chosen, found, explanation.as_deref()))
}

/// The answer to a query, from what was found; where nothing was, the explanation says why.
pub(super) fn told(
    query: &str,
    chosen: &Chosen,
    found: Found,
    explanation: Option<&str>,
) -> Answer {
    let page = page(query, chosen, &found.hits);
    let (total, is_exact) = match found.matches {
        Matches::Exactly(count) => (count, true),
        Matches::AtLeast(count) => (count, false),
    };
    let at_least = if is_exact { "" } else { "at least " };
    let ranked = (found.ranked == Ranked::Newest)
        .then(|| format!("{at_least}{total} match: only the newest of them were ranked"));
    let told = found.misread.iter().chain(&ranked).map(String::as_str).chain(explanation);
    let mut notes: Vec<String> = told.map(|note| format!("Note: {}.", line(note))).collect();
    notes.extend(comment_notes(&found.hits[..page.shown]));
    if page.is_cut {
        let left_out = found.hits.len() - page.shown;
        notes.push(format!("Note: {left_out} results are left out, because the text would exceed 990 kB; name fewer `fields`."));
    }
    let facts = [
        ("total_is_exact", json!(is_exact)),
        ("total_note", json!(found.count_note())),
        ("ranked", json!(ranked)),
        ("misread", json!(found.misread)),
        ("notes", json!(explanation.iter().map(|note| line(note)).collect::<Vec<_>>())),
    ];
    Answer {
        items: found.hits.iter().take(page.shown).map(|hit| chosen.narrow(object(hit))).collect(),
        page,
        total,
        next_cursor: None,
        behind: found.behind,
        more: facts
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect::<Map<_, _>>(),
        notes,
    }
}

fn page(query: &str, chosen: &Chosen, hits: &[Hit]) -> Page {
    if hits.is_empty() {
        let text = format!("No results found for \"{}\".", shorten_echo(query));
        return Page { text, shown: 0, is_cut: false };
    }
    let mut sheet = Sheet::default();
    for hit in hits {
        if !sheet.add(&chosen.entry(&|name| value(hit, name))) {
            break;
        }
    }
    sheet.plain()
}

fn value<'a>(hit: &'a Hit, name: &str) -> Cow<'a, str> {
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

/// The state as the text prints it: the contract makes every discussion open. Structured items tell the real one.
fn text_state(hit: &Hit) -> &str {
    if hit.kind == Kind::Discussion { "open" } else { &hit.state }
}

/// A result for programs, without its body.
fn object(hit: &Hit) -> Value {
    let mut object = json!({
        "type": hit.type_name(),
        "number": hit.number,
        "title": line(&hit.title),
        "url": hit.url,
        "repository": hit.repository,
        "created_at": hit.created_at.as_str(),
        "updated_at": hit.updated_at.as_str(),
        "author": hit.author,
        "state": hit.state,
        "labels": hit.labels.iter().map(|label| line(label)).collect::<Vec<_>>(),
    });
    if let Some(said) = &hit.said {
        object["comment"] = json!({
            "url": said.url,
            "author": said.author,
            "created_at": said.created_at.as_str(),
            "snippet": snippet(hit),
        });
    }
    object
}

/// Names the comment of each result that matched in one: the text shows only the thread's own body.
fn comment_notes(hits: &[Hit]) -> impl Iterator<Item = String> {
    (1..).zip(hits).filter_map(|(number, hit)| {
        let said = hit.said.as_ref()?;
        let author = said.author.as_deref().unwrap_or("a deleted account");
        let snippet = snippet(hit);
        Some(format!("Result {number} matches in a comment by {author}, {}: {snippet}", said.url))
    })
}

fn snippet(hit: &Hit) -> String {
    line(&hit.snippet.iter().map(|piece| piece.text.as_str()).collect::<String>())
}
