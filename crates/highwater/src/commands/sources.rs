//! `highwater sources`

use hw_rules::followed_source::FollowedSource;
use hw_rules::format::format_count;
use hw_rules::source_time::SourceInstant;
use hw_store::{LastPull, StoreReader, StoredSource};
use hw_sync::SyncError;
use hw_sync::clock::MachineClock;
use hw_sync::remove_source::{SourceRemoval, remove_source};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::read_command::open_reader;
use crate::cli::{RemoveSourceArgs, SourcesArgs, SourcesCommand};
use crate::config::{self, AppSettings};
use crate::report::ErrorHint;
use crate::terminal::{print_json, print_result, print_status, print_warning};
use crate::{hints, interrupt, workspace};

pub(crate) fn run(args: &SourcesArgs, settings: &AppSettings) -> anyhow::Result<()> {
    match &args.command {
        Some(SourcesCommand::Remove(args)) => remove(args, settings),
        None => print_sources(args, settings),
    }
}

fn print_sources(args: &SourcesArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let store = open_reader(settings).map_err(hints::add_database_hint)?;
    let rows =
        SourceRow::read_all(&store).map_err(|error| hints::add_database_hint(error.into()))?;
    for row in &rows {
        if args.json { print_json(&row.to_json()) } else { print_result(&row.to_line()) }?;
    }
    if rows.is_empty() && !args.json {
        print_status("this workspace follows no sources; `highwater pull -o NAME` adds one");
    }
    Ok(())
}

/// One followed source, and what is stored of it.
struct SourceRow {
    stored: StoredSource,
    /// The current name of a single repository, if it differs.
    current_name: Option<String>,
    repositories: usize,
    last_pull: Option<LastPull>,
}

impl SourceRow {
    fn read_all(store: &StoreReader) -> Result<Vec<Self>, hw_store::StoreError> {
        let pulls = store.last_pulls()?;
        let mut rows = Vec::new();
        for stored in store.sources()? {
            rows.push(Self::read(store, stored, &pulls)?);
        }
        Ok(rows)
    }

    fn read(
        store: &StoreReader,
        stored: StoredSource,
        pulls: &[LastPull],
    ) -> Result<Self, hw_store::StoreError> {
        let name = stored.source.to_string();
        let mut repositories = store.readable_repositories(&stored.host)?.rows;
        repositories.retain(|repository| match &stored.source {
            FollowedSource::Owner(login) => login.is_same(&repository.owner),
            FollowedSource::Repository(_) => Some(repository.id) == stored.repository_id,
        });
        let current = repositories.first().map(|found| format!("{}/{}", found.owner, found.name));
        let is_single = matches!(stored.source, FollowedSource::Repository(_));
        let last_pull = pulls
            .iter()
            .find(|pull| pull.host == stored.host && pull.source.eq_ignore_ascii_case(&name));
        Ok(Self {
            current_name: current
                .filter(|current| is_single && !current.eq_ignore_ascii_case(&name)),
            repositories: repositories.len(),
            last_pull: last_pull.cloned(),
            stored,
        })
    }

    fn to_line(&self) -> String {
        let name = self.stored.source.to_string();
        let contents = match (&self.stored.source, &self.current_name) {
            (FollowedSource::Owner(_), _) => {
                format_count(u64::try_from(self.repositories).unwrap_or(u64::MAX), "repository")
            }
            (FollowedSource::Repository(_), Some(current)) => format!("now named {current}"),
            (FollowedSource::Repository(_), None) if self.repositories == 0 => {
                "not found".to_owned()
            }
            (FollowedSource::Repository(_), None) => "single repository".to_owned(),
        };
        let ended = match &self.last_pull {
            None => "no complete pull yet".to_owned(),
            Some(LastPull { ended_ms, error: None, .. }) => {
                format!("last pull {}", SourceInstant(*ended_ms))
            }
            Some(LastPull { ended_ms, error: Some(error), .. }) => {
                format!("last pull failed at {}: {error}", SourceInstant(*ended_ms))
            }
        };
        format!("{name:<24} {contents:<22} {ended}")
    }

    /// Returns the source as JSON; `docs/json.md` is the contract.
    fn to_json(&self) -> Value {
        let kind = match self.stored.source {
            FollowedSource::Owner(_) => "owner",
            FollowedSource::Repository(_) => "repository",
        };
        let last = self.last_pull.as_ref();
        json!({
            "name": self.stored.source.to_string(),
            "host": self.stored.host,
            "kind": kind,
            "current_name": self.current_name,
            "repositories": self.repositories,
            "last_pull_at": last.map(|last| SourceInstant(last.ended_ms).to_string()),
            "last_pull_error": last.and_then(|last| last.error.as_ref()),
        })
    }
}

fn remove(args: &RemoveSourceArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let location = workspace::resolve_location(settings)?;
    // a workspace that does not exist must not be created
    drop(open_reader(settings).map_err(hints::add_database_hint)?);
    let store = workspace::open_for_writing(&location).map_err(hints::add_database_hint)?.store;
    let source = &args.source;
    let host = &find_host(&store, source, &settings.endpoints.host)?;
    let removal = interrupt::run(&CancellationToken::new(), async {
        let worker = config::worker_identity("removal");
        let removed = remove_source(&store, &MachineClock, &worker, host, source).await;
        removed.map_err(|error| removal_error(error, source))
    })?;
    let SourceRemoval::Removed { repositories } = removal else {
        return Err(not_followed_error(source));
    };
    let removed = match repositories {
        0 => "no repositories were removed".to_owned(),
        count => format!("removed {}", format_count(count as u64, "repository")),
    };
    print_result(&format!("stopped following {source}; {removed}"))?;
    let organization = settings.organization.clone().map(FollowedSource::Owner);
    if organization.iter().chain(&settings.sources).any(|set| set.is_same(source)) {
        print_warning(&format!("the settings name {source}, so the next pull adds it again"));
    }
    Ok(())
}

/// Returns the host of the source: the one in the settings, unless the workspace follows it only on another.
fn find_host(
    store: &StoreReader,
    source: &FollowedSource,
    host: &String,
) -> anyhow::Result<String> {
    let followed = store.sources().map_err(|error| hints::add_database_hint(error.into()))?;
    let hosts: Vec<String> = followed
        .into_iter()
        .filter(|followed| followed.source.is_same(source))
        .map(|followed| followed.host)
        .collect();
    if hosts.contains(host) {
        return Ok(host.clone());
    }
    if hosts.len() > 1 {
        let hosts = hosts.join(" and ");
        let error = anyhow::anyhow!("this workspace follows {source} on {hosts}");
        let hint = "choose one by setting GITHUB_API_URL to the URL of its API";
        return Err(error.context(ErrorHint(hint.to_owned())));
    }
    hosts.into_iter().next().ok_or_else(|| not_followed_error(source))
}

fn not_followed_error(source: &FollowedSource) -> anyhow::Error {
    let error = anyhow::anyhow!("this workspace does not follow {source}");
    error.context(ErrorHint("`highwater sources` lists its sources".to_owned()))
}

fn removal_error(error: SyncError, source: &FollowedSource) -> anyhow::Error {
    let is_busy = matches!(error, SyncError::Busy { .. });
    // unwrapped, so that the hint finds the store's error
    let error: anyhow::Error =
        if let SyncError::Store(error) = error { error.into() } else { error.into() };
    let error = error.context(format!("cannot remove {source}"));
    if is_busy {
        return error.context(ErrorHint("wait for it to finish, or stop it".to_owned()));
    }
    hints::add_database_hint(error)
}
