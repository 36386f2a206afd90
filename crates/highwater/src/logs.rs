//! Logs: lines on stderr, and for long commands a file a day in `<home>/logs`. All of them pass the sink's mask.

mod daily;

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

use crate::config::{Format, LogSettings};
use crate::console::logs::Activity;
use crate::{console, terminal};
use daily::Daily;

/// Our own crates, whose news belong into a file.
const OURS: [&str; 7] =
    ["highwater", "hw_mcp", "hw_rules", "hw_sources", "hw_store", "hw_sync", "hw_tui"];

/// Begins to log. Warnings of `told_otherwise` are told by the command in its own words, so they come to stderr
/// only when somebody asks for them; `folder` gets a file a day.
pub(crate) fn begin(settings: &LogSettings, told_otherwise: &[&str], folder: Option<PathBuf>) {
    let levels = |usual: Targets| settings.levels.as_ref().map_or(usual, |levels| levels.0.clone());
    let quiet = told_otherwise.iter().map(|target| (*target, LevelFilter::ERROR));
    let quiet = Targets::new().with_default(LevelFilter::WARN).with_targets(quiet);
    let quiet = levels(quiet);
    let console = Activity.with_filter(quiet.clone());
    let stderr = layer(settings.format, Lines(settings.format)).with_filter(quiet);
    let file = folder.map(|folder| {
        let ours = OURS.map(|target| (target, LevelFilter::INFO));
        let ours = Targets::new().with_default(LevelFilter::WARN).with_targets(ours);
        let daily = Arc::new(Daily::new(folder, settings.format));
        layer(settings.format, daily).with_filter(levels(ours))
    });
    tracing_subscriber::registry().with(stderr).with(console).with(file).init();
}

fn layer<S, W>(format: Format, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
    match format {
        Format::Text => layer.boxed(),
        Format::Json => layer.json().flatten_event(true).boxed(),
    }
}

/// Makes one event, which comes as a whole, one line that may be shown.
fn line(format: Format, event: &[u8]) -> String {
    let event = String::from_utf8_lossy(event);
    match format {
        Format::Text => terminal::shown_line(event.trim_end()),
        Format::Json => terminal::shown_log_json(event.trim_end()),
    }
}

/// Stderr, an event a line; while the console is there, its activity lines tell it.
#[derive(Clone, Copy)]
struct Lines(Format);

impl io::Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        console::unless_open(|| terminal::tell_log(&line(self.0, event)));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        *self
    }
}
