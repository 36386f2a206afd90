//! Shell completions and manual pages.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fixture::{failure_output, program_command, success_stdout};

#[test]
fn completions_know_the_commands_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = success_stdout(&program_command(&["completions", shell]).output().unwrap());
        for word in ["highwater", "pull", "doctor", "reconcile"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let (code, stderr) =
        failure_output(&program_command(&["completions", "cmd"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(stderr.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{stderr}");
}

#[test]
fn completions_for_bash_can_be_parsed() {
    let script = success_stdout(&program_command(&["completions", "bash"]).output().unwrap());
    let bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut bash = bash.expect("`./check` is a bash script, so bash is installed");
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn manual_pages_exist_for_every_command() {
    let page = success_stdout(&program_command(&["man"]).output().unwrap());
    assert!(page.contains(".TH highwater 1") && page.contains("highwater\\-doctor(1)"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    success_stdout(&program_command(&["man"]).arg(&pages).output().unwrap());
    for (name, word) in [
        ("highwater", "SUBCOMMANDS"),
        ("highwater-pull", "reconcile"),
        ("highwater-list-issues", "repository"),
        ("highwater-doctor", "json"),
    ] {
        let page = std::fs::read_to_string(pages.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")) && page.contains(word), "{name}");
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (code, stderr) =
        failure_output(&program_command(&["man"]).arg(file.join("below")).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(stderr.contains("caused by: Not a directory\nhint: choose a directory"), "{stderr}");
    let (_, stderr) = failure_output(&program_command(&["man"]).arg(&file).output().unwrap());
    let expected = format!("Error: {} is a file, not a directory\n", file.display());
    assert!(stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn completions_install_as_the_help_and_the_readme_say() {
    let help = success_stdout(&program_command(&["completions", "--help"]).output().unwrap());
    let help_lines: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let help_lines = help_lines.iter().take_while(|line| !line.starts_with('<')).copied();
    let readme = include_str!("../../../../README.md");
    let readme_lines = readme.split("**Completions and manual pages**").nth(1).unwrap();
    let readme_lines = readme_lines.split("```").nth(1).unwrap().lines().skip(1);
    run_in_a_fresh_home(&help_lines.collect::<Vec<_>>().join("\n"));
    run_in_a_fresh_home(&readme_lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn manual_pages_show_examples_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    success_stdout(&program_command(&["man"]).arg(folder.path()).output().unwrap());
    let mut examples = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let page = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut is_verbatim = false;
        for line in page.lines() {
            match line {
                ".nf" => is_verbatim = true,
                ".fi" => is_verbatim = false,
                line if line.starts_with("  highwater ") => {
                    examples += 1;
                    assert!(is_verbatim, "{line}");
                }
                line => assert!(!line.starts_with(' ') || is_verbatim, "{line}"),
            }
        }
        assert!(!is_verbatim, "each block ends");
    }
    assert!(examples > 30, "{examples} examples");
}

/// Runs these lines as a new user would; bash stands in for the other shells.
fn run_in_a_fresh_home(lines: &str) {
    let home = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_highwater")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-e", "-c", lines]).env("HOME", home.path()).env("PATH", path);
    let output = bash.output().unwrap();
    assert!(output.status.success(), "{lines}\n{}", String::from_utf8_lossy(&output.stderr));
    for file in [
        ".local/share/bash-completion/completions/highwater",
        ".zfunc/_highwater",
        ".zshrc",
        ".config/fish/completions/highwater.fish",
    ] {
        let written =
            std::fs::metadata(home.path().join(file)).unwrap_or_else(|_| panic!("{file}"));
        assert!(written.len() > 0, "{file}");
    }
}
