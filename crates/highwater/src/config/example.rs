//! `highwater.toml` as a person gets it first: every setting with its sentence, commented out.

use super::keys::{self, Key, Otherwise, Stands};

const HEAD: &str = "\
# Settings of highwater. A flag is stronger than the environment, the environment than .env, .env than
# this file. What is commented out shows what may stand there. The token never stands here:
# put GITHUB_TOKEN=… into .env beside this file, or log in with `gh auth login`.
# `highwater config show` tells what is in force, and from where.
";

/// The file; with the organisation set if it is known.
pub(crate) fn example(organization: Option<&str>) -> String {
    let mut text = HEAD.to_owned();
    let mut table = "";
    for key in keys::ALL.into_iter().filter(|key| key.stands == Stands::Anywhere) {
        let (above, name) = key.name.split_once('.').unwrap_or(("", key.name));
        if above != table {
            text.push_str(&format!("\n[{above}]\n"));
            table = above;
        } else if above.is_empty() {
            text.push('\n');
        }
        text.push_str(&entry(key, name, organization));
    }
    text
}

fn entry(key: &Key, name: &str, organization: Option<&str>) -> String {
    let Key { variable, about, .. } = key;
    let otherwise = match key.otherwise {
        Otherwise::Value("") => "none",
        Otherwise::Value(text) | Otherwise::Words(text) => text,
    };
    let line = match organization.filter(|_| key.name == keys::ORGANIZATION.name) {
        Some(organization) => format!("{name} = {organization:?}"),
        None => format!("# {name} = {}", key.example),
    };
    format!("# {about}\n# ({variable}; default: {otherwise})\n{line}\n")
}
