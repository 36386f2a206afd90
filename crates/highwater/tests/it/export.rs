//! `highwater export --markdown`: one file per thread, and no other file touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hw_sim::{ThreadKind, TrueThread, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use rusqlite::Connection;
use serde_json::Value;

use crate::fixture::{
    GitHubFixture, documented_fields, failure_output, field_names, file_mode, program_command,
    pull_hostile_world, pull_with_comments, run_command, run_command_json, stderr_text,
    success_stdout,
};

const ALL_ITEMS: [&str; 2] = ["-i", "repositories,discussions,issues,pull-requests,comments"];

#[test]
fn export_writes_one_file_per_thread_with_unchanged_texts() {
    let (fixture, home) = pull_hostile_world();
    let folder = home.path().join("out");
    let printed = export_json(home.path(), &folder);
    assert_eq!(
        field_names(&printed),
        documented_fields("`highwater export --markdown DIR --json`")
    );
    let truth = fixture.with_github(|github| github.world().truth());
    assert_eq!(printed["written"], truth.threads.len());
    assert_eq!(read_files(&folder).len(), truth.threads.len());
    for thread in truth.threads.values() {
        let text = fs::read_to_string(thread_path(&folder, thread)).unwrap();
        assert!(text.starts_with("---\nhighwater: \""), "{text}");
        assert!(text.contains(&thread.body), "{}", thread.url);
        let comments = truth.comments.values().filter(|comment| comment.thread_id == thread.id);
        for comment in comments.filter(|comment| comment.url.starts_with(&thread.url)) {
            assert!(text.contains(&comment.body), "{}", comment.url);
        }
        let (matter, _) = text[4..].split_once("\n---\n").unwrap();
        assert!(matter.lines().all(|line| line.contains(": ")), "{matter}");
        assert!(matter.lines().all(|line| !line.contains(char::is_control)), "{matter}");
    }
}

#[test]
fn export_updates_changed_and_removes_deleted_threads() {
    let (fixture, home) = pull_with_comments();
    let folder = home.path().join("out");
    let first = export_json(home.path(), &folder);
    let before = read_files(&folder);
    let again = export_json(home.path(), &folder);
    assert_eq!((&again["written"], &again["unchanged"]), (&0.into(), &first["written"]));
    assert_eq!(read_files(&folder), before);
    let times = modified_times(&folder);

    let (edited, gone) = fixture.with_github(|github| {
        let truth = github.world().truth();
        let mut issues = truth.threads_of_kind(ThreadKind::Issue).cloned();
        let (edited, gone): (TrueThread, TrueThread) =
            (issues.next().unwrap(), issues.next().unwrap());
        let now_ms = MachineClock.now_ms();
        github.world_mut().edit_issue(edited.id, None, Some("now quite different"), now_ms);
        github.world_mut().delete_issue(gone.id, now_ms);
        (edited, gone)
    });
    fixture.pull_json(home.path(), &ALL_ITEMS);
    let printed = export_json(home.path(), &folder);
    let counts = ["written", "removed", "left"].map(|name| printed[name].clone());
    assert_eq!(counts, [1.into(), 1.into(), Value::Array(vec![])]);
    let text = fs::read_to_string(thread_path(&folder, &edited)).unwrap();
    assert!(text.contains("now quite different"), "{text}");
    assert!(!thread_path(&folder, &gone).exists());
    let untouched =
        modified_times(&folder).into_iter().filter(|(path, _)| times.contains_key(path));
    let moved = untouched.filter(|(path, at)| times[path] != *at).map(|(path, _)| path);
    assert_eq!(
        moved.collect::<Vec<_>>(),
        [thread_path(&folder, &edited)],
        "nothing else was rewritten"
    );
}

