//! Damaged workspaces, backups, and workspaces that cannot be written to.

use std::path::{Path, PathBuf};
use std::process::Output;

use rusqlite::Connection;
use serde_json::Value;

use crate::fixture::{
    GitHubFixture, failure_output, file_mode, program_command, pull_small_world, set_file_mode,
};
use crate::mirror_assertions::assert_threads_match;

#[test]
fn doctor_names_damaged_items_and_pull_repairs_them() {
    let (fixture, home) = pull_small_world();
    let home = home.path().to_str().unwrap();
    let doctor = |args: &[&str]| {
        program_command(&["doctor", "store", "-m", home]).args(args).output().unwrap()
    };
    assert_eq!(doctor(&["--deep"]).status.code(), Some(0));
    run_script(Path::new(home), "update issues set body = body || '!' where rowid <= 3");
    run_script(Path::new(home), "update issues set title = cast(x'ff' as text) where rowid = 4");
    assert_eq!(doctor(&[]).status.code(), Some(0), "without --deep only the structure is checked");
    let output_text = doctor(&["--deep", "--json"]);
    assert_eq!(output_text.status.code(), Some(1));
    let items: Vec<Value> = parse_findings(&output_text)
        .into_iter()
        .filter(|finding| finding["check"] == "item")
        .collect();
    assert_eq!(items.len(), 4, "{items:?}");
    assert!(
        items.iter().all(|item| item["item"]["kind"] == "issue" && item["item"]["id"].is_i64())
    );

    let list = program_command(&["list", "issues", "--json", "-m", home]).output().unwrap();
    let (code, stderr) = failure_output(&list);
    assert_eq!(code, Some(1), "{stderr}");
    let expected =
        "Error: 1 item is damaged and was left out\nhint: `highwater doctor --deep` lists";
    assert!(stderr.contains(expected), "{stderr}");
    assert_eq!(
        String::from_utf8(list.stdout).unwrap().lines().count(),
        11,
        "the others are printed"
    );

    let repaired = fixture.pull_command(&["-m", home, "--repair"]).output().unwrap();
    let stdout = String::from_utf8(repaired.stdout).unwrap();
    assert!(stdout.contains("  repair: 4 damaged items found and downloaded again\n"), "{stdout}");
    assert_eq!(doctor(&["--deep"]).status.code(), Some(0));
    assert_threads_match(&fixture, &["-m", home]);
}

#[test]
fn doctor_names_twenty_damaged_items_and_counts_the_rest() {
    let spec = hw_sim::WorldSpec { issues: 40, ..hw_sim::WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    run_script(home.path(), "update issues set body = body || '!'");
    let printed =
        program_command(&["doctor", "store", "--deep", "-m"]).arg(home.path()).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(
        printed.lines().filter(|line| line.starts_with("fail  item ")).count(),
        20,
        "{printed}"
    );
    assert!(printed.contains("are damaged; 20 are listed below, 60 more with --json"), "{printed}");
}

#[test]
fn backup_is_a_workspace_and_overwrites_only_with_force() {
    let (fixture, home) = pull_small_world();
    let (home, folder) = (home.path().to_str().unwrap(), tempfile::tempdir().unwrap());
    let copy = folder.path().join("copy.db");
    let backup = |args: &[&str]| {
        program_command(&["backup", "-m", home]).arg(&copy).args(args).output().unwrap()
    };
    let printed = String::from_utf8(backup(&[]).stdout).unwrap();
    assert!(printed.starts_with(&format!("backed up to {}: ", copy.display())), "{printed}");
    assert_threads_match(&fixture, &["--database", copy.to_str().unwrap()]);
    let (code, printed) = failure_output(&backup(&[]));
    assert!(
        code == Some(1) && printed.contains("already exists\nhint: choose another"),
        "{printed}"
    );
    let printed = backup(&["--force", "--json"]).stdout;
    let printed: Value = serde_json::from_slice(&printed).unwrap();
    assert_eq!(printed["bytes"], std::fs::metadata(&copy).unwrap().len());
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no other file is left in the folder"
    );
    #[cfg(unix)]
    assert_eq!(file_mode(&copy), 0o600);
}

