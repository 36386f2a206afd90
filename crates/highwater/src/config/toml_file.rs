//! Reads `highwater.toml`: each value with its line, and every mistake.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{self, AllowedFiles, SettingKey};
use super::layer::{SettingLayer, SettingOrigin, SettingValue};
use super::problem::SettingProblem;
use super::suggestion::{did_you_mean, nearest_name};
use super::value_kind::{SettingKind, TomlType};

/// Reads the settings in the text of `highwater.toml`.
pub(super) fn read_toml(path: &Path, text: &str) -> SettingLayer {
    let mut reader = TomlReader { path, text, layer: SettingLayer::default() };
    match DeTable::parse(text) {
        Ok(table) => reader.read_table("", table.get_ref()),
        Err(error) => {
            let at = error.span().map_or(text.len(), |span| span.start);
            reader.add_problem(at, "invalid TOML", error.message());
        }
    }
    reader.layer
}

struct TomlReader<'a> {
    path: &'a Path,
    text: &'a str,
    layer: SettingLayer,
}

impl TomlReader<'_> {
    fn read_table(&mut self, above: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let at = name.span().start;
            let name: &str = name.get_ref();
            let name = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
            self.read_entry(at, &name, value);
        }
    }

    fn read_entry(&mut self, at: usize, name: &str, value: &Spanned<DeValue<'_>>) {
        let key = keys::ALL_KEYS.into_iter().find(|key| key.name == name);
        match (key, value.get_ref()) {
            (_, value) if is_token_name(name) && !value.is_table() => self.refuse_token(at, name),
            (Some(key), value) if key.allowed_in == AllowedFiles::BothFiles => {
                self.add_value(at, key, value);
            }
            (Some(_), _) => {
                let reason = "cannot be set here, because it determines where this file is";
                self.add_problem(at, name, reason);
            }
            (None, DeValue::Table(table)) if is_table_name(name) => self.read_table(name, table),
            (None, _) if is_table_name(name) => {
                let reason = format!("this is a table: write [{name}] above its settings");
                self.add_problem(at, name, &reason);
            }
            (None, DeValue::Table(_)) => {
                let nearest = did_you_mean(name, table_names());
                self.add_problem(at, name, &format!("unknown table{nearest}"));
            }
            (None, _) => {
                let suggestion = suggest_setting(name)
                    .map_or_else(String::new, |name| format!("; did you mean {name}?"));
                self.add_problem(at, name, &format!("unknown setting{suggestion}"));
            }
        }
    }

    fn add_value(&mut self, at: usize, key: &'static SettingKey, value: &DeValue<'_>) {
        match value_text(key.kind.toml_type(), value) {
            Some(text) => {
                let origin = self.line_origin(at);
                self.layer.values.push((key, SettingValue { text, origin }));
            }
            None => {
                let expected = key.kind.toml_type().name();
                let reason = format!("expected {expected}, got {}", describe_value(value));
                self.add_problem(at, key.name, &reason);
            }
        }
    }

    /// Refuses a token: people share this file and paste it into bug reports.
    fn refuse_token(&mut self, at: usize, name: &str) {
        let variable = keys::ALL_KEYS
            .into_iter()
            .filter(|key| key.kind == SettingKind::Token)
            .find(|key| [key.name, key.variable].contains(&name))
            .unwrap_or(&keys::TOKEN)
            .variable;
        let reason =
            format!("secrets are not allowed here; put {variable}=… in .env next to this file");
        self.add_problem(at, name, &reason);
    }

    fn add_problem(&mut self, at: usize, name: &str, reason: &str) {
        let origin = self.line_origin(at);
        self.layer.problems.push(SettingProblem::new(&origin, name, reason));
    }

    fn line_origin(&self, at: usize) -> SettingOrigin {
        let before = self.text.get(..at).unwrap_or(self.text);
        SettingOrigin::FileLine {
            file: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
        }
    }
}

/// Returns the value as the text it would be in the environment, or `None` if it has another type.
fn value_text(toml_type: TomlType, value: &DeValue<'_>) -> Option<String> {
    match (toml_type, value) {
        (TomlType::Text, DeValue::String(text)) => Some(text.to_string()),
        (TomlType::Number, DeValue::Integer(number)) => {
            let number = i128::from_str_radix(number.as_str(), number.radix()).ok()?;
            Some(number.to_string())
        }
        (TomlType::Boolean, DeValue::Boolean(is_on)) => Some(is_on.to_string()),
        (TomlType::List, DeValue::Array(entries)) => {
            let texts = entries
                .iter()
                .map(|entry| entry.get_ref().as_str().filter(|text| !text.contains(',')));
            Some(texts.collect::<Option<Vec<_>>>()?.join(","))
        }
        _ => None,
    }
}

fn is_token_name(name: &str) -> bool {
    let name = last_part(name).to_ascii_lowercase();
    name.contains("token") || name.contains("password")
}

