//! `highwater workspaces`

use std::collections::BTreeMap;

use hw_rules::lane::Scope;
use hw_rules::time::Mark;
use hw_store::{Error, LastPull, Place, RemoveCondition, Store, WorkspaceRemoval};
use hw_sync::clock::MachineClock;
use hw_sync::remove_workspace::remove_workspace;
use hw_tui::words::grouped;
use serde_json::{Value, json};

use crate::cli::{RemoveWorkspace, Workspaces, WorkspacesCommand};
use crate::config::Settings;
use crate::interrupt::{self, Stop};
use crate::report::Hint;
use crate::terminal::{say, say_object, tell};
use crate::workspace::{self, NamedWorkspace};
use crate::{advice, config};

const SEE_LIST: &str = "`highwater workspaces` lists them";

pub(crate) fn run(args: &Workspaces, settings: &Settings) -> anyhow::Result<()> {
    match &args.what {
        Some(WorkspacesCommand::Remove(args)) => remove(args, settings),
        None => list(args, settings),
    }
}

fn list(args: &Workspaces, settings: &Settings) -> anyhow::Result<()> {
    let workspaces = workspace::list(settings).map_err(advice::hinted)?;
    for workspace in &workspaces {
        let row = WorkspaceRow::read(workspace);
        if args.json { say_object(&row.object()) } else { say(&row.line()) }?;
    }
    if workspaces.is_empty() && !args.json {
        tell("there is no workspace yet: `highwater pull -o NAME` makes one");
    }
    Ok(())
}

/// One workspace, as it is listed.
struct WorkspaceRow<'a> {
    name: &'a str,
    location: String,
    contents: Result<Contents, Error>,
}

/// The contents of a workspace that can be read.
struct Contents {
    bytes: u64,
    organizations: Vec<String>,
    last_pull: Option<LastPull>,
}

impl<'a> WorkspaceRow<'a> {
    fn read(workspace: &'a NamedWorkspace) -> Self {
        let contents =
            Store::open_reader(&workspace.place).and_then(|store| Contents::read(&store));
        Self { name: &workspace.name, location: workspace.place.shown(), contents }
    }

    fn line(&self) -> String {
        let contents = match &self.contents {
            Ok(contents) => contents,
            Err(error) => return format!("{:<20}  cannot be read: {error}", self.name),
        };
        let organizations = contents.organizations.join(", ");
        let last = match &contents.last_pull {
            None => "never pulled".to_owned(),
            Some(LastPull { ended_ms, error: None, .. }) => format!("pulled {}", Mark(*ended_ms)),
            Some(LastPull { ended_ms, error: Some(error), .. }) => {
                format!("the last pull failed {}: {error}", Mark(*ended_ms))
            }
        };
        let kilobytes = grouped(contents.bytes.div_ceil(1_000));
        format!("{:<20}  {kilobytes:>10} kB  {organizations:<20}  {last}", self.name)
    }

    /// The workspace for programs; `docs/json.md` is its contract.
    fn object(&self) -> Value {
        let contents = self.contents.as_ref().ok();
        let last = contents.and_then(|contents| contents.last_pull.as_ref());
        json!({
            "name": self.name,
            "location": self.location,
            "bytes": contents.map(|contents| contents.bytes),
            "organizations": contents.map(|contents| &contents.organizations),
            "last_pull_at": last.map(|last| Mark(last.ended_ms).to_string()),
            "last_pull_error": last.and_then(|last| last.error.as_ref()),
            "problem": self.contents.as_ref().err().map(ToString::to_string),
        })
    }
}

impl Contents {
    fn read(store: &Store) -> Result<Self, Error> {
        let mut organizations: BTreeMap<String, String> = BTreeMap::new();
        for (lane, _, _) in store.lanes()? {
            if let Scope::Organization(login) = lane.scope {
                organizations.insert(login.to_lowercase(), login);
            }
        }
        let pulls = store.last_pulls()?;
        for LastPull { organization, .. } in &pulls {
            organizations.insert(organization.to_lowercase(), organization.clone());
        }
        Ok(Self {
            bytes: store.size_bytes()?,
            organizations: organizations.into_values().collect(),
            last_pull: pulls.into_iter().max_by_key(|pull| pull.ended_ms),
        })
    }
}

fn remove(args: &RemoveWorkspace, settings: &Settings) -> anyhow::Result<()> {
    let workspaces = workspace::list(settings).map_err(advice::hinted)?;
    let found = workspaces.iter().find(|workspace| workspace.name.eq_ignore_ascii_case(&args.name));
    let Some(workspace) = found else {
        let error = anyhow::anyhow!("there is no workspace named {}", args.name);
        return Err(error.context(Hint(SEE_LIST.to_owned())));
    };
    let NamedWorkspace { name, place } = workspace;
    if !args.yes {
        let error =
            anyhow::anyhow!("{name} would be removed with everything in it: {}", place.shown());
        return Err(error.context(Hint("if this is intended, pass --yes".to_owned())));
    }
    let removed = interrupt::run(&Stop::default(), async {
        let owner = format!("removal by {}", config::process());
        let removed = remove_workspace(place, &MachineClock, &owner, RemoveCondition::Always).await;
        removed.map_err(|error| refused(error, place))
    })?;
    match removed {
        WorkspaceRemoval::Removed => Ok(say(&format!("removed {name}"))?),
        WorkspaceRemoval::InUse => Ok(say(&format!("{name} is not empty, and stays"))?),
        WorkspaceRemoval::Busy(holder) => {
            let holder = holder.map_or_else(String::new, |held| {
                format!(": {}, since {}", held.owner, Mark(held.since_ms))
            });
            let error = anyhow::anyhow!("a pull is at work in {name}{holder}");
            Err(error.context(Hint("wait until it is done, or stop it".to_owned())))
        }
    }
}

fn refused(error: hw_sync::Error, place: &Place) -> anyhow::Error {
    let error = if let hw_sync::Error::Store(error) = error {
        anyhow::Error::new(error)
    } else {
        anyhow::Error::new(error)
    };
    advice::hinted(error.context(format!("cannot remove {}", place.shown())))
}
