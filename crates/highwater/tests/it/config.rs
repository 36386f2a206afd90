//! Settings: where they come from, which one wins, and how mistakes are reported.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::fixture::{
    GitHubFixture, TOKEN, documented_fields, failure_output, list_json, program_command,
    success_stdout,
};

#[test]
fn config_precedence_decides_and_the_origin_is_named() {
    let home = tempfile::tempdir().unwrap();
    let shown = |args: &[&str], variable: Option<&str>| {
        let mut command = show_command(home.path(), args);
        command.envs(variable.map(|value| ("ORGANIZATION", value)));
        let summary: Value =
            serde_json::from_str(&success_stdout(&command.output().unwrap())).unwrap();
        let row = setting_row(&summary, "github.organization");
        (row["value"].clone(), row["from"].as_str().unwrap().to_owned())
    };
    let setting = |value: &str, from: &str| (Value::from(value), from.to_owned());
    assert_eq!(shown(&[], None), (Value::Null, "default".to_owned()));
    write_file(home.path(), "highwater.toml", "\n[github]\norganization = \"by-file\"\n");
    assert_eq!(shown(&[], None), setting("by-file", "highwater.toml:3"));
    write_file(home.path(), ".env", "# ours\nORGANIZATION=by-dotenv\n");
    assert_eq!(shown(&[], None), setting("by-dotenv", ".env:2"));
    assert_eq!(shown(&[], Some("")), setting("by-dotenv", ".env:2"), "empty is not set");
    assert_eq!(shown(&[], Some("by-variable")), setting("by-variable", "environment"));
    assert_eq!(shown(&["-o", "by-flag"], Some("by-variable")), setting("by-flag", "flag"));
}

#[test]
fn config_show_prints_every_setting_with_the_documented_fields() {
    let home = tempfile::tempdir().unwrap();
    let output = show_command(home.path(), &[]).output().unwrap();
    let summary: Value = serde_json::from_str(&success_stdout(&output)).unwrap();
    let fields: Vec<String> = summary.as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields, documented_fields("`highwater config show --json`"));
    assert_eq!(setting_row(&summary, "pull.window_days")["value"], "400");
    assert_eq!(setting_row(&summary, "home")["from"], "flag");
    let text = success_stdout(
        &program_command(&["config", "show", "-m"]).arg(home.path()).output().unwrap(),
    );
    assert_eq!(text.lines().count(), summary["settings"].as_array().unwrap().len());
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "config show creates nothing");
}

#[test]
fn config_show_prints_values_derived_from_other_settings() {
    let home = tempfile::tempdir().unwrap();
    let shown = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = show_command(home.path(), args);
        command.envs(variables.iter().copied());
        let summary: Value =
            serde_json::from_str(&success_stdout(&command.output().unwrap())).unwrap();
        move |name: &str| {
            let row = setting_row(&summary, name);
            (row["value"].clone(), row["from"].as_str().unwrap().to_owned())
        }
    };
    let default = |value: &str| (Value::from(value), "default".to_owned());
    let file = |name: &str| home.path().join("db").join(name).to_str().unwrap().to_owned();
    let plain = shown(&[], &[]);
    assert_eq!(plain("github.api_url"), default("https://api.github.com"));
    assert_eq!(plain("github.graphql_url"), default("https://api.github.com/graphql"));
    assert_eq!(plain("workspace"), default("default"));
    assert_eq!(plain("database.url"), default(&file("default.db")));
    assert_eq!(plain("ui.port"), default("8080"));
    assert_eq!(plain("pull.pace"), default("adaptive"));
    let of_acme = shown(&["-o", "acme"], &[("GITHUB_API_URL", "https://ghe.example/api/v3")]);
    assert_eq!(of_acme("workspace"), default("acme"));
    assert_eq!(of_acme("database.url"), default(&file("acme.db")));
    assert_eq!(of_acme("github.graphql_url"), default("https://ghe.example/api/graphql"));
    let elsewhere = shown(&["--database", "/tmp/x.db"], &[]);
    assert_eq!(elsewhere("database.url"), (Value::from("/tmp/x.db"), "flag".to_owned()));
    assert_eq!(elsewhere("workspace"), (Value::Null, "default".to_owned()), "no workspace is used");
}

