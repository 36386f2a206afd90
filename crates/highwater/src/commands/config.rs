//! `highwater config show`

use hw_store::Place;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::cli::Show;
use crate::config::{self, Kind, Origin, Otherwise, Problem, Resolved, Settings};
use crate::terminal::{say, say_object};
use crate::{proxy, workspace};

/// A setting as it is shown.
struct Row {
    key: &'static config::Key,
    /// None when nobody set it, and there is no default that is a value.
    value: Option<String>,
    origin: Origin,
}

/// Shows also what is in force beside a mistake; the mistakes follow, as an error.
pub(crate) fn run(args: &Show, resolved: &Resolved) -> anyhow::Result<()> {
    let effective = Effective::of(resolved);
    let rows: Vec<Row> =
        config::ALL.into_iter().map(|key| row(key, resolved, &effective)).collect();
    if args.json {
        say_object(&object(&rows, &resolved.problems))?;
    } else {
        say(&rows.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    }
    if resolved.problems.is_empty() { Ok(()) } else { Err(Problem::error(&resolved.problems)) }
}

/// The values that follow from others where nobody set them; none where a mistake leaves them open.
#[derive(Default)]
struct Effective {
    api_url: Option<String>,
    graphql_url: Option<String>,
    workspace: Option<String>,
    database: Option<String>,
}

impl Effective {
    fn of(resolved: &Resolved) -> Self {
        let Ok(settings) = resolved.settings() else { return Self::default() };
        let place = workspace::place(&settings).ok();
        let name = place.as_ref().and_then(|place| match place {
            Place::File(path) => path.file_stem().map(|name| name.to_string_lossy().into_owned()),
            Place::Postgres { schema, .. } => Some(schema.clone()),
            Place::Memory => None,
        });
        Self {
            workspace: name.filter(|_| !is_a_file(&settings)),
            database: place.map(|place| place.shown()),
            api_url: Some(settings.github.api),
            graphql_url: Some(settings.github.graphql),
        }
    }

    fn get(&self, key: &config::Key) -> Option<String> {
        let value = if key.name == config::API_URL.name {
            &self.api_url
        } else if key.name == config::GRAPHQL_URL.name {
            &self.graphql_url
        } else if key.name == config::WORKSPACE.name {
            &self.workspace
        } else if key.name == config::DATABASE.name {
            &self.database
        } else {
            &None
        };
        value.clone()
    }
}

/// Whether the database is a file that is named outright: then no workspace is looked for.
fn is_a_file(settings: &Settings) -> bool {
    settings.database.as_ref().is_some_and(|url| !config::is_postgres(url.expose_secret()))
}

fn row(key: &'static config::Key, resolved: &Resolved, effective: &Effective) -> Row {
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
    let follows = || Some((effective.get(key)?, Origin::Default));
    let (value, origin) = shown.or_else(follows).unzip();
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
