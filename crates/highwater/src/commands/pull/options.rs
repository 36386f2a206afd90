//! Combines arguments and settings into the options of a pull.

use std::collections::BTreeSet;

use hw_rules::followed_source::{FollowedSource, RepositoryName};
use hw_rules::lane::{PullItem, Surface};
use hw_rules::login::Login;
use hw_rules::pace::RequestPace;
use hw_sources::http_transport::HttpProxy;
use hw_store::{DatabaseLocation, StoreReader, WorkerIdentity};
use hw_sync::pull::{PullSource, PullSpec};
use secrecy::SecretString;

use crate::config::{self, AppSettings};
use crate::github_names::RepositorySelector;
use crate::report::{ErrorHint, UsageError};
use crate::{cli, github_token};

pub(crate) struct PullCommandOptions {
    pub(crate) spec: PullSpec,
    /// The requested sources, as printed.
    pub(super) title: String,
    pub(super) rest_url: String,
    pub(super) graphql_url: String,
    pub(super) proxy: Option<HttpProxy>,
    pub(super) token: SecretString,
    pub(super) pace: RequestPace,
    pub(super) reserve_percent: i64,
}

impl PullCommandOptions {
    pub(super) fn from_args(args: &cli::PullArgs, settings: &AppSettings) -> anyhow::Result<Self> {
        let sources = requested_sources(&args.sources, settings);
        let only_repositories = selected_repositories(args, &sources)?;
        let worker = config::worker_identity("pull");
        let spec = PullSpec {
            only_repositories,
            force: args.force,
            reconcile: args.reconcile,
            allow_mass_removal: args.allow_mass_removal,
            repair: args.repair,
            ..spec_from_settings(settings, sources, worker)
        };
        Self::from_spec(spec, settings)
    }

    /// Returns the options of a pull without arguments.
    pub(crate) fn from_settings(
        settings: &AppSettings,
        worker: WorkerIdentity,
    ) -> anyhow::Result<Self> {
        let sources = requested_sources(&[], settings);
        Self::from_spec(spec_from_settings(settings, sources, worker), settings)
    }

    fn from_spec(spec: PullSpec, settings: &AppSettings) -> anyhow::Result<Self> {
        let names: Vec<String> =
            spec.sources.iter().map(|source| source.source.to_string()).collect();
        Ok(Self {
            spec,
            title: if names.is_empty() { "all sources".to_owned() } else { names.join(", ") },
            rest_url: settings.endpoints.rest_url.clone(),
            graphql_url: settings.endpoints.graphql_url.clone(),
            proxy: settings.parse_proxy(),
            token: github_token::find_token(settings)?,
            pace: settings.pace,
            reserve_percent: settings.reserve_percent,
        })
    }

    /// Fails if there is nothing to pull: no source is requested, and the workspace follows none.
    pub(super) fn check_sources(&self, location: &DatabaseLocation) -> anyhow::Result<()> {
        let follows = |store: StoreReader| {
            let sources = store.sources()?;
            Ok(sources.iter().any(|followed| followed.host == self.spec.host))
        };
        if !self.spec.sources.is_empty()
            || StoreReader::open(location).and_then(follows).unwrap_or(false)
        {
            return Ok(());
        }
        let error = anyhow::anyhow!("nothing to pull: no organization, user or repository given");
        Err(error.context(ErrorHint(
            "pass -o NAME, or a repository as OWNER/REPOSITORY, or set ORGANIZATION; `highwater demo` needs none of these"
                .to_owned(),
        )))
    }
}

/// Returns a pull of everything that the settings choose.
fn spec_from_settings(
    settings: &AppSettings,
    sources: Vec<FollowedSource>,
    worker: WorkerIdentity,
) -> PullSpec {
    PullSpec {
        host: settings.endpoints.host.clone(),
        worker,
        items: selected_items(settings),
        only_repositories: Vec::new(),
        excluded_repositories: settings.excluded_repositories.clone(),
        force: false,
        window_days: Some(settings.window_days).filter(|days| *days > 0),
        reconcile: false,
        allow_mass_removal: false,
        repair: false,
        sources: sources.into_iter().map(PullSource::from).collect(),
    }
}

/// Returns the sources that the settings and the arguments name, each once.
fn requested_sources(named: &[FollowedSource], settings: &AppSettings) -> Vec<FollowedSource> {
    let organization = settings.organization.clone().map(FollowedSource::Owner);
    let requested = organization.iter().chain(&settings.sources).chain(named);
    let mut sources: Vec<FollowedSource> = Vec::new();
    for source in requested {
        if !sources.iter().any(|other| other.is_same(source)) {
            sources.push(source.clone());
        }
    }
    sources
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

/// Returns the repositories that `--repo` selects. Without an owner, it is that of the first source.
fn selected_repositories(
    args: &cli::PullArgs,
    sources: &[FollowedSource],
) -> anyhow::Result<Vec<RepositoryName>> {
    let mut selected: Vec<RepositoryName> = Vec::new();
    for selector in args.repo.iter().flat_map(|list| &list.0) {
        let name = with_owner(selector, sources)?;
        if !selected.iter().any(|other| other.is_same(&name)) {
            selected.push(name);
        }
    }
    Ok(selected)
}

fn with_owner(
    selector: &RepositorySelector,
    sources: &[FollowedSource],
) -> anyhow::Result<RepositoryName> {
    let RepositorySelector { owner, name } = selector;
    let owners: Vec<&Login> = sources.iter().map(source_owner).collect();
    match (owner, owners.as_slice()) {
        (None, []) => {
            let message = format!("--repo {name}: the owner is missing; pass OWNER/{name}");
            Err(UsageError(message).into())
        }
        (None, [owner, ..]) => Ok(RepositoryName::new((*owner).clone(), name)),
        (Some(owner), owners) if owners.is_empty() || owners.contains(&owner) => {
            Ok(RepositoryName::new(owner.clone(), name))
        }
        (Some(owner), owners) => {
            let owners: Vec<&str> = owners.iter().map(|login| login.as_str()).collect();
            let owners = owners.join(", ");
            let message = format!("--repo {owner}/{name}: this pull reads only {owners}");
            Err(UsageError(message).into())
        }
    }
}

fn source_owner(source: &FollowedSource) -> &Login {
    match source {
        FollowedSource::Owner(login) => login,
        FollowedSource::Repository(name) => &name.owner,
    }
}
