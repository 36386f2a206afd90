//! Exports repository by repository and thread by thread, so that only one thread is in memory at a time.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hw_rules::format::{format_count, group_digits};
use hw_rules::item::{Repository, ThreadKind};
use hw_rules::lane::Surface;
use hw_store::{ReadableRows, SkippedRows, StoreError, StoreReader, ThreadFilter, ThreadView};
use hw_sync::clock::{Clock as _, MachineClock};
use tokio_util::sync::CancellationToken;

use super::repository_folders::assign_folders;
use super::thread_files::{self, WriteOutcome};
use crate::commands::read_command::{self, HostedRepository};
use crate::interrupt::check_stop;
use crate::{hints, markdown, terminal};

/// The time between two progress lines.
const PROGRESS_INTERVAL_MS: i64 = 1_000;

/// Selects whether an export reports its progress.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExportProgress {
    Lines,
    Silent,
}

/// The counts of an export.
#[derive(Debug, Default)]
pub(super) struct ExportSummary {
    pub(super) threads: u64,
    pub(super) written: u64,
    pub(super) unchanged: u64,
    pub(super) removed: u64,
    /// Paths that are in the way and that highwater did not write.
    pub(super) left: Vec<String>,
    /// Damaged rows, which cannot be exported.
    pub(super) skipped: SkippedRows,
}

pub(super) struct ThreadExporter {
    store: StoreReader,
    root: PathBuf,
    stop: CancellationToken,
    /// The time of the next progress line; `None` without progress.
    next_line_ms: Option<i64>,
    summary: ExportSummary,
}

impl ThreadExporter {
    pub(super) fn new(
        store: StoreReader,
        root: PathBuf,
        stop: CancellationToken,
        progress: ExportProgress,
    ) -> Self {
        let next_line_ms = (progress == ExportProgress::Lines)
            .then(|| MachineClock.now_ms() + PROGRESS_INTERVAL_MS);
        Self { store, root, stop, next_line_ms, summary: ExportSummary::default() }
    }

    /// Writes the stored threads and removes stale files. It only removes files of owners that are in the workspace,
    /// because another workspace may export to the same folder.
    pub(super) fn run(mut self) -> anyhow::Result<ExportSummary> {
        let ReadableRows { rows: stored, skipped } = read_command::read_repositories(&self.store)?;
        self.summary.skipped.add(skipped);
        let mut exported = BTreeSet::new();
        for (HostedRepository { host, repository }, folder) in
            stored.iter().zip(assign_folders(&stored))
        {
            let Some(folder) = folder.map(|folder| self.root.join(folder)) else {
                let name = format!("{}/{}", repository.owner, repository.name);
                self.summary.left.push(name);
                continue;
            };
            self.export_repository(host, repository, &folder)?;
            exported.insert(folder);
        }
        let owners: BTreeSet<PathBuf> =
            exported.iter().filter_map(|folder| folder.parent()).map(Path::to_owned).collect();
        for owner in owners {
            self.sweep_owner(&owner, &exported)?;
        }
        Ok(self.summary)
    }

    fn export_repository(
        &mut self,
        host: &str,
        repository: &Repository,
        folder: &Path,
    ) -> anyhow::Result<()> {
        for kind in ThreadKind::ALL {
            let folder = folder.join(Surface::Threads(kind).name());
            let mut exported = BTreeSet::new();
            let numbers = self.thread_numbers(host, repository, kind)?;
            if let Some(path) = thread_files::find_obstacle(&self.root, &folder) {
                self.summary.threads += numbers.len() as u64;
                if !numbers.is_empty() || path.is_symlink() {
                    self.leave_alone(&path);
                }
                continue;
            }
            for number in numbers {
                check_stop(&self.stop)?;
                if let Some(view) =
                    self.skip_unreadable(self.read_thread(host, repository, number))?.flatten()
                {
                    self.summary.skipped.add(view.skipped);
                    exported.insert(number);
                    self.write_thread(&folder.join(format!("{number}.md")), &view)?;
                    self.report_progress();
                }
            }
            self.sweep_folder(&folder, &exported)?;
        }
        Ok(())
    }

