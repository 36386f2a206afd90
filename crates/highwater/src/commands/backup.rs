//! `highwater backup`

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hw_store::{IntegrityCheck, IntegrityReport, Place, Store};
use hw_tui::words::grouped;
use serde_json::json;

use super::reading;
use crate::cli::Backup;
use crate::config::{Settings, without_password};
use crate::report::Hint;
use crate::terminal::{say, say_object};
use crate::{private, workspace};

pub(crate) fn run(args: &Backup, settings: &Settings) -> anyhow::Result<()> {
    if let Place::Postgres { url, schema } = workspace::place(settings)? {
        return Err(use_pg_dump(&url, &schema, &args.file));
    }
    reading::answer(settings, |store| back_up(args, store))
}

fn back_up(args: &Backup, store: &Store) -> anyhow::Result<()> {
    let file = &args.file;
    if file.exists() && !args.force {
        let error = anyhow::anyhow!("{} is there already", file.display());
        return Err(error.context(Hint("name another file, or replace it with --force".into())));
    }
    let partial = Partial::new(file)?;
    store.copy_into(&partial.0).context("cannot copy the database")?;
    let bytes = verified(&partial.0)?;
    partial.finish(file).with_context(|| format!("cannot write {}", file.display()))?;
    if args.json {
        return Ok(say_object(&json!({ "file": file.display().to_string(), "bytes": bytes }))?);
    }
    Ok(say(&format!("backed up to {}: {} bytes, verified", file.display(), grouped(bytes)))?)
}

/// The size of a copy that is sound.
fn verified(copy: &Path) -> anyhow::Result<u64> {
    let report =
        Store::open_reader(&Place::File(copy.to_owned()))?.check_integrity(IntegrityCheck::Full)?;
    if let IntegrityReport::Damaged(found) = report {
        let error = anyhow::anyhow!("the copy is damaged: {}", found.join("; "));
        return Err(error.context(Hint("`highwater doctor --deep` looks at the original".into())));
    }
    Ok(std::fs::metadata(copy)?.len())
}

/// A copy that has not got its name yet; it goes when it never gets it.
struct Partial(PathBuf);

impl Partial {
    /// An empty file beside the one to be, for its owner alone.
    fn new(file: &Path) -> anyhow::Result<Self> {
        let mut name = file.file_name().context("the backup has no name")?.to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let path = file.with_file_name(name);
        std::fs::remove_file(&path).ok();
        private::append(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    /// What is on the disk takes its name, and the name is on the disk, too.
    fn finish(self, file: &Path) -> std::io::Result<()> {
        File::open(&self.0)?.sync_all()?;
        std::fs::rename(&self.0, file)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // after a rename there is nothing to remove
        std::fs::remove_file(&self.0).ok();
    }
}

fn use_pg_dump(url: &str, schema: &str, file: &Path) -> anyhow::Error {
    let hint = format!(
        "pg_dump does: pg_dump -Fc -n '\"{}\"' -f {} '{}' (with the password in PGPASSWORD or ~/.pgpass)",
        schema.replace('"', "\"\""),
        file.display(),
        without_password(url)
    );
    anyhow::anyhow!("a workspace in PostgreSQL is not copied to a file by highwater")
        .context(Hint(hint))
}
