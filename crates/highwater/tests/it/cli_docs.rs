//! Keeps `docs/cli.md` equal to the program's own help.

use std::path::Path;

use assert_cmd::Command;

/// The commands with a help page, in the order of the document.
const PAGES: [&[&str]; 26] = [
    &[],
    &["pull"],
    &["search"],
    &["list"],
    &["list", "issues"],
    &["list", "prs"],
    &["list", "discussions"],
    &["list", "comments"],
    &["list", "repos"],
    &["show"],
    &["export"],
    &["removed"],
    &["removed", "list"],
    &["removed", "restore"],
    &["mcp"],
    &["ui"],
    &["doctor"],
    &["backup"],
    &["workspaces"],
    &["workspaces", "remove"],
    &["demo"],
    &["init"],
    &["config"],
    &["config", "show"],
    &["completions"],
    &["man"],
];

#[test]
fn cli_page_equals_the_help_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let written = render_page();
    if std::env::var_os("HIGHWATER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == written,
        "docs/cli.md differs from the program's help: run the tests once with HIGHWATER_UPDATE_DOCS=1"
    );
}

/// Compares two widths: the text above `Usage:` is never wrapped.
#[test]
fn help_breaks_no_line_of_its_texts_at_80_columns() {
    for command in PAGES.into_iter().filter(|command| !command.is_empty()) {
        let text = |columns| {
            let help = read_help_at(command, columns);
            help.split("\nUsage:").next().unwrap().to_owned()
        };
        let narrow = text("80");
        assert_eq!(narrow, text("100"), "{command:?}");
        for line in narrow.lines() {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
    }
}

fn render_page() -> String {
    let mut page = String::from(
        "# The commands\n\nWritten by a test from the program's own help; change the help, not this page.\n",
    );
    for command in PAGES {
        let name = [&["highwater"], command].concat().join(" ");
        page.push_str(&format!("\n## `{name}`\n\n```text\n{}```\n", read_help(command)));
    }
    page
}

fn read_help(command: &[&str]) -> String {
    read_help_at(command, "100")
}

fn read_help_at(command: &[&str], columns: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_highwater"));
    let output = program.args(command).arg("--help").env("COLUMNS", columns).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}
