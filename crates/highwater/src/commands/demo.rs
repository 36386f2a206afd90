//! `highwater demo`

mod bluesky;
mod comparison;
mod home;
mod server;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Context as _;
use hw_rules::followed_source::FollowedSource;
use hw_rules::format::{format_count, group_digits};
use hw_rules::lane::PullItem;
use hw_rules::login::Login;
use hw_store::{DatabaseLocation, PollRound, StoreWriter, Workspace, WorkspaceHandle};
use hw_sync::api_client::GithubClient;
use hw_sync::bluesky::PollSummary;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::pull::{PullSpec, run_pull};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cli::DemoArgs;
use crate::pull_report::PullReport;
use crate::report::{ErrorHint, InterruptedError};
use crate::terminal::{print_json, print_result, print_status};
use crate::web_server::WebServer;
use crate::{config, interrupt, workspace};
use bluesky::DemoAccounts;
use comparison::{ComparedCount, MirrorComparison};
use home::DemoHome;
use server::{DemoServer, SimulatedWriters};

/// The pause between two pulls of the live demo.
const PULL_INTERVAL_MS: i64 = 5_000;

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    match interrupt::run(&CancellationToken::new(), run_demo(args)) {
        // the live demo always ends by being stopped
        Err(error) if !args.once && error.is::<InterruptedError>() => Ok(()),
        other => other,
    }
}

async fn run_demo(args: &DemoArgs) -> anyhow::Result<()> {
    let writers = if args.once { SimulatedWriters::Idle } else { SimulatedWriters::Active };
    let server = DemoServer::start(args.seed, writers).await?;
    let home = DemoHome::from_args(args)?;
    let database = home.database_path(&server.organization);
    refuse_existing(&database)?;
    let web_server = if args.once { None } else { Some(open_web_server(args).await?) };
    let store = workspace::open_for_pull(&DatabaseLocation::File(database.clone()))?.store;
    let client = server.api_client(&store)?;
    let spec = pull_spec(&server);

    let start_ms = MachineClock.now_ms();
    let summary = run_pull(&store, &client, &spec).await.context("the pull failed")?;
    let duration_ms = MachineClock.now_ms() - start_ms;
    let comparison = MirrorComparison::from_store(&store, &server)?;
    let accounts = DemoAccounts::start(args.seed, writers, &store).await?;
    let polled = accounts.poll().await?;
    let organization = &server.organization;
    let report = PullReport { organization: Some(organization), summary: &summary, duration_ms };
    if args.json {
        print_json(&summary_json(&report, &comparison, &polled))?;
    } else {
        print_result(&summary_text(&server, &report, &comparison))?;
        print_result(&accounts_text(&polled))?;
        print_result(&next_step(args, &home, &database))?;
    }
    let Some(web_server) = web_server else { return comparison.check_equal() };
    if args.json {
        print_status(&format!("in a browser: {}", web_server.url()));
    } else {
        print_result(&format!("\nor in a browser\n  {}", web_server.url()))?;
    }
    let workspace = Workspace::at_location(DatabaseLocation::File(database));
    let workspace = WorkspaceHandle::new(move || Ok(workspace.clone()));
    tokio::select! {
        result = pull_repeatedly(&store, &client, &spec, &accounts) => result,
        () = web_server.serve(workspace, &[], CancellationToken::new()) => Ok(()),
    }
}

/// Returns the command that explores the workspace, unless the workspace is about to be removed.
fn next_step(args: &DemoArgs, home: &DemoHome, database: &Path) -> String {
    if args.once && home.is_temporary() {
        return "\nthe temporary workspace is removed; to keep it, pass --home DIR".to_owned();
    }
    format!("\nexplore it with\n  highwater list issues --database {}", database.display())
}

/// Refuses a database of an earlier demo: each simulated world has other times, so the old mirror would differ.
fn refuse_existing(database: &Path) -> anyhow::Result<()> {
    if !database.exists() {
        return Ok(());
    }
    let hint = "each demo creates new data: pass an empty directory with --home, or omit --home";
    let message = format!("{} already exists, from an earlier demo", database.display());
    Err(anyhow::anyhow!(message).context(ErrorHint(hint.to_owned())))
}