#[test]
fn config_home_defaults_to_a_folder_in_the_users_home() {
    let user = tempfile::tempdir().unwrap();
    let shown = |variable: Option<&str>| {
        let mut command = program_command(&["config", "show", "--json"]);
        command.env("HOME", user.path()).envs(variable.map(|home| ("HIGHWATER_HOME", home)));
        let summary: Value =
            serde_json::from_str(&success_stdout(&command.output().unwrap())).unwrap();
        setting_row(&summary, "home")["value"].as_str().unwrap().to_owned()
    };
    assert_eq!(shown(None), user.path().join(".highwater").to_str().unwrap());
    assert_eq!(shown(Some("/elsewhere")), "/elsewhere");
}

#[test]
fn config_errors_are_reported_in_the_order_of_their_lines() {
    let home = tempfile::tempdir().unwrap();
    let text = "[pull]\nitems = [\"isues\"]\nreserve = 95\ncomments = \"yes\"\n";
    std::fs::write(home.path().join("highwater.toml"), text).unwrap();
    let output = program_command(&["list", "repos", "-m"]).arg(home.path()).output().unwrap();
    let (code, stderr) = failure_output(&output);
    let at = |text: &str| stderr.find(text).unwrap_or_else(|| panic!("{text}: {stderr}"));
    assert_eq!(code, Some(1));
    assert!(at(":2: pull.items: ") < at(":3: pull.reserve: "), "{stderr}");
    assert!(at(":3: pull.reserve: ") < at(":4: pull.comments: "), "{stderr}");
    assert!(stderr.contains("comments, got \"isues\"; did you mean issues?"), "{stderr}");
}

#[test]
fn config_error_is_reported_with_its_line_and_stops_all_but_show() {
    for (file, text, expected) in [
        (
            "highwater.toml",
            "\n[pull]\nwindw_days = 3\n",
            "highwater.toml:3: pull.windw_days: unknown setting; did you mean pull.window_days?",
        ),
        (
            "highwater.toml",
            "pull.reserve = 91\n",
            "highwater.toml:1: pull.reserve: expected a percentage between 0 and 90, got \"91\"",
        ),
        (
            "highwater.toml",
            "pull.reserve = \"a\"\n",
            "highwater.toml:1: pull.reserve: expected an integer, got a string",
        ),
        ("highwater.toml", "pull.reserve = \n", "highwater.toml:1: invalid TOML: "),
        (
            "highwater.toml",
            "github.organization = \"../x\"\n",
            "highwater.toml:1: github.organization: expected a login",
        ),
        (
            "highwater.toml",
            "github.excluded_repositories = [\"..\"]\n",
            "highwater.toml:1: github.excluded_repositories: expected a repository name",
        ),
        (
            "highwater.toml",
            "github.api_url = \"http://example.com\"\n",
            "the token would be sent in plain text",
        ),
        (
            "highwater.toml",
            "github.graphql_url = \"https://example.com/graphql\"\ngithub.api_url = \"https://api.github.com\"",
            "highwater.toml:1: github.graphql_url: the host example.com differs from that of the REST API (github.com)",
        ),
        (
            "highwater.toml",
            "workspace = \"../x\"\n",
            "highwater.toml:1: workspace: not a workspace name",
        ),
        (
            "highwater.toml",
            "github.token = \"t0ken-in-toml\"\n",
            "highwater.toml:1: github.token: secrets are not allowed here; put GITHUB_TOKEN=… in .env",
        ),
        (
            ".env",
            "\nGITHUB_TOKE=x\n",
            ".env:2: GITHUB_TOKE: unknown setting; did you mean GITHUB_TOKEN?",
        ),
        (
            ".env",
            "export HIGHWATER_PACE=fast\n",
            ".env:1: HIGHWATER_PACE: expected adaptive or conservative, got \"fast\"",
        ),
        (".env", "nonsense\n", ".env:1: expected NAME=value"),
    ] {
        let home = tempfile::tempdir().unwrap();
        write_file(home.path(), file, text);
        let start = format!("Error: {}", home.path().display());
        for command in [
            &["list", "issues", "-m"][..],
            &["pull", "-o", "acme", "-m"],
            &["config", "show", "-m"],
        ] {
            let output = program_command(command).arg(home.path()).output().unwrap();
            let (code, stderr) = failure_output(&output);
            assert_eq!(code, Some(1), "{stderr}");
            assert!(stderr.starts_with(&start) && stderr.contains(expected), "{text}: {stderr}");
            let is_show = command[0] == "config";
            assert!(!stderr.contains("\nhint: "), "the message names the line: {stderr}");
            assert_eq!(!output.stdout.is_empty(), is_show, "valid settings are still printed");
        }
    }
}

