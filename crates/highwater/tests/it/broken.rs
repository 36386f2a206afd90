//! Databases that cannot be used: what is told, what to do, and that nothing in them is lost.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use hw_sim::WorldSpec;
use rusqlite::Connection;

use crate::house::{House, everything, failed, program, pulled};
use crate::judge::equals_the_world;

#[test]
fn a_file_that_is_no_database_is_told_and_left_alone() {
    let (house, folder) = (House::small(), tempfile::tempdir().unwrap());
    let file = folder.path().join("notes.txt");
    let notes = "these are my notes, not a database\n".repeat(100);
    std::fs::write(&file, &notes).unwrap();
    let expected = "because that file is no database\nhint: it was left as it is";
    both_refuse(&house, &["--database", file.to_str().unwrap()], expected);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), notes);
    assert_eq!(house.requests(), 0);
}

#[test]
fn a_database_with_a_garbled_head_is_told_and_left_alone() {
    let (house, home) = pulled();
    let file = database(home.path());
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[..100].fill(b'?');
    std::fs::write(&file, &bytes).unwrap();
    let asked = house.requests();
    both_refuse(&house, &["-m", home.path().to_str().unwrap()], "that file is no database\nhint: ");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    assert_eq!(house.requests(), asked);
}

#[test]
fn a_database_that_was_cut_short_or_overwritten_is_told() {
    let overwritten = |bytes: &mut Vec<u8>| {
        let end = bytes.len() - 4_096;
        bytes[4_096..end].fill(0xa5);
    };
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2 / 4_096 * 4_096);
    for spoil in [&overwritten as &dyn Fn(&mut Vec<u8>), &cut] {
        let (house, home) = pulled();
        let file = database(home.path());
        let mut bytes = std::fs::read(&file).unwrap();
        spoil(&mut bytes);
        std::fs::write(&file, &bytes).unwrap();
        let expected = "the database is damaged: database disk image is malformed\nhint: move it";
        both_refuse(&house, &["-m", home.path().to_str().unwrap()], expected);
    }
}

#[test]
fn damage_that_is_met_half_way_is_told() {
    let (house, home) = pulled();
    let file = database(home.path());
    let root: i64 = Connection::open(&file)
        .unwrap()
        .query_row("select rootpage from sqlite_master where name = 'issues'", [], |row| row.get(0))
        .unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let start = usize::try_from(root - 1).unwrap() * 4_096;
    bytes[start..start + 4_096].fill(0xa5);
    std::fs::write(&file, &bytes).unwrap();
    house.look(|github| {
        let id = github.world().truth().ids(hw_sim::ThreadKind::Issue)[0];
        github.world_mut().edit_issue(id, Some("new"), None, i64::MAX / 2);
    });
    let expected = "the database is damaged: database disk image is malformed\nhint: move it";
    let place = format!("cannot use {}\n", file.display());
    let told = both_refuse(&house, &["-m", home.path().to_str().unwrap(), "-f"], expected);
    assert!(told.contains(&place), "{told}");
}

#[test]
fn a_database_of_a_newer_highwater_is_told_and_left_alone() {
    let (house, home) = pulled();
    let before = everything(home.path());
    let connection = Connection::open(database(home.path())).unwrap();
    connection.execute_batch("insert into migrations values (99, 'later', 'x')").unwrap();
    let expected = "because this database was written by a newer highwater (schema 99, this one \
                    knows 6)\nhint: install the newer highwater";
    let asked = house.requests();
    both_refuse(&house, &["-m", home.path().to_str().unwrap()], expected);
    assert_eq!(house.requests(), asked);
    connection.execute_batch("delete from migrations where number = 99").unwrap();
    assert_eq!(everything(home.path()), before);
}

#[test]
fn a_home_that_cannot_be_made_is_told() {
    let (house, folder) = (House::small(), tempfile::tempdir().unwrap());
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let (code, told) = house.refused(&file.join("home"), &[]);
    assert_eq!((code, house.requests()), (Some(1), 0));
    let expected = "Error: cannot pull acme\n  because cannot make ";
    assert!(told.starts_with(expected), "{told}");
    assert!(told.contains("  because Not a directory\nhint: may you write there?"), "{told}");
}

