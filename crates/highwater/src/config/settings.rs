//! The one typed value.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hw_rules::lane::Choice;
use hw_rules::pace::Pace;
use hw_sources::http::Proxy;
use secrecy::{ExposeSecret as _, SecretString};

use super::environment::Screen;
use super::found::Origin;
use super::keys::{self, Key};
use super::kinds::{self, Format, Levels};
use super::resolved::Resolved;
use crate::address::Address;
use crate::names::{self, Named};
use crate::proxy;

/// Everything that is set, by whomever.
pub(crate) struct Settings {
    /// None where there is no home at all.
    pub(crate) home: Option<PathBuf>,
    pub(crate) workspace: Option<String>,
    /// A file or an address, which may carry a password.
    pub(crate) database: Option<SecretString>,
    pub(crate) organization: Option<String>,
    pub(crate) excluded_repositories: Vec<Named>,
    pub(crate) github: Address,
    /// May carry credentials.
    pub(crate) proxy: Option<SecretString>,
    /// None where `gh` may still know one.
    pub(crate) token: Option<SecretString>,
    pub(crate) items: BTreeSet<Choice>,
    /// Whether comments are added to the items.
    pub(crate) comments: bool,
    pub(crate) window_days: u32,
    pub(crate) pace: Pace,
    pub(crate) reserve_percent: i64,
    /// What callers over HTTP must know.
    pub(crate) mcp_token: Option<SecretString>,
    pub(crate) ui_port: u16,
    pub(crate) screen: Screen,
}

/// What is logged, and how; wrong settings leave the defaults.
#[derive(Default)]
pub(crate) struct LogSettings {
    pub(crate) levels: Option<Levels>,
    pub(crate) format: Format,
}

impl Settings {
    /// Every text was looked at while it was read, so none is refused here.
    pub(super) fn of(resolved: &Resolved) -> Self {
        let text = |key: &Key| resolved.get(key).map(|found| found.text.as_str());
        let own = |key: &Key| text(key).map(str::to_owned);
        let is_chosen = resolved.get(&keys::ITEMS).is_some_and(|it| it.origin == Origin::Flag);
        Self {
            home: resolved.home.as_ref().map(|(home, _)| home.clone()),
            workspace: own(&keys::WORKSPACE),
            database: own(&keys::DATABASE).map(SecretString::from),
            organization: own(&keys::ORGANIZATION),
            excluded_repositories: read(
                resolved,
                &keys::EXCLUDED_REPOSITORIES,
                names::any_repositories,
            ),
            github: resolved.address().expect("the addresses were looked at together"),
            proxy: own(&keys::PROXY).map(SecretString::from),
            token: text(&keys::TOKEN).and_then(|text| kinds::token(text).ok()),
            items: read(resolved, &keys::ITEMS, kinds::items),
            comments: !is_chosen && read(resolved, &keys::COMMENTS, kinds::switch),
            window_days: read(resolved, &keys::WINDOW_DAYS, kinds::days),
            pace: read(resolved, &keys::PACE, kinds::pace),
            reserve_percent: read(resolved, &keys::RESERVE, kinds::percent),
            mcp_token: text(&keys::MCP_TOKEN).and_then(|text| kinds::token(text).ok()),
            ui_port: read(resolved, &keys::UI_PORT, kinds::port),
            screen: resolved.screen.clone(),
        }
    }
}

impl Settings {
    /// The proxy between this machine and GitHub; none where requests go there directly.
    pub(crate) fn proxy(&self) -> Option<Proxy> {
        self.proxy.as_ref().and_then(|text| proxy::parse(text.expose_secret()))
    }
}

impl LogSettings {
    pub(crate) fn of(resolved: &Resolved) -> Self {
        let text = |key: &Key| resolved.get(key).map(|found| found.text.as_str());
        Self {
            levels: text(&keys::LOG_LEVEL).and_then(|text| Levels::read(text).ok()),
            format: text(&keys::LOG_FORMAT)
                .and_then(|text| Format::read(text).ok())
                .unwrap_or_default(),
        }
    }
}

/// A setting with a default, which therefore always has a text.
fn read<T>(resolved: &Resolved, key: &Key, reader: fn(&str) -> Result<T, String>) -> T {
    let text = resolved.get(key).map(|found| found.text.as_str());
    let read = text.and_then(|text| reader(text).ok());
    read.expect("a setting with a default was looked at while it was read")
}
