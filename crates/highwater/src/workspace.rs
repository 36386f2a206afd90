//! Locates and opens the database that a command works on.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hw_rules::login::Login;
use hw_store::{DatabaseLocation, StoreError, StoreWriter, Workspace};
use secrecy::ExposeSecret as _;

use crate::config::{self, AppSettings};
use crate::github_names::is_repository_char;
use crate::hints;
use crate::private_files;
use crate::report::{self, ErrorHint};

/// Returns the location of the database that the settings select.
pub(crate) fn resolve_location(settings: &AppSettings) -> anyhow::Result<DatabaseLocation> {
    let organization = settings.organization.as_ref().map(Login::as_str);
    let name = settings.workspace.as_deref().or(organization);
    if let Some(database) = &settings.database {
        return parse_location(database.expose_secret(), name);
    }
    let home = require_home(settings)?;
    refuse_file_as_home(home, "set --home or HIGHWATER_HOME to a directory")?;
    let Some(name) = name else { return only_location(home) };
    let name = stored_spelling(name, &workspace_names(&home.join("db")));
    Ok(DatabaseLocation::File(database_path(home, &name)))
}

/// Returns the hint for a database error. It depends on whether the settings name the database, or a workspace.
pub(crate) fn database_hint(
    error: &StoreError,
    location: &DatabaseLocation,
    settings: &AppSettings,
) -> &'static str {
    match settings.database {
        Some(_) => hints::selected_database_hint(error, location),
        None => hints::database_hint(error),
    }
}

/// Fails with this hint if the home directory is a file.
pub(crate) fn refuse_file_as_home(home: &Path, hint: &'static str) -> anyhow::Result<()> {
    if !home.is_file() {
        return Ok(());
    }
    let error = anyhow::anyhow!("the home directory {} is a file", home.display());
    Err(error.context(ErrorHint(hint.to_owned())))
}

/// Returns true if the settings name no database, so that the only existing one is used.
pub(crate) fn is_unnamed(settings: &AppSettings) -> bool {
    settings.database.is_none() && settings.workspace.is_none() && settings.organization.is_none()
}

/// Returns the only database in the home directory, or the default one if there is none yet.
pub(crate) fn only_location(home: &Path) -> anyhow::Result<DatabaseLocation> {
    let name = single_name(workspace_names(&home.join("db")))?;
    Ok(DatabaseLocation::File(database_path(home, name.as_deref().unwrap_or("default"))))
}

/// Returns a function that finds the workspace to serve. If the settings name none, it finds the only existing one,
/// even if that is created after the server starts.
pub(crate) fn workspace_finder(
    settings: &AppSettings,
) -> anyhow::Result<impl Fn() -> Result<Workspace, String> + Send + Sync + use<>> {
    let first = resolve_location(settings)?;
    let unnamed = is_unnamed(settings).then(|| settings.home.clone()).flatten();
    Ok(move || match unnamed.as_deref().map(only_location) {
        Some(found) => found.map(Workspace::at_location).map_err(|error| report::one_line(&error)),
        None => Ok(Workspace::at_location(first.clone())),
    })
}

/// Returns the home directory, or an error if the settings have none.
pub(crate) fn require_home(settings: &AppSettings) -> anyhow::Result<&Path> {
    let home = settings.home.as_deref();
    home.context("no home directory: neither --home nor HIGHWATER_HOME nor HOME is set")
}

/// Returns the path of a workspace's database in the home directory.
pub(crate) fn database_path(home: &Path, name: &str) -> PathBuf {
    home.join("db").join(format!("{name}.db"))
}

/// A workspace that was opened for writing.
pub(crate) struct OpenedWorkspace {
    pub(crate) store: StoreWriter,
    /// True if opening created it.
    pub(crate) is_new: bool,
}

/// Opens a workspace for a pull. Missing files and folders are created, readable only by their owner.
pub(crate) fn open_for_pull(location: &DatabaseLocation) -> anyhow::Result<OpenedWorkspace> {
    open_with(location, StoreWriter::open)
}

/// Opens a workspace for a command that writes, but does not fetch.
pub(crate) fn open_for_writing(location: &DatabaseLocation) -> anyhow::Result<OpenedWorkspace> {
    open_with(location, StoreWriter::open_without_refetch)
}

