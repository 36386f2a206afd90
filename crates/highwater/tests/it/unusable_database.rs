//! Databases that cannot be used: the error, the hint, and that nothing in them is lost.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hw_sim::WorldSpec;
use rusqlite::Connection;

use crate::fixture::{
    GitHubFixture, failure_output, list_everything, program_command, pull_small_world,
    set_file_mode,
};
use crate::mirror_assertions::assert_threads_match;

#[test]
fn database_file_that_is_not_one_is_reported_and_left_alone() {
    let (fixture, folder) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let file = folder.path().join("notes.txt");
    let notes = "these are my notes, not a database\n".repeat(100);
    std::fs::write(&file, &notes).unwrap();
    let expected =
        "caused by: that file is not a highwater database\nhint: the file was not changed";
    assert_both_refuse(&fixture, &["--database", file.to_str().unwrap()], expected);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), notes);
    assert_eq!(fixture.request_count(), 0);
}

#[test]
fn database_with_a_garbled_header_is_reported_and_left_alone() {
    let (fixture, home) = pull_small_world();
    let file = database_path(home.path());
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[..100].fill(b'?');
    std::fs::write(&file, &bytes).unwrap();
    let requests = fixture.request_count();
    assert_both_refuse(
        &fixture,
        &["-m", home.path().to_str().unwrap()],
        "that file is not a highwater database\nhint: ",
    );
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert_eq!(fixture.request_count(), requests);
}

#[test]
fn database_that_was_truncated_or_overwritten_is_reported() {
    for spoil in [overwrite_middle as fn(&[u8]) -> Vec<u8>, cut_in_half] {
        let (fixture, home) = pull_small_world();
        let file = database_path(home.path());
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, spoil(&bytes)).unwrap();
        let expected = "the database is damaged: database disk image is malformed\nhint: move it";
        assert_both_refuse(&fixture, &["-m", home.path().to_str().unwrap()], expected);
    }
}

#[test]
fn database_damage_found_during_a_pull_is_reported() {
    let (fixture, home) = pull_small_world();
    let file = database_path(home.path());
    let root: i64 = Connection::open(&file)
        .unwrap()
        .query_row("select rootpage from sqlite_master where name = 'issues'", [], |row| row.get(0))
        .unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let start = usize::try_from(root - 1).unwrap() * 4_096;
    bytes[start..start + 4_096].fill(0xa5);
    std::fs::write(&file, &bytes).unwrap();
    fixture.with_github(|github| {
        let id = github.world().truth().thread_ids(hw_sim::ThreadKind::Issue)[0];
        github.world_mut().edit_issue(id, Some("new"), None, i64::MAX / 2);
    });
    let expected = "the database is damaged: database disk image is malformed\nhint: move it";
    let expected_context = format!("cannot use {}\n", file.display());
    let printed =
        assert_both_refuse(&fixture, &["-m", home.path().to_str().unwrap(), "-f"], expected);
    assert!(printed.contains(&expected_context), "{printed}");
}

#[test]
fn database_of_a_newer_highwater_is_reported_and_left_alone() {
    let (fixture, home) = pull_small_world();
    let before = list_everything(home.path());
    let connection = Connection::open(database_path(home.path())).unwrap();
    connection.execute_batch("insert into migrations values (99, 'later', 'x')").unwrap();
    let expected = "caused by: this database was written by a newer highwater (schema 99, this one \
                    supports 18)\nhint: install the newer highwater";
    let requests = fixture.request_count();
    assert_both_refuse(&fixture, &["-m", home.path().to_str().unwrap()], expected);
    assert_eq!(fixture.request_count(), requests);
    connection.execute_batch("delete from migrations where number = 99").unwrap();
    assert_eq!(list_everything(home.path()), before);
}

#[test]
fn database_upgraded_during_a_pull_stops_the_pull_with_the_reason() {
    let world =
        WorldSpec { repositories: 1, issues: 900, latency_ms: 100..=100, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(world, 1), tempfile::tempdir().unwrap());
    let mut command = fixture.pull_command(&["-m", home.path().to_str().unwrap()]);
    let pull = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while fixture.request_count() < 4 {
        std::thread::yield_now();
    }
    let connection = Connection::open(database_path(home.path())).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    connection.execute_batch("update schema_version set number = 99").unwrap();
    let (code, stderr) = failure_output(&pull.wait_with_output().unwrap());
    let expected = "caused by: this database was written by a newer highwater (schema 99, this one \
                    supports 18)\nhint: install the newer highwater";
    assert!(code == Some(1) && stderr.contains(expected), "{stderr}");
}

#[test]
fn home_that_cannot_be_created_is_reported() {
    let (fixture, folder) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let (code, stderr) = fixture.pull_failure(&file.join("home"), &[]);
    assert_eq!((code, fixture.request_count()), (Some(1), 0));
    let expected = "Error: cannot pull acme\n  caused by: cannot create ";
    assert!(stderr.starts_with(expected), "{stderr}");
    assert!(
        stderr.contains("  caused by: Not a directory\nhint: check that you can write there"),
        "{stderr}"
    );
}

/// Root can write anywhere, so for root the program runs as the user nobody.
#[cfg(unix)]
#[test]
fn home_that_is_not_writable_is_reported() {
    use std::os::unix::fs::MetadataExt as _;
    use std::os::unix::process::CommandExt as _;
    let (fixture, folder) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let (program, home) = (folder.path().join("highwater"), folder.path().join("home"));
    // copied by another process: a child started meanwhile would inherit the open file and keep it busy
    let mut copy = Command::new("cp");
    assert!(copy.arg(env!("CARGO_BIN_EXE_highwater")).arg(&program).status().unwrap().success());
    std::fs::create_dir(&home).unwrap();
    set_file_mode(&home, 0o555);
    set_file_mode(folder.path(), 0o755);
    let pull = fixture.pull_command(&["-m", home.to_str().unwrap()]);
    let mut command = Command::new(&program);
    command.args(pull.get_args());
    command.env("ORGANIZATION", "acme").env("GITHUB_TOKEN", "t");
    if std::fs::metadata(folder.path()).unwrap().uid() == 0 {
        command.uid(65_534);
    }
    let (code, stderr) = failure_output(&command.output().unwrap());
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("  caused by: Permission denied\nhint: check that you can write there"),
        "{stderr}"
    );
}

