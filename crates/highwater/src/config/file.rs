//! `highwater.toml`: each value with its line, and what stands there by mistake.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::found::{Found, Layer, Origin};
use super::keys::{self, Key, Stands};
use super::kinds::{Kind, Shape};
use super::nearest::{nearest, or_nearest};
use super::problem::Problem;

/// What the file says.
pub(super) fn read(path: &Path, text: &str) -> Layer {
    let mut reading = Reading { path, text, layer: Layer::default() };
    match DeTable::parse(text) {
        Ok(table) => reading.table("", table.get_ref()),
        Err(error) => {
            let at = error.span().map_or(text.len(), |span| span.start);
            reading.refuse(at, "it is no TOML", error.message());
        }
    }
    reading.layer
}

struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
    layer: Layer,
}

impl Reading<'_> {
    fn table(&mut self, above: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let at = name.span().start;
            let name: &str = name.get_ref();
            let name = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
            self.entry(at, &name, value);
        }
    }

    fn entry(&mut self, at: usize, name: &str, value: &Spanned<DeValue<'_>>) {
        let key = keys::ALL.into_iter().find(|key| key.name == name);
        match (key, value.get_ref()) {
            (_, value) if is_token(name) && !value.is_table() => self.refuse_token(at, name),
            (Some(key), value) if key.stands == Stands::Anywhere => self.keep(at, key, value),
            (Some(_), _) => self.refuse(at, name, "it leads to this file, and cannot stand in it"),
            (None, DeValue::Table(table)) if is_table(name) => self.table(name, table),
            (None, _) if is_table(name) => {
                self.refuse(at, name, &format!("it is a table: write [{name}] above its settings"));
            }
            (None, DeValue::Table(_)) => {
                let nearest = or_nearest(name, tables());
                self.refuse(at, name, &format!("there is no such table{nearest}"));
            }
            (None, _) => {
                let meant =
                    meant(name).map_or_else(String::new, |it| format!("; did you mean {it}?"));
                self.refuse(at, name, &format!("there is no such setting{meant}"));
            }
        }
    }

    fn keep(&mut self, at: usize, key: &'static Key, value: &DeValue<'_>) {
        match text_of(key.kind.shape(), value) {
            Some(text) => {
                let origin = self.origin(at);
                self.layer.found.push((key, Found { text, origin }));
            }
            None => {
                let wrong = format!("it must be {}, not {}", key.kind.shape().name(), what(value));
                self.refuse(at, key.name, &wrong);
            }
        }
    }

    /// Who reads the settings to somebody else must not read the token with them.
    fn refuse_token(&mut self, at: usize, name: &str) {
        let named =
            |key: &&Key| key.kind == Kind::Token && [key.name, key.variable].contains(&name);
        let variable = keys::ALL.into_iter().find(named).unwrap_or(&keys::TOKEN).variable;
        let wrong =
            format!("a token does not belong here: put {variable}=… into .env, beside this file");
        self.refuse(at, name, &wrong);
    }

    fn refuse(&mut self, at: usize, name: &str, wrong: &str) {
        let origin = self.origin(at);
        self.layer.problems.push(Problem::new(&origin, name, wrong));
    }

    fn origin(&self, at: usize) -> Origin {
        let before = self.text.get(..at).unwrap_or(self.text);
        Origin::Line { file: self.path.to_owned(), line: before.matches('\n').count() + 1 }
    }
}

/// The value as the text it would be in the environment; none when it is of another type.
fn text_of(shape: Shape, value: &DeValue<'_>) -> Option<String> {
    match (shape, value) {
        (Shape::Text, DeValue::String(text)) => Some(text.to_string()),
        (Shape::Number, DeValue::Integer(number)) => {
            i128::from_str_radix(number.as_str(), number.radix()).ok().map(|it| it.to_string())
        }
        (Shape::Switch, DeValue::Boolean(is_on)) => Some(is_on.to_string()),
        (Shape::List, DeValue::Array(all)) => {
            let each = all.iter().map(|it| it.get_ref().as_str().filter(|it| !it.contains(',')));
            Some(each.collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => None,
    }
}

fn is_token(name: &str) -> bool {
    name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase().contains("token")
}

/// What stands there, in the words of the shapes.
fn what(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list with anything else in it, or with commas in its texts",
        DeValue::Table(_) => "a table",
    }
}

/// The setting that was probably meant: by its name, by its name in another table, or by its variable.
fn meant(name: &str) -> Option<&'static str> {
    let here = || keys::ALL.into_iter().filter(|key| key.stands == Stands::Anywhere);
    let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
    let named = |found: &str| here().find(|key| last(key.name) == found || key.variable == found);
    let own = name.rsplit('.').next().unwrap_or(name);
    nearest(name, names()).or_else(|| {
        let found = nearest(own, here().map(|key| last(key.name)))
            .or_else(|| nearest(own, here().map(|key| key.variable)))?;
        named(found).map(|key| key.name)
    })
}

