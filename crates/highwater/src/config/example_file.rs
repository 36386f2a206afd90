//! Writes the initial `highwater.toml`: every setting with its description, commented out.

use super::keys::{self, AllowedFiles, SettingDefault, SettingKey};

const FILE_HEADER: &str = "\
# highwater settings. Flags override environment variables, which override .env, which overrides
# this file. The commented-out lines are examples. Never put the token here:
# put GITHUB_TOKEN=… in .env next to this file, or log in with `gh auth login`.
# `highwater config show` shows the settings in effect and where each comes from.
";

/// Returns the text of the file, with the organization set if it is known.
pub(crate) fn example_settings(organization: Option<&str>) -> String {
    let mut text = FILE_HEADER.to_owned();
    let mut table = "";
    for key in keys::ALL_KEYS.into_iter().filter(|key| key.allowed_in == AllowedFiles::BothFiles) {
        let (above, name) = key.name.rsplit_once('.').unwrap_or(("", key.name));
        if above != table {
            text.push_str(&format!("\n[{above}]\n"));
            table = above;
        } else if above.is_empty() {
            text.push('\n');
        }
        text.push_str(&format_entry(key, name, organization));
    }
    text
}

fn format_entry(key: &SettingKey, name: &str, organization: Option<&str>) -> String {
    let SettingKey { variable, description, .. } = key;
    let default = match key.default {
        SettingDefault::Value("") => "none",
        SettingDefault::Value(text) | SettingDefault::Description(text) => text,
    };
    let line = match organization.filter(|_| *key == keys::ORGANIZATION) {
        Some(organization) => format!("{name} = {organization:?}"),
        None => format!("# {name} = {}", key.example),
    };
    format!("# {description}\n# ({variable}; default: {default})\n{line}\n")
}