#[test]
fn export_removes_only_the_files_of_a_deleted_repository() {
    let (fixture, home) = pull_with_comments();
    let folder = home.path().join("out");
    export_json(home.path(), &folder);
    let (id, name) = fixture.with_github(|github| {
        let truth = github.world().truth();
        let gone =
            truth.repositories.values().find(|repository| repository.name != "pump").unwrap();
        (gone.id, gone.name.clone())
    });
    let elsewhere = folder.join("others/pump/issues/1.md");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    let any = read_files(&folder).into_keys().next().unwrap();
    fs::copy(&any, &elsewhere).unwrap();
    fixture.with_github(|github| github.world_mut().delete_repository(id, MachineClock.now_ms()));
    fixture.pull_json(home.path(), &ALL_ITEMS);
    let printed = export_json(home.path(), &folder);
    assert!(printed["removed"].as_u64().is_some_and(|removed| removed > 0), "{printed}");
    assert!(!folder.join("acme").join(name).exists(), "its folder is removed, too");
    assert!(folder.join("acme/pump").exists() && elsewhere.exists());
}

#[test]
fn export_neither_replaces_nor_removes_other_files() {
    let (fixture, home) = pull_with_comments();
    let folder = home.path().join("out");
    export_json(home.path(), &folder);
    let truth = fixture.with_github(|github| github.world().truth());
    let issues: Vec<&TrueThread> = truth.threads_of_kind(ThreadKind::Issue).collect();
    let [edited, foreign, noted] = [0, 1, 2].map(|at| thread_path(&folder, issues[at]));
    let notes = foreign.with_file_name("4711.md");
    let mine = fs::read_to_string(&edited).unwrap() + "my own remark\n";
    for (path, text) in [(&edited, mine.as_str()), (&foreign, "mine"), (&notes, "mine too")] {
        fs::write(path, text).unwrap();
    }
    fs::remove_file(&noted).unwrap();
    fs::create_dir(&noted).unwrap();
    let output = run_command(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
    let (code, stderr) = failure_output(&output);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("Error: 3 paths were left alone\nhint: "), "{stderr}");
    for path in [&edited, &foreign, &noted] {
        assert!(stderr.contains(&format!("warning: left alone: {}\n", path.display())), "{stderr}");
    }
    assert_eq!(fs::read_to_string(&edited).unwrap(), mine);
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "mine");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine too");
    assert!(noted.is_dir());
    let rest = truth.threads.len() - 3;
    let count = format!("{rest} of {} threads", truth.threads.len());
    let path = folder.display();
    let expected = format!(
        "exported {count} to {path}: 0 written, {rest} unchanged, 0 removed, 3 left alone\n"
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn export_skips_only_a_folder_that_is_a_file() {
    let (fixture, home) = pull_with_comments();
    let folder = home.path().join("out");
    fs::create_dir_all(folder.join("acme")).unwrap();
    let file = folder.join("acme/pump");
    fs::write(&file, "mine").unwrap();
    let output = run_command(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
    let (code, stderr) = failure_output(&output);
    assert_eq!(code, Some(1));
    let expected = format!("warning: left alone: {}\nError: 1 path was left alone", file.display());
    assert!(stderr.contains(&expected), "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let truth = fixture.with_github(|github| github.world().truth());
    let others = truth.threads.values().filter(|thread| thread.repository != "pump");
    assert_eq!(read_files(&folder).len(), others.count() + 1);
    let at_a_file = run_command(home.path(), "export", &["--markdown", file.to_str().unwrap()]);
    let (code, stderr) = failure_output(&at_a_file);
    let expected = format!("Error: {} is a file, not a directory\nhint: ", file.display());
    assert!(code == Some(1) && stderr.starts_with(&expected), "{stderr}");
}

#[test]
fn export_never_leaves_its_folder() {
    let (fixture, home) = pull_with_comments();
    let database = Connection::open(home.path().join("db/acme.db")).unwrap();
    let id =
        fixture.with_github(|github| *github.world().truth().repositories.keys().next().unwrap());
    let absolute = home.path().join("deep/escaped");
    for name in ["../../escaped", "..", absolute.to_str().unwrap(), "a\\b", "x\ny"] {
        database.execute("update repositories set name = ?1 where id = ?2", (name, id)).unwrap();
        for table in ["issues", "pull_requests", "discussions"] {
            let rename = format!("update {table} set repository = ?1 where repository_id = ?2");
            database.execute(&rename, (name, id)).unwrap();
        }
        let folder = home.path().join("deep/out");
        let output = run_command(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
        let (code, stderr) = failure_output(&output);
        assert_eq!(code, Some(1), "{name}: {stderr}");
        assert!(stderr.contains("warning: left alone: acme/"), "{stderr}");
        let owners: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(owners, ["acme"], "{name}");
        let repositories = fs::read_dir(folder.join("acme")).unwrap();
        assert_eq!(repositories.count(), 1, "{name}: only the one with a valid name");
        let siblings = fs::read_dir(home.path().join("deep")).unwrap();
        assert_eq!(siblings.count(), 1, "{name}: nothing is written next to the folder");
    }
}

#[test]
fn export_separates_repositories_that_differ_by_case_or_host() {
    let (fixture, home) = pull_with_comments();
    let database = Connection::open(home.path().join("db/acme.db")).unwrap();
    let truth = fixture.with_github(|github| github.world().truth());
    let other = truth.repositories.values().find(|repository| repository.name != "pump").unwrap();
    for (case, name, host) in
        [("by case", "PUMP", None), ("by host", "pump", Some("ghe.example.com"))]
    {
        host.inspect(|host| move_to_host(&database, other.id, host));
        rename_repository(&database, other.id, name);
        let folder = home.path().join(case);
        let printed = export_json(home.path(), &folder);
        assert_eq!(printed["written"], truth.threads.len(), "{case}: {printed}");
        let written = read_files(&folder);
        assert_eq!(written.len(), truth.threads.len(), "{case}");
        let folded: BTreeSet<String> =
            written.keys().map(|path| path.to_str().unwrap().to_lowercase()).collect();
        assert_eq!(folded.len(), written.len(), "{case}: no two paths differ by case alone");
        for thread in truth.threads.values() {
            let mut texts = written.values().map(|text| String::from_utf8_lossy(text));
            assert!(texts.any(|text| text.contains(&thread.body)), "{case}: {}", thread.url);
        }
        let again = export_json(home.path(), &folder);
        let counts = ["unchanged", "written", "removed"].map(|name| again[name].clone());
        assert_eq!(counts, [truth.threads.len(), 0, 0].map(Value::from), "{case}");
        assert_eq!(read_files(&folder), written, "{case}: the same folders every time");
    }
}

#[cfg(unix)]
#[test]
fn export_follows_no_link_inside_its_folder() {
    use std::os::unix::fs::symlink;
    let (_fixture, home) = pull_with_comments();
    let own = home.path().join("own");
    export_json(home.path(), &own);
    let links = ["acme", "acme/pump", "acme/pump/issues", "acme/gone", "acme/gone/issues"];
    for (at, link) in links.into_iter().enumerate() {
        let (folder, outside) =
            (home.path().join(format!("out{at}")), home.path().join(format!("outside{at}")));
        let link = folder.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        // files of an older export: without the check they would be replaced and removed
        let stale = ["issues/4711.md", "gone/issues/1.md", "pump/issues/4711.md", "4711.md"];
        let any = read_files(&own).into_keys().next().unwrap();
        for path in stale.map(|path| outside.join(path)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(&any, path).unwrap();
        }
        symlink(&outside, &link).unwrap();
        let before = read_files(&outside);
        let output = run_command(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
        let (code, stderr) = failure_output(&output);
        assert_eq!(code, Some(1), "{stderr}");
        let named = format!("warning: left alone: {}\n", link.display());
        assert!(stderr.contains(&named), "{}: {stderr}", link.display());
        assert_eq!(read_files(&outside), before, "{}: nothing outside was touched", link.display());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{}", link.display());
    }
}

#[cfg(unix)]
#[test]
fn export_creates_files_for_their_owner_only() {
    let (_fixture, home) = pull_with_comments();
    let folder = home.path().join("out");
    export_json(home.path(), &folder);
    for file in read_files(&folder).into_keys() {
        assert_eq!(file_mode(&file), 0o600, "{}", file.display());
        for parent in file.ancestors().skip(1).take_while(|parent| parent.starts_with(&folder)) {
            assert_eq!(file_mode(parent), 0o700, "{}", parent.display());
        }
    }
}

#[test]
fn export_that_is_stopped_leaves_only_whole_files_and_the_next_one_finishes() {
    let spec = WorldSpec {
        repositories: 3,
        issues: 400,
        pull_requests: 200,
        comments_per_thread: 0,
        no_archives_or_forks: true,
        latency_ms: 0..=1,
        ..WorldSpec::small()
    };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let count = fixture.with_github(|github| github.world().truth()).threads.len() as u64;
    let mut stopped = 0;
    for (attempt, signal) in ["-INT", "-TERM", "-INT"].into_iter().enumerate() {
        let folder = home.path().join(format!("out{attempt}"));
        let mut command = program_command(&["export", "-m"]);
        command.arg(home.path()).arg("--markdown").arg(&folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !folder.join("acme").exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        Command::new("kill").args([signal, &child.id().to_string()]).output().unwrap();
        let output = child.wait_with_output().unwrap();
        let written = read_files(&folder);
        assert!(
            written.keys().all(|path| path.extension().is_some_and(|extension| extension == "md")),
            "{written:?}"
        );
        if output.status.code() != Some(0) {
            assert_eq!(output.status.code(), Some(130), "{output:?}");
            assert!(stderr_text(&output).ends_with("Stopped. Everything done so far is saved.\n"));
            assert!((written.len() as u64) < count);
            stopped += 1;
        }
        let printed = export_json(home.path(), &folder);
        assert_eq!(printed["unchanged"], written.len(), "each file was complete");
        assert_eq!(printed["written"], count - written.len() as u64);
        assert_eq!(printed["left"], Value::Array(vec![]));
    }
    assert!(stopped > 0, "every export had ended before it was stopped, so nothing was proven");
}

#[test]
fn export_clears_the_leftovers_of_a_killed_one() {
    let (_fixture, home) = pull_with_comments();
    let folder = home.path().join("out");
    export_json(home.path(), &folder);
    let unfinished = folder.join("acme/pump/issues/.highwater-x1Y2z3.tmp");
    fs::write(&unfinished, "half a fi").unwrap();
    export_json(home.path(), &folder);
    assert!(!unfinished.exists());
}

#[test]
fn export_prints_a_summary() {
    let (fixture, home) = pull_with_comments();
    let count = fixture.with_github(|github| github.world().truth()).threads.len();
    let folder = home.path().join("out");
    let output = run_command(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
    let path = folder.display();
    let expected =
        format!("exported {count} threads to {path}: {count} written, 0 unchanged, 0 removed\n");
    assert_eq!((success_stdout(&output), stderr_text(&output)), (expected, String::new()));
}

/// Renames a repository and its threads.
fn rename_repository(database: &Connection, id: i64, name: &str) {
    database.execute("update repositories set name = ?1 where id = ?2", (name, id)).unwrap();
    for table in ["issues", "pull_requests", "discussions"] {
        let rename = format!("update {table} set repository = ?1 where repository_id = ?2");
        database.execute(&rename, (name, id)).unwrap();
    }
}

/// Moves a repository and its threads to another host.
fn move_to_host(database: &Connection, id: i64, host: &str) {
    database.execute("update repositories set host = ?1 where id = ?2", (host, id)).unwrap();
    for table in ["issues", "pull_requests", "discussions", "follows"] {
        let rename = format!("update {table} set host = ?1 where repository_id = ?2");
        database.execute(&rename, (host, id)).unwrap();
    }
    let lanes = "update lanes set host = ?1 where repository_id = ?2";
    assert!(database.execute(lanes, (host, id)).unwrap() > 0);
}

/// Runs an export that succeeds, and returns its summary.
fn export_json(home: &Path, folder: &Path) -> Value {
    run_command_json(home, "export", &["--markdown", folder.to_str().unwrap()]).remove(0)
}

fn thread_path(folder: &Path, thread: &TrueThread) -> PathBuf {
    let list = match thread.kind {
        ThreadKind::Issue => "issues",
        ThreadKind::PullRequest => "pull-requests",
        ThreadKind::Discussion => "discussions",
    };
    let TrueThread { repository, number, .. } = thread;
    folder.join(format!("acme/{repository}/{list}/{number}.md"))
}

/// Returns all files below a folder with their contents.
fn read_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.append(&mut read_files(&entry.path()));
        } else {
            found.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    found
}

fn modified_times(folder: &Path) -> BTreeMap<PathBuf, std::time::SystemTime> {
    let paths = read_files(folder).into_keys();
    paths.map(|path| (path.clone(), fs::metadata(path).unwrap().modified().unwrap())).collect()
}
