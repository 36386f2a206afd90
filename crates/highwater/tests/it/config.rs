//! The settings: who says what, who wins, and what is said of mistakes.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::house::{House, TOKEN, documented_fields, failed, listed, program, succeeded};

#[test]
fn the_stronger_place_wins_and_is_named() {
    let home = tempfile::tempdir().unwrap();
    let shown = |args: &[&str], variable: Option<&str>| {
        let mut command = show(home.path(), args);
        command.envs(variable.map(|value| ("ORGANIZATION", value)));
        let told: Value = serde_json::from_str(&succeeded(&command.output().unwrap())).unwrap();
        let row = row(&told, "github.organization");
        (row["value"].clone(), row["from"].as_str().unwrap().to_owned())
    };
    let is = |value: &str, from: &str| (Value::from(value), from.to_owned());
    assert_eq!(shown(&[], None), (Value::Null, "default".to_owned()));
    write(home.path(), "highwater.toml", "\n[github]\norganization = \"by-file\"\n");
    assert_eq!(shown(&[], None), is("by-file", "highwater.toml:3"));
    write(home.path(), ".env", "# ours\nORGANIZATION=by-dotenv\n");
    assert_eq!(shown(&[], None), is("by-dotenv", ".env:2"));
    assert_eq!(shown(&[], Some("")), is("by-dotenv", ".env:2"), "empty is not set");
    assert_eq!(shown(&[], Some("by-variable")), is("by-variable", "environment"));
    assert_eq!(shown(&["-o", "by-flag"], Some("by-variable")), is("by-flag", "flag"));
}

#[test]
fn every_setting_is_shown_with_the_documented_fields() {
    let home = tempfile::tempdir().unwrap();
    let output = show(home.path(), &[]).output().unwrap();
    let told: Value = serde_json::from_str(&succeeded(&output)).unwrap();
    let fields = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&told), documented_fields("`highwater config show --json`"));
    assert_eq!(row(&told, "pull.window_days")["value"], "400");
    assert_eq!(row(&told, "home")["from"], "flag");
    let text = succeeded(&program(&["config", "show", "-m"]).arg(home.path()).output().unwrap());
    assert_eq!(text.lines().count(), told["settings"].as_array().unwrap().len());
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "showing makes nothing");
}

#[test]
fn config_show_prints_what_follows_from_other_settings() {
    let home = tempfile::tempdir().unwrap();
    let shown = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = show(home.path(), args);
        command.envs(variables.iter().copied());
        let told: Value = serde_json::from_str(&succeeded(&command.output().unwrap())).unwrap();
        move |name: &str| {
            let row = row(&told, name);
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
    assert_eq!(elsewhere("workspace"), (Value::Null, "default".to_owned()), "none is looked for");
}

#[test]
fn the_home_is_below_the_users_own_unless_somebody_says_otherwise() {
    let user = tempfile::tempdir().unwrap();
    let shown = |variable: Option<&str>| {
        let mut command = program(&["config", "show", "--json"]);
        command.env("HOME", user.path()).envs(variable.map(|home| ("HIGHWATER_HOME", home)));
        let told: Value = serde_json::from_str(&succeeded(&command.output().unwrap())).unwrap();
        row(&told, "home")["value"].as_str().unwrap().to_owned()
    };
    assert_eq!(shown(None), user.path().join(".highwater").to_str().unwrap());
    assert_eq!(shown(Some("/elsewhere")), "/elsewhere");
}

#[test]
fn several_mistakes_are_told_in_the_order_of_their_lines() {
    let home = tempfile::tempdir().unwrap();
    let text = "[pull]\nitems = [\"isues\"]\nreserve = 95\ncomments = \"yes\"\n";
    std::fs::write(home.path().join("highwater.toml"), text).unwrap();
    let output = program(&["list", "repos", "-m"]).arg(home.path()).output().unwrap();
    let (code, told) = failed(&output);
    let at = |text: &str| told.find(text).unwrap_or_else(|| panic!("{text}: {told}"));
    assert_eq!(code, Some(1));
    assert!(at(":2: pull.items: ") < at(":3: pull.reserve: "), "{told}");
    assert!(at(":3: pull.reserve: ") < at(":4: pull.comments: "), "{told}");
    assert!(told.contains("comments; did you mean issues?"), "{told}");
}

#[test]
fn a_mistake_in_a_file_is_named_with_its_line_and_stops_everything_but_showing() {
    for (file, text, expected) in [
        (
            "highwater.toml",
            "\n[pull]\nwindw_days = 3\n",
            "highwater.toml:3: pull.windw_days: there is no such setting; did you mean pull.window_days?",
        ),
        (
            "highwater.toml",
            "pull.reserve = 91\n",
            "highwater.toml:1: pull.reserve: \"91\" is no percentage from 0 to 90",
        ),
        (
            "highwater.toml",
            "pull.reserve = \"a\"\n",
            "highwater.toml:1: pull.reserve: it must be a whole number, not a text",
        ),
        ("highwater.toml", "pull.reserve = \n", "highwater.toml:1: it is no TOML: "),
        (
            "highwater.toml",
            "github.organization = \"../x\"\n",
            "highwater.toml:1: github.organization: an organisation's name is",
        ),
        (
            "highwater.toml",
            "github.excluded_repositories = [\"..\"]\n",
            "highwater.toml:1: github.excluded_repositories: a repository's name is",
        ),
        (
            "highwater.toml",
            "github.api_url = \"http://example.com\"\n",
            "the token would travel in the clear",
        ),
        (
            "highwater.toml",
            "github.graphql_url = \"https://example.com/graphql\"\ngithub.api_url = \"https://api.github.com\"",
            "highwater.toml:1: github.graphql_url: it is on example.com, the REST API is on github.com",
        ),
        (
            "highwater.toml",
            "workspace = \"../x\"\n",
            "highwater.toml:1: workspace: not a workspace's name",
        ),
        (
            "highwater.toml",
            "github.token = \"t0ken-in-toml\"\n",
            "highwater.toml:1: github.token: a token does not belong here: put GITHUB_TOKEN=… into .env",
        ),
        (
            ".env",
            "\nGITHUB_TOKE=x\n",
            ".env:2: GITHUB_TOKE: there is no such setting; did you mean GITHUB_TOKEN?",
        ),
        (
            ".env",
            "export HIGHWATER_PACE=fast\n",
            ".env:1: HIGHWATER_PACE: \"fast\" is neither adaptive nor conservative",
        ),
        (".env", "nonsense\n", ".env:1: this line: it is no NAME=value"),
    ] {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), file, text);
        let place = format!("Error: {}", home.path().display());
        for command in [
            &["list", "issues", "-m"][..],
            &["pull", "-o", "acme", "-m"],
            &["config", "show", "-m"],
        ] {
            let output = program(command).arg(home.path()).output().unwrap();
            let (code, told) = failed(&output);
            assert_eq!(code, Some(1), "{told}");
            assert!(told.starts_with(&place) && told.contains(expected), "{text}: {told}");
            assert!(told.contains("\nhint: `highwater config show`"), "{told}");
            assert_eq!(
                output.stdout.is_empty(),
                command[0] != "config",
                "what is right is still shown"
            );
        }
    }
}

