//! Which database a command works on.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hw_store::{Place, Store, Workspace};
use secrecy::ExposeSecret as _;

use crate::config::{self, Settings};
use crate::private;
use crate::report::Hint;

/// The database that the settings name.
pub(crate) fn place(settings: &Settings) -> anyhow::Result<Place> {
    let named = settings.workspace.as_ref().or(settings.organization.as_ref());
    if let Some(database) = &settings.database {
        return elsewhere(database.expose_secret(), named);
    }
    let home = home(settings)?;
    if home.is_file() {
        let error = anyhow::anyhow!("the home directory {} is a file", home.display());
        return Err(error.context(Hint("--home or HIGHWATER_HOME name a folder".into())));
    }
    let Some(name) = named else { return only(home) };
    let name = as_written(name, &names_in(&home.join("db")));
    Ok(Place::File(file(home, &name)))
}

/// Whether the settings leave open which database it is: it is the only one there.
pub(crate) fn is_unnamed(settings: &Settings) -> bool {
    settings.database.is_none() && settings.workspace.is_none() && settings.organization.is_none()
}

/// The only database of a home directory, or the one that will be.
pub(crate) fn only(home: &Path) -> anyhow::Result<Place> {
    let name = only_one(names_in(&home.join("db")))?;
    Ok(Place::File(file(home, name.as_deref().unwrap_or("default"))))
}

/// Finds the workspace of somebody who serves it: who has named none gets the only one that is there, be it
/// made after the start.
pub(crate) fn finder(
    settings: &Settings,
) -> anyhow::Result<impl Fn() -> Result<Workspace, String> + Send + Sync + use<>> {
    let first = place(settings)?;
    let unnamed = is_unnamed(settings).then(|| settings.home.clone()).flatten();
    Ok(move || match unnamed.as_deref().map(only) {
        Some(found) => found.map(Workspace::at).map_err(|error| format!("{error:#}")),
        None => Ok(Workspace::at(first.clone())),
    })
}

/// The home directory.
pub(crate) fn home(settings: &Settings) -> anyhow::Result<&Path> {
    let home = settings.home.as_deref();
    home.context("no home directory: neither --home nor HIGHWATER_HOME nor HOME is set")
}

/// Where a home directory keeps a workspace's database.
pub(crate) fn file(home: &Path, name: &str) -> PathBuf {
    home.join("db").join(format!("{name}.db"))
}

/// A workspace that was opened for writing.
pub(crate) struct OpenedWorkspace {
    pub(crate) store: Store,
    /// Whether it was made by opening it.
    pub(crate) is_new: bool,
}

/// Opens a workspace for writing. What is not there yet is made, for nobody else to read.
pub(crate) fn open(place: &Place) -> anyhow::Result<OpenedWorkspace> {
    let is_new_file = match place {
        Place::File(path) => {
            make(path).with_context(|| format!("cannot make {}", path.display()))?
        }
        Place::Memory | Place::Postgres { .. } => false,
    };
    let store = Store::open(place).with_context(|| format!("cannot open {}", place.shown()))?;
    Ok(OpenedWorkspace { is_new: is_new_file || store.is_new_schema(), store })
}

/// Makes the file if it is missing: an empty file is an empty database. The files that appear beside it take over its
/// mode.
fn make(path: &Path) -> std::io::Result<bool> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private::folder(folder)?;
    }
    let is_new = private::create(path)?;
    private::append(path)?;
    Ok(is_new)
}

fn elsewhere(database: &str, name: Option<&String>) -> anyhow::Result<Place> {
    if config::is_postgres(database) {
        let schema = name.map_or("default", String::as_str).to_owned();
        return Ok(Place::Postgres { url: database.to_owned(), schema });
    }
    let path = PathBuf::from(database);
    if path.is_dir() {
        let error = anyhow::anyhow!("the database {} is a folder", path.display());
        return Err(error.context(Hint("--database names a file; --home names a folder".into())));
    }
    Ok(Place::File(path))
}

/// The workspaces that the settings reach, by name: of a PostgreSQL database, or of the home directory.
pub(crate) fn list(settings: &Settings) -> anyhow::Result<Vec<NamedWorkspace>> {
    if let Some(database) = &settings.database {
        let url = database.expose_secret();
        if !config::is_postgres(url) {
            let error =
                anyhow::anyhow!("--database names one file, which is no list of workspaces");
            return Err(
                error.context(Hint("leave it out to see those of the home directory".into()))
            );
        }
        let schemas = hw_store::list_schemas(url)?.into_iter();
        let named = schemas.map(|schema| NamedWorkspace {
            place: Place::Postgres { url: url.to_owned(), schema: schema.clone() },
            name: schema,
        });
        return Ok(named.collect());
    }
    let home = home(settings)?;
    let names = names_in(&home.join("db")).into_iter();
    let named = names.map(|name| NamedWorkspace { place: Place::File(file(home, &name)), name });
    Ok(named.collect())
}

/// A workspace and its name.
pub(crate) struct NamedWorkspace {
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// The workspaces that a home directory has, by name.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let databases = files.filter(|path| path.extension().is_some_and(|ext| ext == "db"));
    let mut names: Vec<String> = databases
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort_unstable();
    names
}

/// The name as it was written when the workspace was made: GitHub does not mind the case of a login.
fn as_written(name: &str, there: &[String]) -> String {
    let same = |held: &&String| held.eq_ignore_ascii_case(name);
    let is_there = there.iter().any(|held| held == name);
    let held = there.iter().find(same).filter(|_| !is_there);
    held.map_or_else(|| name.to_owned(), Clone::clone)
}

/// The name of the only workspace there; an error when there are several.
fn only_one(mut names: Vec<String>) -> anyhow::Result<Option<String>> {
    if names.len() > 1 {
        let error = anyhow::anyhow!("there are several workspaces: {}", names.join(", "));
        return Err(error
            .context(Hint("name one with --workspace; `highwater workspaces` lists them".into())));
    }
    Ok(names.pop())
}

/// A name becomes part of a path, so it is letters, digits, `-`, `_` and `.`, and no dot in front.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fine =
        !name.is_empty() && name.len() <= 100 && !name.starts_with('.') && name.chars().all(plain);
    if fine {
        return Ok(());
    }
    Err(format!("not a workspace's name: {name:?} (letters, digits, -, _ and . are allowed)"))
}
