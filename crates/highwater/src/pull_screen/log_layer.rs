//! Adds log lines to the activity lines of the console.

use std::fmt::Write as _;

use hw_tui::pull_screen::MessageTone;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

/// Adds log lines to the console while it is open.
pub(crate) struct ActivityLogLayer;

impl<S: Subscriber> Layer<S> for ActivityLogLayer {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        if super::is_open() {
            let mut line = LogLine::default();
            event.record(&mut line);
            let LevelStyle { tone, prefix } = level_style(*event.metadata().level());
            super::add_log_line(tone, &format!("{prefix}{}{}", line.message, line.fields));
        }
    }
}

struct LevelStyle {
    tone: MessageTone,
    prefix: &'static str,
}

fn level_style(level: Level) -> LevelStyle {
    match level {
        Level::ERROR => LevelStyle { tone: MessageTone::Error, prefix: "❌ " },
        Level::WARN => LevelStyle { tone: MessageTone::Plain, prefix: "⚠\u{fe0f} " },
        _ => LevelStyle { tone: MessageTone::Plain, prefix: "" },
    }
}

#[derive(Default)]
struct LogLine {
    message: String,
    fields: String,
}

impl Visit for LogLine {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
        written.expect("writing to a String never fails");
    }
}
