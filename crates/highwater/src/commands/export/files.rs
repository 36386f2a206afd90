//! The files of an export. Whatever highwater did not write, or somebody changed since, stays as it is.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::markdown::front;

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

/// What is no folder though one is needed there, between the root and a shelf.
pub(super) fn in_the_way(root: &Path, shelf: &Path) -> Option<PathBuf> {
    let below = shelf.ancestors().take_while(|path| *path != root);
    let is_foreign = |path: &&Path| path.symlink_metadata().is_ok() && !path.is_dir();
    below.filter(is_foreign).last().map(Path::to_owned)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let mut unfinished = tempfile::Builder::new();
    unfinished.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
    // as any other new file: the umask decides who may read it
    #[cfg(unix)]
    unfinished.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = unfinished.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// Removes our own files of numbers that are not to be kept; how many.
pub(super) fn sweep(folder: &Path, keep: &BTreeSet<i64>) -> io::Result<u64> {
    let mut removed = 0;
    for path in entries(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if is_unfinished(name) {
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
