//! `highwater config show`

use hw_store::DatabaseLocation;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::cli::ShowConfigArgs;
use crate::config::{
    self, AppSettings, ResolvedSettings, SettingDefault, SettingKey, SettingKind, SettingOrigin,
    SettingProblem, SettingValue,
};
use crate::terminal::{print_json, print_result};
use crate::{proxy_url, workspace};

/// Replaces a token in the output.
const MASKED_TOKEN: &str = "set (masked)";

/// One printed setting.
struct SettingRow {
    key: &'static SettingKey,
    /// `None` if the setting has neither a value nor a default value.
    value: Option<String>,
    origin: SettingOrigin,
}

/// Prints the settings in effect. If some are invalid, it prints the others first and then fails.
pub(crate) fn run(args: &ShowConfigArgs, resolved: &ResolvedSettings) -> anyhow::Result<()> {
    let derived = DerivedSettings::from_resolved(resolved);
    let rows: Vec<SettingRow> =
        config::ALL_KEYS.into_iter().map(|key| setting_row(key, resolved, &derived)).collect();
    if args.json {
        print_json(&settings_json(&rows, &resolved.problems))?;
    } else {
        print_result(&rows.iter().map(format_row).collect::<Vec<_>>().join("\n"))?;
    }
    if resolved.problems.is_empty() {
        Ok(())
    } else {
        Err(SettingProblem::combine_errors(&resolved.problems))
    }
}

/// The values that are derived from other settings when they are not set; `None` while a setting is invalid.
#[derive(Default)]
struct DerivedSettings {
    api_url: Option<String>,
    graphql_url: Option<String>,
    workspace: Option<String>,
    database: Option<String>,
}

impl DerivedSettings {
    fn from_resolved(resolved: &ResolvedSettings) -> Self {
        let Ok(settings) = resolved.to_settings() else { return Self::default() };
        let location = workspace::resolve_location(&settings).ok();
        let name = location.as_ref().and_then(|location| match location {
            DatabaseLocation::File(path) => {
                path.file_stem().map(|name| name.to_string_lossy().into_owned())
            }
            DatabaseLocation::Postgres { schema, .. } => Some(schema.clone()),
            DatabaseLocation::Memory => None,
        });
        Self {
            workspace: name.filter(|_| !is_file_database(&settings)),
            database: location.map(|location| location.display_name()),
            api_url: Some(settings.endpoints.rest_url),
            graphql_url: Some(settings.endpoints.graphql_url),
        }
    }

    fn get(&self, key: &SettingKey) -> Option<String> {
        let value = if *key == config::API_URL {
            &self.api_url
        } else if *key == config::GRAPHQL_URL {
            &self.graphql_url
        } else if *key == config::WORKSPACE {
            &self.workspace
        } else if *key == config::DATABASE {
            &self.database
        } else {
            &None
        };
        value.clone()
    }
}

/// Returns true if the settings name a database file, so that no workspace name applies.
fn is_file_database(settings: &AppSettings) -> bool {
    settings.database.as_ref().is_some_and(|url| !config::is_postgres(url.expose_secret()))
}

fn setting_row(
    key: &'static SettingKey,
    resolved: &ResolvedSettings,
    derived: &DerivedSettings,
) -> SettingRow {
    match masked_value(key, resolved) {
        Some(SettingValue { text, origin }) => SettingRow { key, value: Some(text), origin },
        None => SettingRow { key, value: derived.get(key), origin: SettingOrigin::Default },
    }
}

/// Returns the resolved value of a setting, with its secrets masked.
fn masked_value(key: &SettingKey, resolved: &ResolvedSettings) -> Option<SettingValue> {
    if *key == config::HOME {
        let home = resolved.home.as_ref()?;
        let text = home.path.display().to_string();
        return Some(SettingValue { text, origin: home.origin.clone() });
    }
    if *key == config::TOKEN {
        let origin = resolved.token_origin()?;
        return Some(SettingValue { text: MASKED_TOKEN.to_owned(), origin });
    }
    let SettingValue { text, origin } = resolved.get(key)?.clone();
    let text = if key.kind == SettingKind::Token {
        MASKED_TOKEN.to_owned()
    } else if key.kind == SettingKind::Database {
        config::mask_passwords(&text)
    } else if key.kind == SettingKind::Proxy {
        proxy_url::mask_secret(&text).into_owned()
    } else {
        text
    };
    Some(SettingValue { text, origin })
}

fn format_row(row: &SettingRow) -> String {
    let value = match (&row.value, row.key.default) {
        (Some(value), _) if value.is_empty() => "none",
        (Some(value), _) => value,
        (None, _) if row.key.kind == SettingKind::Token => "not set",
        (None, SettingDefault::Description(text) | SettingDefault::Value(text)) => text,
    };
    format!("{:<29} {value:<50} {}", row.key.name, row.origin)
}

/// Returns the settings as JSON; `docs/json.md` is the contract.
fn settings_json(rows: &[SettingRow], problems: &[SettingProblem]) -> Value {
    let settings = rows.iter().map(|row| {
        let SettingRow { key, value, origin } = row;
        let from = origin.to_string();
        json!({ "name": key.name, "value": value, "from": from, "variable": key.variable, "flag": key.flag })
    });
    let problems = problems.iter().map(|problem| problem.message.clone());
    json!({ "settings": settings.collect::<Vec<_>>(), "problems": problems.collect::<Vec<_>>() })
}
