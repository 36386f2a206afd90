//! What the commands that only answer have in common.

use std::collections::BTreeSet;

use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_store::{Behind, ReadableRows, SkippedRows, Store};

use crate::config::Settings;
use crate::report::Hint;
use crate::{advice, report, workspace};

/// The store that the settings name, for reading.
pub(super) fn open(settings: &Settings) -> anyhow::Result<Store> {
    let place = workspace::place(settings)?;
    Store::open_reader(&place).map_err(|error| {
        let says_where = matches!(error, hw_store::Error::NoDatabase(_));
        let what = if says_where { "the workspace".to_owned() } else { place.shown() };
        anyhow::Error::new(error).context(format!("cannot open {what}"))
    })
}

/// Does the work on that store; an error names the database, with a hint.
pub(super) fn answer(
    settings: &Settings,
    work: impl FnOnce(&Store) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let answered = open(settings).and_then(|store| work(&store));
    answered.map_err(|error| advice::hinted(named(error, settings)))
}

/// A database that was opened and then failed has still to be named.
fn named(error: anyhow::Error, settings: &Settings) -> anyhow::Error {
    let bare: Option<&hw_store::Error> = error.chain().next().and_then(|it| it.downcast_ref());
    let is_bare = bare.is_some();
    match workspace::place(settings) {
        Ok(place) if is_bare => error.context(format!("cannot read {}", place.shown())),
        Ok(_) | Err(_) => error,
    }
}

/// Says on stderr what may be missing. An answer that is whole needs no words.
pub(super) fn warn_of(behind: &Behind) {
    behind.missing.iter().for_each(|sentence| report::warn(sentence));
}

/// The same of threads with what is said in them, each sentence once.
pub(super) fn warn_of_talks(
    store: &Store,
    threads: &[Surface],
    repository: Option<&str>,
) -> anyhow::Result<()> {
    let mut behind = store.behind(threads, repository)?;
    let comments = store.behind(&Surface::COMMENTS, repository)?.missing;
    let more: Vec<_> = comments.into_iter().filter(|it| !behind.missing.contains(it)).collect();
    behind.missing.extend(more);
    warn_of(&behind);
    Ok(())
}

/// Ends a command whose answer lacks damaged items: the caller must learn of it.
pub(super) fn whole(skipped: SkippedRows) -> anyhow::Result<()> {
    let what = match skipped.0 {
        0 => return Ok(()),
        1 => "1 item is damaged and was left out".to_owned(),
        count => format!("{count} items are damaged and were left out"),
    };
    Err(anyhow::anyhow!(what).context(Hint(
        "`highwater doctor --deep` names them, and `highwater pull --repair` reads them again"
            .to_owned(),
    )))
}

/// All repositories that are held, each with its host, by name.
pub(super) fn repositories(store: &Store) -> anyhow::Result<ReadableRows<(String, Repository)>> {
    let hosts: BTreeSet<String> =
        store.lanes()?.into_iter().map(|(lane, _, _)| lane.host).collect();
    let mut held = ReadableRows { rows: Vec::new(), skipped: SkippedRows::default() };
    for host in hosts {
        let here = store.readable_repositories(&host)?;
        held.skipped.add(here.skipped);
        held.rows.extend(here.rows.into_iter().map(|repository| (host.clone(), repository)));
    }
    Ok(held)
}
