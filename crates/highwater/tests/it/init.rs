//! `highwater init`: the first file.

use std::path::Path;
use std::process::Command;

use crate::house::{TOKEN, failed, fake_gh, program, succeeded};

#[test]
fn the_first_file_is_the_example_with_the_organisation_set() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("new");
    let told = succeeded(&init(&home, &["-o", "acme"]).output().unwrap());
    assert!(told.contains("\norganisation: acme (from: flag)\n"), "{told}");
    assert!(told.contains("\ntoken: none found; put GITHUB_TOKEN=… into "), "{told}");
    assert!(told.ends_with(&format!("\nnext: highwater pull -m {}\n", home.display())), "{told}");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../highwater.toml.example");
    let example = std::fs::read_to_string(example).unwrap();
    let expected = example.replace("# organization = \"acme\"", "organization = \"acme\"");
    assert_ne!(expected, example);
    assert_eq!(held(&home), expected);
    let shown = succeeded(&program(&["config", "show", "-m"]).arg(&home).output().unwrap());
    assert!(shown.contains("acme") && shown.contains("highwater.toml:"), "{shown}");
}

#[cfg(unix)]
#[test]
fn the_first_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("new");
    succeeded(&init(&home, &[]).output().unwrap());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home), mode(&home.join("highwater.toml"))), (0o700, 0o600));
}

#[test]
fn a_file_that_is_there_stays_unless_it_is_forced() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("highwater.toml"), "mine = \n").unwrap();
    let (code, told) = failed(&init(home.path(), &[]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(told.contains("is there already\nhint: --force replaces it"), "{told}");
    assert_eq!(held(home.path()), "mine = \n");
    succeeded(&init(home.path(), &["--force"]).output().unwrap());
    assert!(held(home.path()).starts_with("# Settings of highwater."));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn the_organisation_is_that_of_the_repository_we_are_in() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir_all(folder.path().join(".git")).unwrap();
    let config =
        "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:harbour/crane.git\n";
    std::fs::write(folder.path().join(".git/config"), config).unwrap();
    let mut command = init(home.path(), &[]);
    let told = succeeded(&command.current_dir(folder.path()).output().unwrap());
    assert!(told.contains("organisation: harbour (from: git remote origin)"), "{told}");
    assert!(held(home.path()).contains("\norganization = \"harbour\"\n"));
}

#[test]
fn it_tells_where_a_token_is_found_and_not_which() {
    for (variable, value, from) in
        [("GITHUB_TOKEN", TOKEN, "environment"), ("FAKE_GH", TOKEN, "gh auth token")]
    {
        let home = tempfile::tempdir().unwrap();
        let mut command = init(home.path(), &[]);
        let output = command.env("PATH", fake_gh()).env(variable, value).output().unwrap();
        let told = succeeded(&output);
        assert!(told.contains(&format!("\ntoken: found (from: {from})\n")), "{told}");
        assert!(!told.contains(TOKEN), "{told}");
    }
}

fn init(home: &Path, args: &[&str]) -> Command {
    let mut command = program(&["init", "-m"]);
    command.arg(home).args(args).current_dir(std::env::temp_dir());
    command
}

fn held(home: &Path) -> String {
    std::fs::read_to_string(home.join("highwater.toml")).unwrap()
}
