//! `highwater pull`

mod exclusions;
mod refused;
mod wanted;

use std::cell::OnceCell;
use std::sync::Arc;

use hw_rules::page_size;
use hw_sources::github::graphql::Endpoint;
use hw_sources::github::rest::Rest;
use hw_sources::http::Http;
use hw_store::{Place, RemoveCondition, Store, WorkspaceRemoval};
use hw_sync::Summary;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::crash::CrashPoints;
use hw_sync::fetch::{Fetch, Line};
use hw_sync::news::Herald;
use hw_sync::remove_workspace::remove_workspace;
use hw_sync::run::pull;
use hw_tui::console::Ending;
use serde_json::Value;

use crate::cli::Pull;
use crate::config::Settings;
use crate::console::{self, Console};
use crate::interrupt::{self, Stop, Stoppable};
use crate::summary::Pulled;
use crate::terminal::{say, say_object};
use crate::{progress, workspace};
use wanted::Wanted;

pub(crate) fn run(args: &Pull, settings: &Settings) -> anyhow::Result<()> {
    let wanted = Wanted::of(args, settings)?;
    let place = workspace::place(settings)?;
    tracing::info!(
        organization = wanted.pull.organization,
        host = wanted.pull.host,
        "a pull begins"
    );
    let is_wanted = !args.json && !args.no_tui;
    let console = || is_wanted.then(|| Console::open(&wanted.pull.items, settings)).flatten();
    let (stop, is_new) = (Stop::default(), OnceCell::new());
    let run = Run { args, wanted: &wanted, place: &place, stop: &stop, is_new: &is_new };
    let ended = interrupt::run(&stop, run.play(console)).inspect_err(|error| {
        tracing::info!(error = format!("{error:#}"), "the pull ends without all of its result");
    });
    if ended.is_err() && is_new.get() == Some(&true) {
        remove_untouched(&place, &wanted.pull.owner);
    }
    ended?;
    tracing::info!("the pull is complete");
    Ok(())
}

/// Removes a workspace that this run made and stored nothing in: a mistyped name would have every later command ask
/// for `--workspace`.
fn remove_untouched(place: &Place, owner: &str) {
    let removed = interrupt::run(&Stop::default(), async {
        let condition = RemoveCondition::IfUntouched { now_ms: MachineClock.now_ms() };
        Ok(remove_workspace(place, &MachineClock, owner, condition).await?)
    });
    match removed {
        Ok(WorkspaceRemoval::Removed) => {
            tracing::info!(place = place.shown(), "removed the new workspace: nothing was read");
        }
        Ok(WorkspaceRemoval::InUse | WorkspaceRemoval::Busy(_)) => {}
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "the new, empty workspace stays");
        }
    }
}

/// One run of the command.
struct Run<'a> {
    args: &'a Pull,
    wanted: &'a Wanted,
    place: &'a Place,
    stop: &'a Stop,
    /// Whether this run made the workspace, once it is open.
    is_new: &'a OnceCell<bool>,
}

impl Run<'_> {
    async fn play(self, console: impl FnOnce() -> Option<Console>) -> anyhow::Result<()> {
        let Self { args, wanted, place, stop, is_new } = self;
        let organization = &wanted.pull.organization;
        let opened =
            workspace::open(place).map_err(|error| refused::database(error, organization))?;
        is_new.set(opened.is_new).ok();
        let store = opened.store;
        let console = console();
        let fetch = fetch(herald(args, wanted, console.is_some()), wanted, &store, stop)?;
        let start_ms = MachineClock.now_ms();
        let done = pull(&store, &fetch, &wanted.pull).await;
        if let Some(console) = console {
            let ending =
                done.as_ref().map_or_else(|error| Ending::Failed(error.reason()), |_| Ending::Done);
            console.close(&ending);
        }
        let summary = done.map_err(|error| refused::by(error, organization, place))?;
        let duration_ms = MachineClock.now_ms() - start_ms;
        tell(args, wanted, &Pulled { organization, summary: &summary, duration_ms })?;
        exclusions::warn_of_unknown(&store, &wanted.pull, &summary)?;
        complete(organization, &summary)
    }
}

/// Whoever shows how far it is.
fn herald(args: &Pull, wanted: &Wanted, on_console: bool) -> Herald {
    match (args.json, on_console) {
        (true, _) => Herald::default(),
        (false, true) => Herald::new(console::hear),
        (false, false) => progress::herald(&wanted.pull.organization),
    }
}

fn fetch(herald: Herald, wanted: &Wanted, store: &Store, stop: &Stop) -> anyhow::Result<Fetch> {
    let line = Line {
        transport: Arc::new(Stoppable {
            transport: Http::through(wanted.proxy.clone())?,
            stop: stop.clone(),
        }),
        endpoint: Endpoint { url: wanted.graphql.clone(), token: wanted.token.clone() },
        rest: Rest { url: wanted.api.clone(), token: wanted.token.clone() },
        clock: Arc::new(MachineClock),
        crash: CrashPoints::default(),
        herald,
        pace: wanted.pace,
        reserve_percent: wanted.reserve_percent,
        largest_page: page_size::LARGEST,
        seed: fastrand::u64(..),
    };
    Ok(Fetch::new(line, store.clone(), &wanted.pull.host))
}

fn tell(args: &Pull, wanted: &Wanted, pulled: &Pulled<'_>) -> anyhow::Result<()> {
    if args.json {
        return Ok(say_object(&Value::Object(pulled.object()))?);
    }
    let mut lines = vec![format!("pulled {} from {}", pulled.organization, wanted.pull.host)];
    lines.extend(pulled.lines());
    Ok(say(&lines.join("\n"))?)
}

/// What failed has been told by now; whoever called must learn of it, too.
fn complete(organization: &str, summary: &Summary) -> anyhow::Result<()> {
    if summary.failures.is_empty() { Ok(()) } else { Err(refused::in_part(organization, summary)) }
}
