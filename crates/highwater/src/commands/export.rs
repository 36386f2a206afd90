//! `highwater export`

mod files;
mod folders;
mod walk;

use std::path::Path;

use anyhow::Context as _;
use hw_rules::lane::Surface;
use hw_store::Store;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_tui::words::{counted, grouped};
use serde_json::json;

use super::reading;
use crate::cli::Export;
use crate::config::Settings;
use crate::interrupt::{self, Stop};
use crate::private;
use crate::report::{Hint, warn};
use crate::terminal::{say, say_object};
use walk::{Exported, Walk};

/// How many files are worth naming.
const NAMED: usize = 5;

pub(crate) fn run(args: &Export, settings: &Settings) -> anyhow::Result<()> {
    reading::answer(settings, |store| export(args, store))
}

fn export(args: &Export, store: &Store) -> anyhow::Result<()> {
    let folder = &args.markdown;
    make(folder)?;
    let start_ms = MachineClock.now_ms();
    let stop = Stop::default();
    let walk = Walk::new(store.clone(), folder.clone(), stop.clone(), !args.json);
    let exported = interrupt::run_aside(&stop, move || walk.run())?;
    tell(args, &exported, MachineClock.now_ms() - start_ms)?;
    reading::warn_of_talks(store, &Surface::THREADS, None)?;
    complete(&exported)
}

fn make(folder: &Path) -> anyhow::Result<()> {
    if folder.is_file() {
        let error = anyhow::anyhow!("{} is a file, and not a folder", folder.display());
        return Err(
            error.context(Hint("--markdown names a folder: choose another name".to_owned()))
        );
    }
    private::folder(folder).with_context(|| format!("cannot make {}", folder.display()))
}

fn tell(args: &Export, exported: &Exported, duration_ms: i64) -> anyhow::Result<()> {
    let Exported { threads, written, unchanged, removed, left, .. } = exported;
    let folder = args.markdown.display().to_string();
    if args.json {
        return Ok(say_object(&json!({
            "folder": folder,
            "threads": threads,
            "written": written,
            "unchanged": unchanged,
            "removed": removed,
            "left": left,
            "duration_ms": duration_ms,
        }))?);
    }
    let exported = counted(written + unchanged, "thread");
    let [written, unchanged, removed] = [written, unchanged, removed].map(|it| grouped(*it));
    let left = match left.len() {
        0 => String::new(),
        count => format!(", {} left alone", grouped(count as u64)),
    };
    Ok(say(&format!(
        "exported {exported} to {folder}: {written} written, {unchanged} unchanged, {removed} removed{left}"
    ))?)
}

/// What could not be written is told by name; whoever called must learn of it, too.
fn complete(exported: &Exported) -> anyhow::Result<()> {
    let left = &exported.left;
    left.iter().take(NAMED).for_each(|path| warn(&format!("left alone: {path}")));
    if left.is_empty() {
        return reading::whole(exported.skipped);
    }
    let error = anyhow::anyhow!("{} not exported", were(left.len()));
    Err(error.context(Hint(
        "these are not highwater's own files, or were changed since, or are links, or have no name that \
         can be a folder: move them away, or name another folder, and run it again"
            .to_owned(),
    )))
}

fn were(count: usize) -> String {
    if count == 1 { "1 thing was".to_owned() } else { format!("{count} things were") }
}
