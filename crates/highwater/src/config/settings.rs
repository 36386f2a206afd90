//! The settings as one typed value.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::polling_settings::PollingSettings;
use hw_rules::event_policy::EventPolicy;
use hw_rules::followed_source::FollowedSource;
use hw_rules::lane::PullItem;
use hw_rules::login::Login;
use hw_rules::pace::RequestPace;
use hw_rules::runtime_settings::RuntimeSettings;
use hw_sources::http_transport::HttpProxy;
use secrecy::{ExposeSecret as _, SecretString};

use super::environment::TerminalEnv;
use super::keys::{self, SettingKey};
use super::layer::SettingOrigin;
use super::resolved_settings::ResolvedSettings;
use super::value_kind::{self, LogFormat, LogLevels, SettingKind};
use crate::api_endpoints::ApiEndpoints;
use crate::github_names::{self, RepositorySelector};
use crate::proxy_url;

/// All settings except those of logging, parsed.
pub(crate) struct AppSettings {
    /// `None` if neither a flag, a variable nor the user's home directory says where it is.
    pub(crate) home: Option<PathBuf>,
    pub(crate) workspace: Option<String>,
    /// A file or a URL, which may carry a password.
    pub(crate) database: Option<SecretString>,
    pub(crate) organization: Option<Login>,
    /// Followed in addition to the organization.
    pub(crate) sources: Vec<FollowedSource>,
    pub(crate) excluded_repositories: Vec<RepositorySelector>,
    pub(crate) endpoints: ApiEndpoints,
    /// May carry credentials.
    pub(crate) proxy: Option<SecretString>,
    /// `None` if no setting provides it; `gh` may still have one.
    pub(crate) token: Option<SecretString>,
    pub(crate) items: BTreeSet<PullItem>,
    /// Adds comments to the items.
    pub(crate) comments: bool,
    pub(crate) window_days: u32,
    pub(crate) pace: RequestPace,
    pub(crate) reserve_percent: i64,
    /// The token that HTTP clients of the MCP server must send.
    pub(crate) mcp_token: Option<SecretString>,
    /// The server to read Bluesky from, if one is set.
    pub(crate) bluesky_url: Option<String>,
    /// The account to log in with at Bluesky.
    pub(crate) bluesky_account: Option<AccountRef>,
    pub(crate) bluesky_app_password: Option<SecretString>,
    pub(crate) polling: PollingSettings,
    /// Whose comments count as events.
    pub(crate) event_policy: EventPolicy,
    /// How often the service reads what, and how it reads watched threads.
    pub(crate) runtime: RuntimeSettings,
    pub(crate) ui_port: u16,
    pub(crate) terminal: TerminalEnv,
}

/// The log levels and format. Invalid settings fall back to the defaults, so that the error itself can be logged.
#[derive(Default)]
pub(crate) struct LogSettings {
    pub(crate) levels: Option<LogLevels>,
    pub(crate) format: LogFormat,
}

