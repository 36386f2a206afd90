//! `highwater sources`: what a workspace follows, and no longer following it.

use crate::fixture::{
    GitHubFixture, failure_output, program_command, run_command, run_command_json, success_stdout,
};

#[test]
fn sources_are_removed_from_the_host_that_the_workspace_follows_them_on() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &["-o", "acme"]);
    let [source] = run_command_json(home.path(), "sources", &[]).try_into().unwrap();
    assert!(source["name"] == "acme" && source["host"] != "github.com", "{source}");
    let printed = success_stdout(&run_command(home.path(), "sources", &["remove", "ACME"]));
    assert_eq!(printed, "stopped following ACME; removed 2 repositories\n");
    let output = program_command(&["sources", "-m"]).arg(home.path()).output().unwrap();
    let expected = "this workspace follows no sources; `highwater pull -o NAME` adds one\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    let again = run_command(home.path(), "sources", &["remove", "acme"]);
    let expected = "Error: this workspace does not follow acme\n\
                    hint: `highwater sources` lists its sources\n";
    assert_eq!(failure_output(&again), (Some(1), expected.to_owned()));
}

#[test]
fn sources_on_several_other_hosts_are_removed_only_if_one_is_chosen() {
    let fixtures = [GitHubFixture::start_small(), GitHubFixture::start_small()];
    let home = tempfile::tempdir().unwrap();
    for fixture in &fixtures {
        fixture.pull_json(home.path(), &["-o", "acme"]);
    }
    let (code, stderr) = failure_output(&run_command(home.path(), "sources", &["remove", "acme"]));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("follows acme on 127.0.0.1:") && stderr.contains(" and "), "{stderr}");
    assert!(stderr.contains("hint: choose one by setting GITHUB_API_URL"), "{stderr}");
    let mut remove = program_command(&["sources", "remove", "acme", "-m"]);
    remove.arg(home.path()).env("GITHUB_API_URL", fixtures[0].url());
    let printed = success_stdout(&remove.output().unwrap());
    assert_eq!(printed, "stopped following acme; removed 2 repositories\n");
    assert_eq!(run_command_json(home.path(), "sources", &[]).len(), 1);
}

#[test]
fn source_that_is_not_found_is_left_out_of_what_was_pulled() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let output = fixture.pull_command(&["nobody", "--no-tui", "-m"]).arg(home.path()).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("pulled acme from 127.0.0.1:"), "{printed}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "Error: the pull of acme, nobody is incomplete: 1 failure is listed above\n\
                    hint: check the names and the token's access; everything else is saved\n";
    assert!(stderr.ends_with(expected), "{stderr}");
}
