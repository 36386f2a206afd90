//! Logs: their content, files and formats.

use std::path::Path;

use serde_json::Value;

use crate::fixture::{GitHubFixture, failure_output, file_mode, program_command, success_stdout};

#[test]
fn log_of_a_pull_goes_to_a_daily_file_for_its_owner_only() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let (name, text) = read_only_log(home.path());
    assert!(name.starts_with("highwater-20") && name.ends_with(".log"), "{name}");
    assert!(text.contains(" INFO ") && text.contains("pull started"), "{text}");
    let time = text.split(' ').next().unwrap();
    assert!(time.len() == 27 && time.ends_with('Z') && time.contains('T'), "{time}");
    #[cfg(unix)]
    {
        let logs = home.path().join("logs");
        assert_eq!((file_mode(&logs), file_mode(&logs.join(&name))), (0o700, 0o600));
    }
}

#[test]
fn log_in_json_is_one_object_per_line_on_stderr_and_in_the_file() {
    for by_flag in [true, false] {
        let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
        let mut command = fixture.pull_command(&["--json", "-m"]);
        command.arg(home.path()).env("HIGHWATER_LOG", "highwater=info,hyper_util=trace");
        if by_flag {
            command.args(["--log-format", "json"]);
        } else {
            std::fs::write(home.path().join("highwater.toml"), "log.format = \"json\"\n").unwrap();
        }
        let output = command.output().unwrap();
        success_stdout(&output);
        let stderr = String::from_utf8(output.stderr).unwrap();
        for text in [stderr, read_only_log(home.path()).1] {
            let objects: Vec<Value> =
                text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
            assert!(objects.iter().any(|object| object["message"] == "pull started"), "{text}");
            assert!(objects.iter().any(|object| object["level"] == "TRACE"), "{text}");
            assert!(
                objects.iter().all(|object| object["timestamp"].as_str().unwrap().ends_with('Z'))
            );
        }
    }
}

#[test]
fn log_file_is_not_written_by_read_commands() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    std::fs::remove_dir_all(home.path().join("logs")).unwrap();
    let mut command = program_command(&["list", "issues", "-m"]);
    success_stdout(&command.arg(home.path()).env("HIGHWATER_LOG", "trace").output().unwrap());
    assert!(!home.path().join("logs").exists());
}

#[test]
fn log_filter_selects_level_and_target_and_rejects_mistakes() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let mut command = fixture.pull_command(&["--json", "-m"]);
    let output =
        command.arg(home.path()).env("HIGHWATER_LOG", "off,highwater=info").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("pull started") && stderr.lines().all(|line| line.contains(" highwater")),
        "{stderr}"
    );
    let (code, stderr) = failure_output(
        &program_command(&["demo", "--once"]).env("HIGHWATER_LOG", "hw_sync").output().unwrap(),
    );
    assert_eq!(code, Some(1));
    assert!(
        stderr.starts_with("Error: HIGHWATER_LOG in the environment: expected one of off, error"),
        "{stderr}"
    );
}

#[test]
fn log_folder_that_is_not_writable_is_reported_once_and_stops_nothing() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    std::fs::write(home.path().join("logs"), "in the way").unwrap();
    let output = fixture.pull_command(&["--json", "-m"]).arg(home.path()).output().unwrap();
    success_stdout(&output);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.matches("warning: cannot log to ").count(), 1, "{stderr}");
}

/// Returns the name and the text of the only log.
fn read_only_log(home: &Path) -> (String, String) {
    let mut entries = std::fs::read_dir(home.join("logs")).unwrap();
    let entry = entries.next().unwrap().unwrap();
    assert!(entries.next().is_none(), "one day, one file");
    let name = entry.file_name().into_string().unwrap();
    (name, std::fs::read_to_string(entry.path()).unwrap())
}
