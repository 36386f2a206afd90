//! Helpers shared by the commands that only read the database.

use std::collections::BTreeSet;

use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_rules::missing_text::describe_missing;
use hw_store::{Completeness, ReadableRows, SkippedRows, StoreError, StoreReader};

use crate::config::AppSettings;
use crate::report::ErrorHint;
use crate::{hints, report, workspace};

/// Opens the store that the settings select, for reading.
pub(super) fn open_reader(settings: &AppSettings) -> anyhow::Result<StoreReader> {
    let location = workspace::resolve_location(settings)?;
    StoreReader::open(&location).map_err(|error| {
        let names_location = matches!(error, StoreError::NoDatabase(_));
        let name =
            if names_location { "the workspace".to_owned() } else { location.display_name() };
        let hint = workspace::database_hint(&error, &location, settings);
        let error = anyhow::Error::new(error).context(format!("cannot open {name}"));
        error.context(ErrorHint(hint.to_owned()))
    })
}

/// Runs a command's work on that store; an error names the database and carries a hint.
pub(super) fn with_reader(
    settings: &AppSettings,
    work: impl FnOnce(&StoreReader) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let result = open_reader(settings).and_then(|store| work(&store));
    result.map_err(|error| hints::add_database_hint(name_database(error, settings)))
}

/// Adds the database's name to a bare store error: one that occurred after the store was opened.
fn name_database(error: anyhow::Error, settings: &AppSettings) -> anyhow::Error {
    let outermost = error.chain().next();
    let is_bare = outermost.is_some_and(<dyn std::error::Error>::is::<StoreError>);
    match workspace::resolve_location(settings) {
        Ok(location) if is_bare => {
            error.context(format!("cannot read {}", location.display_name()))
        }
        Ok(_) | Err(_) => error,
    }
}

/// Warns on stderr of everything that may be missing from the output.
pub(super) fn warn_incomplete(completeness: &Completeness) {
    for missing in &completeness.missing {
        report::print_warning(&describe_missing(missing));
    }
}

/// Warns of everything that may be missing from threads and their comments, each thing once.
pub(super) fn warn_incomplete_threads(
    store: &StoreReader,
    threads: &[Surface],
    repository: Option<&str>,
) -> anyhow::Result<()> {
    let mut completeness = store.completeness(threads, repository)?;
    completeness.add_missing(store.completeness(&Surface::COMMENTS, repository)?.missing);
    warn_incomplete(&completeness);
    Ok(())
}

/// Fails if damaged items were left out, so that scripts notice.
pub(super) fn check_none_skipped(skipped: SkippedRows) -> anyhow::Result<()> {
    let message = match skipped.0 {
        0 => return Ok(()),
        1 => "1 item is damaged and was left out".to_owned(),
        count => format!("{count} items are damaged and were left out"),
    };
    Err(anyhow::anyhow!(message).context(ErrorHint(
        "`highwater doctor --deep` lists damaged items, `highwater pull --repair` downloads them again"
            .to_owned(),
    )))
}

/// A stored repository, and the host it is on.
pub(super) struct HostedRepository {
    pub(super) host: String,
    pub(super) repository: Repository,
}

/// Reads all stored repositories, by host and name.
pub(super) fn read_repositories(
    store: &StoreReader,
) -> anyhow::Result<ReadableRows<HostedRepository>> {
    let hosts: BTreeSet<String> =
        store.lanes()?.into_iter().map(|(lane, _, _)| lane.host.to_string()).collect();
    let mut stored = ReadableRows { rows: Vec::new(), skipped: SkippedRows::default() };
    for host in hosts {
        let ReadableRows { rows, skipped } = store.readable_repositories(&host)?;
        stored.skipped.add(skipped);
        let rows = rows.into_iter();
        stored
            .rows
            .extend(rows.map(|repository| HostedRepository { host: host.clone(), repository }));
    }
    Ok(stored)
}
