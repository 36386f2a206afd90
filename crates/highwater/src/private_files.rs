//! Creates files and folders that only their owner can read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the folder and its parents, if they are missing.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut folders = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.recursive(true).create(path)
}

/// Opens the file for appending, and creates it if it is missing.
pub(crate) fn open_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.create(true).append(true).open(path)
}

/// Creates the file; returns false if it already exists.
pub(crate) fn create_file(path: &Path) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.create_new(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        created => created.map(|_| true),
    }
}
