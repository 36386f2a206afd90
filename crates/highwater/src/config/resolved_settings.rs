//! Merges all layers: for each setting, the first layer that provides a value wins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::environment::{Environment, TerminalEnv};
use super::keys::{self, SettingDefault, SettingKey};
use super::layer::{SettingLayer, SettingOrigin, SettingValue};
use super::problem::SettingProblem;
use super::settings::AppSettings;
use super::value_kind::SettingKind;
use super::{DOTENV_FILE, SETTINGS_FILE, database_url, dotenv, toml_file};
use crate::api_endpoints::ApiEndpoints;
use crate::{github_token, proxy_url};

/// The settings given as flags.
#[derive(Default)]
pub(crate) struct FlagSettings {
    pub(crate) home: Option<PathBuf>,
    values: Vec<(&'static SettingKey, String)>,
}

impl FlagSettings {
    pub(crate) fn set(&mut self, key: &'static SettingKey, text: Option<impl ToString>) {
        self.values.extend(text.map(|text| (key, text.to_string())));
    }

    fn to_layer(&self) -> SettingLayer {
        let values = self.values.iter().map(|(key, text)| {
            (*key, SettingValue { text: text.clone(), origin: SettingOrigin::Flag })
        });
        SettingLayer { values: values.collect(), problems: Vec::new() }
    }
}

/// The home directory, and the origin of the setting.
pub(crate) struct ResolvedHome {
    pub(crate) path: PathBuf,
    pub(crate) origin: SettingOrigin,
}

/// The settings in effect with their origins, and every problem found.
#[derive(Default)]
pub(crate) struct ResolvedSettings {
    pub(crate) home: Option<ResolvedHome>,
    values: BTreeMap<&'static str, SettingValue>,
    pub(crate) problems: Vec<SettingProblem>,
    /// The secrets of all layers: an overridden one must not be printed either.
    pub(crate) tokens: Vec<SecretString>,
    pub(crate) databases: Vec<SecretString>,
    pub(crate) proxies: Vec<SecretString>,
    pub(crate) warnings: Vec<String>,
    pub(crate) terminal: TerminalEnv,
}

impl ResolvedSettings {
    /// Reads the two files in the home directory and merges all layers.
    pub(crate) fn new(flags: &FlagSettings, environment: &Environment) -> Self {
        let home = resolve_home(flags, environment);
        let files = home.as_ref().map_or_else(Vec::new, |home| {
            vec![
                read_file_layer(&home.path.join(DOTENV_FILE), dotenv::read_dotenv),
                read_file_layer(&home.path.join(SETTINGS_FILE), toml_file::read_toml),
            ]
        });
        let layers = [flags.to_layer(), environment.to_layer()].into_iter().chain(files);
        let terminal = environment.terminal.clone();
        Self { terminal, ..Self::from_layers(home, layers.chain([default_layer()])) }
    }

    fn from_layers(home: Option<ResolvedHome>, layers: impl Iterator<Item = SettingLayer>) -> Self {
        let mut resolved = Self { home, ..Self::default() };
        for layer in layers {
            resolved.problems.extend(layer.problems);
            layer.values.into_iter().for_each(|(key, value)| resolved.add_value(key, value));
        }
        resolved.check_endpoints();
        resolved.check_proxy();
        resolved.problems.sort_by_key(SettingProblem::sort_key);
        resolved
    }

    fn add_value(&mut self, key: &'static SettingKey, value: SettingValue) {
        if has_secret(key, &value.text) {
            self.warnings.extend(exposure_warning(&value.origin, key));
        }
        let secret = value.text.trim();
        if key.kind == SettingKind::Token {
            self.tokens.push(secret.into());
        } else if key.kind == SettingKind::Database {
            self.databases.push(secret.into());
        } else if key.kind == SettingKind::Proxy {
            self.proxies.push(secret.into());
        }
        match key.kind.check_text(&value.text) {
            Ok(()) => drop(self.values.entry(key.name).or_insert(value)),
            Err(reason) => self.add_problem(key, &value.origin, &reason),
        }
    }

    fn add_problem(&mut self, key: &SettingKey, origin: &SettingOrigin, reason: &str) {
        self.problems.push(SettingProblem::new(origin, name_at_origin(key, origin), reason));
    }

    /// Checks that the two API URLs, each valid on its own, name the same host.
    fn check_endpoints(&mut self) {
        if let Err(reason) = self.api_endpoints() {
            let origin = self
                .get(&keys::GRAPHQL_URL)
                .map_or(SettingOrigin::Default, |value| value.origin.clone());
            self.add_problem(&keys::GRAPHQL_URL, &origin, &reason);
        }
    }

    /// Refuses a remote proxy for plain HTTP: it would see the token of every request.
    fn check_proxy(&mut self) {
        let Some(proxy) = self.get(&keys::PROXY) else { return };
        let is_plain =
            self.api_endpoints().is_ok_and(|endpoints| endpoints.rest_url.starts_with("http://"));
        if is_plain && !proxy_url::is_local(&proxy.text) {
            let origin = proxy.origin.clone();
            let reason =
                "GitHub's URL is not https, so the proxy would see the token in plain text";
            self.add_problem(&keys::PROXY, &origin, reason);
        }
    }

