//! `highwater pull`

mod refused;
mod wanted;

use std::sync::Arc;

use hw_rules::page_size;
use hw_sources::github::graphql::Endpoint;
use hw_sources::github::rest::Rest;
use hw_sources::http::Http;
use hw_store::{Place, Store};
use hw_sync::Summary;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::crash::CrashPoints;
use hw_sync::fetch::{Fetch, Line};
use hw_sync::news::Herald;
use hw_sync::run::pull;
use serde_json::Value;

use crate::cli::Pull;
use crate::config::Settings;
use crate::interrupt::{self, Stop, Stoppable};
use crate::summary::Pulled;
use crate::terminal::{say, say_object};
use crate::{progress, report, workspace};
use wanted::Wanted;

pub(crate) fn run(args: &Pull, settings: &Settings) -> anyhow::Result<()> {
    if args.token.is_some() {
        report::warn(
            "others on this machine can see a token in the arguments; set GITHUB_TOKEN instead",
        );
    }
    let wanted = Wanted::of(args, settings)?;
    let place = workspace::place(settings)?;
    tracing::info!(
        organization = wanted.pull.organization,
        host = wanted.pull.host,
        "a pull begins"
    );
    let stop = Stop::default();
    interrupt::run(&stop, play(args, &wanted, &place, &stop)).inspect_err(|error| {
        tracing::info!(error = format!("{error:#}"), "the pull ends without all of its result");
    })?;
    tracing::info!("the pull is complete");
    Ok(())
}

async fn play(args: &Pull, wanted: &Wanted, place: &Place, stop: &Stop) -> anyhow::Result<()> {
    let organization = &wanted.pull.organization;
    let store = workspace::open(place).map_err(|error| refused::database(error, organization))?;
    let fetch = fetch(args, wanted, &store, stop)?;
    let start_ms = MachineClock.now_ms();
    let done = pull(&store, &fetch, &wanted.pull).await;
    let summary = done.map_err(|error| refused::by(error, organization, place))?;
    let duration_ms = MachineClock.now_ms() - start_ms;
    tell(args, wanted, &Pulled { organization, summary: &summary, duration_ms })?;
    complete(organization, &summary)
}

fn fetch(args: &Pull, wanted: &Wanted, store: &Store, stop: &Stop) -> anyhow::Result<Fetch> {
    let herald = if args.json {
        Herald::default()
    } else {
        progress::herald(&wanted.pull.organization, &wanted.pull.items)
    };
    let line = Line {
        transport: Arc::new(Stoppable { transport: Http::new()?, stop: stop.clone() }),
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
