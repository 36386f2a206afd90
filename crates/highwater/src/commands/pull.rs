//! `highwater pull`

mod refused;
mod wanted;

use std::sync::Arc;

use hw_rules::clean::for_terminal;
use hw_rules::page_size;
use hw_sources::github::graphql::Endpoint;
use hw_sources::http::Http;
use hw_store::{Place, Store};
use hw_sync::Summary;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::crash::CrashPoints;
use hw_sync::fetch::{Fetch, Line};
use hw_sync::news::Herald;
use hw_sync::run::pull;
use hw_tui::console::Ending;
use serde_json::Value;

use crate::cli::Pull;
use crate::config::Settings;
use crate::console::{self, Console};
use crate::report::say;
use crate::summary::Pulled;
use crate::{interrupt, progress, report, workspace};
use wanted::Wanted;

pub(crate) fn run(args: &Pull, settings: &Settings) -> anyhow::Result<()> {
    if args.token.is_some() {
        report::warn(
            "others on this machine can see a token in the arguments; set GITHUB_TOKEN instead",
        );
    }
    let wanted = Wanted::of(args, settings)?;
    let place = workspace::place(&args.workspace, settings)?;
    let is_wanted = !args.json && !args.no_tui;
    let console = || is_wanted.then(|| Console::open(&wanted.pull.items, settings)).flatten();
    interrupt::run(play(args, &wanted, &place, console))
}

async fn play(
    args: &Pull,
    wanted: &Wanted,
    place: &Place,
    console: impl FnOnce() -> Option<Console>,
) -> anyhow::Result<()> {
    let organization = &wanted.pull.organization;
    let store = workspace::open(place).map_err(|error| refused::database(error, organization))?;
    let console = console();
    let fetch = fetch(args, wanted, &store, console.is_some())?;
    let start_ms = MachineClock.now_ms();
    let done = pull(&store, &fetch, &wanted.pull).await;
    if let Some(console) = console {
        console.close(
            &done.as_ref().map_or_else(|error| Ending::Failed(error.reason()), |_| Ending::Done),
        );
    }
    let summary = done.map_err(|error| refused::by(error, organization))?;
    let duration_ms = MachineClock.now_ms() - start_ms;
    tell(args, wanted, &Pulled { organization, summary: &summary, duration_ms })?;
    complete(organization, &summary)
}

fn fetch(args: &Pull, wanted: &Wanted, store: &Store, on_console: bool) -> anyhow::Result<Fetch> {
    let herald = match (args.json, on_console) {
        (true, _) => Herald::default(),
        (false, true) => Herald::new(console::hear),
        (false, false) => progress::herald(&wanted.pull.organization, &wanted.pull.items),
    };
    let line = Line {
        transport: Http::new()?,
        endpoint: Endpoint { url: wanted.graphql.clone(), token: wanted.token.clone() },
        clock: Arc::new(MachineClock),
        crash: CrashPoints::default(),
        herald,
        pace: args.pace,
        reserve_percent: args.reserve,
        largest_page: page_size::LARGEST,
        seed: fastrand::u64(..),
    };
    Ok(Fetch::new(line, store.clone(), &wanted.pull.host))
}

fn tell(args: &Pull, wanted: &Wanted, pulled: &Pulled<'_>) -> anyhow::Result<()> {
    if args.json {
        return Ok(say(&Value::Object(pulled.object()).to_string())?);
    }
    let mut lines = vec![format!("pulled {} from {}", pulled.organization, wanted.pull.host)];
    lines.extend(pulled.lines());
    Ok(say(&for_terminal(&lines.join("\n")))?)
}

/// What failed has been told by now; whoever called must learn of it, too.
fn complete(organization: &str, summary: &Summary) -> anyhow::Result<()> {
    if summary.failures.is_empty() { Ok(()) } else { Err(refused::in_part(organization, summary)) }
}
