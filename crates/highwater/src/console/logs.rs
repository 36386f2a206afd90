//! Log lines: on stderr, or, while the console is there, among its activity lines.

use std::fmt::Write as _;
use std::io;

use hw_tui::console::Tone;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

/// Stderr, or nothing while the console is there.
pub(crate) fn stderr() -> Box<dyn io::Write> {
    if super::is_open() { Box::new(io::sink()) } else { Box::new(Stderr) }
}

/// Stderr, once whoever writes a last frame there is done.
struct Stderr;

impl io::Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _pen = super::pen();
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Takes log lines in while the console is there.
pub(crate) struct Activity;

impl<S: Subscriber> Layer<S> for Activity {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        if super::is_open() {
            let mut line = Line::default();
            event.record(&mut line);
            let (tone, mark) = manner(*event.metadata().level());
            super::log(tone, &format!("{mark}{}{}", line.message, line.fields));
        }
    }
}

fn manner(level: Level) -> (Tone, &'static str) {
    match level {
        Level::ERROR => (Tone::Error, "❌ "),
        Level::WARN => (Tone::Plain, "⚠\u{fe0f} "),
        _ => (Tone::Plain, ""),
    }
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
        written.expect("a text takes everything");
    }
}