fn is_table(name: &str) -> bool {
    tables().any(|table| table == name)
}

/// What stands before the dots; also where only a secret would stand, so that it is refused by its name.
fn tables() -> impl Iterator<Item = &'static str> {
    keys::ALL.into_iter().filter_map(|key| Some(key.name.split_once('.')?.0))
}

fn names() -> impl Iterator<Item = &'static str> {
    let here = keys::ALL.into_iter().filter(|key| key.stands == Stands::Anywhere);
    here.map(|key| key.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_with_their_lines() {
        let text = "workspace = \"w\"\n\n[pull]\nwindow_days = 1_000\nitems = [\n  \"issues\",\n]\ncomments = true\n\
                    [github]\nexcluded_repositories = []\n";
        let layer = read(Path::new("h/highwater.toml"), text);
        let mut found: Vec<_> = layer
            .found
            .iter()
            .map(|(key, it)| (key.name, &*it.text, it.origin.to_string()))
            .collect();
        found.sort_unstable();
        let at = |line: usize| format!("highwater.toml:{line}");
        assert_eq!(
            found,
            [
                ("github.excluded_repositories", "", at(10)),
                ("pull.comments", "true", at(8)),
                ("pull.items", "issues", at(5)),
                ("pull.window_days", "1000", at(4)),
                ("workspace", "w", at(1)),
            ]
        );
        assert_eq!(told(text), Vec::<String>::new());
    }

    #[test]
    fn a_mistake_is_named_with_its_line_and_what_was_meant() {
        for (text, expected) in [
            ("a = 1", "1: a: there is no such setting"),
            (
                "\n[pull]\nwindw_days = 1",
                "3: pull.windw_days: there is no such setting; did you mean pull.window_days?",
            ),
            (
                "pull.window_days = \"x\"",
                "1: pull.window_days: it must be a whole number, not a text",
            ),
            (
                "pull.window_days = 1.5",
                "1: pull.window_days: it must be a whole number, not a number with a fraction",
            ),
            ("pull.items = \"issues\"", "1: pull.items: it must be a list of texts, not a text"),
            (
                "pull.items = [1]",
                "1: pull.items: it must be a list of texts, not a list with anything else in it, or with commas in its texts",
            ),
            ("pull = 3", "1: pull: it is a table: write [pull] above its settings"),
            (
                "organisation = \"acme\"",
                "1: organisation: there is no such setting; did you mean github.organization?",
            ),
            (
                "HIGHWATER_ITEMS = []",
                "1: HIGHWATER_ITEMS: there is no such setting; did you mean pull.items?",
            ),
            ("pull.comments = 1", "1: pull.comments: it must be true or false, not a whole number"),
            ("[pul]\nx = 1", "1: pul: there is no such table; did you mean pull?"),
            ("[log.level]\nx = 1", "1: log.level: it must be a text in quotes, not a table"),
            ("home = \"/x\"", "1: home: it leads to this file, and cannot stand in it"),
        ] {
            assert_eq!(told(text), [format!("h/highwater.toml:{expected}")], "{text}");
        }
        let broken = told("[github]\norganization = acme\n");
        assert!(broken[0].starts_with("h/highwater.toml:2: it is no TOML: "), "{broken:?}");
    }

    #[test]
    fn a_token_is_sent_to_where_it_belongs() {
        for text in ["github.token = \"t0ken\"", "GITHUB_TOKEN = \"t0ken\"", "token = \"t0ken\""] {
            let told = told(text);
            assert!(told[0].contains("put GITHUB_TOKEN=… into .env") && !told[0].contains("t0ken"));
        }
        assert!(told("mcp.token = \"t0ken\"")[0].contains("put HIGHWATER_MCP_TOKEN=… into .env"));
    }

    fn told(text: &str) -> Vec<String> {
        let layer = read(Path::new("h/highwater.toml"), text);
        layer.problems.into_iter().map(|problem| problem.told).collect()
    }
}