#[test]
fn config_errors_are_reported_together() {
    let home = tempfile::tempdir().unwrap();
    write_file(home.path(), "highwater.toml", "a = 1\nb = 2\n");
    let (_, stderr) = failure_output(
        &program_command(&["list", "issues", "-m"]).arg(home.path()).output().unwrap(),
    );
    assert!(stderr.starts_with("Error: 2 problems in the settings:\n  "), "{stderr}");
    assert_eq!(stderr.matches("unknown setting").count(), 2, "{stderr}");
}

#[test]
fn config_files_that_cannot_be_read_are_named() {
    let home = tempfile::tempdir().unwrap();
    for name in [".env", "highwater.toml"] {
        std::fs::create_dir(home.path().join(name)).unwrap();
    }
    let output = program_command(&["list", "issues", "-m"]).arg(home.path()).output().unwrap();
    let (code, stderr) = failure_output(&output);
    let folder = home.path().display();
    let expected = format!(
        "Error: 2 problems in the settings:\n  {folder}/.env cannot be read: Is a directory\n  \
         {folder}/highwater.toml cannot be read: Is a directory\n"
    );
    assert_eq!((code, stderr), (Some(1), expected));
}

#[test]
fn config_files_are_followed_by_a_pull() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    write_file(home.path(), ".env", &format!("export GITHUB_TOKEN='{TOKEN}'\n"));
    let url = fixture.url();
    write_file(
        home.path(),
        "highwater.toml",
        &format!(
            "workspace = \"ours\"\n[github]\norganization = \"acme\"\napi_url = \"{url}\"\n\
         excluded_repositories = [\"acme/pump\"]\n[pull]\nitems = [\"repositories\", \"issues\"]\n"
        ),
    );
    let output = program_command(&["pull", "--json", "-m"]).arg(home.path()).output().unwrap();
    let summary: Value = serde_json::from_str(&success_stdout(&output)).unwrap();
    assert_eq!(summary["organization"], "acme");
    assert_eq!(
        summary["items"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["issues", "repositories"]
    );
    assert!(home.path().join("db/ours.db").exists());
    assert_eq!(list_json(home.path(), &["issues"]).len(), 6, "pump is excluded");
}

#[cfg(unix)]
#[test]
fn config_warns_about_a_token_file_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    write_file(home.path(), ".env", &format!("GITHUB_TOKEN={TOKEN}\n"));
    let mut warned = [0o600, 0o640].map(|mode| {
        let file = home.path().join(".env");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        let output = show_command(home.path(), &[]).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    });
    assert_eq!(warned[0], "");
    assert!(
        warned[1].starts_with("warning: other users on this machine can read "),
        "{}",
        warned[1]
    );
    assert!(!warned[1].split_off(0).contains(TOKEN));
}

#[test]
fn config_show_masks_secrets() {
    let home = tempfile::tempdir().unwrap();
    for args in [&["config", "show"][..], &["config", "show", "--json"]] {
        let mut command = program_command(args);
        command.arg("-m").arg(home.path()).env("GITHUB_TOKEN", TOKEN);
        command.env("HIGHWATER_DATABASE", "postgres://me:hunter%32@h/db");
        let stdout = success_stdout(&command.output().unwrap());
        assert!(
            stdout.contains("set (masked)") && stdout.contains("postgres://me:[masked]@h/db"),
            "{stdout}"
        );
        assert!(!stdout.contains(TOKEN) && !stdout.contains("hunter"), "{stdout}");
    }
}

fn show_command(home: &Path, args: &[&str]) -> Command {
    let mut command = program_command(&["config", "show", "--json", "-m"]);
    command.arg(home).args(args);
    command
}

fn setting_row<'a>(output_text: &'a Value, name: &str) -> &'a Value {
    let rows = output_text["settings"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).expect("the setting is printed")
}

fn write_file(home: &Path, file: &str, text: &str) {
    std::fs::write(home.join(file), text).unwrap();
}
