//! Resolves the settings. In order of precedence: flag, environment, `<home>/.env`, `<home>/highwater.toml`, default.
//!
//! `keys` is the table of all settings. Everything is read once, here, into one typed value; no other module reads
//! the environment.

mod database_url;
#[cfg(test)]
mod doc_pages;
mod dotenv;
mod environment;
mod example_file;
mod keys;
mod layer;
mod problem;
mod resolved_settings;
mod settings;
mod suggestion;
mod toml_file;
mod value_kind;

pub(crate) use database_url::{
    decode_percent, find_keyword_passwords, find_passwords, is_postgres, mask_passwords,
    strip_passwords,
};
pub(crate) use environment::{Environment, TerminalEnv};
pub(crate) use example_file::example_settings;
use hw_store::WorkerIdentity;
pub(crate) use keys::{ALL_KEYS, SettingKey, *};
pub(crate) use layer::{SettingOrigin, SettingValue};
pub(crate) use problem::SettingProblem;

pub(crate) use resolved_settings::{FlagSettings, ResolvedSettings};
pub(crate) use settings::{AppSettings, LogSettings};
pub(crate) use suggestion::did_you_mean;
pub(crate) use value_kind::{
    LogFormat, PACE_NAMES, SettingKind, parse_account, parse_days, parse_limit, parse_percent,
    parse_port, parse_token,
};

/// The name of the settings file in the home directory.
pub(crate) const SETTINGS_FILE: &str = "highwater.toml";
/// The name of the file next to it that may also contain secrets.
pub(crate) const DOTENV_FILE: &str = ".env";

/// Returns who this process is to others that share its workspace; `role` is the command that it runs.
pub(crate) fn worker_identity(role: &str) -> WorkerIdentity {
    WorkerIdentity {
        id: format!("{:016x}", fastrand::u64(..)),
        machine: machine_name(),
        process: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        role: role.to_owned(),
    }
}

/// Returns the random text of a read of events, which no other read has.
pub(crate) fn new_lease_token() -> String {
    format!("{:032x}", fastrand::u128(..))
}

/// Returns the machine's name; it is empty where it cannot be read.
pub(crate) fn machine_name() -> String {
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let names = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    names.map(|name| name.trim().to_owned()).find(|name| !name.is_empty()).unwrap_or_default()
}
