//! The kinds of values that settings have. Parses their texts, and describes what is wrong with an invalid one.

use std::collections::BTreeSet;

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::identifier::InvalidIdentifier;
use hw_rules::bluesky::polling_settings::PollingSetting;
use hw_rules::event_policy::OwnAccount;
use hw_rules::lane::PullItem;
use hw_rules::login::{InvalidLogin, Login};
use hw_rules::pace::RequestPace;
use hw_rules::runtime_settings::RuntimeSetting;
use secrecy::SecretString;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::database_url;
use super::suggestion::did_you_mean;
use crate::{api_endpoints, github_names, proxy_url, workspace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingKind {
    Folder,
    Workspace,
    Owner,
    Token,
    Repositories,
    Sources,
    Address,
    Proxy,
    Database,
    Items,
    Boolean,
    Days,
    Pace,
    Percent,
    Port,
    Levels,
    Format,
    /// A handle or a DID.
    Account,
    Polling(PollingSetting),
    OwnAccount,
    Logins,
    Runtime(RuntimeSetting),
}

/// The type of a setting in `highwater.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TomlType {
    Text,
    List,
    Number,
    Boolean,
}

impl TomlType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::List => "a list of strings",
            Self::Number => "an integer",
            Self::Boolean => "true or false",
        }
    }
}

impl SettingKind {
    pub(crate) fn toml_type(self) -> TomlType {
        match self {
            Self::Repositories | Self::Sources | Self::Items | Self::Logins => TomlType::List,
            Self::Days | Self::Percent | Self::Port | Self::Polling(_) | Self::Runtime(_) => {
                TomlType::Number
            }
            Self::Boolean => TomlType::Boolean,
            Self::Folder
            | Self::Workspace
            | Self::Owner
            | Self::Token
            | Self::Address
            | Self::Proxy
            | Self::Database
            | Self::Pace
            | Self::Levels
            | Self::Format
            | Self::Account
            | Self::OwnAccount => TomlType::Text,
        }
    }

    /// Checks that the text is a valid value of this kind.
    pub(crate) fn check_text(self, text: &str) -> Result<(), String> {
        match self {
            Self::Folder => Ok(()),
            Self::Workspace => workspace::check_workspace_name(text),
            Self::Owner => github_names::parse_owner(text).map(drop),
            Self::Token => parse_token(text).map(drop),
            Self::Repositories => github_names::parse_optional_repositories(text).map(drop),
            Self::Sources => github_names::parse_sources(text).map(drop),
            Self::Address => api_endpoints::parse_api_url(text).map(drop),
            Self::Proxy => proxy_url::check_proxy_url(text),
            Self::Database => database_url::check_database_url(text),
            Self::Items => parse_items(text).map(drop),
            Self::Boolean => parse_boolean(text).map(drop),
            Self::Days => parse_days(text).map(drop),
            Self::Pace => parse_pace(text).map(drop),
            Self::Percent => parse_percent(text).map(drop),
            Self::Port => parse_port(text).map(drop),
            Self::Levels => LogLevels::parse(text).map(drop),
            Self::Format => LogFormat::parse(text).map(drop),
            Self::Account => parse_account(text).map(drop),
            Self::OwnAccount => parse_own_account(text).map(drop),
            Self::Logins => parse_logins(text).map(drop),
            Self::Polling(setting) => {
                setting.parse(text).map(drop).map_err(|error| error.to_string())
            }
            Self::Runtime(setting) => {
                setting.parse(text).map(drop).map_err(|error| error.to_string())
            }
        }
    }
}

/// Parses a token, which is printable ASCII without spaces. Anything else came from a file or a shell by mistake.
pub(crate) fn parse_token(text: &str) -> Result<SecretString, String> {
    let text = text.trim();
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err("not a token: expected printable ASCII without spaces".to_owned());
    }
    Ok(SecretString::from(text.to_owned()))
}

/// Parses an account on Bluesky: a handle, a DID, or the URL of its profile.
pub(crate) fn parse_account(text: &str) -> Result<AccountRef, String> {
    text.trim().parse().map_err(|error: InvalidIdentifier| error.to_string())
}

pub(crate) fn parse_own_account(text: &str) -> Result<OwnAccount, String> {
    OwnAccount::from_name(text).ok_or_else(|| format!("expected user or bot, got {text:?}"))
}

/// Parses logins. Those of bots may have their suffix.
pub(crate) fn parse_logins(text: &str) -> Result<Vec<String>, String> {
    let logins = text.split(',').map(str::trim).filter(|login| !login.is_empty());
    logins
        .map(|login| {
            let name = login.strip_suffix("[bot]").unwrap_or(login);
            match name.parse::<Login>() {
                Ok(_) => Ok(login.to_owned()),
                Err(InvalidLogin) => Err(format!("not a login: {login:?}")),
            }
        })
        .collect()
}

