//! `highwater removed restore`

use hw_store::{RemovedItem, RemovedQuery, RestoreResult, StoreReader};
use hw_sync::clock::MachineClock;
use tokio_util::sync::CancellationToken;

use super::{others_suffix, removed_item_name};
use crate::cli::RestoreRemovedArgs;
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::removed_ref::RemovedRef;
use crate::report::ErrorHint;
use crate::terminal::{print_result, print_status};
use crate::{config, hints, interrupt, workspace};

const LIST_HINT: &str = "`highwater removed list` shows what can be restored, and for how long";

pub(super) fn run(args: &RestoreRemovedArgs, settings: &AppSettings) -> anyhow::Result<()> {
    // open for reading first, so that a missing workspace is not created
    let reader = read_command::open_reader(settings).map_err(hints::add_database_hint)?;
    let items = find_requested(args, &reader)?;
    drop(reader);
    if items.is_empty() {
        return Ok(());
    }
    let store = workspace::open_for_writing(&workspace::resolve_location(settings)?)
        .map_err(hints::add_database_hint)?
        .store;
    let restored = interrupt::run(&CancellationToken::new(), async {
        let worker = config::worker_identity("restore");
        let restored =
            hw_sync::restore::restore_removed_items(&store, &MachineClock, &worker, &items).await;
        restored.map_err(restore_error)
    })?;
    print_restored(&items, &restored)
}

/// Finds the items to restore. An item that is still in the workspace, or is back, is left out.
fn find_requested(
    args: &RestoreRemovedArgs,
    store: &StoreReader,
) -> anyhow::Result<Vec<RemovedItem>> {
    if let Some(since) = args.all_since {
        let mut items = store.find_removed_items(&RemovedQuery::Since(since))?;
        items.sort_by_key(|item| item.key.object_id());
        if items.is_empty() {
            print_status(&format!("nothing has been removed since {since}"));
        }
        return Ok(items);
    }
    let mut items: Vec<RemovedItem> = Vec::new();
    for reference in &args.items {
        if let Some(item) = find_item(reference, store)?
            && !items.contains(&item)
        {
            items.push(item);
        }
    }
    Ok(items)
}

fn find_item(reference: &RemovedRef, store: &StoreReader) -> anyhow::Result<Option<RemovedItem>> {
    for query in reference.store_queries() {
        let mut found = store.find_removed_items(&query)?;
        found.retain(|item| reference.matches_item(item));
        if found.len() > 1 {
            let urls: Vec<&str> = found.iter().map(|item| item.url.as_str()).collect();
            let urls = urls.join(", ");
            let error = anyhow::anyhow!("{reference} matches several removed items: {urls}");
            return Err(error.context(ErrorHint("pass its URL instead".to_owned())));
        }
        if let Some(item) = found.pop() {
            return Ok(Some(item));
        }
    }
    let is_stored = match reference.thread_address() {
        Some(thread) => store.find_thread(&thread)?.is_some(),
        None => false,
    };
    if is_stored {
        print_result(&format!("nothing to restore: {reference} is in the workspace"))?;
        return Ok(None);
    }
    let error = anyhow::anyhow!("{reference} is not among the removed items");
    Err(error.context(ErrorHint(LIST_HINT.to_owned())))
}

fn restore_error(error: hw_sync::SyncError) -> anyhow::Error {
    let hint = if let hw_sync::SyncError::Store(error) = &error {
        hints::database_hint(error)
    } else {
        "wait for it to finish, or stop it, then run this again"
    };
    anyhow::Error::new(error).context("cannot restore").context(ErrorHint(hint.to_owned()))
}

fn print_restored(items: &[RemovedItem], restored: &[RestoreResult]) -> anyhow::Result<()> {
    let mut lines: Vec<String> = Vec::new();
    for (item, RestoreResult { items }) in items.iter().zip(restored) {
        lines.push(match items {
            0 => format!("{} is already in the workspace", removed_item_name(item)),
            count => format!("restored {}{}", removed_item_name(item), others_suffix(count - 1)),
        });
    }
    if restored.iter().any(|restored| restored.items > 0) {
        lines.push("the next pull checks whether GitHub still has the restored items".to_owned());
    }
    Ok(print_result(&lines.join("\n"))?)
}
