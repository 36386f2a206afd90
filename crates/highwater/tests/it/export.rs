//! `highwater export --markdown`: a file a thread, and nobody else's file touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hw_sim::{ThreadKind, TrueThread, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use rusqlite::Connection;
use serde_json::Value;

use crate::house::{
    House, asked, asked_json, documented_fields, failed, fields, hostile, program, succeeded,
    talking, warned,
};

const ITEMS: [&str; 2] = ["-i", "repositories,discussions,issues,pull-requests,comments"];

#[test]
fn every_thread_becomes_a_file_with_its_texts_byte_for_byte() {
    let (house, home) = hostile();
    let folder = home.path().join("out");
    let told = export(home.path(), &folder);
    assert_eq!(fields(&told), documented_fields("`highwater export --markdown DIR --json`"));
    let truth = house.look(|github| github.world().truth());
    assert_eq!(told["written"], truth.threads.len());
    assert_eq!(files(&folder).len(), truth.threads.len());
    for thread in truth.threads.values() {
        let text = fs::read_to_string(path(&folder, thread)).unwrap();
        assert!(text.starts_with("---\nhighwater: \""), "{text}");
        assert!(text.contains(&thread.body), "{}", thread.url);
        let here = truth.comments.values().filter(|it| it.url.starts_with(&thread.url));
        for said in here.filter(|it| it.thread_id == thread.id) {
            assert!(text.contains(&said.body), "{}", said.url);
        }
        let (matter, _) = text[4..].split_once("\n---\n").unwrap();
        let plain = |line: &str| line.chars().all(|c| !c.is_control());
        assert!(matter.lines().all(|line| line.contains(": ") && plain(line)), "{matter}");
    }
}

#[test]
fn an_export_follows_what_changed_and_what_is_gone() {
    let (house, home) = talking();
    let folder = home.path().join("out");
    let first = export(home.path(), &folder);
    let before = files(&folder);
    let again = export(home.path(), &folder);
    assert_eq!((&again["written"], &again["unchanged"]), (&0.into(), &first["written"]));
    assert_eq!(files(&folder), before);
    let times = modified(&folder);

    let (edited, gone) = house.look(|github| {
        let truth = github.world().truth();
        let mut issues = truth.of_kind(ThreadKind::Issue).cloned();
        let (edited, gone): (TrueThread, TrueThread) =
            (issues.next().unwrap(), issues.next().unwrap());
        let now_ms = MachineClock.now_ms();
        github.world_mut().edit_issue(edited.id, None, Some("now quite different"), now_ms);
        github.world_mut().delete_issue(gone.id, now_ms);
        (edited, gone)
    });
    house.pulled(home.path(), &ITEMS);
    let told = export(home.path(), &folder);
    let counts = ["written", "removed", "left"].map(|name| told[name].clone());
    assert_eq!(counts, [1.into(), 1.into(), Value::Array(vec![])]);
    let text = fs::read_to_string(path(&folder, &edited)).unwrap();
    assert!(text.contains("now quite different"), "{text}");
    assert!(!path(&folder, &gone).exists());
    let untouched = modified(&folder).into_iter().filter(|(path, _)| times.contains_key(path));
    let moved = untouched.filter(|(path, at)| times[path] != *at).map(|(path, _)| path);
    assert_eq!(moved.collect::<Vec<_>>(), [path(&folder, &edited)], "nothing else was rewritten");
}

#[test]
fn a_repository_that_is_gone_takes_its_files_along_and_nobody_elses() {
    let (house, home) = talking();
    let folder = home.path().join("out");
    export(home.path(), &folder);
    let (id, name) = house.look(|github| {
        let truth = github.world().truth();
        let gone = truth.repositories.values().find(|it| it.name != "pump").unwrap();
        (gone.id, gone.name.clone())
    });
    let elsewhere = folder.join("others/pump/issues/1.md");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    let any = files(&folder).into_keys().next().unwrap();
    fs::copy(&any, &elsewhere).unwrap();
    house.look(|github| github.world_mut().delete_repository(id, MachineClock.now_ms()));
    house.pulled(home.path(), &ITEMS);
    let told = export(home.path(), &folder);
    assert!(told["removed"].as_u64().is_some_and(|removed| 0 < removed), "{told}");
    assert!(!folder.join("acme").join(name).exists(), "nor is its folder left");
    assert!(folder.join("acme/pump").exists() && elsewhere.exists());
}

