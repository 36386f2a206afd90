//! `highwater events consumers`

use hw_rules::format::group_digits;
use hw_store::{ConsumerRow, ConsumerStart, NewConsumer};
use hw_sync::clock::{Clock as _, MachineClock};

use super::{CONSUMERS_HINT, open_writer};
use crate::cli::{AddConsumerArgs, ConsumersArgs, ConsumersCommand, RemoveConsumerArgs};
use crate::columns::consumer_columns;
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::hints;
use crate::report::ErrorHint;
use crate::row_writer::RowWriter;
use crate::terminal::{print_result, print_status};

pub(super) fn run(args: &ConsumersArgs, settings: &AppSettings) -> anyhow::Result<()> {
    match &args.command {
        None => list(args, settings),
        Some(ConsumersCommand::Add(args)) => add(args, settings),
        Some(ConsumersCommand::Remove(args)) => remove(args, settings),
    }
}

fn list(args: &ConsumersArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| {
        let mut writer = RowWriter::open(&args.output, consumer_columns())?;
        let consumers = store.consumers()?;
        for consumer in &consumers {
            writer.write_row(consumer, |out, row| out.write_line(&consumer_line(row)))?;
        }
        writer.finish()?;
        if consumers.is_empty() {
            print_status("no consumers yet; `highwater events read --consumer NAME` creates one");
        }
        Ok(())
    })
}

fn consumer_line(consumer: &ConsumerRow) -> String {
    let ConsumerRow { name, floor_seq, unread, leased, waiting, dead, .. } = consumer;
    let (unread, dead) = (group_digits(*unread), group_digits(*dead));
    format!(
        "{name:<20} at {floor_seq}; {unread} unread, {leased} in work, {waiting} waiting, {dead} dead"
    )
}

fn add(args: &AddConsumerArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let store = open_writer(settings)?;
    let start = args.start();
    let new = NewConsumer { name: args.name.clone(), start, max_tries: args.max_tries };
    let is_new = store.add_consumer(&new, MachineClock.now_ms());
    if !is_new.map_err(|error| hints::add_database_hint(error.into()))? {
        let error = anyhow::anyhow!("there is already a consumer named {}", args.name);
        return Err(error.context(ErrorHint(CONSUMERS_HINT.to_owned())));
    }
    let first = match start {
        ConsumerStart::Beginning => "the oldest stored event",
        ConsumerStart::Now => "the next event",
    };
    Ok(print_result(&format!("new consumer {}: it starts with {first}", args.name))?)
}

fn remove(args: &RemoveConsumerArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let store = open_writer(settings)?;
    let is_removed = store.remove_consumer(&args.name);
    if !is_removed.map_err(|error| hints::add_database_hint(error.into()))? {
        let error = anyhow::anyhow!("there is no consumer named {}", args.name);
        return Err(error.context(ErrorHint(CONSUMERS_HINT.to_owned())));
    }
    Ok(print_result(&format!("removed consumer {}; the events stay", args.name))?)
}
