//! From repository to repository, one thread at a time: at no point more than one is held.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_store::{Error, ReadableRows, SkippedRows, Store, ThreadFilter, ThreadView};
use hw_sync::clock::{Clock as _, MachineClock};
use hw_tui::words::{counted, grouped};

use super::files::{self, Put};
use super::folders::assign_folders;
use crate::commands::reading;
use crate::interrupt::Stop;
use crate::{advice, markdown, terminal};

/// The time between two lines that tell how far it is.
const BETWEEN_LINES_MS: i64 = 1_000;

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Exported {
    pub(super) threads: u64,
    pub(super) written: u64,
    pub(super) unchanged: u64,
    pub(super) removed: u64,
    /// What is not ours, and was in the way.
    pub(super) left: Vec<String>,
    /// What is damaged, and could not be exported.
    pub(super) skipped: SkippedRows,
}

pub(super) struct Walk {
    store: Store,
    root: PathBuf,
    stop: Stop,
    /// When to tell how far it is; none when nobody wants to know.
    next_line_ms: Option<i64>,
    exported: Exported,
}

impl Walk {
    pub(super) fn new(store: Store, root: PathBuf, stop: Stop, tells: bool) -> Self {
        let next_line_ms = tells.then(|| MachineClock.now_ms() + BETWEEN_LINES_MS);
        Self { store, root, stop, next_line_ms, exported: Exported::default() }
    }

    /// Writes what is held, and removes what is no longer: only of owners of whom anything is held, since
    /// another workspace may use the same folder.
    pub(super) fn run(mut self) -> anyhow::Result<Exported> {
        let ReadableRows { rows: held, skipped } = reading::repositories(&self.store)?;
        self.exported.skipped.add(skipped);
        let mut kept = BTreeSet::new();
        for ((host, repository), folder) in held.iter().zip(assign_folders(&held)) {
            let Some(folder) = folder.map(|folder| self.root.join(folder)) else {
                let name = format!("{}/{}", repository.owner, repository.name);
                self.exported.left.push(name);
                continue;
            };
            self.repository(host, repository, &folder)?;
            kept.insert(folder);
        }
        let owners: BTreeSet<PathBuf> =
            kept.iter().filter_map(|folder| folder.parent()).map(Path::to_owned).collect();
        for owner in owners {
            self.sweep_owner(&owner, &kept)?;
        }
        Ok(self.exported)
    }

    fn repository(
        &mut self,
        host: &str,
        repository: &Repository,
        folder: &Path,
    ) -> anyhow::Result<()> {
        for surface in Surface::THREADS {
            let shelf = folder.join(surface.name());
            let mut kept = BTreeSet::new();
            let numbers = self.numbers(host, repository, surface)?;
            if let Some(path) = files::in_the_way(&self.root, &shelf) {
                self.exported.threads += numbers.len() as u64;
                if !numbers.is_empty() || path.is_symlink() {
                    self.leave(&path);
                }
                continue;
            }
            for number in numbers {
                self.stop.check()?;
                if let Some(view) = self.readable(self.view(host, repository, number))?.flatten() {
                    self.exported.skipped.add(view.skipped);
                    kept.insert(number);
                    self.thread(&shelf.join(format!("{number}.md")), &view)?;
                    self.tell();
                }
            }
            self.sweep(&shelf, &kept)?;
        }
        Ok(())
    }

    /// A thread that is damaged, or was since its number was read, is counted and left out.
    fn readable<T>(&mut self, read: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match read {
            Err(error) if matches!(advice::store_error(&error), Some(Error::UnreadableRow(_))) => {
                self.exported.skipped.add(SkippedRows(1));
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn numbers(
        &mut self,
        host: &str,
        repository: &Repository,
        surface: Surface,
    ) -> anyhow::Result<Vec<i64>> {
        let filter =
            ThreadFilter { repository: Some(repository.name.clone()), ..ThreadFilter::default() };
        let mut numbers = Vec::new();
        let stop = self.stop.clone();
        let skipped = self.store.each_thread(surface.kind(), &filter, &mut |row| {
            if row.host == host && row.thread.repository_id == repository.id {
                numbers.push(row.thread.number);
            }
            if stop.check().is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        self.exported.skipped.add(skipped);
        self.stop.check()?;
        Ok(numbers)
    }

    /// The thread as it is now; none when it has gone meanwhile.
    fn view(
        &self,
        host: &str,
        repository: &Repository,
        number: i64,
    ) -> anyhow::Result<Option<ThreadView>> {
        Ok(self.store.thread_of(host, repository, number)?)
    }

    fn thread(&mut self, path: &Path, view: &ThreadView) -> anyhow::Result<()> {
        let put = files::put(path, &markdown::file(view))
            .with_context(|| format!("cannot write {}", path.display()))?;
        self.exported.threads += 1;
        match put {
            Put::Written => self.exported.written += 1,
            Put::Unchanged => self.exported.unchanged += 1,
            Put::Left => self.leave(path),
        }
        Ok(())
    }

    /// Removes what is ours of repositories that are no longer held.
    fn sweep_owner(&mut self, owner: &Path, kept: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
        if files::in_the_way(&self.root, owner).is_some() {
            return Ok(());
        }
        let found = files::entries(owner).with_context(|| cannot_read(owner))?;
        for folder in found.into_iter().filter(|folder| !is_kept(folder, kept)) {
            for shelf in Surface::THREADS.map(|surface| folder.join(surface.name())) {
                match files::in_the_way(&self.root, &shelf) {
                    Some(path) if path.is_symlink() => self.leave(&path),
                    Some(_) => {}
                    None => self.sweep(&shelf, &BTreeSet::new())?,
                }
            }
            files::remove_if_empty(&folder);
        }
        Ok(())
    }

    /// Nothing is removed while something is damaged: its file may be the only copy that can be read.
    fn sweep(&mut self, shelf: &Path, kept: &BTreeSet<i64>) -> anyhow::Result<()> {
        self.stop.check()?;
        if self.exported.skipped.0 > 0 {
            return Ok(());
        }
        self.exported.removed += files::sweep(shelf, kept).with_context(|| cannot_read(shelf))?;
        Ok(())
    }

    /// One file can be in the way of several.
    fn leave(&mut self, path: &Path) {
        let path = path.display().to_string();
        if !self.exported.left.contains(&path) {
            self.exported.left.push(path);
        }
    }

    fn tell(&mut self) {
        let now_ms = MachineClock.now_ms();
        if self.next_line_ms.is_some_and(|next_ms| next_ms <= now_ms) {
            let Exported { threads, written, .. } = self.exported;
            let threads = counted(threads, "thread");
            terminal::tell(&format!("exporting: {threads}, {} written", grouped(written)));
            self.next_line_ms = Some(now_ms + BETWEEN_LINES_MS);
        }
    }
}

/// Whether a folder is that of a repository, be it under another spelling where the file system minds no case.
fn is_kept(folder: &Path, kept: &BTreeSet<PathBuf>) -> bool {
    let folded = folder.to_string_lossy().to_lowercase();
    let mut spelled = kept.iter().filter(|it| it.to_string_lossy().to_lowercase() == folded);
    kept.contains(folder) || spelled.any(|it| files::is_same(folder, it))
}

fn cannot_read(folder: &Path) -> String {
    format!("cannot read {}", folder.display())
}
