//! `highwater demo`

mod home;
mod stage;
mod verdict;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use hw_rules::lane::Choice;
use hw_store::{Place, Store, Workspace};
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::fetch::Fetch;
use hw_sync::run::{Pull, pull};
use hw_tui::words::grouped;
use serde_json::{Value, json};

use crate::cli::Demo;
use crate::report::{Hint, Interrupted};
use crate::summary::Pulled;
use crate::terminal::{say, say_object, tell};
use crate::web::Face;
use crate::{config, interrupt, workspace};
use home::Home;
use stage::Stage;
use verdict::Verdict;

/// How long the live demo rests between two pulls.
const REST_MS: i64 = 5_000;

pub(crate) fn run(args: &Demo) -> anyhow::Result<()> {
    match interrupt::run(&interrupt::Stop::default(), play(args)) {
        // to be stopped is how the live demo ends
        Err(error) if !args.once && error.is::<Interrupted>() => Ok(()),
        other => other,
    }
}

async fn play(args: &Demo) -> anyhow::Result<()> {
    let stage = Stage::set(args.seed, !args.once).await?;
    let home = Home::of(args)?;
    let database = home.database(&stage.organization);
    refuse_old(&database)?;
    let face = if args.once { None } else { Some(opened(args).await?) };
    let store = workspace::open(&Place::File(database.clone()))?.store;
    let fetch = stage.fetch(&store)?;
    let plan = plan(&stage);

    let start_ms = MachineClock.now_ms();
    let summary = pull(&store, &fetch, &plan).await.context("the pull failed")?;
    let duration_ms = MachineClock.now_ms() - start_ms;
    let verdict = Verdict::of(&store, &stage)?;
    let organization = &stage.organization;
    let pulled = Pulled { organization, summary: &summary, duration_ms };
    if args.json {
        say_object(&object(&pulled, &verdict))?;
    } else {
        say(&told(&stage, &pulled, &verdict))?;
        say(&next_step(args, &home, &database))?;
    }
    let Some(face) = face else { return verdict.or_fail() };
    if args.json {
        tell(&format!("in a browser: {}", face.url()));
    } else {
        say(&format!("\nor in a browser\n  {}", face.url()))?;
    }
    let workspace = Workspace::at(Place::File(database));
    let find = Arc::new(move || Ok(workspace.clone()));
    tokio::select! {
        done = follow(&store, &fetch, &plan) => done,
        () = face.serve(find, &[], std::future::pending()) => Ok(()),
    }
}

/// How to look at the workspace; one that is gone in a moment cannot be looked at.
fn next_step(args: &Demo, home: &Home, database: &Path) -> String {
    if args.once && home.is_temporary() {
        return "\nthe workspace was temporary and is removed; to keep one, pass --home DIR"
            .to_owned();
    }
    format!("\nlook at it with\n  highwater list issues --database {}", database.display())
}

/// A world that is made anew is another one, with other times: a mirror of the last one would differ from it.
fn refuse_old(database: &Path) -> anyhow::Result<()> {
    if !database.exists() {
        return Ok(());
    }
    let hint = "each demo makes a world of its own: name an empty folder with --home, or none";
    let what = format!("{} is already there, from an earlier demo", database.display());
    Err(anyhow::anyhow!(what).context(Hint(hint.to_owned())))
}

/// The port that was named, or one that is free.
async fn opened(args: &Demo) -> anyhow::Result<Face> {
    match args.port {
        Some(port) => Face::open(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await,
        None => Face::open_somewhere().await,
    }
}

/// Pulls again and again, until somebody stops it.
async fn follow(store: &Store, fetch: &Fetch, plan: &Pull) -> anyhow::Result<()> {
    say("\nfollowing the simulated writers; Ctrl-C stops")?;
    loop {
        MachineClock.sleep_until(MachineClock.now_ms() + REST_MS).await;
        let before = fetch.cost().requests;
        let total = pull(store, fetch, plan).await.context("the pull failed")?.total();
        let requests = fetch.cost().requests - before;
        say(&format!("  {} new or changed, {requests} requests", total.stored))?;
    }
}

fn plan(stage: &Stage) -> Pull {
    Pull {
        host: stage.host.clone(),
        organization: stage.organization.clone(),
        owner: format!("demo, process {}", std::process::id()),
        machine: config::machine().unwrap_or_default(),
        items: Choice::ALL.into(),
        only: Vec::new(),
        excluded: BTreeSet::new(),
        force: false,
        window_days: None,
        reconcile: false,
        allow_mass_removal: false,
        repair: false,
    }
}

/// The summary for programs; `docs/json.md` is its contract.
fn object(pulled: &Pulled<'_>, verdict: &Verdict) -> Value {
    let counts = |count: fn(&(usize, usize)) -> usize| {
        let each =
            verdict.counts.iter().map(|(it, both)| (it.name().to_owned(), count(both).into()));
        Value::Object(each.collect())
    };
    let mut object = Value::Object(pulled.object());
    object["complete"] = json!(pulled.is_complete() && verdict.is_equal());
    object["held"] = counts(|(held, _)| *held);
    object["world"] = counts(|(_, world)| *world);
    object
}

fn told(stage: &Stage, pulled: &Pulled<'_>, verdict: &Verdict) -> String {
    let mut lines =
        vec![format!("pulled {} from a simulated GitHub on this machine", stage.organization)];
    lines.extend(pulled.lines());
    lines.push(row("", ["held", "simulated"].map(str::to_owned)));
    let counts = verdict.counts.iter();
    lines.extend(
        counts.map(|(it, both)| row(it.name(), [both.0, both.1].map(|it| grouped(it as u64)))),
    );
    lines.push(if verdict.is_equal() {
        "  the mirror equals the simulated world, text by text".to_owned()
    } else if stage.is_live() {
        "  somebody wrote while we read; the next pull brings it".to_owned()
    } else {
        format!("  THE MIRROR DIFFERS: {}", verdict.differences.join("; "))
    });
    lines.join("\n")
}

fn row(name: &str, [held, world]: [String; 2]) -> String {
    format!("  {name:<13} {held:>9} {world:>9}")
}
