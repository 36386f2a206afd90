//! The settings: flag, environment, `<home>/.env`, `<home>/highwater.toml`, default, strongest first.
//!
//! `keys` is the one table of them. Everything is read once, here, into one typed value; nothing else reads
//! the environment.

mod database;
mod dotenv;
mod environment;
mod example;
mod file;
mod found;
mod keys;
mod kinds;
mod nearest;
#[cfg(test)]
mod pages;
mod problem;
mod resolved;
mod settings;

pub(crate) use database::{
    decoded, is_postgres, passwords, passwords_by_keyword, shown as shown_database,
    without_password,
};
pub(crate) use environment::{Environment, Screen};
pub(crate) use example::example;
pub(crate) use found::Origin;
pub(crate) use keys::{ALL, Key, *};
pub(crate) use kinds::{Format, Kind, token};
pub(crate) use nearest::or_nearest;
pub(crate) use problem::Problem;
pub(crate) use resolved::{Flags, Resolved};
pub(crate) use settings::{LogSettings, Settings};

/// The name of the file with the settings, in the home directory.
pub(crate) const FILE: &str = "highwater.toml";
/// The name of the file with the secrets, beside it.
pub(crate) const DOTENV: &str = ".env";

/// Returns this process as others see it who find the lease taken.
pub(crate) fn process() -> String {
    let process = format!("process {}", std::process::id());
    match machine() {
        Some(machine) => format!("{process} on {machine}"),
        None => process,
    }
}

/// The machine's name, for those who ask who is at work; none where it cannot be read.
pub(crate) fn machine() -> Option<String> {
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let names = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    names.map(|name| name.trim().to_owned()).find(|name| !name.is_empty())
}