    /// Returns GitHub's API endpoints, or an error if the two URLs do not fit together.
    pub(crate) fn api_endpoints(&self) -> Result<ApiEndpoints, String> {
        ApiEndpoints::from_urls(self.text(&keys::API_URL), self.text(&keys::GRAPHQL_URL))
    }

    /// Returns the value of a key, if it has one.
    pub(crate) fn get(&self, key: &SettingKey) -> Option<&SettingValue> {
        self.values.get(key.name)
    }

    /// Returns the text of a key's value, if it has one.
    pub(crate) fn text(&self, key: &SettingKey) -> Option<&str> {
        self.get(key).map(|value| value.text.as_str())
    }

    /// Returns the origin of the token, or `None` if there is no token.
    pub(crate) fn token_origin(&self) -> Option<SettingOrigin> {
        let configured = self.get(&keys::TOKEN).map(|value| value.origin.clone());
        configured.or_else(|| {
            let host = self.api_endpoints().ok()?.host;
            github_token::token_from_gh(&host).ok().map(|_| SettingOrigin::Gh)
        })
    }

    /// Returns the typed settings, or one error that combines all problems.
    pub(crate) fn to_settings(&self) -> anyhow::Result<AppSettings> {
        if self.problems.is_empty() {
            Ok(AppSettings::from_resolved(self))
        } else {
            Err(SettingProblem::combine_with_hint(&self.problems))
        }
    }
}

/// Returns true if a value contains a secret.
fn has_secret(key: &SettingKey, text: &str) -> bool {
    // an API URL with a password is refused, wherever it comes from
    if key.kind == SettingKind::Address {
        return false;
    }
    let is_token = key.kind == SettingKind::Token;
    let in_proxy = key.kind == SettingKind::Proxy && proxy_url::find_secret(text).is_some();
    is_token || in_proxy || !database_url::find_passwords(text).is_empty()
}

/// Returns the name that a setting has at its origin.
fn name_at_origin(key: &SettingKey, origin: &SettingOrigin) -> &'static str {
    match origin {
        SettingOrigin::Flag => key.flag.unwrap_or(key.name),
        SettingOrigin::Environment => key.variable,
        SettingOrigin::FileLine { file, .. } if file.ends_with(DOTENV_FILE) => key.variable,
        SettingOrigin::FileLine { .. }
        | SettingOrigin::Gh
        | SettingOrigin::Git
        | SettingOrigin::Default => key.name,
    }
}

fn resolve_home(flags: &FlagSettings, environment: &Environment) -> Option<ResolvedHome> {
    if let Some(path) = flags.home.clone() {
        return Some(ResolvedHome { path, origin: SettingOrigin::Flag });
    }
    if let Some(path) = environment.home_variable() {
        return Some(ResolvedHome { path, origin: SettingOrigin::Environment });
    }
    let path = environment.user_home.as_ref()?.join(".highwater");
    Some(ResolvedHome { path, origin: SettingOrigin::Default })
}

fn read_file_layer(path: &Path, read: fn(&Path, &str) -> SettingLayer) -> SettingLayer {
    match std::fs::read(path) {
        Ok(bytes) => match std::str::from_utf8(&bytes) {
            Ok(text) => read(path, text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                problem_layer(SettingProblem::in_line(path, line, "not valid UTF-8"))
            }
        },
        Err(error) if is_absent(&error) => SettingLayer::default(),
        Err(error) => problem_layer(SettingProblem::unreadable_file(path, &error)),
    }
}

fn problem_layer(problem: SettingProblem) -> SettingLayer {
    SettingLayer { values: Vec::new(), problems: vec![problem] }
}

/// Returns a warning for a secret in the arguments, or in a file that other users can read.
fn exposure_warning(origin: &SettingOrigin, key: &SettingKey) -> Option<String> {
    let secret = if key.kind == SettingKind::Token { "a token" } else { "a password" };
    match origin {
        SettingOrigin::Flag => Some(format!(
            "other users on this machine can see {secret} passed on the command line; set {} instead",
            key.variable
        )),
        SettingOrigin::FileLine { file, .. } if others_can_read(file) => {
            let file = file.display();
            Some(format!(
                "other users on this machine can read {file}, which contains {secret}; run `chmod 600 {file}`"
            ))
        }
        SettingOrigin::FileLine { .. }
        | SettingOrigin::Environment
        | SettingOrigin::Gh
        | SettingOrigin::Git
        | SettingOrigin::Default => None,
    }
}

#[cfg(unix)]
fn others_can_read(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_file: &Path) -> bool {
    false
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn default_layer() -> SettingLayer {
    let values = keys::ALL_KEYS.into_iter().filter_map(|key| match key.default {
        SettingDefault::Value(text) => {
            Some((key, SettingValue { text: text.to_owned(), origin: SettingOrigin::Default }))
        }
        SettingDefault::Description(_) => None,
    });
    SettingLayer { values: values.collect(), problems: Vec::new() }
}
