//! `highwater init`: the settings file it writes.

use std::path::Path;
use std::process::Command;

use crate::fixture::{TOKEN, failure_output, fake_gh, file_mode, program_command, success_stdout};

#[test]
fn init_writes_the_example_with_the_organization_set() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("new");
    let stdout = success_stdout(&init_command(&home, &["-o", "acme"]).output().unwrap());
    assert!(stdout.contains("\norganization: acme (from -o)\n"), "{stdout}");
    assert!(stdout.contains("\ntoken: none found; put GITHUB_TOKEN=… in "), "{stdout}");
    assert!(
        stdout.ends_with(&format!("\nnext: highwater pull -m {}\n", home.display())),
        "{stdout}"
    );
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../highwater.toml.example");
    let example = std::fs::read_to_string(example).unwrap();
    let expected = example.replace("# organization = \"acme\"", "organization = \"acme\"");
    assert_ne!(expected, example);
    assert_eq!(read_settings_file(&home), expected);
    let shown =
        success_stdout(&program_command(&["config", "show", "-m"]).arg(&home).output().unwrap());
    assert!(shown.contains("acme") && shown.contains("highwater.toml:"), "{shown}");
}

#[cfg(unix)]
#[test]
fn init_creates_files_for_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("new");
    success_stdout(&init_command(&home, &[]).output().unwrap());
    assert_eq!((file_mode(&home), file_mode(&home.join("highwater.toml"))), (0o700, 0o600));
}

#[test]
fn init_overwrites_only_with_force() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("highwater.toml"), "mine = \n").unwrap();
    let (code, stderr) = failure_output(&init_command(home.path(), &[]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(stderr.contains("already exists\nhint: --force overwrites it"), "{stderr}");
    assert_eq!(read_settings_file(home.path()), "mine = \n");
    success_stdout(&init_command(home.path(), &["--force"]).output().unwrap());
    assert!(read_settings_file(home.path()).starts_with("# highwater settings."));
    assert_eq!(
        std::fs::read_dir(home.path()).unwrap().count(),
        1,
        "no other file is left in the folder"
    );
}

#[test]
fn init_refuses_a_directory_as_its_settings_file() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("highwater.toml");
    std::fs::create_dir(&path).unwrap();
    for args in [&[] as &[&str], &["--force"]] {
        let (code, stderr) = failure_output(&init_command(home.path(), args).output().unwrap());
        let expected = format!(
            "Error: {} is a directory\nhint: remove it or choose another --home\n",
            path.display()
        );
        assert_eq!((code, stderr.as_str()), (Some(1), expected.as_str()));
    }
}

#[test]
fn init_refuses_a_file_as_its_home() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let (code, stderr) = failure_output(&init_command(&file, &[]).output().unwrap());
    let expected = format!("Error: the home directory {} is a file\nhint: ", file.display());
    assert!(code == Some(1) && stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn init_takes_the_organization_from_the_git_remote() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir_all(folder.path().join(".git")).unwrap();
    let config =
        "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:harbor/crane.git\n";
    std::fs::write(folder.path().join(".git/config"), config).unwrap();
    let mut command = init_command(home.path(), &[]);
    let stdout = success_stdout(&command.current_dir(folder.path()).output().unwrap());
    assert!(stdout.contains("organization: harbor (from the git remote `origin`)"), "{stdout}");
    assert!(read_settings_file(home.path()).contains("\norganization = \"harbor\"\n"));
}

#[test]
fn init_reports_where_a_token_is_found_without_printing_it() {
    for (variable, value, from) in
        [("GITHUB_TOKEN", TOKEN, "the environment"), ("FAKE_GH", TOKEN, "`gh auth token`")]
    {
        let home = tempfile::tempdir().unwrap();
        let mut command = init_command(home.path(), &[]);
        let output = command.env("PATH", fake_gh()).env(variable, value).output().unwrap();
        let stdout = success_stdout(&output);
        assert!(stdout.contains(&format!("\ntoken: found (from {from})\n")), "{stdout}");
        assert!(!stdout.contains(TOKEN), "{stdout}");
    }
}

fn init_command(home: &Path, args: &[&str]) -> Command {
    let mut command = program_command(&["init", "-m"]);
    command.arg(home).args(args).current_dir(std::env::temp_dir());
    command
}

fn read_settings_file(home: &Path) -> String {
    std::fs::read_to_string(home.join("highwater.toml")).unwrap()
}
