//! Damaged workspaces, backups, and workspaces that cannot be written to.

use std::path::{Path, PathBuf};
use std::process::Output;

use rusqlite::Connection;
use serde_json::Value;

use crate::house::{House, failed, program, pulled};
use crate::judge::equals_the_world;

#[test]
fn doctor_names_damaged_items_and_pull_repairs_them() {
    let (house, home) = pulled();
    let home = home.path().to_str().unwrap();
    let doctor =
        |args: &[&str]| program(&["doctor", "store", "-m", home]).args(args).output().unwrap();
    assert_eq!(doctor(&["--deep"]).status.code(), Some(0));
    damage(Path::new(home), "update issues set body = body || '!' where rowid <= 3");
    damage(Path::new(home), "update issues set title = cast(x'ff' as text) where rowid = 4");
    assert_eq!(
        doctor(&[]).status.code(),
        Some(0),
        "the structure is sound, and no more is claimed"
    );
    let told = doctor(&["--deep", "--json"]);
    assert_eq!(told.status.code(), Some(1));
    let items: Vec<Value> =
        findings(&told).into_iter().filter(|it| it["check"] == "item").collect();
    assert_eq!(items.len(), 4, "{items:?}");
    assert!(items.iter().all(|it| it["item"]["kind"] == "issue" && it["item"]["id"].is_i64()));

    let list = program(&["list", "issues", "--json", "-m", home]).output().unwrap();
    let (code, said) = failed(&list);
    assert_eq!(code, Some(1), "{said}");
    let expected =
        "Error: 1 item is damaged and was left out\nhint: `highwater doctor --deep` names";
    assert!(said.contains(expected), "{said}");
    assert_eq!(
        String::from_utf8(list.stdout).unwrap().lines().count(),
        11,
        "the others are printed"
    );

    let repaired = house.pull(&["-m", home, "--repair"]).output().unwrap();
    let said = String::from_utf8(repaired.stdout).unwrap();
    assert!(said.contains("  repair: 4 damaged items found, all read again\n"), "{said}");
    assert_eq!(doctor(&["--deep"]).status.code(), Some(0));
    equals_the_world(&house, &["-m", home]);
}

#[test]
fn doctor_names_twenty_damaged_items_and_counts_the_rest() {
    let spec = hw_sim::WorldSpec { issues: 40, ..hw_sim::WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    damage(home.path(), "update issues set body = body || '!'");
    let told = program(&["doctor", "store", "--deep", "-m"]).arg(home.path()).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert_eq!(told.lines().filter(|line| line.starts_with("fail  item ")).count(), 20, "{told}");
    assert!(told.contains("are damaged; 20 are named below, and 60 more with --json"), "{told}");
}

#[test]
fn backup_is_a_workspace_of_its_own_and_replaces_nothing_unasked() {
    let (house, home) = pulled();
    let (home, folder) = (home.path().to_str().unwrap(), tempfile::tempdir().unwrap());
    let copy = folder.path().join("copy.db");
    let backup =
        |args: &[&str]| program(&["backup", "-m", home]).arg(&copy).args(args).output().unwrap();
    let told = String::from_utf8(backup(&[]).stdout).unwrap();
    assert!(told.starts_with(&format!("backed up to {}: ", copy.display())), "{told}");
    equals_the_world(&house, &["--database", copy.to_str().unwrap()]);
    let (code, told) = failed(&backup(&[]));
    assert!(code == Some(1) && told.contains("is there already\nhint: name another"), "{told}");
    let told = backup(&["--force", "--json"]).stdout;
    let told: Value = serde_json::from_slice(&told).unwrap();
    assert_eq!(told["bytes"], std::fs::metadata(&copy).unwrap().len());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&copy).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn backup_of_postgres_names_pg_dump_without_the_password() {
    let url = "postgres://me:s3cret@127.0.0.1:1/x";
    let output = program(&["backup", "a.dump", "--workspace", "acme", "--database", url]).output();
    let (code, told) = failed(&output.unwrap());
    assert_eq!(code, Some(1), "{told}");
    let expected = "pg_dump -Fc -n '\"acme\"' -f a.dump 'postgres://me@127.0.0.1:1/x'";
    assert!(told.contains(expected) && !told.contains("s3cret"), "{told}");
}

/// Root may write anywhere, so for root the program runs as nobody.
#[cfg(unix)]
#[test]
fn workspace_in_a_folder_that_cannot_be_written_to_can_be_read() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    let (_house, home) = pulled();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("highwater");
    let mut copy = std::process::Command::new("cp");
    assert!(copy.arg(env!("CARGO_BIN_EXE_highwater")).arg(&program).status().unwrap().success());
    let mode = |path: PathBuf, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(folder.path().to_owned(), 0o755);
    mode(database(home.path()), 0o444);
    mode(home.path().join("db"), 0o555);
    mode(home.path().to_owned(), 0o555);
    let is_root = std::fs::metadata(folder.path()).unwrap().uid() == 0;
    for args in [&["list", "issues"][..], &["search", "is:issue"], &["doctor", "store", "--deep"]] {
        let mut command = std::process::Command::new(&program);
        command.args(args).arg("-m").arg(home.path());
        if is_root {
            command.uid(65_534);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        assert!(!output.stdout.is_empty(), "{args:?}");
    }
    mode(home.path().to_owned(), 0o755);
    mode(home.path().join("db"), 0o755);
}

fn database(home: &Path) -> PathBuf {
    home.join("db/acme.db")
}

fn damage(home: &Path, script: &str) {
    Connection::open(database(home)).unwrap().execute_batch(script).unwrap();
}

fn findings(output: &Output) -> Vec<Value> {
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
