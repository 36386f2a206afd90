//! All layers together: for each setting the strongest that says anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::environment::{Environment, Screen};
use super::found::{Found, Layer, Origin};
use super::keys::{self, Key, Otherwise};
use super::kinds::Kind;
use super::problem::Problem;
use super::settings::Settings;
use super::{DOTENV, FILE, database, dotenv, file};
use crate::address::Address;
use crate::{proxy, token};

/// What the arguments say.
#[derive(Default)]
pub(crate) struct Flags {
    pub(crate) home: Option<PathBuf>,
    texts: Vec<(&'static Key, String)>,
}

impl Flags {
    pub(crate) fn set(&mut self, key: &'static Key, text: Option<impl ToString>) {
        self.texts.extend(text.map(|text| (key, text.to_string())));
    }

    fn layer(&self) -> Layer {
        let found = |text: &String| Found { text: text.clone(), origin: Origin::Flag };
        let found = self.texts.iter().map(|(key, text)| (*key, found(text)));
        Layer { found: found.collect(), problems: Vec::new() }
    }
}

/// What is in force, where it came from, and what is wrong.
pub(crate) struct Resolved {
    pub(crate) home: Option<(PathBuf, Origin)>,
    found: BTreeMap<&'static str, Found>,
    pub(crate) problems: Vec<Problem>,
    /// Of all layers: what is overruled must not be shown, either.
    pub(crate) tokens: Vec<SecretString>,
    pub(crate) databases: Vec<SecretString>,
    pub(crate) proxies: Vec<SecretString>,
    pub(crate) warnings: Vec<String>,
    pub(crate) screen: Screen,
}

impl Resolved {
    /// Reads the two files in the home directory, and puts everything together.
    pub(crate) fn new(flags: &Flags, environment: &Environment) -> Self {
        let home = home(flags, environment);
        let files = home.as_ref().map_or_else(Vec::new, |(home, _)| {
            vec![of_file(&home.join(DOTENV), dotenv::read), of_file(&home.join(FILE), file::read)]
        });
        let layers = [flags.layer(), environment.layer()].into_iter().chain(files);
        let screen = environment.screen.clone();
        Self { screen, ..Self::of(home, layers.chain([defaults()])) }
    }

    fn of(home: Option<(PathBuf, Origin)>, layers: impl Iterator<Item = Layer>) -> Self {
        let (found, problems, tokens, databases, proxies, warnings) = Default::default();
        let screen = Screen::default();
        let mut resolved =
            Self { home, found, problems, tokens, databases, proxies, warnings, screen };
        for layer in layers {
            resolved.problems.extend(layer.problems);
            layer.found.into_iter().for_each(|(key, found)| resolved.add(key, found));
        }
        resolved.check_addresses();
        resolved.check_proxy();
        resolved.problems.sort_by_key(Problem::place);
        resolved
    }

    fn add(&mut self, key: &'static Key, found: Found) {
        if has_secret(key, &found.text) {
            self.warnings.extend(exposed(&found.origin, key));
        }
        let secret = || SecretString::from(found.text.trim().to_owned());
        if key.kind == Kind::Token {
            self.tokens.push(secret());
        } else if key.kind == Kind::Database {
            self.databases.push(secret());
        } else if key.kind == Kind::Proxy {
            self.proxies.push(secret());
        }
        match key.kind.check(&found.text) {
            Ok(()) => drop(self.found.entry(key.name).or_insert(found)),
            Err(wrong) => {
                self.problems.push(Problem::new(&found.origin, said(key, &found.origin), &wrong));
            }
        }
    }

    /// Each of the two addresses is right by now; together they must name one host.
    fn check_addresses(&mut self) {
        if let Err(wrong) = self.address() {
            let origin = self
                .found
                .get(keys::GRAPHQL_URL.name)
                .map_or(Origin::Default, |it| it.origin.clone());
            self.problems.push(Problem::new(&origin, said(&keys::GRAPHQL_URL, &origin), &wrong));
        }
    }

    /// A proxy sees the token of every request that is not encrypted.
    fn check_proxy(&mut self) {
        let Some(found) = self.get(&keys::PROXY) else { return };
        let is_plain = self.address().is_ok_and(|address| address.api.starts_with("http://"));
        if is_plain && !proxy::is_local(&found.text) {
            let wrong =
                "GitHub's address is not https: the token would travel to the proxy in the clear";
            let origin = found.origin.clone();
            self.problems.push(Problem::new(&origin, said(&keys::PROXY, &origin), wrong));
        }
    }

