//! What shells and `man` get.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::house::{failed, program, succeeded};

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = succeeded(&program(&["completions", shell]).output().unwrap());
        for word in ["highwater", "pull", "doctor", "reconcile"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let (code, told) = failed(&program(&["completions", "cmd"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(told.contains("[possible values: bash, elvish, fish, powershell, zsh]"), "{told}");
}

#[test]
fn bash_can_read_its_script() {
    let script = succeeded(&program(&["completions", "bash"]).output().unwrap());
    let bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut bash = bash.expect("`./check` is a bash script, so bash is here");
    bash.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let done = bash.wait_with_output().unwrap();
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let page = succeeded(&program(&["man"]).output().unwrap());
    assert!(page.contains(".TH highwater 1") && page.contains("highwater\\-doctor(1)"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    succeeded(&program(&["man"]).arg(&pages).output().unwrap());
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
    let (code, told) = failed(&program(&["man"]).arg(file.join("below")).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(told.contains("because Not a directory\nhint: name a folder"), "{told}");
}

#[test]
fn completion_lines_of_the_help_and_the_readme_work_in_a_fresh_home() {
    let help = succeeded(&program(&["completions", "--help"]).output().unwrap());
    let of_help: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let of_help = of_help.iter().take_while(|line| !line.starts_with('<')).copied();
    let readme = include_str!("../../../../README.md");
    let of_readme = readme.split("**Completions and manual pages**").nth(1).unwrap();
    let of_readme = of_readme.split("```").nth(1).unwrap().lines().skip(1);
    run_in_a_fresh_home(&of_help.collect::<Vec<_>>().join("\n"));
    run_in_a_fresh_home(&of_readme.collect::<Vec<_>>().join("\n"));
}

#[test]
fn manual_pages_show_examples_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    succeeded(&program(&["man"]).arg(folder.path()).output().unwrap());
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

/// Runs these lines as somebody would who has just unpacked highwater; bash stands in for the other shells.
fn run_in_a_fresh_home(lines: &str) {
    let home = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_highwater")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-e", "-c", lines]).env("HOME", home.path()).env("PATH", path);
    let done = bash.output().unwrap();
    assert!(done.status.success(), "{lines}\n{}", String::from_utf8_lossy(&done.stderr));
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