/// Root may write anywhere, so for root the program runs as nobody.
#[cfg(unix)]
#[test]
fn a_home_that_may_not_be_written_to_is_told() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    let (house, folder) = (House::small(), tempfile::tempdir().unwrap());
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let (program, home) = (folder.path().join("highwater"), folder.path().join("home"));
    // by another process: one that is started meanwhile would inherit the open file, and keep it busy
    let mut copy = Command::new("cp");
    assert!(copy.arg(env!("CARGO_BIN_EXE_highwater")).arg(&program).status().unwrap().success());
    std::fs::create_dir(&home).unwrap();
    mode(&home, 0o555);
    mode(folder.path(), 0o755);
    let pull = house.pull(&["-m", home.to_str().unwrap()]);
    let mut command = Command::new(&program);
    command.args(pull.get_args());
    command.env("ORGANIZATION", "acme").env("GITHUB_TOKEN", "t");
    if std::fs::metadata(folder.path()).unwrap().uid() == 0 {
        command.uid(65_534);
    }
    let (code, told) = failed(&command.output().unwrap());
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("  because Permission denied\nhint: may you write there?"), "{told}");
}

/// A limit on the size of files is a full disk that needs no disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_told_and_the_next_pull_goes_on_when_there_is_room() {
    let spec = WorldSpec {
        repositories: 1,
        issues: 600,
        body_bytes: Some(4_000),
        latency_ms: 0..=1,
        ..WorldSpec::small()
    };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    let home = home.path().to_str().unwrap();
    let pull = house.pull(&["-m", home]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 6000 && exec \"$0\" \"$@\""]).arg(pull.get_program());
    limited.args(pull.get_args());
    limited.env("ORGANIZATION", "acme").env("GITHUB_TOKEN", "t");
    let (code, told) = failed(&limited.output().unwrap());
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("  because the disk takes no more: "), "{told}");
    assert!(told.contains("\nhint: make room on its disk"), "{told}");
    assert!(!told.contains("WARN"), "one sentence is enough: {told}");
    let held = program(&["list", "issues", "-m", home]).output().unwrap();
    let held = String::from_utf8(held.stdout).unwrap().lines().count();
    assert!((1..600).contains(&held), "what was read is kept: {held}");
    house.pulled(Path::new(home), &[]);
    equals_the_world(&house, &["-m", home]);
}

#[test]
fn a_postgres_that_is_not_there_is_told() {
    let house = House::small();
    let url = "postgres://nobody:s3cret@127.0.0.1:1/x";
    let expected = "because PostgreSQL does not answer: Connection refused\nhint: is the server";
    let told = both_refuse(&house, &["--database", url], expected);
    assert!(!told.contains("s3cret") && house.requests() == 0, "{told}");
}

#[test]
fn connection_string_by_keywords_is_understood_or_refused_and_never_a_file() {
    let (house, folder) = (House::small(), tempfile::tempdir().unwrap());
    let (fine, wrong) = (
        "host=127.0.0.1 port=1 user=nobody dbname=x password='s3 cret'",
        "host=127.0.0.1 service=x password=s3cret",
    );
    let expected = "because PostgreSQL does not answer: Connection refused\nhint: is the server";
    let told = both_refuse(&house, &["--database", fine], expected);
    assert!(!told.contains("s3 cret"), "{told}");
    let list = program(&["list", "issues", "--database", wrong]);
    let output = { list }.current_dir(folder.path()).output().unwrap();
    let (code, told) = failed(&output);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("unknown option") && !told.contains("s3cret"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file was made");
}

#[test]
fn a_wrong_password_is_told_and_not_shown() {
    let (house, listener) = (House::small(), TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("postgres://nobody:s3cret@{}/x", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(refuse_password));
    let expected = "because PostgreSQL does not let us in: password authentication failed for user \
                    \"nobody\"\nhint: are user, password and database right";
    let told = both_refuse(&house, &["--database", &url], expected);
    assert!(!told.contains("s3cret") && house.requests() == 0, "{told}");
}

/// Neither a pull nor a list can use it; what both said.
fn both_refuse(house: &House, args: &[&str], expected: &str) -> String {
    let pull = house.pull(args).output().unwrap();
    let list_args: Vec<&&str> = args.iter().filter(|arg| **arg != "-f").collect();
    let list = program(&["list", "issues"]).args(list_args).output().unwrap();
    let mut all = String::new();
    for (output, sentence) in
        [(pull, "Error: cannot pull acme\n  because "), (list, "Error: cannot ")]
    {
        let (code, told) = failed(&output);
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains(sentence) && told.contains(expected), "{told}");
        assert!(told.lines().filter(|line| line.starts_with("  because ")).count() <= 2, "{told}");
        all.push_str(&told);
    }
    all
}

fn database(home: &Path) -> PathBuf {
    home.join("db/acme.db")
}

/// What a PostgreSQL server says to a wrong password.
fn refuse_password(mut stream: TcpStream) {
    loop {
        let mut head = [0; 8];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let asks_for_tls = head == [0, 0, 0, 8, 4, 210, 22, 47];
        if asks_for_tls {
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
