//! Reads the process environment, once. No other module reads it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::keys;
use super::layer::{SettingLayer, SettingOrigin, SettingValue};
use super::problem::SettingProblem;
use super::value_kind::SettingKind;

/// The process environment. It can carry a token, so it does not implement `Debug`.
pub(crate) struct Environment {
    /// The variables that are settings; an empty one counts as unset.
    variables: BTreeMap<&'static str, OsString>,
    /// The user's home directory.
    pub(crate) user_home: Option<PathBuf>,
    pub(crate) current_folder: Option<PathBuf>,
    pub(crate) terminal: TerminalEnv,
}

/// The variables that describe the terminal.
#[derive(Clone, Default)]
pub(crate) struct TerminalEnv {
    /// `TERM`, the terminal's type.
    pub(crate) term: Option<String>,
    /// True if `NO_COLOR` is set, to any value.
    pub(crate) no_color: bool,
}

impl Environment {
    pub(crate) fn read() -> Self {
        let variables = keys::ALL_KEYS
            .iter()
            .filter_map(|key| Some((key.variable, read_variable(key.variable)?)));
        Self {
            variables: variables.collect(),
            user_home: read_variable("HOME").map(PathBuf::from),
            current_folder: std::env::current_dir().ok(),
            terminal: TerminalEnv {
                term: read_variable("TERM").map(|name| name.to_string_lossy().into_owned()),
                no_color: read_variable("NO_COLOR").is_some(),
            },
        }
    }

    /// Returns `HIGHWATER_HOME`: a path, which need not be UTF-8.
    pub(super) fn home_variable(&self) -> Option<PathBuf> {
        self.variables.get(keys::HOME.variable).map(PathBuf::from)
    }

    /// Returns the settings in the environment, except the home directory.
    pub(super) fn to_layer(&self) -> SettingLayer {
        let mut layer = SettingLayer::default();
        for key in keys::ALL_KEYS.into_iter().filter(|key| **key != keys::HOME) {
            let Some(value) = self.variables.get(key.variable) else { continue };
            match value.to_str() {
                Some(text) => {
                    let value =
                        SettingValue { text: text.to_owned(), origin: SettingOrigin::Environment };
                    layer.values.push((key, value));
                }
                None => layer.problems.push(SettingProblem::new(
                    &SettingOrigin::Environment,
                    key.variable,
                    "not valid UTF-8",
                )),
            }
        }
        layer
    }

    /// Returns the tokens, so that errors reported before the settings are resolved can mask them.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &str> {
        let tokens = keys::ALL_KEYS.into_iter().filter(|key| key.kind == SettingKind::Token);
        tokens.filter_map(|key| self.variables.get(key.variable)?.to_str())
    }
}

#[expect(clippy::disallowed_methods, reason = "this module is the one that reads the environment")]
fn read_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