/// A limit on the size of files simulates a full disk.
#[cfg(unix)]
#[test]
fn full_disk_is_reported_and_the_next_pull_continues() {
    let spec = WorldSpec {
        repositories: 1,
        issues: 600,
        body_bytes: Some(4_000),
        latency_ms: 0..=1,
        ..WorldSpec::small()
    };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    let home = home.path().to_str().unwrap();
    let pull = fixture.pull_command(&["-m", home]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 6000 && exec \"$0\" \"$@\""]).arg(pull.get_program());
    limited.args(pull.get_args());
    limited.env("ORGANIZATION", "acme").env("GITHUB_TOKEN", "t");
    let (code, stderr) = failure_output(&limited.output().unwrap());
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("  caused by: disk full or not writable: "), "{stderr}");
    assert!(stderr.contains("\nhint: free some disk space"), "{stderr}");
    assert!(!stderr.contains("WARN"), "one sentence is enough: {stderr}");
    let stored = program_command(&["list", "issues", "-m", home]).output().unwrap();
    let stored = String::from_utf8(stored.stdout).unwrap().lines().count();
    assert!((1..600).contains(&stored), "what was read is stored: {stored}");
    fixture.pull_json(Path::new(home), &[]);
    assert_threads_match(&fixture, &["-m", home]);
}

#[test]
fn postgres_that_is_unreachable_is_reported() {
    let fixture = GitHubFixture::start_small();
    let url = "postgres://nobody:s3cret@127.0.0.1:1/x";
    let expected = "caused by: PostgreSQL is unreachable: Connection refused\nhint: check that the server is running";
    let printed = assert_both_refuse(&fixture, &["--database", url], expected);
    assert!(!printed.contains("s3cret") && fixture.request_count() == 0, "{printed}");
}

#[test]
fn postgres_connection_string_of_keywords_is_never_taken_for_a_file() {
    let (fixture, folder) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let (fine, wrong) = (
        "host=127.0.0.1 port=1 user=nobody dbname=x password='s3 cret'",
        "host=127.0.0.1 service=x password=s3cret",
    );
    let expected = "caused by: PostgreSQL is unreachable: Connection refused\nhint: check that the server is running";
    let printed = assert_both_refuse(&fixture, &["--database", fine], expected);
    assert!(!printed.contains("s3 cret"), "{printed}");
    let list = program_command(&["list", "issues", "--database", wrong]);
    let output = { list }.current_dir(folder.path()).output().unwrap();
    let (code, printed) = failure_output(&output);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("unknown option") && !printed.contains("s3cret"), "{printed}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file was made");
}

#[test]
fn postgres_password_that_is_wrong_is_reported_without_printing_it() {
    let (fixture, listener) =
        (GitHubFixture::start_small(), TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("postgres://nobody:s3cret@{}/x", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(refuse_password));
    let expected = "caused by: cannot log in to PostgreSQL: password authentication failed for user \
                    \"nobody\"\nhint: check the user, password and database";
    let printed = assert_both_refuse(&fixture, &["--database", &url], expected);
    assert!(!printed.contains("s3cret") && fixture.request_count() == 0, "{printed}");
}

/// Checks that neither a pull nor a list can use the database, and returns the stderr of both.
fn assert_both_refuse(fixture: &GitHubFixture, args: &[&str], expected: &str) -> String {
    let pull = fixture.pull_command(args).output().unwrap();
    let list_args: Vec<&&str> = args.iter().filter(|arg| **arg != "-f").collect();
    let list = program_command(&["list", "issues"]).args(list_args).output().unwrap();
    let mut all = String::new();
    for (output, sentence) in
        [(pull, "Error: cannot pull acme\n  caused by: "), (list, "Error: cannot ")]
    {
        let (code, stderr) = failure_output(&output);
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains(sentence) && stderr.contains(expected), "{stderr}");
        assert!(
            stderr.lines().filter(|line| line.starts_with("  caused by: ")).count() <= 2,
            "{stderr}"
        );
        all.push_str(&stderr);
    }
    all
}

fn database_path(home: &Path) -> PathBuf {
    home.join("db/acme.db")
}

/// Answers as a PostgreSQL server does to a wrong password.
fn refuse_password(mut stream: TcpStream) {
    loop {
        let mut head = [0; 8];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let is_tls_request = head == [0, 0, 0, 8, 4, 210, 22, 47];
        if is_tls_request {
            stream.write_all(b"N").ok();
            continue;
        }
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let mut rest = vec![0; length as usize - 8];
        stream.read_exact(&mut rest).ok();
        let fields = b"SFATAL\0VFATAL\0C28P01\0\
                       Mpassword authentication failed for user \"nobody\"\0\0";
        let length = u32::try_from(fields.len() + 4).unwrap();
        stream.write_all(&[b"E".as_slice(), &length.to_be_bytes(), fields].concat()).ok();
        return;
    }
}

fn overwrite_middle(bytes: &[u8]) -> Vec<u8> {
    let (page, end) = (4_096, bytes.len() - 4_096);
    [&bytes[..page], &vec![0xa5; end - page], &bytes[end..]].concat()
}

fn cut_in_half(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len() / 2 / 4_096 * 4_096].to_vec()
}
