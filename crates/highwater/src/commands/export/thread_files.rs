//! Writes and removes the files of an export. Files that highwater did not write, or that were edited since, stay as
//! they are.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::markdown::front_matter;
use crate::private_files;

/// The start and the end of the name of an unfinished file. Only a killed process leaves one behind.
const TEMPORARY_PREFIX: &str = ".highwater-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// The outcome of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    Written,
    Unchanged,
    /// A file that highwater did not write is in the way.
    LeftAlone,
}

/// Writes a text to a file, completely or not at all.
pub(super) fn write_thread_file(path: &Path, text: &str) -> io::Result<WriteOutcome> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => return Ok(WriteOutcome::LeftAlone),
        Ok(_) => match fs::read(path)? {
            old if old == text.as_bytes() => return Ok(WriteOutcome::Unchanged),
            old if !front_matter::has_valid_seal(&old) => return Ok(WriteOutcome::LeftAlone),
            _ => {}
        },
    }
    replace_file(path, text)?;
    Ok(WriteOutcome::Written)
}

/// Returns the first path between the root and a folder that is something other than a folder.
///
/// A link to a folder also counts: its target lies outside the root, and nothing there is written or removed.
pub(super) fn find_obstacle(root: &Path, folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .take_while(|path| *path != root)
        .filter(|path| path.symlink_metadata().is_ok_and(|found| !found.file_type().is_dir()))
        .last()
        .map(Path::to_owned)
}

/// Returns true if two paths that differ by case alone lead to the same folder.
#[cfg(unix)]
pub(super) fn is_same_folder(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (one.symlink_metadata(), other.symlink_metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// Returns true: two paths that differ by case alone lead to the same folder, because the file system ignores case.
#[cfg(not(unix))]
pub(super) fn is_same_folder(_one: &Path, _other: &Path) -> bool {
    true
}

fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    private_files::create_folder(folder)?;
    // created with mode 0600, like the database
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .suffix(TEMPORARY_SUFFIX)
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Removes highwater's own files of threads that are not in `keep`, and returns their number.
pub(super) fn remove_stale_files(folder: &Path, keep: &BTreeSet<i64>) -> io::Result<u64> {
    let mut removed = 0;
    for path in list_folder(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if is_temporary_name(name) && fs::symlink_metadata(&path)?.is_file() {
            fs::remove_file(&path)?;
        } else if parse_thread_number(name).is_some_and(|number| !keep.contains(&number))
            && is_own_file(&path)?
        {
            fs::remove_file(&path)?;
            removed += 1;
        }
    }
    remove_if_empty(folder);
    Ok(removed)
}

/// Returns the paths in a folder, sorted by name; none if the folder does not exist.
pub(super) fn list_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Removes a folder if nothing is left in it.
pub(super) fn remove_if_empty(folder: &Path) {
    fs::remove_dir(folder).ok();
}

fn is_own_file(path: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.is_file() && front_matter::has_valid_seal(&fs::read(path)?))
}

fn is_temporary_name(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX)
}

/// Returns the thread's number if the file is named as an export names it.
fn parse_thread_number(name: &str) -> Option<i64> {
    let number = name.strip_suffix(".md")?.parse::<i64>().ok()?;
    (format!("{number}.md") == name).then_some(number)
}
