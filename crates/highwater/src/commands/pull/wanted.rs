//! What is to be pulled, as arguments and environment say together.

use std::collections::BTreeSet;

use anyhow::Context as _;
use hw_rules::lane::{Choice, Surface};
use hw_sync::run::Pull;
use secrecy::{ExposeSecret as _, SecretString};

use crate::address::Address;
use crate::cli;
use crate::config::{self, Settings};
use crate::names::{self, Named};
use crate::report::{Hint, Usage};

pub(super) struct Wanted {
    pub(super) pull: Pull,
    pub(super) api: String,
    pub(super) graphql: String,
    pub(super) token: SecretString,
}

impl Wanted {
    pub(super) fn of(args: &cli::Pull, settings: &Settings) -> anyhow::Result<Self> {
        let organization = organization(args, settings)?;
        let address = address(args, settings)?;
        let token = token(args, settings)?;
        let pull = Pull {
            host: address.host,
            owner: owner(),
            items: items(args),
            only: only(args, &organization)?,
            excluded: excluded(args, settings, &organization)?,
            force: args.force,
            window_days: Some(args.window_days).filter(|days| 0 < *days),
            reconcile: args.reconcile,
            allow_mass_removal: args.allow_mass_removal,
            organization,
        };
        Ok(Self { pull, api: address.api, graphql: address.graphql, token })
    }
}

fn organization(args: &cli::Pull, settings: &Settings) -> anyhow::Result<String> {
    if let Some(organization) = &args.workspace.organization {
        return Ok(organization.clone());
    }
    let set = settings.organization.as_ref();
    let set = set.context("no organisation is named").context(Hint(
        "name one with -o, or set ORGANIZATION; `highwater demo` needs none".to_owned(),
    ))?;
    names::owner(set)
        .map_err(anyhow::Error::msg)
        .with_context(|| format!("ORGANIZATION is {set:?}, which is no organisation's name"))
}

fn address(args: &cli::Pull, settings: &Settings) -> anyhow::Result<Address> {
    let api = args.api_url.as_ref().or(settings.api_url.as_ref());
    let graphql = args.graphql_url.as_ref().or(settings.graphql_url.as_ref());
    let is_given = args.api_url.is_some() || args.graphql_url.is_some();
    Address::of(api.map(String::as_str), graphql.map(String::as_str))
        .map_err(|wrong| if is_given { Usage(wrong).into() } else { anyhow::Error::msg(wrong) })
}

/// A token is printable and without spaces. One that is not came out of a file or a shell by mistake, and is
/// not shown.
fn token(args: &cli::Pull, settings: &Settings) -> anyhow::Result<SecretString> {
    let given = args.token.clone().map(SecretString::from).or_else(|| settings.token.clone());
    let given = given.context("no token is set").context(Hint(
        "set GITHUB_TOKEN to one that may read the organisation: \
         export GITHUB_TOKEN=$(gh auth token)"
            .to_owned(),
    ))?;
    let text = given.expose_secret().trim();
    let is_fine = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
    anyhow::ensure!(is_fine, "the token is empty, or holds characters that no token has");
    Ok(SecretString::from(text.to_owned()))
}

/// Who pulls, for those who find the lease taken.
fn owner() -> String {
    let process = format!("process {}", std::process::id());
    match config::machine() {
        Some(machine) => format!("{process} on {machine}"),
        None => process,
    }
}

/// What is chosen, or the usual four. Comments belong to threads: chosen alone, they bring all threads along.
fn items(args: &cli::Pull) -> BTreeSet<Choice> {
    if args.items.is_empty() {
        return Choice::USUAL.into();
    }
    let mut items: BTreeSet<Choice> = args.items.iter().copied().collect();
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

fn excluded(
    args: &cli::Pull,
    settings: &Settings,
    organization: &str,
) -> anyhow::Result<BTreeSet<String>> {
    let named: Vec<Named> = if args.excluded_repositories.is_empty() {
        let set = settings.excluded_repositories.as_deref().unwrap_or_default();
        names::any_repositories(set)
            .map_err(anyhow::Error::msg)
            .context("EXCLUDED_REPOSITORIES cannot be read")?
    } else {
        args.excluded_repositories.iter().flat_map(|names| names.0.clone()).collect()
    };
    named.iter().map(|named| of(named, organization)).collect()
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
