//! Log lines among the activity lines of the console, while it is there.

use std::fmt::Write as _;

use hw_tui::console::Tone;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

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