/// Opens the requested port, or else any free one.
async fn open_web_server(args: &DemoArgs) -> anyhow::Result<WebServer> {
    match args.port {
        Some(port) => WebServer::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await,
        None => WebServer::bind_any_port().await,
    }
}

/// Pulls at an interval until the process is stopped.
async fn pull_repeatedly(
    store: &StoreWriter,
    client: &GithubClient,
    spec: &PullSpec,
    accounts: &DemoAccounts,
) -> anyhow::Result<()> {
    print_result("\npulling new activity of the simulated users; press Ctrl-C to stop")?;
    loop {
        MachineClock.sleep_until(MachineClock.now_ms() + PULL_INTERVAL_MS).await;
        let before = client.cost().requests;
        let total = run_pull(store, client, spec).await.context("the pull failed")?.total_tally();
        let polled = accounts.poll().await?.round;
        let requests = client.cost().requests - before + polled.requests;
        let requests = format_count(requests, "request");
        let posts = format_count(polled.posts, "new post");
        print_result(&format!("  {} new or changed, {posts}, {requests}", total.stored))?;
    }
}

fn pull_spec(server: &DemoServer) -> PullSpec {
    PullSpec {
        host: server.host.clone(),
        sources: vec![FollowedSource::Owner(Login::from_known(&server.organization)).into()],
        worker: config::worker_identity("demo"),
        items: PullItem::ALL.into(),
        only_repositories: Vec::new(),
        excluded_repositories: Vec::new(),
        force: false,
        window_days: None,
        reconcile: false,
        allow_mass_removal: false,
        repair: false,
    }
}

/// Returns the summary as JSON; `docs/json.md` is the contract.
fn summary_json(
    report: &PullReport<'_>,
    comparison: &MirrorComparison,
    polled: &PollSummary,
) -> Value {
    let mut object = Value::Object(report.to_json());
    object["complete"] = json!(report.is_complete() && comparison.is_equal());
    object["held"] = counts_json(comparison, |count| count.stored);
    object["world"] = counts_json(comparison, |count| count.simulated);
    object["bluesky"] = json!({ "accounts": polled.round.accounts, "posts": polled.round.posts, "links": polled.round.links });
    object
}

fn counts_json(comparison: &MirrorComparison, count: fn(&ComparedCount) -> usize) -> Value {
    let counts = comparison.counts.iter();
    Value::Object(counts.map(|(item, both)| (item.name().to_owned(), count(both).into())).collect())
}

fn summary_text(
    server: &DemoServer,
    report: &PullReport<'_>,
    comparison: &MirrorComparison,
) -> String {
    let mut lines =
        vec![format!("pulled {} from a simulated GitHub on this machine", server.organization)];
    lines.extend(report.to_lines());
    lines.push(format_count_row("", "stored", "simulated"));
    lines.extend(comparison.counts.iter().map(|(item, count)| {
        let stored = group_digits(count.stored as u64);
        format_count_row(item.name(), &stored, &group_digits(count.simulated as u64))
    }));
    lines.push(if comparison.is_equal() {
        "  the mirror matches the simulated GitHub, word for word".to_owned()
    } else if server.is_live() {
        "  something was written during the pull; the next pull reads it".to_owned()
    } else {
        format!("  THE MIRROR DIFFERS: {}", comparison.differences.join("; "))
    });
    lines.join("\n")
}

/// Returns what was read of the simulated accounts.
fn accounts_text(polled: &PollSummary) -> String {
    let PollRound { accounts, posts, links, requests, .. } = polled.round;
    let accounts = format_count(accounts, "account");
    let (posts, links) = (format_count(posts, "post"), format_count(links, "link"));
    let requests = format_count(requests, "request");
    format!("polled {accounts} of a simulated Bluesky: {posts} with {links}, {requests}")
}

fn format_count_row(name: &str, stored: &str, simulated: &str) -> String {
    format!("  {name:<13} {stored:>9} {simulated:>9}")
}