fn open_with(
    location: &DatabaseLocation,
    open: fn(&DatabaseLocation) -> Result<StoreWriter, StoreError>,
) -> anyhow::Result<OpenedWorkspace> {
    let is_new_file = match location {
        DatabaseLocation::File(path) => {
            create_database_file(path).map_err(|error| database_file_error(error, path))?
        }
        DatabaseLocation::Memory | DatabaseLocation::Postgres { .. } => false,
    };
    let store =
        open(location).with_context(|| format!("cannot open {}", location.display_name()))?;
    Ok(OpenedWorkspace { is_new: is_new_file || store.is_new_schema(), store })
}

/// Creates the file if it is missing; an empty file is an empty database. SQLite creates its other files with the same
/// mode.
fn create_database_file(path: &Path) -> std::io::Result<bool> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_files::create_folder(folder)?;
    }
    let is_new = private_files::create_file(path)?;
    private_files::open_append(path)?;
    Ok(is_new)
}

fn database_file_error(error: std::io::Error, path: &Path) -> anyhow::Error {
    let message = if path.exists() {
        format!("cannot open {} for writing", path.display())
    } else {
        format!("cannot create {}", path.display())
    };
    let hint = "check that you can write there; --database selects another file or postgres://…, --home \
                another directory";
    anyhow::Error::new(error).context(message).context(ErrorHint(hint.to_owned()))
}

fn parse_location(database: &str, name: Option<&str>) -> anyhow::Result<DatabaseLocation> {
    if config::is_postgres(database) {
        let schema = name.unwrap_or("default").to_owned();
        return Ok(DatabaseLocation::Postgres { url: database.to_owned(), schema });
    }
    let path = PathBuf::from(database);
    if path.is_dir() {
        let error = anyhow::anyhow!("the database {} is a directory", path.display());
        let hint = "--database expects a file; --home expects a directory";
        return Err(error.context(ErrorHint(hint.to_owned())));
    }
    Ok(DatabaseLocation::File(path))
}

/// Lists the workspaces of the PostgreSQL database in the settings, or else of the home directory, by name.
pub(crate) fn list_workspaces(settings: &AppSettings) -> anyhow::Result<Vec<NamedWorkspace>> {
    if let Some(database) = &settings.database {
        let url = database.expose_secret();
        if !config::is_postgres(url) {
            let error = anyhow::anyhow!(
                "--database names a single file, so there are no workspaces to list"
            );
            let hint = "leave it out to list the workspaces in the home directory";
            return Err(error.context(ErrorHint(hint.to_owned())));
        }
        let schemas = hw_store::list_schemas(url)?.into_iter();
        let workspaces = schemas.map(|schema| NamedWorkspace {
            location: DatabaseLocation::Postgres { url: url.to_owned(), schema: schema.clone() },
            name: schema,
        });
        return Ok(workspaces.collect());
    }
    let home = require_home(settings)?;
    let names = workspace_names(&home.join("db")).into_iter();
    let workspaces = names.map(|name| NamedWorkspace {
        location: DatabaseLocation::File(database_path(home, &name)),
        name,
    });
    Ok(workspaces.collect())
}

/// A workspace and its name.
pub(crate) struct NamedWorkspace {
    pub(crate) name: String,
    pub(crate) location: DatabaseLocation,
}

/// Returns the names of the databases in a folder, sorted.
fn workspace_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let databases = files.filter(|path| path.extension().is_some_and(|ext| ext == "db"));
    let mut names: Vec<String> = databases
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort_unstable();
    names
}

/// Returns the name in the letter case of an existing workspace, because GitHub ignores the case of logins.
fn stored_spelling(name: &str, existing: &[String]) -> String {
    if existing.iter().any(|other| other == name) {
        return name.to_owned();
    }
    let spelled = existing.iter().find(|other| other.eq_ignore_ascii_case(name));
    spelled.map_or_else(|| name.to_owned(), Clone::clone)
}

/// Returns the name of the only workspace, or an error if there are several.
fn single_name(mut names: Vec<String>) -> anyhow::Result<Option<String>> {
    if names.len() > 1 {
        let error = anyhow::anyhow!("there are several workspaces: {}", names.join(", "));
        return Err(error.context(ErrorHint(
            "choose one with --workspace; `highwater workspaces` lists them".into(),
        )));
    }
    Ok(names.pop())
}

/// Checks a workspace name, which becomes part of a path: letters, digits, `-`, `_` and `.`, but no leading dot.
pub(crate) fn check_workspace_name(name: &str) -> Result<(), String> {
    let is_valid = !name.is_empty()
        && name.len() <= 100
        && !name.starts_with('.')
        && name.chars().all(is_repository_char);
    if is_valid {
        return Ok(());
    }
    Err(format!("not a workspace name: {name:?} (letters, digits, -, _ and . are allowed)"))
}
