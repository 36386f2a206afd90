//! `highwater workspaces`

use std::collections::BTreeMap;

use hw_rules::format::group_digits;
use hw_rules::source_time::SourceInstant;
use hw_store::{
    DatabaseLocation, LastPull, RemoveCondition, StoreError, StoreReader, StoredSource,
    WorkspaceRemoval,
};
use hw_sync::clock::MachineClock;
use hw_sync::remove_workspace::remove_workspace;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cli::{RemoveWorkspaceArgs, WorkspacesArgs, WorkspacesCommand};
use crate::config::AppSettings;
use crate::report::ErrorHint;
use crate::terminal::{print_json, print_result, print_status};
use crate::workspace::{self, NamedWorkspace};
use crate::{config, hints, interrupt};

const LIST_HINT: &str = "`highwater workspaces` lists them";

pub(crate) fn run(args: &WorkspacesArgs, settings: &AppSettings) -> anyhow::Result<()> {
    match &args.command {
        Some(WorkspacesCommand::Remove(args)) => remove_named(args, settings),
        None => print_workspaces(args, settings),
    }
}

fn print_workspaces(args: &WorkspacesArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let workspaces = workspace::list_workspaces(settings).map_err(hints::add_database_hint)?;
    for workspace in &workspaces {
        let row = WorkspaceRow::read(workspace);
        if args.json { print_json(&row.to_json()) } else { print_result(&row.to_line()) }?;
    }
    if workspaces.is_empty() && !args.json {
        print_status("no workspaces yet; `highwater pull -o NAME` creates one");
    }
    Ok(())
}

/// One listed workspace.
struct WorkspaceRow<'a> {
    name: &'a str,
    location: String,
    contents: Result<WorkspaceContents, StoreError>,
}

/// The contents of a workspace that can be read.
struct WorkspaceContents {
    bytes: u64,
    sources: Vec<String>,
    last_pull: Option<LastPull>,
}

impl<'a> WorkspaceRow<'a> {
    fn read(workspace: &'a NamedWorkspace) -> Self {
        let contents = StoreReader::open(&workspace.location)
            .and_then(|store| WorkspaceContents::read(&store));
        Self { name: &workspace.name, location: workspace.location.display_name(), contents }
    }

    fn to_line(&self) -> String {
        let contents = match &self.contents {
            Ok(contents) => contents,
            Err(error) => return format!("{:<20}  cannot be read: {error}", self.name),
        };
        let sources = contents.sources.join(", ");
        let last = match &contents.last_pull {
            None => "no complete pull yet".to_owned(),
            Some(LastPull { ended_ms, error: None, .. }) => {
                format!("last pull {}", SourceInstant(*ended_ms))
            }
            Some(LastPull { ended_ms, error: Some(error), .. }) => {
                format!("last pull failed at {}: {error}", SourceInstant(*ended_ms))
            }
        };
        let kilobytes = group_digits(contents.bytes.div_ceil(1_000));
        format!("{:<20}  {kilobytes:>10} kB  {sources:<20}  {last}", self.name)
    }

    /// Returns the workspace as JSON; `docs/json.md` is the contract.
    fn to_json(&self) -> Value {
        let contents = self.contents.as_ref().ok();
        let last = contents.and_then(|contents| contents.last_pull.as_ref());
        json!({
            "name": self.name,
            "location": self.location,
            "bytes": contents.map(|contents| contents.bytes),
            "organizations": contents.map(WorkspaceContents::owners),
            "sources": contents.map(|contents| &contents.sources),
            "last_pull_at": last.map(|last| SourceInstant(last.ended_ms).to_string()),
            "last_pull_error": last.and_then(|last| last.error.as_ref()),
            "problem": self.contents.as_ref().err().map(ToString::to_string),
        })
    }
}

impl WorkspaceContents {
    /// Returns the sources that are not single repositories.
    fn owners(&self) -> Vec<&String> {
        self.sources.iter().filter(|source| !source.contains('/')).collect()
    }

    fn read(store: &StoreReader) -> Result<Self, StoreError> {
        let mut sources: BTreeMap<String, String> = BTreeMap::new();
        for StoredSource { source, .. } in store.sources()? {
            sources.insert(source.to_string().to_lowercase(), source.to_string());
        }
        let pulls = store.last_pulls()?;
        // a first pull that failed follows nothing yet
        for LastPull { source, .. } in &pulls {
            sources.insert(source.to_lowercase(), source.clone());
        }
        Ok(Self {
            bytes: store.size_bytes()?,
            sources: sources.into_values().collect(),
            last_pull: pulls.into_iter().max_by_key(|pull| pull.ended_ms),
        })
    }
}

fn remove_named(args: &RemoveWorkspaceArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let workspaces = workspace::list_workspaces(settings).map_err(hints::add_database_hint)?;
    let found = workspaces.iter().find(|workspace| workspace.name.eq_ignore_ascii_case(&args.name));
    let Some(workspace) = found else {
        let error = anyhow::anyhow!("no workspace named {}", args.name);
        return Err(error.context(ErrorHint(LIST_HINT.to_owned())));
    };
    let NamedWorkspace { name, location } = workspace;
    if !args.yes {
        let database = location.display_name();
        let error = anyhow::anyhow!("this would remove {name} and everything in it: {database}");
        return Err(error.context(ErrorHint("if this is intended, pass --yes".to_owned())));
    }
    let removed = interrupt::run(&CancellationToken::new(), async {
        let worker = config::worker_identity("removal");
        remove_workspace(location, &MachineClock, &worker, RemoveCondition::Always)
            .await
            .map_err(|error| removal_error(error, location))
    })?;
    match removed {
        WorkspaceRemoval::Removed => Ok(print_result(&format!("removed {name}"))?),
        WorkspaceRemoval::InUse => {
            Ok(print_result(&format!("{name} is not empty and was not removed"))?)
        }
        WorkspaceRemoval::Busy(holder) => {
            let holder = holder.map_or_else(String::new, |holder| {
                format!(": {}, since {}", holder.worker, SourceInstant(holder.since_ms))
            });
            let error = anyhow::anyhow!("a pull is running in {name}{holder}");
            Err(error.context(ErrorHint("wait for it to finish, or stop it".to_owned())))
        }
    }
}

fn removal_error(error: hw_sync::SyncError, location: &DatabaseLocation) -> anyhow::Error {
    // unwrapped, so that the hint finds the store's error
    let error: anyhow::Error =
        if let hw_sync::SyncError::Store(error) = error { error.into() } else { error.into() };
    hints::add_database_hint(error.context(format!("cannot remove {}", location.display_name())))
}
