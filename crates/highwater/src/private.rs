//! Files and folders for their owner alone, made with that mode.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// The folder, made if it is missing, and those above it.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    let mut folders = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.recursive(true).create(path)
}

/// The file, made if it is missing, to be written to at its end.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.create(true).append(true).open(path)
}

/// Makes the file; false when it is there already.
pub(crate) fn create(path: &Path) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.create_new(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|_| true),
    }
}