/// Names the type of a value.
fn describe_value(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list with non-string values, or with commas inside its strings",
        DeValue::Table(_) => "a table",
    }
}

/// Returns the setting that was probably meant: by its name, its name in another table, or its variable.
fn suggest_setting(name: &str) -> Option<&'static str> {
    nearest_name(name, file_keys().map(|key| key.name)).or_else(|| {
        let typed = last_part(name);
        let nearest = nearest_name(typed, file_keys().map(|key| last_part(key.name)))
            .or_else(|| nearest_name(typed, file_keys().map(|key| key.variable)))?;
        file_keys()
            .find(|key| last_part(key.name) == nearest || key.variable == nearest)
            .map(|key| key.name)
    })
}

/// Returns the part of a name after its last dot.
fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn is_table_name(name: &str) -> bool {
    table_names().any(|table| table == name)
}

/// Returns the names of tables and of the tables around them, including those that only contain secrets, so that a token
/// in one is refused by its name.
fn table_names() -> impl Iterator<Item = &'static str> {
    keys::ALL_KEYS
        .into_iter()
        .flat_map(|key| key.name.match_indices('.').map(|(end, _)| &key.name[..end]))
}

/// Returns the settings that are allowed in this file.
fn file_keys() -> impl Iterator<Item = &'static SettingKey> {
    keys::ALL_KEYS.into_iter().filter(|key| key.allowed_in == AllowedFiles::BothFiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_values_come_with_their_lines() {
        let text = "workspace = \"w\"\n\n[pull]\nwindow_days = 1_000\nitems = [\n  \"issues\",\n]\ncomments = true\n\
                    [github]\nexcluded_repositories = []\n";
        let layer = read_toml(Path::new("h/highwater.toml"), text);
        let mut found: Vec<_> = layer
            .values
            .iter()
            .map(|(key, value)| (key.name, &*value.text, value.origin.to_string()))
            .collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [
                ("github.excluded_repositories", "", "highwater.toml:10".to_owned()),
                ("pull.comments", "true", "highwater.toml:8".to_owned()),
                ("pull.items", "issues", "highwater.toml:5".to_owned()),
                ("pull.window_days", "1000", "highwater.toml:4".to_owned()),
                ("workspace", "w", "highwater.toml:1".to_owned()),
            ]
        );
        assert_eq!(problems_in(text), Vec::<String>::new());
    }

    #[test]
    fn toml_mistake_is_reported_with_its_line_and_a_suggestion() {
        for (text, expected) in [
            ("a = 1", "1: a: unknown setting"),
            (
                "\n[pull]\nwindw_days = 1",
                "3: pull.windw_days: unknown setting; did you mean pull.window_days?",
            ),
            ("pull.window_days = \"x\"", "1: pull.window_days: expected an integer, got a string"),
            ("pull.window_days = 1.5", "1: pull.window_days: expected an integer, got a float"),
            ("pull.items = \"issues\"", "1: pull.items: expected a list of strings, got a string"),
            (
                "pull.items = [1]",
                "1: pull.items: expected a list of strings, got a list with non-string values, or with commas inside its strings",
            ),
            ("pull = 3", "1: pull: this is a table: write [pull] above its settings"),
            (
                "organisation = \"acme\"",
                "1: organisation: unknown setting; did you mean github.organization?",
            ),
            (
                "HIGHWATER_ITEMS = []",
                "1: HIGHWATER_ITEMS: unknown setting; did you mean pull.items?",
            ),
            ("pull.comments = 1", "1: pull.comments: expected true or false, got an integer"),
            ("[pul]\nx = 1", "1: pul: unknown table; did you mean pull?"),
            ("[log.level]\nx = 1", "1: log.level: expected a string, got a table"),
            (
                "home = \"/x\"",
                "1: home: cannot be set here, because it determines where this file is",
            ),
        ] {
            assert_eq!(problems_in(text), [format!("h/highwater.toml:{expected}")], "{text}");
        }
        let broken = problems_in("[github]\norganization = acme\n");
        assert!(broken[0].starts_with("h/highwater.toml:2: invalid TOML: "), "{broken:?}");
    }

    #[test]
    fn toml_token_is_refused_and_pointed_to_dotenv() {
        for text in ["github.token = \"t0ken\"", "GITHUB_TOKEN = \"t0ken\"", "token = \"t0ken\""] {
            let problem = &problems_in(text)[0];
            assert!(problem.contains("put GITHUB_TOKEN=… in .env"), "{problem}");
            assert!(!problem.contains("t0ken"), "{problem}");
        }
        let problem = &problems_in("mcp.token = \"t0ken\"")[0];
        assert!(problem.contains("put HIGHWATER_MCP_TOKEN=… in .env"), "{problem}");
    }

    fn problems_in(text: &str) -> Vec<String> {
        let layer = read_toml(Path::new("h/highwater.toml"), text);
        layer.problems.into_iter().map(|problem| problem.message).collect()
    }
}
