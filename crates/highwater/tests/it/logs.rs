//! What is logged, where, and how.

use std::path::Path;

use serde_json::Value;

use crate::house::{House, failed, program, succeeded};

#[test]
fn a_pull_logs_to_a_file_of_the_day_for_its_owner_alone() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let (name, text) = log(home.path());
    assert!(name.starts_with("highwater-20") && name.ends_with(".log"), "{name}");
    assert!(text.contains(" INFO ") && text.contains("a pull begins"), "{text}");
    let time = text.split(' ').next().unwrap();
    assert!(time.len() == 27 && time.ends_with('Z') && time.contains('T'), "{time}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let logs = home.path().join("logs");
        assert_eq!((mode(&logs), mode(&logs.join(&name))), (0o700, 0o600));
    }
}

#[test]
fn a_log_in_json_is_one_object_a_line_on_stderr_and_in_the_file() {
    for by_flag in [true, false] {
        let (house, home) = (House::small(), tempfile::tempdir().unwrap());
        let mut command = house.pull(&["--json", "-m"]);
        command.arg(home.path()).env("HIGHWATER_LOG", "highwater=info,hyper_util=trace");
        if by_flag {
            command.args(["--log-format", "json"]);
        } else {
            std::fs::write(home.path().join("highwater.toml"), "log.format = \"json\"\n").unwrap();
        }
        let output = command.output().unwrap();
        succeeded(&output);
        let told = String::from_utf8(output.stderr).unwrap();
        for text in [told, log(home.path()).1] {
            let objects: Vec<Value> =
                text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
            assert!(objects.iter().any(|it| it["message"] == "a pull begins"), "{text}");
            assert!(objects.iter().any(|it| it["level"] == "TRACE"), "{text}");
            assert!(objects.iter().all(|it| it["timestamp"].as_str().unwrap().ends_with('Z')));
        }
    }
}

#[test]
fn a_command_that_only_answers_leaves_no_log() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    std::fs::remove_dir_all(home.path().join("logs")).unwrap();
    let mut command = program(&["list", "issues", "-m"]);
    succeeded(&command.arg(home.path()).env("HIGHWATER_LOG", "trace").output().unwrap());
    assert!(!home.path().join("logs").exists());
}

#[test]
fn what_is_logged_is_chosen_by_level_and_target_and_a_slip_is_an_error() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let mut command = house.pull(&["--json", "-m"]);
    let output =
        command.arg(home.path()).env("HIGHWATER_LOG", "off,highwater=info").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("a pull begins") && told.lines().all(|line| line.contains(" highwater")),
        "{told}"
    );
    let (code, told) =
        failed(&program(&["demo", "--once"]).env("HIGHWATER_LOG", "hw_sync").output().unwrap());
    assert_eq!(code, Some(1));
    assert!(
        told.starts_with("Error: HIGHWATER_LOG in the environment: \"hw_sync\" is none of"),
        "{told}"
    );
}

#[test]
fn a_folder_that_cannot_be_logged_to_is_told_once_and_stops_nothing() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    std::fs::write(home.path().join("logs"), "in the way").unwrap();
    let output = house.pull(&["--json", "-m"]).arg(home.path()).output().unwrap();
    succeeded(&output);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.matches("warning: cannot log to ").count(), 1, "{told}");
}

/// The name and the text of the only log there.
fn log(home: &Path) -> (String, String) {
    let mut entries = std::fs::read_dir(home.join("logs")).unwrap();
    let entry = entries.next().unwrap().unwrap();
    assert!(entries.next().is_none(), "one day, one file");
    let name = entry.file_name().into_string().unwrap();
    (name, std::fs::read_to_string(entry.path()).unwrap())
}
