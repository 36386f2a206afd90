//! `highwater watch list`

use hw_rules::format::{format_count, format_duration};
use hw_rules::source_time::SourceInstant;
use hw_rules::thread_status::ThreadStatus;
use hw_rules::watch::{Watch, WatchMode, WatchState};
use hw_store::{StoreReader, WatchedThread};
use hw_sync::clock::{Clock as _, MachineClock};

use super::{NO_WATCHES, watch_name};
use crate::cli::ListWatchesArgs;
use crate::columns::{WatchRow, watch_columns};
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::report::{OutputError, print_warning};
use crate::row_writer::RowWriter;
use crate::terminal::{StdoutWriter, clean_line, print_status};

/// The number of threads of a watch that are printed for people.
const MAX_THREADS: usize = 20;

pub(super) fn run(args: &ListWatchesArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| {
        let mut writer = RowWriter::open(&args.output, watch_columns())?;
        let watches = store.watches()?;
        let is_empty = watches.is_empty();
        for watch in watches {
            let threads = store.watched_threads(watch.id)?;
            writer.write_row(&WatchRow { watch, threads }, write_watch)?;
        }
        writer.finish()?;
        if is_empty {
            print_status(NO_WATCHES);
            return Ok(());
        }
        report_service(store)
    })
}

/// Warns if nobody reads what is watched.
fn report_service(store: &StoreReader) -> anyhow::Result<()> {
    let now_ms = MachineClock.now_ms();
    match store.running_service(now_ms)? {
        Some(service) => {
            let age = format_duration(now_ms - service.started_ms);
            print_status(&format!("a service is running for {age} ({})", service.worker));
        }
        None => print_warning(
            "no service is running, so nothing new is read; start `highwater service`",
        ),
    }
    Ok(())
}

fn write_watch(out: &mut StdoutWriter, row: &WatchRow) -> Result<(), OutputError> {
    let (state, name) = (row.watch.state.name(), clean_line(&watch_name(&row.watch)));
    out.write_line(&format!(
        "{state:<13} {name:<32} {}",
        describe_watch(&row.watch, &row.threads)
    ))?;
    if row.watch.subject.number.is_some() && row.threads.len() <= 1 {
        return Ok(());
    }
    for thread in row.threads.iter().take(MAX_THREADS) {
        let title = thread.title.as_deref().unwrap_or_default();
        let number = format!("#{}", thread.number);
        out.write_line(&format!("  {number:<7} {:<18} {title}", describe_thread(thread)))?;
    }
    match row.threads.len().saturating_sub(MAX_THREADS) {
        0 => Ok(()),
        more => out.write_line(&format!("  … and {more} more (--json lists all)")),
    }
}

/// Says what came of a watch.
fn describe_watch(watch: &Watch, threads: &[WatchedThread]) -> String {
    if let Some(problem) = &watch.problem {
        return problem.clone();
    }
    let subject = match (watch.subject.number, threads) {
        (Some(_), [thread]) => {
            let kind = thread.kind.name().replace('_', " ");
            format!("{kind}, {}", describe_thread(thread))
        }
        (Some(_), _) => "thread".to_owned(),
        (None, threads) => format_count(threads.len() as u64, "thread"),
    };
    let floor = match watch.floor {
        Some(SourceInstant::BEGINNING) => "from the start".to_owned(),
        Some(floor) => format!("since {}", whole_second(floor)),
        None => return "not looked up yet; the service does".to_owned(),
    };
    let mode = match watch.mode {
        WatchMode::Feedback => "",
        WatchMode::CommandsOnly => ", commands only",
    };
    let progress = match watch.state {
        WatchState::Bootstrapping => ", still being read",
        WatchState::Unresolved
        | WatchState::Active
        | WatchState::Paused
        | WatchState::Gone
        | WatchState::Failed => "",
    };
    format!("{subject}, {floor}{mode}{progress}")
}

fn describe_thread(thread: &WatchedThread) -> &'static str {
    match thread.status.status {
        ThreadStatus::AwaitingFeedback if !thread.is_bootstrapped => "being read",
        ThreadStatus::AwaitingFeedback => "awaiting feedback",
        ThreadStatus::Blocked => "blocked",
        ThreadStatus::Closed => "closed",
        ThreadStatus::Merged => "merged",
    }
}

fn whole_second(instant: SourceInstant) -> SourceInstant {
    SourceInstant(instant.0 - instant.0.rem_euclid(1_000))
}
