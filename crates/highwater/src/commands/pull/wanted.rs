//! What is to be pulled, as arguments and settings say together.

use std::collections::BTreeSet;

use anyhow::Context as _;
use hw_rules::lane::{Choice, Surface};
use hw_rules::pace::Pace;
use hw_sources::http::Proxy;
use hw_sync::run::Pull;
use secrecy::SecretString;

use crate::config::{self, Settings};
use crate::names::Named;
use crate::report::{Hint, Usage};
use crate::{cli, token};

pub(super) struct Wanted {
    pub(super) pull: Pull,
    pub(super) api: String,
    pub(super) graphql: String,
    pub(super) proxy: Option<Proxy>,
    pub(super) token: SecretString,
    pub(super) pace: Pace,
    pub(super) reserve_percent: i64,
}

impl Wanted {
    pub(super) fn of(args: &cli::Pull, settings: &Settings) -> anyhow::Result<Self> {
        let organization = organization(settings)?;
        let excluded = settings.excluded_repositories.iter().map(|it| of(it, &organization));
        let pull = Pull {
            host: settings.github.host.clone(),
            owner: config::process(),
            machine: config::machine().unwrap_or_default(),
            items: items(settings),
            only: only(args, &organization)?,
            excluded: excluded.collect::<anyhow::Result<_>>()?,
            force: args.force,
            window_days: Some(settings.window_days).filter(|days| 0 < *days),
            reconcile: args.reconcile,
            allow_mass_removal: args.allow_mass_removal,
            repair: args.repair,
            organization,
        };
        Ok(Self {
            pull,
            api: settings.github.api.clone(),
            graphql: settings.github.graphql.clone(),
            proxy: settings.proxy(),
            token: token::find(settings)?,
            pace: settings.pace,
            reserve_percent: settings.reserve_percent,
        })
    }
}

fn organization(settings: &Settings) -> anyhow::Result<String> {
    settings.organization.clone().context("no organisation is named").context(Hint(
        "name one with -o, or set ORGANIZATION; `highwater demo` needs none".to_owned(),
    ))
}

/// The chosen items. Comments belong to threads: chosen alone, they bring all threads along.
fn items(settings: &Settings) -> BTreeSet<Choice> {
    let mut items = settings.items.clone();
    if settings.comments {
        items.insert(Choice::Comments);
    }
    let threads = Surface::THREADS.map(Surface::choice);
    if items.contains(&Choice::Comments) && threads.iter().all(|it| !items.contains(it)) {
        items.extend(threads);
    }
    items
}

fn only(args: &cli::Pull, organization: &str) -> anyhow::Result<Vec<String>> {
    let named = args.repo.iter().flat_map(|names| &names.0);
    let mut only: Vec<String> = Vec::new();
    for name in named.map(|named| of(named, organization)) {
        let name = name?;
        if !only.iter().any(|held| held.eq_ignore_ascii_case(&name)) {
            only.push(name);
        }
    }
    Ok(only)
}

/// The name alone of a repository of this organisation.
fn of(named: &Named, organization: &str) -> anyhow::Result<String> {
    match &named.owner {
        Some(owner) if !owner.eq_ignore_ascii_case(organization) => Err(Usage(format!(
            "{owner}/{} does not belong to {organization}, which is what is pulled",
            named.name
        ))
        .into()),
        Some(_) | None => Ok(named.name.clone()),
    }
}
