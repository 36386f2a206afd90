//! `highwater pull`

mod errors;
mod exclusions;
mod options;

use std::cell::OnceCell;
use std::sync::Arc;

use hw_rules::login::Login;
use hw_rules::page_size;
use hw_sources::github::source::GithubSource;
use hw_sources::http_transport::HttpTransport;
use hw_store::{DatabaseLocation, RemoveCondition, StoreWriter, WorkspaceRemoval};
use hw_sync::PullSummary;
use hw_sync::RetryPolicy;
use hw_sync::api_client::{ApiClient, ClientConfig, GithubClient};
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::crash_points::CrashPoints;
use hw_sync::progress::ProgressSink;
use hw_sync::pull::run_pull;
use hw_sync::remove_workspace::remove_workspace;
use hw_sync::work_threads::WorkThreads;
use hw_tui::pull_screen::PullEnding;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::cli::PullArgs;
use crate::config::AppSettings;
use crate::interrupt::{self, StoppableTransport};
use crate::pull_report::PullReport;
use crate::pull_screen::{self, PullScreen};
use crate::terminal::{print_json, print_result};
use crate::{config, progress, report, workspace};

pub(super) use options::PullCommandOptions;

pub(crate) fn run(args: &PullArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let options = PullCommandOptions::from_args(args, settings)?;
    let location = workspace::resolve_location(settings)?;
    options.check_sources(&location)?;
    let PullCommandOptions { title, spec, .. } = &options;
    tracing::info!(sources = title, host = spec.host, "pull started");
    let (stop, is_new) = (CancellationToken::new(), OnceCell::new());
    let run = PullRun {
        args,
        settings,
        options: &options,
        location: &location,
        stop: &stop,
        is_new: &is_new,
    };
    let result = interrupt::run(&stop, run.run_pull()).inspect_err(|error| {
        tracing::info!(error = report::one_line(error), "pull failed or incomplete");
    });
    if result.is_err() && is_new.get() == Some(&true) {
        remove_untouched_workspace(&location);
    }
    result?;
    tracing::info!("pull complete");
    Ok(())
}

/// Removes a workspace that this run created and stored nothing in: after a mistyped name, every later command would
/// require `--workspace`.
fn remove_untouched_workspace(location: &DatabaseLocation) {
    let removed = interrupt::run(&CancellationToken::new(), async {
        let (worker, condition) =
            (config::worker_identity("removal"), RemoveCondition::IfUntouched);
        Ok(remove_workspace(location, &MachineClock, &worker, condition).await?)
    });
    match removed {
        Ok(WorkspaceRemoval::Removed) => {
            tracing::info!(
                location = location.display_name(),
                "removed the new workspace, because nothing was read"
            );
        }
        Ok(WorkspaceRemoval::InUse | WorkspaceRemoval::Busy(_)) => {}
        Err(error) => {
            tracing::warn!(
                error = report::one_line(&error),
                "cannot remove the new, empty workspace"
            );
        }
    }
}

/// One run of the command.
struct PullRun<'a> {
    args: &'a PullArgs,
    settings: &'a AppSettings,
    options: &'a PullCommandOptions,
    location: &'a DatabaseLocation,
    stop: &'a CancellationToken,
    /// Set once the workspace is open: true if this run created it.
    is_new: &'a OnceCell<bool>,
}

impl PullRun<'_> {
    async fn run_pull(self) -> anyhow::Result<()> {
        let Self { args, options, location, .. } = self;
        let title = &options.title;
        let opened =
            workspace::open_for_pull(location).map_err(|error| errors::open_error(error, title))?;
        self.is_new.set(opened.is_new).ok();
        let store = opened.store.with_event_policy(self.settings.event_policy.clone());
        let screen = self.open_screen();
        let progress = choose_progress_sink(args, screen.as_ref());
        let client = new_api_client(progress, options, &store, self.stop)?;
        let start_ms = MachineClock.now_ms();
        let result = run_pull(&store, &client, &options.spec).await;
        if let Some(screen) = screen {
            let ending = result
                .as_ref()
                .map_or_else(|error| PullEnding::Failed(error.reason()), |_| PullEnding::Completed);
            screen.close(&ending);
        }
        let summary = result.map_err(|error| errors::pull_error(error, title, location))?;
        let duration_ms = MachineClock.now_ms() - start_ms;
        let organization = self.settings.organization.as_ref().map(Login::as_str);
        print_summary(args, options, &PullReport { organization, summary: &summary, duration_ms })?;
        exclusions::warn_unknown_exclusions(&store, &options.spec, &summary)?;
        check_complete(&summary)
    }

    /// Opens the console, unless the arguments or the terminal rule it out.
    fn open_screen(&self) -> Option<PullScreen> {
        if self.args.json || self.args.no_tui {
            return None;
        }
        PullScreen::open(&self.options.spec.items, self.settings)
    }
}

