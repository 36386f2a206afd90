//! The example file and the page on settings are what the table says; these tests keep them so.

use std::path::Path;

use super::keys::{self, Key, Otherwise, Stands};
use super::{FILE, example, file};

const MARK: &str = "<!-- the settings: written by a test -->\n";

#[test]
fn the_example_file_is_what_init_writes() {
    is_written("highwater.toml.example", &example(None));
}

#[test]
fn every_example_is_a_valid_setting() {
    let text: String = example(None).lines().map(uncommented).collect();
    let layer = file::read(Path::new(FILE), &text);
    assert_eq!(layer.problems, [], "{text}");
    let names = |it: &[&'static Key]| it.iter().map(|key| key.name).collect::<Vec<_>>();
    let mut found: Vec<_> = layer.found.iter().map(|(key, _)| *key).collect();
    let mut all: Vec<_> =
        keys::ALL.into_iter().filter(|key| key.stands == Stands::Anywhere).collect();
    found.sort_unstable_by_key(|key| key.name);
    all.sort_unstable_by_key(|key| key.name);
    assert_eq!(names(&found), names(&all));
    for (key, found) in layer.found {
        assert_eq!(key.kind.check(&found.text), Ok(()), "{}", key.name);
    }
}

#[test]
fn the_page_on_settings_is_what_the_table_says() {
    let path = root("docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(MARK).expect("the page has the mark");
    let (_, after) = rest.split_once(MARK).expect("the page has the mark twice");
    is_written("docs/configuration.md", &format!("{before}{MARK}{}{MARK}{after}", table()));
}

#[test]
fn names_are_given_once() {
    for name in [|key: &Key| key.name, |key: &Key| key.variable] {
        let names: std::collections::BTreeSet<_> = keys::ALL.into_iter().map(name).collect();
        assert_eq!(names.len(), keys::ALL.len());
    }
    let reserve = hw_rules::pace::RESERVE_PERCENT.to_string();
    assert!(matches!(keys::RESERVE.otherwise, Otherwise::Value(text) if text == reserve));
}

/// `# name = value` becomes a setting, a sentence stays a comment.
fn uncommented(line: &str) -> String {
    let is_setting =
        |line: &&str| line.split_once(" = ").is_some_and(|(name, _)| !name.contains(' '));
    format!("{}\n", line.strip_prefix("# ").filter(is_setting).unwrap_or(line))
}

fn table() -> String {
    let mut table =
        "\n| setting | flag | variable | default | what it is |\n|---|---|---|---|---|\n"
            .to_owned();
    for key in keys::ALL {
        let name = match key.stands {
            Stands::Anywhere => format!("`{}`", key.name),
            Stands::DotenvOnly => format!("{} (never in `{FILE}`)", key.name),
            Stands::Outside => format!("{} (in neither file)", key.name),
        };
        let flag = key.flag.map_or_else(|| "—".to_owned(), |flag| format!("`{flag}`"));
        let otherwise = match key.otherwise {
            Otherwise::Value("") => "none".to_owned(),
            Otherwise::Value(text) => format!("`{text}`"),
            Otherwise::Words(text) => text.to_owned(),
        };
        table.push_str(&format!(
            "| {name} | {flag} | `{}` | {otherwise} | {} |\n",
            key.variable, key.about
        ));
    }
    table.push('\n');
    table
}

#[expect(clippy::disallowed_methods, reason = "a test may ask whether it shall write")]
fn is_written(name: &str, text: &str) {
    if std::env::var_os("HIGHWATER_UPDATE_DOCS").is_some() {
        std::fs::write(root(name), text).unwrap();
    }
    assert!(
        std::fs::read_to_string(root(name)).unwrap_or_default() == text,
        "{name} differs from the table of settings: run the tests once with HIGHWATER_UPDATE_DOCS=1"
    );
}

fn root(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}
