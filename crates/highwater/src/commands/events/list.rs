//! `highwater events list`

use hw_store::{EventFilter, StoreReader};

use crate::cli::ListEventsArgs;
use crate::columns::event_columns;
use crate::commands::{read_command, watch};
use crate::config::AppSettings;
use crate::event_text::event_line;
use crate::report::ErrorHint;
use crate::row_writer::RowWriter;
use crate::terminal::print_status;

/// The number of events read per transaction.
const EVENTS_PER_PAGE: u32 = 200;

pub(super) fn run(args: &ListEventsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| {
        let mut writer = RowWriter::open(&args.output, event_columns())?;
        let (mut filter, mut left) = (event_filter(args, store)?, args.limit);
        loop {
            filter.limit = u32::try_from(left).unwrap_or(u32::MAX).min(EVENTS_PER_PAGE);
            let events = store.list_events(&filter)?;
            for row in &events {
                writer.write_row(row, |out, row| out.write_line(&event_line(&row.event)))?;
            }
            left -= events.len() as u64;
            filter.before = events.last().map(|row| row.seq);
            if left == 0 || filter.before.is_none() {
                break;
            }
        }
        writer.finish()?;
        if left == args.limit {
            report_no_events(args, store)?;
        }
        Ok(())
    })
}

fn event_filter(args: &ListEventsArgs, store: &StoreReader) -> anyhow::Result<EventFilter> {
    let repository = match &args.thread {
        None => None,
        Some(subject) => {
            Some(store.find_repository_key(&subject.repository)?.ok_or_else(|| {
                let error = anyhow::anyhow!("{} has no events", subject.repository);
                error.context(ErrorHint("`highwater watch list` lists what is watched".to_owned()))
            })?)
        }
    };
    Ok(EventFilter {
        repository,
        number: args.thread.as_ref().and_then(|subject| subject.number),
        class: args.class.clone(),
        author: args.author.clone(),
        since: args.since,
        ..EventFilter::default()
    })
}

/// Explains on stderr why no events are listed.
fn report_no_events(args: &ListEventsArgs, store: &StoreReader) -> anyhow::Result<()> {
    let is_filtered = args.thread.is_some()
        || args.class.is_some()
        || args.author.is_some()
        || args.since.is_some();
    if is_filtered {
        print_status("no matches");
    } else if store.watches()?.is_empty() {
        print_status(watch::NO_WATCHES);
    } else {
        print_status("no events yet; `highwater watch list` shows how far the watches are");
    }
    Ok(())
}
