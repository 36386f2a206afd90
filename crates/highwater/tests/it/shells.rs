//! What shells and `man` get.

use std::io::Write as _;
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
