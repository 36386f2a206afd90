//! What the process was started with, read once: the only place that asks for it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::found::{Found, Layer, Origin};
use super::keys;
use super::kinds::Kind;
use super::problem::Problem;

/// The environment. It can carry a token, so it cannot be printed with `{:?}`.
pub(crate) struct Environment {
    /// The variables that are settings; an empty one is as if it were not there.
    variables: BTreeMap<&'static str, OsString>,
    /// The user's own directory.
    pub(crate) user: Option<PathBuf>,
    /// Where the program was started.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) screen: Screen,
}

/// What the environment says of the terminal.
#[derive(Clone, Default)]
pub(crate) struct Screen {
    /// `TERM`: what it calls itself.
    pub(crate) name: Option<String>,
    /// `NO_COLOR`, whatever it says.
    pub(crate) no_color: bool,
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
    pub(crate) fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let variables = keys::ALL.iter().filter_map(|key| Some((key.variable, set(key.variable)?)));
        Self {
            variables: variables.collect(),
            user: set("HOME").map(PathBuf::from),
            folder: std::env::current_dir().ok(),
            screen: Screen {
                name: set("TERM").map(|name| name.to_string_lossy().into_owned()),
                no_color: set("NO_COLOR").is_some(),
            },
        }
    }

    /// `HIGHWATER_HOME`: a path, which need not be text.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.variables.get(keys::HOME.variable).map(PathBuf::from)
    }

    /// The settings in it, but the home directory.
    pub(super) fn layer(&self) -> Layer {
        let mut layer = Layer::default();
        for key in keys::ALL.into_iter().filter(|key| key.name != keys::HOME.name) {
            let Some(value) = self.variables.get(key.variable) else { continue };
            match value.to_str() {
                Some(text) => {
                    let found = Found { text: text.to_owned(), origin: Origin::Environment };
                    layer.found.push((key, found));
                }
                None => layer.problems.push(Problem::new(
                    &Origin::Environment,
                    key.variable,
                    "it is not UTF-8 text",
                )),
            }
        }
        layer
    }

    /// What a problem found before anything is resolved must not show.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &str> {
        let tokens = keys::ALL.into_iter().filter(|key| key.kind == Kind::Token);
        tokens.filter_map(|key| self.variables.get(key.variable)?.to_str())
    }
}
