//! Combines arguments and settings into the options of a pull.

use std::collections::BTreeSet;

use anyhow::Context as _;
use hw_rules::lane::{PullItem, Surface};
use hw_rules::pace::RequestPace;
use hw_sources::http_transport::HttpProxy;
use hw_sync::pull::PullSpec;
use secrecy::SecretString;

use crate::config::{self, AppSettings};
use crate::github_names::RepositorySelector;
use crate::report::{ErrorHint, UsageError};
use crate::{cli, github_token};

pub(super) struct PullCommandOptions {
    pub(super) spec: PullSpec,
    pub(super) rest_url: String,
    pub(super) graphql_url: String,
    pub(super) proxy: Option<HttpProxy>,
    pub(super) token: SecretString,
    pub(super) pace: RequestPace,
    pub(super) reserve_percent: i64,
}

impl PullCommandOptions {
    pub(super) fn from_args(args: &cli::PullArgs, settings: &AppSettings) -> anyhow::Result<Self> {
        let organization = require_organization(settings)?;
        let excluded = settings.excluded_repositories.iter();
        let excluded = excluded.map(|selector| own_repository_name(selector, &organization));
        let spec = PullSpec {
            host: settings.endpoints.host.clone(),
            owner: config::process_name(),
            machine: config::machine_name().unwrap_or_default(),
            items: selected_items(settings),
            only_repositories: selected_repositories(args, &organization)?,
            excluded_repositories: excluded.collect::<anyhow::Result<_>>()?,
            force: args.force,
            window_days: Some(settings.window_days).filter(|days| *days > 0),
            reconcile: args.reconcile,
            allow_mass_removal: args.allow_mass_removal,
            repair: args.repair,
            organization,
        };
        Ok(Self {
            spec,
            rest_url: settings.endpoints.rest_url.clone(),
            graphql_url: settings.endpoints.graphql_url.clone(),
            proxy: settings.parse_proxy(),
            token: github_token::find_token(settings)?,
            pace: settings.pace,
            reserve_percent: settings.reserve_percent,
        })
    }
}

fn require_organization(settings: &AppSettings) -> anyhow::Result<String> {
    settings.organization.clone().context("no organization given").context(ErrorHint(
        "pass -o NAME or set ORGANIZATION; `highwater demo` works without one".to_owned(),
    ))
}

/// Returns the chosen items. Comments belong to threads, so comments alone also select all threads.
fn selected_items(settings: &AppSettings) -> BTreeSet<PullItem> {
    let mut items = settings.items.clone();
    if settings.comments {
        items.insert(PullItem::Comments);
    }
    let threads = Surface::THREADS.map(Surface::pull_item);
    if items.contains(&PullItem::Comments) && threads.iter().all(|item| !items.contains(item)) {
        items.extend(threads);
    }
    items
}

fn selected_repositories(args: &cli::PullArgs, organization: &str) -> anyhow::Result<Vec<String>> {
    let mut selected: Vec<String> = Vec::new();
    for selector in args.repo.iter().flat_map(|list| &list.0) {
        let name = own_repository_name(selector, organization)?;
        if !selected.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
            selected.push(name);
        }
    }
    Ok(selected)
}

/// Returns the repository's name without its owner, which must be this organization.
fn own_repository_name(
    selector: &RepositorySelector,
    organization: &str,
) -> anyhow::Result<String> {
    match &selector.owner {
        Some(owner) if !owner.eq_ignore_ascii_case(organization) => {
            Err(UsageError(format!("{owner}/{} is not in {organization}", selector.name)).into())
        }
        Some(_) | None => Ok(selector.name.clone()),
    }
}