#[test]
fn a_file_that_is_not_ours_is_neither_replaced_nor_removed() {
    let (house, home) = talking();
    let folder = home.path().join("out");
    export(home.path(), &folder);
    let truth = house.look(|github| github.world().truth());
    let issues: Vec<&TrueThread> = truth.of_kind(ThreadKind::Issue).collect();
    let [edited, foreign, noted] = [0, 1, 2].map(|at| path(&folder, issues[at]));
    let notes = foreign.with_file_name("4711.md");
    let mine = fs::read_to_string(&edited).unwrap() + "my own remark\n";
    for (path, text) in [(&edited, mine.as_str()), (&foreign, "mine"), (&notes, "mine too")] {
        fs::write(path, text).unwrap();
    }
    fs::remove_file(&noted).unwrap();
    fs::create_dir(&noted).unwrap();
    let output = asked(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
    let (code, told) = failed(&output);
    assert_eq!(code, Some(1));
    assert!(told.contains("Error: 3 things were not exported\nhint: "), "{told}");
    for path in [&edited, &foreign, &noted] {
        assert!(told.contains(&format!("warning: left alone: {}\n", path.display())), "{told}");
    }
    assert_eq!(fs::read_to_string(&edited).unwrap(), mine);
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "mine");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine too");
    assert!(noted.is_dir());
    let rest = truth.threads.len() - 3;
    let (place, count) = (folder.display(), format!("{rest} threads"));
    let expected = format!(
        "exported {count} to {place}: 0 written, {rest} unchanged, 0 removed, 3 left alone\n"
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn a_file_in_place_of_a_folder_keeps_only_what_belongs_there_from_being_exported() {
    let (house, home) = talking();
    let folder = home.path().join("out");
    fs::create_dir_all(folder.join("acme")).unwrap();
    let file = folder.join("acme/pump");
    fs::write(&file, "mine").unwrap();
    let output = asked(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
    let (code, told) = failed(&output);
    assert_eq!(code, Some(1));
    let expected = format!("warning: left alone: {}\nError: 1 thing was not", file.display());
    assert!(told.contains(&expected), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let truth = house.look(|github| github.world().truth());
    let others = truth.threads.values().filter(|it| it.repository != "pump");
    assert_eq!(files(&folder).len(), others.count() + 1);
    let at_a_file = asked(home.path(), "export", &["--markdown", file.to_str().unwrap()]);
    let (code, told) = failed(&at_a_file);
    let expected = format!("Error: {} is a file, and not a folder\nhint: ", file.display());
    assert!(code == Some(1) && told.starts_with(&expected), "{told}");
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let (house, home) = talking();
    let database = Connection::open(home.path().join("db/acme.db")).unwrap();
    let id = house.look(|github| *github.world().truth().repositories.keys().next().unwrap());
    let absolute = home.path().join("deep/escaped");
    for name in ["../../escaped", "..", absolute.to_str().unwrap(), "a\\b", "x\ny"] {
        database.execute("update repositories set name = ?1 where id = ?2", (name, id)).unwrap();
        for table in ["issues", "pull_requests", "discussions"] {
            let rename = format!("update {table} set repository = ?1 where repository_id = ?2");
            database.execute(&rename, (name, id)).unwrap();
        }
        let folder = home.path().join("deep/out");
        let output = asked(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
        let (code, told) = failed(&output);
        assert_eq!(code, Some(1), "{name}: {told}");
        assert!(told.contains("warning: left alone: acme/"), "{told}");
        let owners: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(owners, ["acme"], "{name}");
        let repositories = fs::read_dir(folder.join("acme")).unwrap();
        assert_eq!(repositories.count(), 1, "{name}: only the one that has a proper name");
        let beside = fs::read_dir(home.path().join("deep")).unwrap();
        assert_eq!(beside.count(), 1, "{name}: nothing is beside the folder");
    }
}

#[test]
fn export_gives_repositories_whose_names_differ_by_case_or_host_folders_of_their_own() {
    let (house, home) = talking();
    let database = Connection::open(home.path().join("db/acme.db")).unwrap();
    let truth = house.look(|github| github.world().truth());
    let other = truth.repositories.values().find(|it| it.name != "pump").unwrap();
    for (case, name, host) in
        [("by case", "PUMP", None), ("by host", "pump", Some("ghe.example.com"))]
    {
        host.inspect(|host| move_to_host(&database, other.id, host));
        rename_repository(&database, other.id, name);
        let folder = home.path().join(case);
        let told = export(home.path(), &folder);
        assert_eq!(told["written"], truth.threads.len(), "{case}: {told}");
        let there = files(&folder);
        assert_eq!(there.len(), truth.threads.len(), "{case}");
        let folded: BTreeSet<String> =
            there.keys().map(|path| path.to_str().unwrap().to_lowercase()).collect();
        assert_eq!(folded.len(), there.len(), "{case}: no two paths differ by case alone");
        for thread in truth.threads.values() {
            let holds = |text: &Vec<u8>| String::from_utf8_lossy(text).contains(&thread.body);
            assert!(there.values().any(holds), "{case}: {}", thread.url);
        }
        let again = export(home.path(), &folder);
        let counts = ["unchanged", "written", "removed"].map(|name| again[name].clone());
        assert_eq!(counts, [truth.threads.len(), 0, 0].map(Value::from), "{case}");
        assert_eq!(files(&folder), there, "{case}: the same folders every time");
    }
}

#[cfg(unix)]
#[test]
fn export_follows_no_link_inside_its_folder() {
    use std::os::unix::fs::symlink;
    let (_house, home) = talking();
    let own = home.path().join("own");
    export(home.path(), &own);
    let shelves = ["acme", "acme/pump", "acme/pump/issues", "acme/gone", "acme/gone/issues"];
    for (at, link) in shelves.into_iter().enumerate() {
        let (folder, outside) =
            (home.path().join(format!("out{at}")), home.path().join(format!("outside{at}")));
        let link = folder.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        // highwater's own files, as an old export left them: they would be replaced and removed
        let stale = ["issues/4711.md", "gone/issues/1.md", "pump/issues/4711.md", "4711.md"];
        let any = files(&own).into_keys().next().unwrap();
        for path in stale.map(|path| outside.join(path)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(&any, path).unwrap();
        }
        symlink(&outside, &link).unwrap();
        let before = files(&outside);
        let output = asked(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
        let (code, told) = failed(&output);
        assert_eq!(code, Some(1), "{told}");
        let named = format!("warning: left alone: {}\n", link.display());
        assert!(told.contains(&named), "{}: {told}", link.display());
        assert_eq!(files(&outside), before, "{}: nothing outside was touched", link.display());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{}", link.display());
    }
}

#[cfg(unix)]
#[test]
fn export_makes_files_and_folders_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_house, home) = talking();
    let folder = home.path().join("out");
    export(home.path(), &folder);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for file in files(&folder).into_keys() {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        for above in file.ancestors().skip(1).take_while(|above| above.starts_with(&folder)) {
            assert_eq!(mode(above), 0o700, "{}", above.display());
        }
    }
}

#[test]
fn an_export_that_is_stopped_leaves_only_whole_files_and_the_next_one_finishes() {
    let spec = WorldSpec {
        repositories: 3,
        issues: 400,
        pull_requests: 200,
        comments_per_thread: 0,
        plain: true,
        latency_ms: 0..=1,
        ..WorldSpec::small()
    };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let count = house.look(|github| github.world().truth()).threads.len() as u64;
    let mut stopped = 0;
    for (attempt, signal) in ["-INT", "-TERM", "-INT"].into_iter().enumerate() {
        let folder = home.path().join(format!("out{attempt}"));
        let mut command = program(&["export", "-m"]);
        command.arg(home.path()).arg("--markdown").arg(&folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !folder.join("acme").exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        Command::new("kill").args([signal, &child.id().to_string()]).output().unwrap();
        let output = child.wait_with_output().unwrap();
        let there = files(&folder);
        assert!(
            there.keys().all(|path| path.extension().is_some_and(|it| it == "md")),
            "{there:?}"
        );
        if output.status.code() != Some(0) {
            assert_eq!(output.status.code(), Some(130), "{output:?}");
            assert!(
                warned(&output).ends_with("Error: interrupted; nothing that was kept is lost\n")
            );
            assert!((there.len() as u64) < count);
            stopped += 1;
        }
        let told = export(home.path(), &folder);
        assert_eq!(told["unchanged"], there.len(), "each of them was whole");
        assert_eq!(told["written"], count - there.len() as u64);
        assert_eq!(told["left"], Value::Array(vec![]));
    }
    assert!(0 < stopped, "every export had ended before it was stopped, so nothing was proven");
}

#[test]
fn what_a_killed_export_left_is_cleared_away() {
    let (_house, home) = talking();
    let folder = home.path().join("out");
    export(home.path(), &folder);
    let unfinished = folder.join("acme/pump/issues/.highwater-x1Y2z3.tmp");
    fs::write(&unfinished, "half a fi").unwrap();
    export(home.path(), &folder);
    assert!(!unfinished.exists());
}

#[test]
fn people_read_how_much_was_done() {
    let (house, home) = talking();
    let count = house.look(|github| github.world().truth()).threads.len();
    let folder = home.path().join("out");
    let output = asked(home.path(), "export", &["--markdown", folder.to_str().unwrap()]);
    let place = folder.display();
    let expected =
        format!("exported {count} threads to {place}: {count} written, 0 unchanged, 0 removed\n");
    assert_eq!((succeeded(&output), warned(&output)), (expected, String::new()));
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
    for table in ["issues", "pull_requests", "discussions"] {
        let rename = format!("update {table} set host = ?1 where repository_id = ?2");
        database.execute(&rename, (host, id)).unwrap();
    }
    let lanes = "update lanes set host = ?1 where repository_id = ?2";
    assert!(database.execute(lanes, (host, id)).unwrap() > 0);
}

/// An export that succeeds; what it told.
fn export(home: &Path, folder: &Path) -> Value {
    asked_json(home, "export", &["--markdown", folder.to_str().unwrap()]).remove(0)
}

fn path(folder: &Path, thread: &TrueThread) -> PathBuf {
    let shelf = match thread.kind {
        ThreadKind::Issue => "issues",
        ThreadKind::PullRequest => "pull-requests",
        ThreadKind::Discussion => "discussions",
    };
    let TrueThread { repository, number, .. } = thread;
    folder.join(format!("acme/{repository}/{shelf}/{number}.md"))
}

/// All files below a folder, with what is in them.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.append(&mut files(&entry.path()));
        } else {
            found.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    found
}

fn modified(folder: &Path) -> BTreeMap<PathBuf, std::time::SystemTime> {
    let time = |path: PathBuf| (path.clone(), fs::metadata(path).unwrap().modified().unwrap());
    files(folder).into_keys().map(time).collect()
}