#[test]
fn several_mistakes_are_told_at_once() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "highwater.toml", "a = 1\nb = 2\n");
    let (_, told) = failed(&program(&["list", "issues", "-m"]).arg(home.path()).output().unwrap());
    assert!(told.starts_with("Error: 2 settings are wrong\n  because "), "{told}");
    assert_eq!(told.matches("there is no such setting").count(), 2, "{told}");
}

#[test]
fn a_pull_does_what_the_files_say() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    write(home.path(), ".env", &format!("export GITHUB_TOKEN='{TOKEN}'\n"));
    let url = house.url();
    write(
        home.path(),
        "highwater.toml",
        &format!(
            "workspace = \"ours\"\n[github]\norganization = \"acme\"\napi_url = \"{url}\"\n\
         excluded_repositories = [\"acme/pump\"]\n[pull]\nitems = [\"repositories\", \"issues\"]\n"
        ),
    );
    let output = program(&["pull", "--json", "-m"]).arg(home.path()).output().unwrap();
    let told: Value = serde_json::from_str(&succeeded(&output)).unwrap();
    assert_eq!(told["organization"], "acme");
    assert_eq!(
        told["items"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["issues", "repositories"]
    );
    assert!(home.path().join("db/ours.db").exists());
    assert_eq!(listed(home.path(), &["issues"]).len(), 6, "pump is excluded");
}

#[cfg(unix)]
#[test]
fn a_token_that_others_can_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    write(home.path(), ".env", &format!("GITHUB_TOKEN={TOKEN}\n"));
    let mut warned = [0o600, 0o640].map(|mode| {
        let file = home.path().join(".env");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        let output = show(home.path(), &[]).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    });
    assert_eq!(warned[0], "");
    assert!(warned[1].starts_with("warning: others on this machine can read "), "{}", warned[1]);
    assert!(!warned[1].split_off(0).contains(TOKEN));
}

#[test]
fn secrets_are_shown_as_set_and_no_more() {
    let home = tempfile::tempdir().unwrap();
    for args in [&["config", "show"][..], &["config", "show", "--json"]] {
        let mut command = program(args);
        command.arg("-m").arg(home.path()).env("GITHUB_TOKEN", TOKEN);
        command.env("HIGHWATER_DATABASE", "postgres://me:hunter%32@h/db");
        let told = succeeded(&command.output().unwrap());
        assert!(
            told.contains("set (masked)") && told.contains("postgres://me:[masked]@h/db"),
            "{told}"
        );
        assert!(!told.contains(TOKEN) && !told.contains("hunter"), "{told}");
    }
}

fn show(home: &Path, args: &[&str]) -> Command {
    let mut command = program(&["config", "show", "--json", "-m"]);
    command.arg(home).args(args);
    command
}

fn row<'a>(told: &'a Value, name: &str) -> &'a Value {
    let rows = told["settings"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).expect("the setting is shown")
}

fn write(home: &Path, file: &str, text: &str) {
    std::fs::write(home.join(file), text).unwrap();
}
