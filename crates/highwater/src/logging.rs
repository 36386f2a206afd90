//! Sets up logging: lines on stderr, and one file per day in `<home>/logs` for long-running commands. Everything passes
//! through the secret mask.

mod daily_log;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogFormat, LogSettings};
use crate::pull_screen::log_layer::ActivityLogLayer;
use crate::{pull_screen, terminal};
use daily_log::DailyLog;

/// highwater's own crates, which log to files at level info.
const OWN_CRATES: [&str; 7] =
    ["highwater", "hw_mcp", "hw_rules", "hw_sources", "hw_store", "hw_sync", "hw_tui"];

/// Starts logging, to stderr and to daily files in `folder`.
///
/// The command prints the warnings of `quiet_targets` itself, so stderr only gets them if the settings request it.
pub(crate) fn init_logging(
    settings: &LogSettings,
    quiet_targets: &[&str],
    folder: Option<PathBuf>,
) {
    let configured = settings.levels.as_ref().map(|levels| levels.0.clone());
    let stderr_levels = configured.clone().unwrap_or_else(|| {
        Targets::new()
            .with_default(LevelFilter::WARN)
            .with_targets(quiet_targets.iter().map(|target| (*target, LevelFilter::ERROR)))
    });
    let console = ActivityLogLayer.with_filter(stderr_levels.clone());
    let stderr =
        format_layer(settings.format, StderrWriter(settings.format)).with_filter(stderr_levels);
    let file = folder.map(|folder| {
        let file_levels = configured.unwrap_or_else(|| {
            Targets::new()
                .with_default(LevelFilter::WARN)
                .with_targets(OWN_CRATES.map(|target| (target, LevelFilter::INFO)))
        });
        let daily = Arc::new(DailyLog::new(folder, settings.format));
        format_layer(settings.format, daily).with_filter(file_levels)
    });
    tracing_subscriber::registry().with(stderr).with(console).with(file).init();
}

fn format_layer<S, W>(format: LogFormat, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
    match format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    }
}

/// Cleans one event and formats it as one line.
fn format_event(format: LogFormat, event: &[u8]) -> String {
    let event = String::from_utf8_lossy(event);
    match format {
        LogFormat::Text => terminal::clean_line(event.trim_end()),
        LogFormat::Json => terminal::clean_log_json(event.trim_end()),
    }
}

/// Writes events to stderr, one per line. While the console is open, its activity lines show them instead.
#[derive(Clone, Copy)]
struct StderrWriter(LogFormat);

impl io::Write for StderrWriter {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        pull_screen::run_unless_open(|| terminal::print_log_line(&format_event(self.0, event)));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for StderrWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}
