//! `highwater events dead` and `highwater events retry`

use hw_rules::format::format_count;

use super::acknowledge::read_refs;
use super::{open_writer, require_consumer};
use crate::cli::{EventRef, ListDeadArgs, RetryEventsArgs};
use crate::columns::{DeadLetterRow, dead_letter_columns};
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::event_text::event_summary;
use crate::hints;
use crate::report::ErrorHint;
use crate::row_writer::RowWriter;
use crate::terminal::{print_result, print_status};

pub(super) fn list(args: &ListDeadArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| {
        let mut writer = RowWriter::open(&args.output, dead_letter_columns())?;
        let names = match &args.consumer {
            Some(name) => vec![require_consumer(store, name)?.name],
            None => store.consumers()?.into_iter().map(|consumer| consumer.name).collect(),
        };
        let mut count = 0;
        for consumer in names {
            for letter in store.dead_letters(&consumer)? {
                count += 1;
                let row = DeadLetterRow { consumer: consumer.clone(), letter };
                writer.write_row(&row, |out, row| out.write_line(&dead_letter_line(row)))?;
            }
        }
        writer.finish()?;
        if count == 0 {
            print_status("no dead letters");
        }
        Ok(())
    })
}

fn dead_letter_line(row: &DeadLetterRow) -> String {
    let (event, tries) = (&row.letter.event.event, format_count(row.letter.tries.into(), "try"));
    let error = row.letter.error.as_deref().unwrap_or("no reason given");
    let summary = event_summary(event);
    format!("{:<16} {summary}: {error} ({tries})  {}", row.consumer, event.id)
}

pub(super) fn retry(args: &RetryEventsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let refs = read_refs(&args.ids)?;
    let store = open_writer(settings)?;
    let consumer = &args.consumer.name;
    let requeue = || {
        require_consumer(&store, consumer)?;
        let ids: Vec<String> = if args.all {
            let letters = store.dead_letters(consumer)?.into_iter();
            letters.map(|letter| letter.event.event.id).collect()
        } else {
            let ids = refs.iter().filter_map(|event| match event {
                EventRef::Id(id) => Some(id.clone()),
                EventRef::Token(_) | EventRef::Stdin => None,
            });
            ids.collect()
        };
        Ok((store.requeue_dead_letters(consumer, &ids)?, ids.len() as u64))
    };
    let (found, requested) = requeue().map_err(hints::add_database_hint)?;
    print_result(&format!("{} again for {consumer}", format_count(found, "event")))?;
    match requested.max(refs.len() as u64).saturating_sub(found) {
        0 => Ok(()),
        missing => {
            let error = anyhow::anyhow!("{} no dead letters", describe_others(missing));
            Err(error.context(ErrorHint("`highwater events dead` lists them".to_owned())))
        }
    }
}

fn describe_others(count: u64) -> String {
    if count == 1 { "1 event is among".to_owned() } else { format!("{count} events are among") }
}