#[test]
fn backup_refuses_a_directory_and_the_database_itself() {
    let (_fixture, home) = pull_small_world();
    let database = home.path().join("db/acme.db");
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.db");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&database, &link).unwrap();
    let before = std::fs::read(&database).unwrap();
    for (file, problem) in [
        (folder.path(), "is a directory\nhint: pass a file name"),
        (&database, "is the database itself\nhint: choose another file for the backup"),
        (&link, "is the database itself\nhint: choose another file for the backup"),
    ] {
        for args in [vec![], vec!["--force"]] {
            let mut command = program_command(&["backup", "-m", home.path().to_str().unwrap()]);
            let output = command.arg(file).args(args).output().unwrap();
            let (code, stderr) = failure_output(&output);
            let expected = format!("Error: {} {problem}\n", file.display());
            assert_eq!((code, stderr), (Some(1), expected));
        }
    }
    assert!(std::fs::read(&database).unwrap() == before, "the database is as it was");
}

#[test]
fn backup_that_cannot_be_created_is_reported_under_the_name_that_was_given() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("nowhere").join("copy.db");
    let database = home.path().join("some.db");
    hw_store::StoreWriter::open(&hw_store::DatabaseLocation::File(database.clone())).unwrap();
    let mut command = program_command(&["backup", "--database", database.to_str().unwrap()]);
    let (code, stderr) = failure_output(&command.arg(&file).output().unwrap());
    assert_eq!(code, Some(1));
    let expected = format!("Error: cannot create {}\n", file.display());
    assert!(stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn backup_of_postgres_names_pg_dump_without_the_password() {
    let url = "postgres://me:s3cret@127.0.0.1:1/x";
    let output =
        program_command(&["backup", "a.dump", "--workspace", "acme", "--database", url]).output();
    let (code, stderr) = failure_output(&output.unwrap());
    assert_eq!(code, Some(1), "{stderr}");
    let expected = "pg_dump -Fc -n '\"acme\"' -f a.dump 'postgres://me@127.0.0.1:1/x'";
    assert!(stderr.contains(expected) && !stderr.contains("s3cret"), "{stderr}");
}

/// Root can write anywhere, so for root the program runs as the user nobody.
#[cfg(unix)]
#[test]
fn workspace_in_a_read_only_folder_can_be_read() {
    use std::os::unix::fs::MetadataExt as _;
    use std::os::unix::process::CommandExt as _;
    let (_fixture, home) = pull_small_world();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("highwater");
    let mut copy = std::process::Command::new("cp");
    assert!(copy.arg(env!("CARGO_BIN_EXE_highwater")).arg(&program).status().unwrap().success());
    set_file_mode(folder.path(), 0o755);
    set_file_mode(&database_path(home.path()), 0o444);
    set_file_mode(&home.path().join("db"), 0o555);
    set_file_mode(home.path(), 0o555);
    let is_root = std::fs::metadata(folder.path()).unwrap().uid() == 0;
    for args in [&["list", "issues"][..], &["search", "is:issue"], &["doctor", "store", "--deep"]] {
        let mut command = std::process::Command::new(&program);
        command.args(args).arg("-m").arg(home.path());
        if is_root {
            command.uid(65_534);
        }
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        assert!(!output.stdout.is_empty(), "{args:?}");
    }
    set_file_mode(home.path(), 0o755);
    set_file_mode(&home.path().join("db"), 0o755);
}

fn database_path(home: &Path) -> PathBuf {
    home.join("db/acme.db")
}

fn run_script(home: &Path, script: &str) {
    Connection::open(database_path(home)).unwrap().execute_batch(script).unwrap();
}

fn parse_findings(output: &Output) -> Vec<Value> {
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
