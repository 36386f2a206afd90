//! `highwater config show`

use serde_json::{Value, json};

use crate::cli::Show;
use crate::config::{self, Kind, Origin, Otherwise, Problem, Resolved};
use crate::proxy;
use crate::terminal::{say, say_object};

/// A setting as it is shown.
struct Row {
    key: &'static config::Key,
    /// None when nobody set it, and there is no default that is a value.
    value: Option<String>,
    origin: Origin,
}

/// Shows also what is in force beside a mistake; the mistakes follow, as an error.
pub(crate) fn run(args: &Show, resolved: &Resolved) -> anyhow::Result<()> {
    let rows: Vec<Row> = config::ALL.into_iter().map(|key| row(key, resolved)).collect();
    if args.json {
        say_object(&object(&rows, &resolved.problems))?;
    } else {
        say(&rows.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    }
    if resolved.problems.is_empty() { Ok(()) } else { Err(Problem::error(&resolved.problems)) }
}

fn row(key: &'static config::Key, resolved: &Resolved) -> Row {
    let found = resolved.get(key).map(|it| (it.text.clone(), it.origin.clone()));
    let shown = if key.kind == Kind::Folder {
        resolved.home.as_ref().map(|(home, from)| (home.display().to_string(), from.clone()))
    } else if key.name == config::TOKEN.name {
        resolved.token_origin().map(|from| ("set (masked)".to_owned(), from))
    } else if key.kind == Kind::Token {
        found.map(|(_, from)| ("set (masked)".to_owned(), from))
    } else if key.kind == Kind::Database {
        found.map(|(url, from)| (config::shown_database(&url), from))
    } else if key.kind == Kind::Proxy {
        found.map(|(url, from)| (proxy::shown(&url).into_owned(), from))
    } else {
        found
    };
    let (value, origin) = shown.unzip();
    Row { key, value, origin: origin.unwrap_or(Origin::Default) }
}

fn line(row: &Row) -> String {
    let value = match (&row.value, row.key.otherwise) {
        (Some(value), _) if value.is_empty() => "none",
        (Some(value), _) => value,
        (None, _) if row.key.kind == Kind::Token => "not set",
        (None, Otherwise::Words(words) | Otherwise::Value(words)) => words,
    };
    format!("{:<29} {value:<50} {}", row.key.name, row.origin)
}

/// The settings for programs; `docs/json.md` is the contract.
fn object(rows: &[Row], problems: &[Problem]) -> Value {
    let each = rows.iter().map(|row| {
        let Row { key, value, origin } = row;
        let from = origin.to_string();
        json!({ "name": key.name, "value": value, "from": from, "variable": key.variable, "flag": key.flag })
    });
    let problems = problems.iter().map(|problem| problem.told.clone());
    json!({ "settings": each.collect::<Vec<_>>(), "problems": problems.collect::<Vec<_>>() })
}
