//! `highwater service`

use std::sync::Arc;

use hw_rules::duty;
use hw_rules::format::{format_count, format_duration};
use hw_rules::runtime_settings::RuntimeSettings;
use hw_store::{DatabaseLocation, SERVICE_ROLE, StoreReader, StoreWriter};
use hw_sync::SyncError;
use hw_sync::api_client::GithubClient;
use hw_sync::bluesky::PollSpec;
use hw_sync::bluesky::client::BlueskyClient;
use hw_sync::clock::MachineClock;
use hw_sync::progress::ProgressSink;
use hw_sync::pull::PullSpec;
use hw_sync::service::{
    BlueskyPart, GithubPart, ServiceMode, ServiceSpec, ServiceSummary, run_service,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::bluesky::BlueskyServer;
use super::pull::{self, PullCommandOptions};
use crate::cli::ServiceArgs;
use crate::config::{self, AppSettings};
use crate::report::ErrorHint;
use crate::terminal::{print_json, print_result, print_status, print_warning};
use crate::{hints, interrupt, workspace};

pub(crate) fn run(args: &ServiceArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let location = workspace::resolve_location(settings)?;
    let command = ServiceCommand {
        settings,
        bluesky: BlueskyServer::from_settings(settings)?,
        github: find_github(settings, &location)?,
        location,
    };
    if args.once {
        let stop = CancellationToken::new();
        let summary = interrupt::run(&stop, command.run_once(&stop))?;
        return report(args, &summary);
    }
    interrupt::run_until_stopped(async |stop| {
        let result = tokio::select! {
            result = command.run_forever(&stop) => result,
            () = stop.cancelled() => Ok(()),
        };
        tracing::info!("service stopped");
        result
    })
}

/// Returns what to read from GitHub and how; nothing if there is no token and nothing to read.
fn find_github(
    settings: &AppSettings,
    location: &DatabaseLocation,
) -> anyhow::Result<Option<PullCommandOptions>> {
    match PullCommandOptions::from_settings(settings, config::worker_identity(SERVICE_ROLE)) {
        Ok(options) => Ok(Some(options)),
        Err(error) => {
            let host = &settings.endpoints.host;
            let is_needed = settings.organization.is_some()
                || !settings.sources.is_empty()
                || StoreReader::open(location).is_ok_and(|store| follows_github(&store, host));
            if is_needed {
                return Err(error);
            }
            print_warning("no GitHub token is set, so only accounts on Bluesky are polled");
            Ok(None)
        }
    }
}

/// Returns true if the workspace follows something on GitHub. One that cannot be read is reported when it is opened.
fn follows_github(store: &StoreReader, host: &str) -> bool {
    let has_sources = store.sources().is_ok_and(|sources| {
        let mut sources = sources.iter();
        sources.any(|source| source.host == host)
    });
    has_sources || store.watched_repositories(host).is_ok_and(|watched| !watched.is_empty())
}

struct ServiceCommand<'a> {
    settings: &'a AppSettings,
    bluesky: BlueskyServer,
    github: Option<PullCommandOptions>,
    location: DatabaseLocation,
}

