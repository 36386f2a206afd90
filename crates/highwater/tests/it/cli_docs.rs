//! Keeps `docs/cli.md` equal to the program's own help.

use std::path::Path;

use assert_cmd::Command;

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

#[test]
fn cli_page_has_every_command_and_its_subcommands() {
    let commands: Vec<String> = all_commands().iter().map(|command| command.join(" ")).collect();
    for name in ["", "sources", "sources remove", "list prs", "config show", "man"] {
        assert!(commands.iter().any(|command| command == name), "{name:?}: {commands:?}");
    }
}

/// Compares two widths: the text above `Usage:` is never wrapped.
#[test]
fn help_breaks_no_line_of_its_texts_at_80_columns() {
    for command in all_commands().into_iter().filter(|command| !command.is_empty()) {
        let text = |columns| {
            let help = read_help_at(&command, columns);
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
    for command in all_commands() {
        let name = [&["highwater".to_owned()], command.as_slice()].concat().join(" ");
        page.push_str(&format!("\n## `{name}`\n\n```text\n{}```\n", read_help(&command)));
    }
    page
}

/// Returns every command with a help page, each before its subcommands: no list that a new command could be missing from.
fn all_commands() -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut next = 0;
    while let Some(command) = commands.get(next).cloned() {
        next += 1;
        let children = subcommand_names(&read_help(&command)).into_iter();
        let children = children.map(|name| [command.clone(), vec![name]].concat());
        commands.splice(next..next, children);
    }
    commands
}

/// Returns the names in the list of subcommands of a help text, without `help` itself.
fn subcommand_names(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = list.lines().take_while(|line| !line.is_empty());
    // a description that continues on the next line is indented further
    let names =
        lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn read_help(command: &[String]) -> String {
    read_help_at(command, "100")
}

fn read_help_at(command: &[String], columns: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_highwater"));
    let output = program.args(command).arg("--help").env("COLUMNS", columns).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}
