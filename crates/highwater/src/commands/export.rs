//! `highwater export`

mod exporter;
mod repository_folders;
mod thread_files;

use std::path::Path;

use hw_rules::format::{format_count, group_digits};
use hw_rules::lane::Surface;
use hw_store::StoreReader;
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::read_command;
use crate::cli::ExportArgs;
use crate::config::AppSettings;
use crate::hints;
use crate::report::{ErrorHint, print_warning};
use crate::terminal::{print_json, print_result};
use crate::{interrupt, private_files};
use exporter::{ExportProgress, ExportSummary, ThreadExporter};

/// The number of files that warnings name.
const MAX_NAMED: usize = 5;

pub(crate) fn run(args: &ExportArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| export_threads(args, store))
}

fn export_threads(args: &ExportArgs, store: &StoreReader) -> anyhow::Result<()> {
    let folder = &args.markdown;
    create_folder(folder)?;
    let start_ms = MachineClock.now_ms();
    let stop = CancellationToken::new();
    let progress = if args.json { ExportProgress::Silent } else { ExportProgress::Lines };
    let exporter = ThreadExporter::new(store.clone(), folder.clone(), stop.clone(), progress);
    let summary = interrupt::run_blocking(&stop, move || exporter.run())?;
    print_summary(args, &summary, MachineClock.now_ms() - start_ms)?;
    read_command::warn_incomplete_threads(store, &Surface::THREADS, None)?;
    check_complete(&summary)
}

fn create_folder(folder: &Path) -> anyhow::Result<()> {
    if folder.is_file() {
        let error = anyhow::anyhow!("{} is a file, not a directory", folder.display());
        return Err(error.context(ErrorHint("pass a directory to --markdown".to_owned())));
    }
    private_files::create_folder(folder).map_err(|error| {
        hints::add_write_hint(error, format!("cannot create {}", folder.display()))
    })
}

fn print_summary(
    args: &ExportArgs,
    summary: &ExportSummary,
    duration_ms: i64,
) -> anyhow::Result<()> {
    let ExportSummary { threads, written, unchanged, removed, left, .. } = summary;
    let folder = args.markdown.display().to_string();
    if args.json {
        return Ok(print_json(&json!({
            "folder": folder,
            "threads": threads,
            "written": written,
            "unchanged": unchanged,
            "removed": removed,
            "left": left,
            "duration_ms": duration_ms,
        }))?);
    }
    let current = written + unchanged;
    let exported = if current == *threads {
        format_count(current, "thread")
    } else {
        format!("{} of {}", group_digits(current), format_count(*threads, "thread"))
    };
    let [written, unchanged, removed] =
        [written, unchanged, removed].map(|count| group_digits(*count));
    let left = match left.len() {
        0 => String::new(),
        count => format!(", {} left alone", group_digits(count as u64)),
    };
    Ok(print_result(&format!(
        "exported {exported} to {folder}: {written} written, {unchanged} unchanged, {removed} removed{left}"
    ))?)
}

/// Warns of files that were left alone, and fails if there are any, so that scripts notice.
fn check_complete(summary: &ExportSummary) -> anyhow::Result<()> {
    let left = &summary.left;
    left.iter().take(MAX_NAMED).for_each(|path| print_warning(&format!("left alone: {path}")));
    if left.is_empty() {
        return read_command::check_none_skipped(summary.skipped);
    }
    let error = match left.len() {
        1 => anyhow::anyhow!("1 path was left alone"),
        count => anyhow::anyhow!("{count} paths were left alone"),
    };
    Err(error.context(ErrorHint(
        "highwater does not overwrite files that it did not write or that were edited, or symbolic links; move them \
         away or choose another directory, then run it again"
            .to_owned(),
    )))
}
