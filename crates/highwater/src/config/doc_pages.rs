//! Tests that keep `highwater.toml.example` and `docs/configuration.md` in step with the table of settings.

use std::path::Path;

use super::keys::{self, AllowedFiles, SettingDefault, SettingKey};
use super::{SETTINGS_FILE, example_settings, toml_file};

const TABLE_MARKER: &str = "<!-- the settings: written by a test -->\n";

#[test]
fn example_file_is_the_file_that_init_writes() {
    assert_written("highwater.toml.example", &example_settings(None));
}

#[test]
fn example_values_are_valid_settings() {
    let text: String = example_settings(None).lines().map(uncomment_setting).collect();
    let layer = toml_file::read_toml(Path::new(SETTINGS_FILE), &text);
    assert_eq!(layer.problems, [], "{text}");
    let mut found: Vec<_> = layer.values.iter().map(|(key, _)| key.name).collect();
    let mut all: Vec<_> = keys::ALL_KEYS
        .into_iter()
        .filter(|key| key.allowed_in == AllowedFiles::BothFiles)
        .map(|key| key.name)
        .collect();
    found.sort_unstable();
    all.sort_unstable();
    assert_eq!(found, all);
    for (key, value) in layer.values {
        assert_eq!(key.kind.check_text(&value.text), Ok(()), "{}", key.name);
    }
}

#[test]
fn configuration_page_matches_the_table_of_settings() {
    let path = repository_path("docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(TABLE_MARKER).expect("the page contains the marker");
    let (_, after) = rest.split_once(TABLE_MARKER).expect("the page contains the marker twice");
    assert_written(
        "docs/configuration.md",
        &format!("{before}{TABLE_MARKER}{}{TABLE_MARKER}{after}", settings_table()),
    );
}

#[test]
fn setting_names_and_variables_are_unique() {
    for name in [|key: &SettingKey| key.name, |key: &SettingKey| key.variable] {
        let names: std::collections::BTreeSet<_> = keys::ALL_KEYS.into_iter().map(name).collect();
        assert_eq!(names.len(), keys::ALL_KEYS.len());
    }
    let reserve = hw_rules::pace::DEFAULT_RESERVE_PERCENT.to_string();
    assert!(matches!(keys::RESERVE.default, SettingDefault::Value(text) if text == reserve));
}

/// Turns `# name = value` into a setting; a sentence stays a comment.
fn uncomment_setting(line: &str) -> String {
    let setting = line.strip_prefix("# ").filter(|line| is_setting(line));
    format!("{}\n", setting.unwrap_or(line))
}

fn is_setting(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(name, _)| !name.contains(' '))
}

fn settings_table() -> String {
    let mut table =
        "\n| setting | flag | variable | default | description |\n|---|---|---|---|---|\n"
            .to_owned();
    for key in keys::ALL_KEYS {
        let name = match key.allowed_in {
            AllowedFiles::BothFiles => format!("`{}`", key.name),
            AllowedFiles::DotenvOnly => format!("{} (never in `{SETTINGS_FILE}`)", key.name),
            AllowedFiles::NoFile => format!("{} (cannot be set in a file)", key.name),
        };
        let flag = key.flag.map_or_else(|| "—".to_owned(), |flag| format!("`{flag}`"));
        let default = match key.default {
            SettingDefault::Value("") => "none".to_owned(),
            SettingDefault::Value(text) => format!("`{text}`"),
            SettingDefault::Description(text) => text.to_owned(),
        };
        table.push_str(&format!(
            "| {name} | {flag} | `{}` | {default} | {} |\n",
            key.variable, key.description
        ));
    }
    table.push('\n');
    table
}

#[expect(
    clippy::disallowed_methods,
    reason = "the variable decides whether this test updates the file"
)]
fn assert_written(name: &str, text: &str) {
    if std::env::var_os("HIGHWATER_UPDATE_DOCS").is_some() {
        std::fs::write(repository_path(name), text).unwrap();
    }
    assert!(
        std::fs::read_to_string(repository_path(name)).unwrap_or_default() == text,
        "{name} differs from the table of settings: run the tests once with HIGHWATER_UPDATE_DOCS=1"
    );
}

fn repository_path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}