pub(crate) fn parse_items(text: &str) -> Result<BTreeSet<PullItem>, String> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let items: BTreeSet<PullItem> = names.map(parse_item).collect::<Result<_, _>>()?;
    if items.is_empty() {
        return Err(format!("expected at least one of {}", item_names().join(", ")));
    }
    Ok(items)
}

fn parse_item(name: &str) -> Result<PullItem, String> {
    PullItem::from_name(name).ok_or_else(|| unknown_name(name, &item_names()))
}

fn item_names() -> [&'static str; PullItem::ALL.len()] {
    PullItem::ALL.map(PullItem::name)
}

fn unknown_name(name: &str, known: &[&'static str]) -> String {
    let nearest = did_you_mean(name, known.iter().copied());
    format!("expected one of {}, got {name:?}{nearest}", known.join(", "))
}

pub(crate) fn parse_boolean(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("expected true or false, got {text:?}"))
}

pub(crate) fn parse_days(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        format!("expected a number of days between 0 and {} (0 for all), got {text:?}", u32::MAX)
    })
}

pub(crate) fn parse_percent(text: &str) -> Result<i64, String> {
    let percent = text.parse().ok().filter(|percent| (0..=90).contains(percent));
    percent.ok_or_else(|| format!("expected a percentage between 0 and 90, got {text:?}"))
}

pub(crate) fn parse_port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("expected a port between 0 and {}, got {text:?}", u16::MAX))
}

/// Parses the number of rows that a list may have.
pub(crate) fn parse_limit(text: &str) -> Result<u64, String> {
    let limit = text.parse().ok().filter(|limit| *limit > 0);
    limit.ok_or_else(|| format!("expected a positive whole number, got {text:?}"))
}

/// The names of the paces, as `--pace` and `pull.pace` accept them.
pub(crate) const PACE_NAMES: [&str; 2] = ["adaptive", "conservative"];

pub(crate) fn parse_pace(text: &str) -> Result<RequestPace, String> {
    match text {
        "adaptive" => Ok(RequestPace::Adaptive),
        "conservative" => Ok(RequestPace::Conservative),
        _ => Err(format!("expected adaptive or conservative, got {text:?}")),
    }
}

/// The format of the log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

impl LogFormat {
    pub(crate) const NAMES: [&str; 2] = ["text", "json"];

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(format!("expected text or json, got {text:?}")),
        }
    }
}

/// The log level of each target.
#[derive(Debug, Clone)]
pub(crate) struct LogLevels(pub(crate) Targets);

impl LogLevels {
    /// Parses levels and `target=level` pairs, comma separated.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut targets = Targets::new();
        for part in text.split(',').map(str::trim) {
            targets = match part.split_once('=') {
                Some((target, name)) if !target.is_empty() => {
                    targets.with_target(target, parse_level(name)?)
                }
                Some(_) => return Err(format!("missing target before = in {part:?}")),
                None => targets.with_default(parse_level(part)?),
            };
        }
        Ok(Self(targets))
    }
}

fn parse_level(name: &str) -> Result<LevelFilter, String> {
    const LEVEL_NAMES: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    // the filter's own parser also accepts numbers
    let is_known = LEVEL_NAMES.iter().any(|level| level.eq_ignore_ascii_case(name));
    let level = name.parse().ok().filter(|_| is_known);
    level.ok_or_else(|| unknown_name(name, &LEVEL_NAMES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_levels_are_names_and_each_target_has_one() {
        for text in ["info", "WARN", "off", "hw_sync=debug", "info, hw_sync::rate_limiter=trace"] {
            assert!(LogLevels::parse(text).is_ok(), "{text}");
        }
        for text in ["", "dbug", "hw_sync", "3", "hw_sync=", "=info", "info,,warn", "a=b=info"] {
            assert!(LogLevels::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn number_settings_have_a_range() {
        assert_eq!((parse_percent("0"), parse_percent("90")), (Ok(0), Ok(90)));
        assert!(
            parse_percent("91").is_err()
                && parse_percent("-1").is_err()
                && parse_percent("x").is_err()
        );
        assert_eq!((parse_port("0"), parse_port("65535")), (Ok(0), Ok(65_535)));
        assert!(parse_port("65536").is_err() && parse_port("http").is_err());
        assert_eq!(parse_days("0"), Ok(0));
        assert!(parse_days("-1").is_err() && parse_days("4294967296").is_err());
    }

    #[test]
    fn event_settings_are_logins_and_a_kind_of_account() {
        let logins = parse_logins(" ada, dependabot[bot],").unwrap();
        assert_eq!(logins, ["ada", "dependabot[bot]"]);
        assert_eq!(parse_logins("").unwrap(), [""; 0]);
        assert!(parse_logins("ada,a b").is_err() && parse_own_account("robot").is_err());
        assert_eq!(parse_own_account("bot"), Ok(OwnAccount::Bot));
    }

    #[test]
    fn token_error_does_not_quote_the_token() {
        assert!(parse_token(" t0ken\n").is_ok());
        let reason = parse_token("two words").unwrap_err();
        assert!(!reason.contains("two"), "{reason}");
    }
}
