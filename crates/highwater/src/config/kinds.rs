//! What a setting's value may be: how its text is read, and what is said when it cannot be.

use std::collections::BTreeSet;

use hw_rules::lane::Choice;
use hw_rules::pace::Pace;
use secrecy::SecretString;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::database;
use super::nearest::or_nearest;
use crate::{address, names, proxy, workspace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    Workspace,
    Owner,
    Token,
    Repositories,
    Address,
    Proxy,
    Database,
    Items,
    Switch,
    Days,
    Pace,
    Percent,
    Port,
    Levels,
    Format,
}

/// The type in `highwater.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    List,
    Number,
    Switch,
}

impl Shape {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "a text in quotes",
            Self::List => "a list of texts",
            Self::Number => "a whole number",
            Self::Switch => "true or false",
        }
    }
}

impl Kind {
    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::Repositories | Self::Items => Shape::List,
            Self::Days | Self::Percent | Self::Port => Shape::Number,
            Self::Switch => Shape::Switch,
            Self::Folder
            | Self::Workspace
            | Self::Owner
            | Self::Token
            | Self::Address
            | Self::Proxy
            | Self::Database
            | Self::Pace
            | Self::Levels
            | Self::Format => Shape::Text,
        }
    }

    /// Says what is wrong with a text, if anything is.
    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        match self {
            Self::Folder => Ok(()),
            Self::Workspace => workspace::check_name(text),
            Self::Owner => names::owner(text).map(drop),
            Self::Token => token(text).map(drop),
            Self::Repositories => names::any_repositories(text).map(drop),
            Self::Address => address::checked(text).map(drop),
            Self::Proxy => proxy::check(text),
            Self::Database => database::check(text),
            Self::Items => items(text).map(drop),
            Self::Switch => switch(text).map(drop),
            Self::Days => days(text).map(drop),
            Self::Pace => pace(text).map(drop),
            Self::Percent => percent(text).map(drop),
            Self::Port => port(text).map(drop),
            Self::Levels => Levels::read(text).map(drop),
            Self::Format => Format::read(text).map(drop),
        }
    }
}

/// A token is printable and without spaces. One that is not came out of a file or a shell by mistake.
pub(crate) fn token(text: &str) -> Result<SecretString, String> {
    let text = text.trim();
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err("it is empty, or holds characters that no token has".to_owned());
    }
    Ok(SecretString::from(text.to_owned()))
}

pub(crate) fn items(text: &str) -> Result<BTreeSet<Choice>, String> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let items: BTreeSet<Choice> = names.map(item).collect::<Result<_, _>>()?;
    if items.is_empty() { Err(format!("name at least one of {}", all_items())) } else { Ok(items) }
}

fn item(name: &str) -> Result<Choice, String> {
    let nearest = || or_nearest(name, Choice::ALL.into_iter().map(Choice::name));
    Choice::named(name).ok_or_else(|| format!("{name:?} is none of {}{}", all_items(), nearest()))
}

fn all_items() -> String {
    Choice::ALL.map(Choice::name).join(", ")
}

pub(crate) fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("{text:?} is neither true nor false"))
}

pub(crate) fn days(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("{text:?} is no number of days from 0 to {}", u32::MAX))
}

pub(crate) fn percent(text: &str) -> Result<i64, String> {
    let percent = text.parse().ok().filter(|percent| (0..=90).contains(percent));
    percent.ok_or_else(|| format!("{text:?} is no percentage from 0 to 90"))
}

pub(crate) fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("{text:?} is no port from 0 to {}", u16::MAX))
}

pub(crate) const PACES: [(&str, Pace); 2] =
    [("adaptive", Pace::Adaptive), ("conservative", Pace::Conservative)];

pub(crate) fn pace(text: &str) -> Result<Pace, String> {
    let named = PACES.iter().find(|(name, _)| *name == text);
    named
        .map(|(_, pace)| *pace)
        .ok_or_else(|| format!("{text:?} is neither adaptive nor conservative"))
}

/// How a line of the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}

impl Format {
    pub(crate) const NAMES: [&str; 2] = ["text", "json"];

    pub(crate) fn read(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(format!("{text:?} is neither text nor json")),
        }
    }
}

/// What is logged.
#[derive(Debug, Clone)]
pub(crate) struct Levels(pub(crate) Targets);

impl Levels {
    /// A level, or `target=level`, comma separated.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut targets = Targets::new();
        for part in text.split(',').map(str::trim) {
            targets = match part.split_once('=') {
                Some((target, name)) if !target.is_empty() => {
                    targets.with_target(target, level(name)?)
                }
                Some(_) => return Err(format!("{part:?} has no target before its =")),
                None => targets.with_default(level(part)?),
            };
        }
        Ok(Self(targets))
    }
}

fn level(name: &str) -> Result<LevelFilter, String> {
    let all = ["off", "error", "warn", "info", "debug", "trace"];
    let is_one = all.iter().any(|it| it.eq_ignore_ascii_case(name));
    let level = name.parse().ok().filter(|_| is_one);
    let nearest = || or_nearest(name, all.into_iter());
    level.ok_or_else(|| format!("{name:?} is none of {}{}", all.join(", "), nearest()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_word_and_a_target_has_one() {
        for text in ["info", "WARN", "off", "hw_sync=debug", "info, hw_sync::door=trace"] {
            assert!(Levels::read(text).is_ok(), "{text}");
        }
        for text in ["", "dbug", "hw_sync", "3", "hw_sync=", "=info", "info,,warn", "a=b=info"] {
            assert!(Levels::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_know_their_range() {
        assert_eq!((percent("0"), percent("90")), (Ok(0), Ok(90)));
        assert!(percent("91").is_err() && percent("-1").is_err() && percent("x").is_err());
        assert_eq!((port("0"), port("65535")), (Ok(0), Ok(65_535)));
        assert!(port("65536").is_err() && port("http").is_err());
        assert_eq!(days("0"), Ok(0));
        assert!(days("-1").is_err() && days("4294967296").is_err());
    }

    #[test]
    fn what_is_wrong_with_a_token_is_said_without_it() {
        assert!(token(" t0ken\n").is_ok());
        let told = token("two words").unwrap_err();
        assert!(!told.contains("two"), "{told}");
    }
}
