//! `highwater events show`

use hw_rules::source_time::SourceInstant;
use hw_store::{EventDelivery, EventRow};

use crate::cli::ShowEventArgs;
use crate::columns::{class_text, delivery_state_name, shown_event_json};
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::event_text::event_summary;
use crate::report::ErrorHint;
use crate::terminal::{StdoutWriter, print_result};

pub(super) fn run(args: &ShowEventArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| {
        let event = store.event(&args.id)?.ok_or_else(|| {
            let error = anyhow::anyhow!("there is no event {}", args.id);
            error.context(ErrorHint("`highwater events list` lists the events".to_owned()))
        })?;
        let deliveries = store.event_deliveries(event.seq)?;
        if args.json {
            let mut out = StdoutWriter::new();
            out.write_json(&shown_event_json(&event, &deliveries))?;
            return Ok(out.finish()?);
        }
        Ok(print_result(&shown_event_text(&event, &deliveries))?)
    })
}

fn shown_event_text(row: &EventRow, deliveries: &[EventDelivery]) -> String {
    let event = &row.event;
    let mut lines = vec![
        event_summary(event),
        format!("{}  {}  {}", event.updated_at, class_text(event.class), event.url),
        format!("id {}, number {}, key {}", event.id, row.seq, event.key),
    ];
    if !event.body.is_empty() {
        lines.extend([String::new(), event.body.trim_end().to_owned()]);
    }
    lines.push(String::new());
    if deliveries.is_empty() {
        lines.push("no consumer has read events yet".to_owned());
    }
    lines.extend(deliveries.iter().flat_map(delivery_lines));
    lines.join("\n")
}

fn delivery_lines(delivery: &EventDelivery) -> Vec<String> {
    let mut line = format!("{}: {}", delivery.consumer, delivery_state_name(delivery.state));
    if delivery.tries > 1 {
        line.push_str(&format!(", try {}", delivery.tries));
    }
    if let Some(until_ms) = delivery.until_ms {
        line.push_str(&format!(", until {}", SourceInstant(until_ms)));
    }
    if let Some(error) = &delivery.error {
        line.push_str(&format!(" – {error}"));
    }
    let mut lines = vec![line];
    if let Some(stdout) = &delivery.stdout {
        let text = String::from_utf8_lossy(stdout);
        lines.extend(text.lines().map(|line| format!("  {line}")));
    }
    lines
}
