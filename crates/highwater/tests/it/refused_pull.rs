//! Pulls that `highwater pull` refuses: one sentence each, and the exit code.

use hw_sim::{ApiFault, TokenSpec};

use crate::fixture::{
    GitHubFixture, TOKEN, failure_output, list_everything, program_command, pull_small_world,
};

#[test]
fn refused_token_is_reported_without_printing_it() {
    let (fixture, home) = pull_small_world();
    fixture.with_github(|github| github.arm_fault(ApiFault::Unauthorized, 100));
    let (before, requests) = (list_everything(home.path()), fixture.request_count());
    let (code, stderr) = fixture.pull_failure(home.path(), &[]);
    assert_eq!(code, Some(1));
    let expected = "Error: cannot pull acme\n  caused by: the token was refused: Bad credentials\nhint: \
                    check that GITHUB_TOKEN is valid";
    assert!(stderr.contains(expected), "{stderr}");
    assert!(!stderr.contains(TOKEN), "{stderr}");
    assert_eq!(fixture.request_count(), requests + 1, "a refused token is not retried");
    assert_eq!(list_everything(home.path()), before);
}

#[test]
fn refused_single_sign_on_is_reported_with_a_hint() {
    let (fixture, home) = pull_small_world();
    let before = list_everything(home.path());
    let token = TokenSpec { lacks_sign_on: true, ..TokenSpec::classic() };
    fixture.with_github(|github| github.set_token(token));
    let (code, stderr) = fixture.pull_failure(home.path(), &[]);
    assert_eq!(code, Some(1));
    let expected = "caused by: not found, or this token has no access: Resource protected by \
                    organization SAML enforcement";
    assert!(
        stderr.contains(expected) && stderr.contains("\nhint: authorize the token for"),
        "{stderr}"
    );
    assert_eq!(list_everything(home.path()), before);
}

#[test]
fn refused_organization_that_does_not_exist_is_reported() {
    let (fixture, home) = pull_small_world();
    let before = list_everything(home.path());
    let (code, stderr) =
        fixture.pull_failure(home.path(), &["-o", "nobody", "--workspace", "acme"]);
    assert_eq!(code, Some(1));
    let expected = "Error: the pull of acme, nobody is incomplete: 1 failure is listed above\n";
    assert!(stderr.contains(expected), "{stderr}");
    assert_eq!(list_everything(home.path()), before);
    let (_, stderr) = fixture.pull_failure(home.path(), &["-o", "nobody"]);
    let expected = "Error: cannot pull nobody\n  caused by: no organization or user with this \
                    login, or this token has no access\n";
    assert!(
        stderr.contains(expected)
            && stderr.contains("\nhint: check the spelling, and that the token"),
        "{stderr}"
    );
}

#[test]
fn refused_without_a_token_or_organization_before_any_request() {
    let fixture = GitHubFixture::start_small();
    for (missing, sentence) in [
        ("GITHUB_TOKEN", "no token is set, and `gh` provides none"),
        ("ORGANIZATION", "nothing to pull: no organization, user or repository given"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut command = fixture.pull_command(&["-m"]);
        let output = command.arg(home.path()).env_remove(missing).output().unwrap();
        let (code, stderr) = failure_output(&output);
        assert_eq!(code, Some(1));
        assert!(stderr.starts_with(&format!("Error: {sentence}\n")), "{stderr}");
        assert!(stderr.contains("\nhint: "), "{stderr}");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "no file is created");
    }
    assert_eq!(fixture.request_count(), 0);
}

#[test]
fn refused_malformed_token_is_not_sent() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let mut command = fixture.pull_command(&["-m"]);
    let output = command.arg(home.path()).env("GITHUB_TOKEN", "two words").output().unwrap();
    let (code, stderr) = failure_output(&output);
    assert_eq!((code, fixture.request_count()), (Some(1), 0));
    assert!(stderr.contains("expected printable ASCII without spaces"), "{stderr}");
    assert!(!stderr.contains("two words"), "{stderr}");
}

#[test]
fn refused_arguments_are_named_before_any_request() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let all = "[possible values: repositories, discussions, issues, pull-requests, comments]";
    for (args, sentence) in [
        (["-i", "isues"], all),
        (["-i", "issues,coments"], all),
        (
            ["-o", "a.b"],
            "expected a login (at most 39 letters, digits, hyphens and underscores), got ",
        ),
        (["--repo", "../x"], "expected a login"),
        (["--repo", "a b"], "expected a repository name (at most 100 letters, digits, "),
        (["--repo", ""], "expected a repository name"),
        (["--repo", "elsewhere/pump"], "--repo elsewhere/pump: this pull reads only acme"),
        (["-e", ".."], "expected a repository name"),
        (["--reserve", "91"], "expected a percentage between 0 and 90"),
        (["--window-days", "-1"], "expected a number of days between 0 and 4294967295 (0 for all)"),
        (["--pace", "fast"], "[possible values: adaptive, conservative]"),
        (["--window-days", "many"], "invalid value 'many' for '--window-days <DAYS>'"),
        (["--graphql-url", "http://example.com/graphql"], "the token would be sent in plain text"),
        (
            ["--graphql-url", "example.com"],
            "is not an HTTP or HTTPS URL (example: https://api.github.com)",
        ),
        (
            ["--graphql-url", "https://a:b@ghe.example/graphql"],
            "the URL must not contain a user name or password (example: https://api.github.com)",
        ),
        (
            ["--graphql-url", "https://ghe.example/graphql?x=1"],
            "contains characters that are not allowed here (example: https://api.github.com)",
        ),
        (
            ["--window-days", "99999999999"],
            "expected a number of days between 0 and 4294967295 (0 for all), got \"99999999999\"",
        ),
    ] {
        let (code, stderr) = fixture.pull_failure(home.path(), &args);
        assert_eq!(code, Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(sentence), "{args:?}: {stderr}");
        assert!(!stderr.contains("warning: "), "{args:?}: {stderr}");
    }
    assert_eq!(fixture.request_count(), 0);
}

#[test]
fn refused_source_is_named_with_what_it_may_be() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    for source in ["https://github.com/rust-lang/cargo", "a/b/c", "a b"] {
        let (code, stderr) = fixture.pull_failure(home.path(), &[source]);
        assert_eq!(code, Some(2), "{stderr}");
        let expected = format!("expected a login or OWNER/REPOSITORY, got {source:?}");
        assert!(stderr.starts_with("Error: ") && stderr.contains(&expected), "{stderr}");
    }
}

#[test]
fn refused_environment_variables_are_named() {
    for (name, value, sentence) in [
        ("ORGANIZATION", "../x", "ORGANIZATION in the environment: expected a login"),
        (
            "EXCLUDED_REPOSITORIES",
            "a b",
            "EXCLUDED_REPOSITORIES in the environment: expected a repository name",
        ),
        ("HIGHWATER_LOG", "dbug", "HIGHWATER_LOG in the environment: expected one of off, error"),
        ("HIGHWATER_RESERVE", "91", "HIGHWATER_RESERVE in the environment: expected a percentage"),
        ("GITHUB_API_URL", "http://api.github.com", "the token would be sent in plain text"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut command = program_command(&["pull", "-m"]);
        command.arg(home.path()).env("ORGANIZATION", "acme").env("GITHUB_TOKEN", TOKEN);
        let (code, stderr) = failure_output(&command.env(name, value).output().unwrap());
        assert_eq!(code, Some(1), "{name}");
        assert!(stderr.contains(sentence), "{stderr}");
    }
}