impl AppSettings {
    /// Parses the resolved texts. Each was checked when it was added, so none fails here.
    pub(super) fn from_resolved(resolved: &ResolvedSettings) -> Self {
        let is_chosen =
            resolved.get(&keys::ITEMS).is_some_and(|value| value.origin == SettingOrigin::Flag);
        Self {
            home: resolved.home.as_ref().map(|home| home.path.clone()),
            workspace: resolved.text(&keys::WORKSPACE).map(str::to_owned),
            database: resolved.text(&keys::DATABASE).map(SecretString::from),
            organization: resolved.text(&keys::ORGANIZATION).map(Login::from_known),
            sources: parse_setting(resolved, &keys::SOURCES, github_names::parse_sources),
            excluded_repositories: parse_setting(
                resolved,
                &keys::EXCLUDED_REPOSITORIES,
                github_names::parse_optional_repositories,
            ),
            endpoints: resolved.api_endpoints().expect("the two URLs were checked together"),
            proxy: resolved.text(&keys::PROXY).map(SecretString::from),
            token: parse_optional_token(resolved, &keys::TOKEN),
            items: parse_setting(resolved, &keys::ITEMS, value_kind::parse_items),
            comments: !is_chosen
                && parse_setting(resolved, &keys::COMMENTS, value_kind::parse_boolean),
            window_days: parse_setting(resolved, &keys::WINDOW_DAYS, value_kind::parse_days),
            pace: parse_setting(resolved, &keys::PACE, value_kind::parse_pace),
            reserve_percent: parse_setting(resolved, &keys::RESERVE, value_kind::parse_percent),
            mcp_token: parse_optional_token(resolved, &keys::MCP_TOKEN),
            bluesky_url: resolved.text(&keys::BLUESKY_URL).map(str::to_owned),
            bluesky_account: resolved
                .text(&keys::BLUESKY_HANDLE)
                .and_then(|text| value_kind::parse_account(text).ok()),
            bluesky_app_password: parse_optional_token(resolved, &keys::BLUESKY_APP_PASSWORD),
            polling: parse_polling(resolved),
            event_policy: parse_event_policy(resolved),
            runtime: parse_runtime(resolved),
            ui_port: parse_setting(resolved, &keys::UI_PORT, value_kind::parse_port),
            terminal: resolved.terminal.clone(),
        }
    }

    /// Returns the proxy for requests to GitHub, if one is configured.
    pub(crate) fn parse_proxy(&self) -> Option<HttpProxy> {
        self.proxy.as_ref().and_then(|text| proxy_url::parse_proxy_url(text.expose_secret()))
    }
}

impl LogSettings {
    pub(crate) fn from_resolved(resolved: &ResolvedSettings) -> Self {
        let levels = resolved.text(&keys::LOG_LEVEL);
        let format = resolved.text(&keys::LOG_FORMAT);
        Self {
            levels: levels.and_then(|text| LogLevels::parse(text).ok()),
            format: format.and_then(|text| LogFormat::parse(text).ok()).unwrap_or_default(),
        }
    }
}

fn parse_optional_token(resolved: &ResolvedSettings, key: &SettingKey) -> Option<SecretString> {
    resolved.text(key).and_then(|text| value_kind::parse_token(text).ok())
}

fn parse_polling(resolved: &ResolvedSettings) -> PollingSettings {
    let mut settings = PollingSettings::default();
    for key in &keys::POLLING_KEYS {
        if let SettingKind::Polling(setting) = key.kind
            && let Some(value) = resolved.text(key).and_then(|text| setting.parse(text).ok())
        {
            settings.set(setting, value);
        }
    }
    settings
}

fn parse_event_policy(resolved: &ResolvedSettings) -> EventPolicy {
    let own_account = resolved.text(&keys::EVENTS_OWN_ACCOUNT);
    EventPolicy {
        own_account: own_account.and_then(|text| value_kind::parse_own_account(text).ok()),
        allow_bots: parse_setting(resolved, &keys::EVENTS_ALLOW_BOTS, value_kind::parse_boolean),
        authors: parse_setting(resolved, &keys::EVENTS_AUTHORS, value_kind::parse_logins),
    }
}

fn parse_runtime(resolved: &ResolvedSettings) -> RuntimeSettings {
    let parse_switch = |key| parse_setting(resolved, key, value_kind::parse_boolean);
    let mut settings = RuntimeSettings {
        enable_incremental_comment_fetch: parse_switch(&keys::INCREMENTAL_FETCH),
        shadow_compare: parse_switch(&keys::SHADOW_COMPARE),
        ..RuntimeSettings::default()
    };
    for key in keys::RUNTIME_KEYS {
        if let SettingKind::Runtime(setting) = key.kind
            && let Some(value) = resolved.text(key).and_then(|text| setting.parse(text).ok())
        {
            settings.set(setting, value);
        }
    }
    settings
}

/// Parses a setting with a default, which therefore always has a text.
fn parse_setting<T>(
    resolved: &ResolvedSettings,
    key: &SettingKey,
    parse: fn(&str) -> Result<T, String>,
) -> T {
    let value = resolved.text(key).and_then(|text| parse(text).ok());
    value.expect("a setting with a default always has a checked text")
}
