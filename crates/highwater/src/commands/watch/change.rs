//! `highwater watch remove`, `pause` and `resume`

use hw_rules::watch::{Watch, WatchState, WatchSubject};
use hw_store::StoreWriter;

use super::watch_name;
use crate::cli::{PauseWatchArgs, RemoveWatchArgs, ResumeWatchArgs, WatchSelection};
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::report::ErrorHint;
use crate::terminal::print_result;
use crate::{hints, workspace};

pub(super) fn remove(args: &RemoveWatchArgs, settings: &AppSettings) -> anyhow::Result<()> {
    for_each_selected(&args.selection, settings, |store, watch| {
        store.remove_watch(watch.id)?;
        Ok(format!("no longer watching {}; its events stay", watch_name(watch)))
    })
}

pub(super) fn pause(args: &PauseWatchArgs, settings: &AppSettings) -> anyhow::Result<()> {
    for_each_selected(&args.selection, settings, |store, watch| {
        let name = watch_name(watch);
        Ok(if store.set_watch_paused(watch.id, true)? {
            format!("paused {name}; `highwater watch resume {name}` continues")
        } else if watch.state == WatchState::Paused {
            format!("{name} is already paused")
        } else {
            return Err(state_error(watch, "paused"));
        })
    })
}

pub(super) fn resume(args: &ResumeWatchArgs, settings: &AppSettings) -> anyhow::Result<()> {
    for_each_selected(&args.selection, settings, |store, watch| {
        let name = watch_name(watch);
        Ok(if store.set_watch_paused(watch.id, false)? {
            format!("resumed {name}; what was said meanwhile becomes events now")
        } else if watch.state.emits() {
            format!("{name} is not paused")
        } else {
            return Err(state_error(watch, "resumed"));
        })
    })
}

fn state_error(watch: &Watch, action: &str) -> anyhow::Error {
    let state = watch.state.name();
    let error = anyhow::anyhow!("{} is {state}, so it cannot be {action}", watch_name(watch));
    error.context(ErrorHint("`highwater watch list` shows what is wrong with it".to_owned()))
}

/// Applies a change to the selected watches, after all of them were found, and prints what it did.
fn for_each_selected(
    selection: &WatchSelection,
    settings: &AppSettings,
    change: impl Fn(&StoreWriter, &Watch) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let location = workspace::resolve_location(settings)?;
    // a mistyped name must not create a workspace
    drop(read_command::open_reader(settings).map_err(hints::add_database_hint)?);
    let store = workspace::open_for_writing(&location).map_err(hints::add_database_hint)?.store;
    let watches = store.watches().map_err(|error| hints::add_database_hint(error.into()))?;
    let mut selected = Vec::new();
    for subject in &selection.subjects {
        selected.push(find_watch(subject, selection, &watches, settings)?);
    }
    for watch in selected {
        print_result(&change(&store, watch).map_err(hints::add_database_hint)?)?;
    }
    Ok(())
}

/// Finds a watch. The host of the settings is preferred; without one there, a watch on another host is meant.
fn find_watch<'a>(
    subject: &WatchSubject,
    selection: &WatchSelection,
    watches: &'a [Watch],
    settings: &AppSettings,
) -> anyhow::Result<&'a Watch> {
    let subject = WatchSubject { label: selection.label.clone(), ..subject.clone() };
    let mut found: Vec<&Watch> = watches
        .iter()
        .filter(|watch| {
            let is_source = watch.subject.number.is_none().then_some(watch.source_issue).flatten();
            watch.subject.is_same(&subject) && is_source == selection.source_issue
        })
        .collect();
    if let Some(at_host) =
        found.iter().position(|watch| watch.host.as_str() == settings.endpoints.host)
    {
        return Ok(found.swap_remove(at_host));
    }
    match found.as_slice() {
        [watch] => Ok(watch),
        [] => {
            let error = anyhow::anyhow!("{subject} is not watched");
            let hint = "`highwater watch list` lists the watches, with the options that name them";
            Err(error.context(ErrorHint(hint.to_owned())))
        }
        several => {
            let hosts: Vec<&str> = several.iter().map(|watch| watch.host.as_str()).collect();
            let error = anyhow::anyhow!("{subject} is watched on {}", hosts.join(" and "));
            let hint = "choose one by setting GITHUB_API_URL to the URL of its API";
            Err(error.context(ErrorHint(hint.to_owned())))
        }
    }
}
