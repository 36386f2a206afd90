//! `highwater removed restore`

use hw_store::{RemovedItem, RemovedQuery, Restored, Store};
use hw_sync::clock::MachineClock;

use super::{item_name, others_suffix};
use crate::cli::RestoreRemoved;
use crate::commands::reading;
use crate::config::Settings;
use crate::interrupt::{self, Stop};
use crate::removed_ref::RemovedRef;
use crate::report::Hint;
use crate::terminal::{say, tell};
use crate::{advice, config, workspace};

const SEE_LIST: &str = "`highwater removed list` shows what can be restored, and for how long";

pub(super) fn run(args: &RestoreRemoved, settings: &Settings) -> anyhow::Result<()> {
    // a workspace that is not there must not be made
    let reader = reading::open(settings).map_err(advice::hinted)?;
    let items = find(args, &reader)?;
    drop(reader);
    if items.is_empty() {
        return Ok(());
    }
    let store = workspace::open(&workspace::place(settings)?).map_err(advice::hinted)?.store;
    let restored = interrupt::run(&Stop::default(), async {
        let owner = format!("restore by {}", config::process());
        let restored = hw_sync::restore::restore(&store, &MachineClock, &owner, &items).await;
        restored.map_err(refused)
    })?;
    print(&items, &restored)
}

/// Finds what is meant. One that was not removed, or has come back, needs no restore.
fn find(args: &RestoreRemoved, store: &Store) -> anyhow::Result<Vec<RemovedItem>> {
    if let Some(since) = args.all_since {
        let mut items = store.find_removed_items(&RemovedQuery::Since(since))?;
        items.sort_by_key(|item| item.key);
        if items.is_empty() {
            tell(&format!("nothing was removed since {since}"));
        }
        return Ok(items);
    }
    let mut items: Vec<RemovedItem> = Vec::new();
    for meant in &args.items {
        if let Some(item) = find_one(meant, store)?
            && !items.contains(&item)
        {
            items.push(item);
        }
    }
    Ok(items)
}

fn find_one(meant: &RemovedRef, store: &Store) -> anyhow::Result<Option<RemovedItem>> {
    for query in meant.queries() {
        let mut found = store.find_removed_items(&query)?;
        found.retain(|item| meant.means(item));
        if found.len() > 1 {
            let urls: Vec<&str> = found.iter().map(|item| item.url.as_str()).collect();
            let error = anyhow::anyhow!("{meant} names several removed items: {}", urls.join(", "));
            return Err(error.context(Hint("name it by its URL".to_owned())));
        }
        if let Some(item) = found.pop() {
            return Ok(Some(item));
        }
    }
    let is_there = match meant.thread() {
        Some(thread) => store.thread(&thread)?.is_some(),
        None => false,
    };
    if is_there {
        say(&format!("{meant} was not removed: it is in the workspace"))?;
        return Ok(None);
    }
    let error = anyhow::anyhow!("{meant} is not among what was removed");
    Err(error.context(Hint(SEE_LIST.to_owned())))
}

fn refused(error: hw_sync::Error) -> anyhow::Error {
    let hint = if let hw_sync::Error::Store(error) = &error {
        advice::on_database(error)
    } else {
        "wait until it is done, or stop it, and run this again"
    };
    anyhow::Error::new(error).context("cannot restore").context(Hint(hint.to_owned()))
}

fn print(items: &[RemovedItem], restored: &[Restored]) -> anyhow::Result<()> {
    let mut lines: Vec<String> = Vec::new();
    for (item, Restored { items }) in items.iter().zip(restored) {
        lines.push(match items {
            0 => format!("{} is in the workspace already", item_name(item)),
            count => format!("restored {}{}", item_name(item), others_suffix(count - 1)),
        });
    }
    if restored.iter().any(|restored| restored.items > 0) {
        lines.push("the next pull checks whether GitHub still has what was restored".to_owned());
    }
    Ok(say(&lines.join("\n"))?)
}
