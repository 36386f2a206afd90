//! `docs/cli.md` is what the program itself says; this test keeps it so.

use std::path::Path;

use assert_cmd::Command;

/// Every page of help, in the order of the document.
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
fn the_command_page_is_what_the_program_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let written = page();
    if std::env::var_os("HIGHWATER_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        held == written,
        "docs/cli.md differs from the program's help: run the tests once with HIGHWATER_UPDATE_DOCS=1"
    );
}

/// Wherever it is wide enough for the longest line, the text above `Usage:` is as it was written.
#[test]
fn help_breaks_no_line_of_its_texts_at_80_columns() {
    for command in PAGES.into_iter().filter(|command| !command.is_empty()) {
        let text = |columns| {
            let help = help_at(command, columns);
            help.split("\nUsage:").next().unwrap().to_owned()
        };
        let narrow = text("80");
        assert_eq!(narrow, text("100"), "{command:?}");
        for line in narrow.lines() {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
    }
}

fn page() -> String {
    let mut page = String::from(
        "# The commands\n\nWritten by a test from the program's own help; change the help, not this page.\n",
    );
    for command in PAGES {
        let name = [&["highwater"], command].concat().join(" ");
        page.push_str(&format!("\n## `{name}`\n\n```text\n{}```\n", help(command)));
    }
    page
}

fn help(command: &[&str]) -> String {
    help_at(command, "100")
}

fn help_at(command: &[&str], columns: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_highwater"));
    let output = program.args(command).arg("--help").env("COLUMNS", columns).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}