    /// Where GitHub is.
    pub(crate) fn address(&self) -> Result<Address, String> {
        let text = |key: &Key| self.get(key).map(|found| found.text.as_str());
        Address::of(text(&keys::API_URL), text(&keys::GRAPHQL_URL))
    }

    /// What was found for a key, if anything was.
    pub(crate) fn get(&self, key: &Key) -> Option<&Found> {
        self.found.get(key.name)
    }

    /// Where the token comes from, without which there is none.
    pub(crate) fn token_origin(&self) -> Option<Origin> {
        let set = self.get(&keys::TOKEN).map(|found| found.origin.clone());
        set.or_else(|| {
            let host = self.address().ok()?.host;
            token::of_gh(&host).ok().map(|_| Origin::Gh)
        })
    }

    /// The typed value; an error when anything is wrong anywhere.
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        if self.problems.is_empty() {
            Ok(Settings::of(self))
        } else {
            Err(Problem::error(&self.problems))
        }
    }
}

/// Whether others must not read a setting.
fn has_secret(key: &Key, text: &str) -> bool {
    let is_token = key.kind == Kind::Token;
    let in_proxy = key.kind == Kind::Proxy && proxy::secret(text).is_some();
    is_token || in_proxy || !database::passwords(text).is_empty()
}

/// The name under which a setting stands there.
fn said(key: &Key, origin: &Origin) -> &'static str {
    match origin {
        Origin::Flag => key.flag.unwrap_or(key.name),
        Origin::Environment => key.variable,
        Origin::Line { file, .. } if file.ends_with(DOTENV) => key.variable,
        Origin::Line { .. } | Origin::Gh | Origin::Git | Origin::Default => key.name,
    }
}

fn home(flags: &Flags, environment: &Environment) -> Option<(PathBuf, Origin)> {
    let by_flag = flags.home.clone().map(|home| (home, Origin::Flag));
    let by_variable = || Some((environment.home()?, Origin::Environment));
    let by_default = || Some((environment.user.as_ref()?.join(".highwater"), Origin::Default));
    by_flag.or_else(by_variable).or_else(by_default)
}

fn of_file(path: &Path, read: fn(&Path, &str) -> Layer) -> Layer {
    let refused = |line: usize, wrong: &str| {
        let origin = Origin::Line { file: path.to_owned(), line };
        Layer { found: Vec::new(), problems: vec![Problem::new(&origin, "this file", wrong)] }
    };
    match std::fs::read(path) {
        Ok(bytes) => match std::str::from_utf8(&bytes) {
            Ok(text) => read(path, text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                refused(
                    before.iter().filter(|byte| **byte == b'\n').count() + 1,
                    "it is not UTF-8 text",
                )
            }
        },
        Err(error) if is_absent(&error) => Layer::default(),
        Err(error) => refused(1, &format!("it cannot be read: {error}")),
    }
}

/// What to say of a secret in the arguments, or in a file that others may read.
fn exposed(origin: &Origin, key: &Key) -> Option<String> {
    let secret = if key.kind == Kind::Token { "a token" } else { "a password" };
    match origin {
        Origin::Flag => Some(format!(
            "others on this machine can see {secret} in the arguments; set {} instead",
            key.variable
        )),
        Origin::Line { file, .. } if others_read(file) => {
            let file = file.display();
            Some(format!(
                "others on this machine can read {file}, which holds {secret}: chmod 600 {file}"
            ))
        }
        Origin::Line { .. } | Origin::Environment | Origin::Gh | Origin::Git | Origin::Default => {
            None
        }
    }
}

#[cfg(unix)]
fn others_read(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|it| it.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn others_read(_file: &Path) -> bool {
    false
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn defaults() -> Layer {
    let found = keys::ALL.into_iter().filter_map(|key| match key.otherwise {
        Otherwise::Value(text) => {
            Some((key, Found { text: text.to_owned(), origin: Origin::Default }))
        }
        Otherwise::Words(_) => None,
    });
    Layer { found: found.collect(), problems: Vec::new() }
}
