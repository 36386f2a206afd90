//! `highwater backup`

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hw_rules::format::group_digits;
use hw_store::{DatabaseLocation, IntegrityCheck, IntegrityReport, StoreReader};
use serde_json::json;

use super::read_command;
use crate::cli::BackupArgs;
use crate::config::{AppSettings, strip_passwords};
use crate::hints;
use crate::report::ErrorHint;
use crate::terminal::{print_json, print_result};
use crate::{private_files, workspace};

pub(crate) fn run(args: &BackupArgs, settings: &AppSettings) -> anyhow::Result<()> {
    match workspace::resolve_location(settings)? {
        DatabaseLocation::Postgres { url, schema } => {
            return Err(pg_dump_error(&url, &schema, &args.file));
        }
        DatabaseLocation::File(database) => refuse_target(&args.file, &database)?,
        DatabaseLocation::Memory => {}
    }
    read_command::with_reader(settings, |store| write_backup(args, store))
}

/// Refuses a file that the copy must not replace, with or without --force.
fn refuse_target(file: &Path, database: &Path) -> anyhow::Result<()> {
    if file.is_dir() {
        let error = anyhow::anyhow!("{} is a directory", file.display());
        return Err(error.context(ErrorHint("pass a file name".to_owned())));
    }
    // a link to the database is the same file
    let is_database = match (file.canonicalize(), database.canonicalize()) {
        (Ok(file), Ok(database)) => file == database,
        _ => false,
    };
    if is_database {
        let error = anyhow::anyhow!("{} is the database itself", file.display());
        return Err(error.context(ErrorHint("choose another file for the backup".to_owned())));
    }
    Ok(())
}

fn write_backup(args: &BackupArgs, store: &StoreReader) -> anyhow::Result<()> {
    let file = &args.file;
    if file.exists() && !args.force {
        let error = anyhow::anyhow!("{} already exists", file.display());
        return Err(
            error.context(ErrorHint("choose another file, or overwrite it with --force".into()))
        );
    }
    let partial = PartialBackup::new(file)?;
    store.copy_database(&partial.0).context("cannot copy the database")?;
    let bytes = verify_copy(&partial.0)?;
    partial.finish(file).map_err(|error| {
        hints::add_write_hint(error, format!("cannot write {}", file.display()))
    })?;
    if args.json {
        return Ok(print_json(&json!({ "file": file.display().to_string(), "bytes": bytes }))?);
    }
    Ok(print_result(&format!(
        "backed up to {}: {} bytes, verified",
        file.display(),
        group_digits(bytes)
    ))?)
}

/// Checks that the copy is intact and returns its size.
fn verify_copy(copy: &Path) -> anyhow::Result<u64> {
    let report = StoreReader::open(&DatabaseLocation::File(copy.to_owned()))?
        .check_integrity(IntegrityCheck::Full)?;
    if let IntegrityReport::Damaged(found) = report {
        let error = anyhow::anyhow!("the copy is damaged: {}", found.join("; "));
        return Err(
            error.context(ErrorHint("`highwater doctor --deep` checks the original".into()))
        );
    }
    Ok(std::fs::metadata(copy)?.len())
}

/// A copy under a temporary name. Dropping it removes the file unless `finish` has renamed it.
struct PartialBackup(PathBuf);

impl PartialBackup {
    /// Creates an empty file next to the final one, readable only by its owner.
    fn new(file: &Path) -> anyhow::Result<Self> {
        let mut name = file.file_name().context("the backup needs a file name")?.to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let path = file.with_file_name(name);
        std::fs::remove_file(&path).ok();
        private_files::open_append(&path).map_err(|error| {
            // the user did not choose the temporary name
            hints::add_write_hint(error, format!("cannot create {}", file.display()))
        })?;
        Ok(Self(path))
    }

    /// Renames the copy. Data and name are both on disk when this returns.
    fn finish(self, file: &Path) -> std::io::Result<()> {
        File::open(&self.0)?.sync_all()?;
        std::fs::rename(&self.0, file)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Drop for PartialBackup {
    fn drop(&mut self) {
        // after a rename there is nothing to remove
        std::fs::remove_file(&self.0).ok();
    }
}

fn pg_dump_error(url: &str, schema: &str, file: &Path) -> anyhow::Error {
    let hint = format!(
        "use pg_dump: pg_dump -Fc -n '\"{}\"' -f {} '{}' (with the password in PGPASSWORD or ~/.pgpass)",
        schema.replace('"', "\"\""),
        file.display(),
        strip_passwords(url)
    );
    anyhow::anyhow!("highwater does not back up PostgreSQL workspaces").context(ErrorHint(hint))
}