fn choose_progress_sink(args: &PullArgs, screen: Option<&PullScreen>) -> ProgressSink {
    match screen {
        Some(_) => ProgressSink::new(pull_screen::apply_event),
        None if args.json => ProgressSink::default(),
        None => progress::line_progress_sink(),
    }
}

/// Creates the client of GitHub that these options describe.
pub(super) fn new_api_client(
    progress: ProgressSink,
    options: &PullCommandOptions,
    store: &StoreWriter,
    stop: &CancellationToken,
) -> anyhow::Result<GithubClient> {
    let PullCommandOptions { graphql_url, rest_url, token, .. } = options;
    let config = ClientConfig {
        source: GithubSource::new(graphql_url, rest_url, token),
        retry_policy: RetryPolicy::GITHUB,
        transport: Arc::new(StoppableTransport {
            transport: HttpTransport::with_proxy(options.proxy.clone())?,
            stop: stop.clone(),
        }),
        clock: Arc::new(MachineClock),
        machine: options.spec.worker.machine.clone(),
        crash_points: CrashPoints::default(),
        progress,
        pace: options.pace,
        reserve_percent: options.reserve_percent,
        largest_page: page_size::MAX_PAGE_SIZE,
        seed: fastrand::u64(..),
        work_threads: WorkThreads::Background,
    };
    Ok(ApiClient::new(config, store.clone(), &options.spec.host))
}

fn print_summary(
    args: &PullArgs,
    options: &PullCommandOptions,
    report: &PullReport<'_>,
) -> anyhow::Result<()> {
    if args.json {
        return Ok(print_json(&Value::Object(report.to_json()))?);
    }
    let sources = match report.summary.read_sources().as_slice() {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    };
    let mut lines = vec![headline(report.summary, &sources, &options.spec.host)];
    lines.extend(report.to_lines());
    Ok(print_result(&lines.join("\n"))?)
}

/// Returns the first line of the summary: who pulled what, and which part of it the numbers below count.
fn headline(summary: &PullSummary, sources: &str, host: &str) -> String {
    let pulled = format!("pulled {sources} from {host}");
    match &summary.followed {
        Some(worker) if summary.cost.requests > 0 => {
            format!("{worker} {pulled}; this process helped (the numbers are its share)")
        }
        Some(worker) => format!("{worker} {pulled}; this process had nothing to do"),
        None if summary.was_helped => {
            format!("{pulled}; other processes helped (the numbers are this process's share)")
        }
        None => pulled,
    }
}

/// Fails if the pull is incomplete, so that scripts notice. The failures themselves are already printed.
fn check_complete(summary: &PullSummary) -> anyhow::Result<()> {
    if summary.failures.is_empty() { Ok(()) } else { Err(errors::partial_error(summary)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headline_names_the_part_that_the_numbers_count() {
        let headline_of = |followed: Option<&str>, was_helped, requests| {
            let mut summary = PullSummary::default();
            summary.followed = followed.map(str::to_owned);
            summary.was_helped = was_helped;
            summary.cost.requests = requests;
            headline(&summary, "acme", "github.com")
        };
        assert_eq!(headline_of(None, false, 9), "pulled acme from github.com");
        assert_eq!(
            headline_of(None, true, 9),
            "pulled acme from github.com; other processes helped (the numbers are this process's share)"
        );
        let other = Some("process 7 on vm");
        assert_eq!(
            headline_of(other, false, 9),
            "process 7 on vm pulled acme from github.com; this process helped (the numbers are its share)"
        );
        assert_eq!(
            headline_of(other, false, 0),
            "process 7 on vm pulled acme from github.com; this process had nothing to do"
        );
    }
}
