//! The files of an export. Whatever highwater did not write, or somebody changed since, stays as it is.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::markdown::front;
use crate::private;

/// How a file that is not whole yet is named. One is left behind only by a process that was killed.
const UNFINISHED: (&str, &str) = (".highwater-", ".tmp");

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    Written,
    Unchanged,
    /// Something that is not ours is in the way.
    Left,
}

/// Writes a text to a file, whole or not at all.
pub(super) fn put(path: &Path, text: &str) -> io::Result<Put> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => return Ok(Put::Left),
        Ok(_) => match fs::read(path)? {
            held if held == text.as_bytes() => return Ok(Put::Unchanged),
            held if !front::is_ours(&held) => return Ok(Put::Left),
            _ => {}
        },
    }
    replace(path, text)?;
    Ok(Put::Written)
}

/// Returns the first path between the root and a shelf that is something other than a folder.
///
/// A link to a folder is one, too: what is behind it lies outside the target, and nothing there is written or removed.
pub(super) fn in_the_way(root: &Path, shelf: &Path) -> Option<PathBuf> {
    let below = shelf.ancestors().take_while(|path| *path != root);
    let is_foreign =
        |path: &&Path| path.symlink_metadata().is_ok_and(|found| !found.file_type().is_dir());
    below.filter(is_foreign).last().map(Path::to_owned)
}

/// Whether two paths, which differ by case alone, lead to the same folder.
#[cfg(unix)]
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |path: &Path| path.symlink_metadata().map(|it| (it.dev(), it.ino())).ok();
    identity(one).is_some_and(|it| identity(other) == Some(it))
}

/// Whether two paths, which differ by case alone, lead to the same folder: the file system minds no case.
#[cfg(not(unix))]
pub(super) fn is_same(_one: &Path, _other: &Path) -> bool {
    true
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    private::folder(folder)?;
    let mut unfinished = tempfile::Builder::new();
    // made with the mode 0600, as the database is
    let mut file = unfinished.prefix(UNFINISHED.0).suffix(UNFINISHED.1).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Removes our own files of numbers that are not to be kept; how many.
pub(super) fn sweep(folder: &Path, keep: &BTreeSet<i64>) -> io::Result<u64> {
    let mut removed = 0;
    for path in entries(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if is_unfinished(name) && fs::symlink_metadata(&path)?.is_file() {
            fs::remove_file(&path)?;
        } else if number(name).is_some_and(|number| !keep.contains(&number)) && is_ours(&path)? {
            fs::remove_file(&path)?;
            removed += 1;
        }
    }
    remove_if_empty(folder);
    Ok(removed)
}

/// What is in a folder, by name; nothing where there is none.
pub(super) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
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

/// Tries to: a folder in which something is left cannot be removed.
pub(super) fn remove_if_empty(folder: &Path) {
    fs::remove_dir(folder).ok();
}

fn is_ours(path: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.is_file() && front::is_ours(&fs::read(path)?))
}

fn is_unfinished(name: &str) -> bool {
    name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1)
}

/// The number of a thread's file, if it is named as we name them.
fn number(name: &str) -> Option<i64> {
    let number = name.strip_suffix(".md")?.parse::<i64>().ok()?;
    (format!("{number}.md") == name).then_some(number)
}