impl ServiceCommand<'_> {
    async fn run_forever(&self, stop: &CancellationToken) -> anyhow::Result<()> {
        self.serve(ServiceMode::Forever, stop).await.map(drop)
    }

    async fn run_once(&self, stop: &CancellationToken) -> anyhow::Result<ServiceSummary> {
        self.serve(ServiceMode::Once, stop).await
    }

    async fn serve(
        &self,
        mode: ServiceMode,
        stop: &CancellationToken,
    ) -> anyhow::Result<ServiceSummary> {
        let opened = workspace::open_for_pull(&self.location).map_err(hints::add_database_hint)?;
        let store = opened.store.with_event_policy(self.settings.event_policy.clone());
        let github = self.open_github(&store, stop)?;
        let progress = ProgressSink::default();
        let bluesky = self.bluesky.open_client(self.settings, &store, progress, stop)?;
        let poll = self.poll_spec();
        let spec = self.service_spec(mode, github.as_ref(), &bluesky, &poll);
        if mode == ServiceMode::Forever {
            self.announce(&spec.settings);
        }
        let result = run_service(&store, &MachineClock, &spec).await;
        result.map_err(|error| self.service_error(error))
    }

    fn open_github(
        &self,
        store: &StoreWriter,
        stop: &CancellationToken,
    ) -> anyhow::Result<Option<(GithubClient, &PullSpec)>> {
        let Some(options) = &self.github else { return Ok(None) };
        let client = pull::new_api_client(ProgressSink::default(), options, store, stop)?;
        Ok(Some((client, &options.spec)))
    }

    fn poll_spec(&self) -> PollSpec {
        PollSpec {
            host: self.bluesky.content_host().to_owned(),
            settings: self.settings.polling,
            worker: config::worker_identity(SERVICE_ROLE),
            allow_mass_removal: false,
            print_line: Arc::new(|line| tracing::debug!("{line}")),
        }
    }

    fn service_spec<'b>(
        &self,
        mode: ServiceMode,
        github: Option<&'b (GithubClient, &'b PullSpec)>,
        bluesky: &'b BlueskyClient,
        poll: &'b PollSpec,
    ) -> ServiceSpec<'b> {
        ServiceSpec {
            worker: config::worker_identity(SERVICE_ROLE),
            settings: self.settings.runtime,
            mode,
            github: github.map(|(client, pull)| GithubPart { client, pull }),
            bluesky: Some(BlueskyPart { client: bluesky, poll }),
            seed: fastrand::u64(..),
        }
    }

    /// Reports the start, to the terminal and to the log.
    fn announce(&self, settings: &RuntimeSettings) {
        let workspace = self.location.display_name();
        let [pulls, accounts, polls] = [
            settings.pull_interval_ms(),
            self.settings.polling.interval_ms(),
            settings.poll_interval_ms(),
        ]
        .map(format_duration);
        tracing::info!(%workspace, pulls, accounts, polls, "service started");
        let logs = self.settings.home.as_ref().map_or_else(String::new, |home| {
            format!("; logs are in {}", home.join("logs").display())
        });
        print_status(&format!(
            "highwater service: {workspace}; pulls every {pulls}, polls accounts every {accounts} and watched \
             repositories every {polls}{logs}"
        ));
    }

    fn service_error(&self, error: SyncError) -> anyhow::Error {
        let hint = match &error {
            SyncError::ServiceRunning { .. } => {
                "one service keeps a workspace up to date; stop it before you start another, or use PostgreSQL, where \
                 several can share a workspace"
            }
            SyncError::Store(error) => {
                workspace::database_hint(error, &self.location, self.settings)
            }
            SyncError::Source { .. }
            | SyncError::RejectedPage { .. }
            | SyncError::SweepStopped { .. }
            | SyncError::Unconfirmed { .. }
            | SyncError::RunBrake { .. }
            | SyncError::IncompleteRead { .. }
            | SyncError::Busy { .. }
            | SyncError::Yielded
            | SyncError::Crashed(_) => hints::RETRY_HINT,
        };
        let reason = error.reason();
        let cause = if let SyncError::Store(error) = error {
            let location = self.location.display_name();
            anyhow::Error::new(error).context(format!("cannot use {location}"))
        } else {
            anyhow::anyhow!(reason)
        };
        cause.context("cannot run the service").context(ErrorHint(hint.to_owned()))
    }
}

/// Prints what a service that has ended did. Fails if something could not be read, so that scripts notice.
fn report(args: &ServiceArgs, summary: &ServiceSummary) -> anyhow::Result<()> {
    if args.json {
        print_json(&to_json(summary))?;
    } else {
        print_result(&to_line(summary))?;
    }
    if summary.failures.is_empty() {
        return Ok(());
    }
    for failure in &summary.failures {
        let duty = duty::describe_duties(std::slice::from_ref(&failure.duty));
        print_warning(&format!("{duty}: {}", failure.reason));
    }
    let failed = format_count(summary.failures.len() as u64, "duty");
    let hint = "everything else is saved; the next run tries again".to_owned();
    Err(anyhow::anyhow!("not everything could be read: {failed} failed").context(ErrorHint(hint)))
}

fn to_line(summary: &ServiceSummary) -> String {
    let ServiceSummary { repository_polls, account_polls, pulls, .. } = summary;
    let accounts = if *account_polls > 0 { "accounts polled" } else { "no accounts to poll" };
    let pulled = if *pulls > 0 { "pulled" } else { "no pull was due" };
    format!(
        "{} polled, {accounts}, {pulled}",
        format_count(*repository_polls, "watched repository")
    )
}

/// Returns the summary as JSON; `docs/json.md` is the contract.
fn to_json(summary: &ServiceSummary) -> Value {
    let failures = summary
        .failures
        .iter()
        .map(|failure| json!({ "duty": failure.duty.to_string(), "reason": failure.reason }));
    json!({
        "repository_polls": summary.repository_polls,
        "account_polls": summary.account_polls,
        "pulls": summary.pulls,
        "failures": failures.collect::<Vec<_>>(),
    })
}