    /// Counts a damaged thread and leaves it out. It may have been damaged after its number was read.
    fn skip_unreadable<T>(&mut self, result: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match result {
            Err(error)
                if matches!(
                    hints::find_store_error(&error),
                    Some(StoreError::UnreadableRow(_))
                ) =>
            {
                self.summary.skipped.add(SkippedRows(1));
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    fn thread_numbers(
        &mut self,
        host: &str,
        repository: &Repository,
        kind: ThreadKind,
    ) -> anyhow::Result<Vec<i64>> {
        let filter =
            ThreadFilter { repository: Some(repository.name.clone()), ..ThreadFilter::default() };
        let mut numbers = Vec::new();
        let stop = self.stop.clone();
        let skipped = self.store.each_thread(kind, &filter, &mut |row| {
            if row.host == host && row.thread.repository_id == repository.id {
                numbers.push(row.thread.number);
            }
            if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        self.summary.skipped.add(skipped);
        check_stop(&self.stop)?;
        Ok(numbers)
    }

    /// Reads the thread, or returns `None` if it has been removed meanwhile.
    fn read_thread(
        &self,
        host: &str,
        repository: &Repository,
        number: i64,
    ) -> anyhow::Result<Option<ThreadView>> {
        Ok(self.store.find_thread_in(host, repository, number)?)
    }

    fn write_thread(&mut self, path: &Path, view: &ThreadView) -> anyhow::Result<()> {
        let outcome = thread_files::write_thread_file(path, &markdown::thread_file(view)).map_err(
            |error| hints::add_write_hint(error, format!("cannot write {}", path.display())),
        )?;
        self.summary.threads += 1;
        match outcome {
            WriteOutcome::Written => self.summary.written += 1,
            WriteOutcome::Unchanged => self.summary.unchanged += 1,
            WriteOutcome::LeftAlone => self.leave_alone(path),
        }
        Ok(())
    }

    /// Removes highwater's own files of repositories that are no longer stored.
    fn sweep_owner(&mut self, owner: &Path, exported: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
        if thread_files::find_obstacle(&self.root, owner).is_some() {
            return Ok(());
        }
        let found = thread_files::list_folder(owner).with_context(|| cannot_read_message(owner))?;
        for repository in found.into_iter().filter(|folder| !is_exported(folder, exported)) {
            for folder in Surface::THREADS.map(|surface| repository.join(surface.name())) {
                match thread_files::find_obstacle(&self.root, &folder) {
                    Some(path) if path.is_symlink() => self.leave_alone(&path),
                    Some(_) => {}
                    None => self.sweep_folder(&folder, &BTreeSet::new())?,
                }
            }
            thread_files::remove_if_empty(&repository);
        }
        Ok(())
    }

    /// Removes stale files, but none while a row is damaged: its file may be the only readable copy.
    fn sweep_folder(&mut self, folder: &Path, exported: &BTreeSet<i64>) -> anyhow::Result<()> {
        check_stop(&self.stop)?;
        if self.summary.skipped.0 > 0 {
            return Ok(());
        }
        self.summary.removed += thread_files::remove_stale_files(folder, exported)
            .with_context(|| cannot_read_message(folder))?;
        Ok(())
    }

    /// Records a path that is in the way, once: it can be in the way of several threads.
    fn leave_alone(&mut self, path: &Path) {
        let path = path.display().to_string();
        if !self.summary.left.contains(&path) {
            self.summary.left.push(path);
        }
    }

    fn report_progress(&mut self) {
        let now_ms = MachineClock.now_ms();
        if self.next_line_ms.is_some_and(|next_ms| next_ms <= now_ms) {
            let ExportSummary { threads, written, .. } = self.summary;
            let threads = format_count(threads, "thread");
            terminal::print_status(&format!(
                "exporting: {threads}, {} written",
                group_digits(written)
            ));
            self.next_line_ms = Some(now_ms + PROGRESS_INTERVAL_MS);
        }
    }
}

/// Returns true for the folder of an exported repository, also in another letter case where the file system ignores
/// case.
fn is_exported(folder: &Path, exported: &BTreeSet<PathBuf>) -> bool {
    let lowercase = folder.to_string_lossy().to_lowercase();
    exported.contains(folder)
        || exported
            .iter()
            .filter(|path| path.to_string_lossy().to_lowercase() == lowercase)
            .any(|path| thread_files::is_same_folder(folder, path))
}

fn cannot_read_message(folder: &Path) -> String {
    format!("cannot read {}", folder.display())
}
