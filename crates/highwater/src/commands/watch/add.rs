//! `highwater watch add`

use hw_rules::repository_key::Host;
use hw_rules::watch::{Watch, WatchMode, WatchStart, WatchSubject};
use hw_store::{NewWatch, StoreReader};
use hw_sync::clock::{Clock as _, MachineClock};

use super::watch_name;
use crate::cli::AddWatchArgs;
use crate::config::AppSettings;
use crate::report::UsageError;
use crate::terminal::{print_result, print_warning};
use crate::{hints, workspace};

pub(super) fn run(args: &AddWatchArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let new = new_watch(args, settings)?;
    let location = workspace::resolve_location(settings)?;
    let store = workspace::open_for_writing(&location).map_err(hints::add_database_hint)?.store;
    let added = store.add_watch(&new, MachineClock.now_ms());
    let added = added.map_err(|error| hints::add_database_hint(error.into()))?;
    let name = watch_name(&added.watch);
    if added.is_new {
        let start = describe_start(&added.watch);
        print_result(&format!("watching {name}, {start}"))?;
    } else {
        print_result(&format!("{name} is already watched"))?;
        warn_different(&added.watch, &new);
    }
    print_next_step(&store)
}

fn new_watch(args: &AddWatchArgs, settings: &AppSettings) -> anyhow::Result<NewWatch> {
    if args.label.is_some() && args.subject.number.is_some() {
        let problem = "--label selects threads of a repository; leave out the number";
        return Err(UsageError(problem.to_owned()).into());
    }
    Ok(NewWatch {
        host: Host::from(settings.endpoints.host.clone()),
        subject: WatchSubject { label: args.label.clone(), ..args.subject.clone() },
        mode: if args.commands_only { WatchMode::CommandsOnly } else { WatchMode::Feedback },
        start: args.start,
        source_issue: args.source_issue,
    })
}

/// Describes where a new watch begins. The usual start depends on the kind of thread, which is not known yet.
fn describe_start(watch: &Watch) -> String {
    match watch.start {
        Some(WatchStart::Beginning) => "from its start".to_owned(),
        Some(WatchStart::Now) => "from now on".to_owned(),
        Some(WatchStart::At(instant)) => format!("since {instant}"),
        None if watch.source_issue.is_some() => "through its source issue".to_owned(),
        None if watch.subject.number.is_some() && watch.mode == WatchMode::Feedback => {
            "from its start if it is a pull request, else from now on".to_owned()
        }
        None => "from now on".to_owned(),
    }
}

/// Warns if options were given that the existing watch does not have.
fn warn_different(existing: &Watch, requested: &NewWatch) {
    let is_same = existing.mode == requested.mode
        && requested.start.is_none_or(|start| existing.start == Some(start))
        && requested.source_issue.is_none_or(|issue| existing.source_issue == Some(issue));
    if !is_same {
        let name = watch_name(existing);
        print_warning(&format!(
            "its options stay as they were; to change them, `highwater watch remove {name}` first"
        ));
    }
}

/// Says who reads what is watched.
fn print_next_step(store: &StoreReader) -> anyhow::Result<()> {
    let service = store.running_service(MachineClock.now_ms())?;
    Ok(print_result(&match service {
        Some(service) => format!(
            "the service ({}) reads it within a minute; `highwater watch list` shows what came of it",
            service.worker
        ),
        None => "no service is running: start `highwater service`, or read once with `highwater service --once`"
            .to_owned(),
    })?)
}
