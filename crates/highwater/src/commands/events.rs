//! `highwater events`

mod acknowledge;
mod consumers;
mod dead;
mod event_reader;
mod exec;
mod list;
mod read;
mod show;

use hw_rules::delivery::DEFAULT_MAX_TRIES;
use hw_store::{ConsumerRow, ConsumerStart, NewConsumer, StoreReader, StoreWriter};
use hw_sync::clock::{Clock as _, MachineClock};

use crate::cli::EventsCommand;
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::report::ErrorHint;
use crate::terminal::print_status;
use crate::{hints, workspace};

/// Names the command that lists consumers.
const CONSUMERS_HINT: &str = "`highwater events consumers` lists them";

pub(crate) fn run(command: EventsCommand, settings: &AppSettings) -> anyhow::Result<()> {
    match command {
        EventsCommand::Read(args) => read::run(&args, settings),
        EventsCommand::Ack(args) => acknowledge::ack(&args, settings),
        EventsCommand::Nack(args) => acknowledge::nack(&args, settings),
        EventsCommand::Exec(args) => exec::run(*args, settings),
        EventsCommand::List(args) => list::run(&args, settings),
        EventsCommand::Show(args) => show::run(&args, settings),
        EventsCommand::Dead(args) => dead::list(&args, settings),
        EventsCommand::Retry(args) => dead::retry(&args, settings),
        EventsCommand::Consumers(args) => consumers::run(&args, settings),
    }
}

/// Opens the store for writing. A workspace that does not exist is not created.
fn open_writer(settings: &AppSettings) -> anyhow::Result<StoreWriter> {
    let location = workspace::resolve_location(settings)?;
    drop(read_command::open_reader(settings).map_err(hints::add_database_hint)?);
    Ok(workspace::open_for_writing(&location).map_err(hints::add_database_hint)?.store)
}

/// Returns a consumer, which is created if there is none: a mistyped name would read everything again, so that is
/// reported.
fn ensure_consumer(store: &StoreWriter, name: &str) -> anyhow::Result<ConsumerRow> {
    if let Some(consumer) = find_consumer(store, name)? {
        return Ok(consumer);
    }
    let new = NewConsumer {
        name: name.to_owned(),
        start: ConsumerStart::Beginning,
        max_tries: DEFAULT_MAX_TRIES,
    };
    if store.add_consumer(&new, MachineClock.now_ms())? {
        print_status(&format!("new consumer {name}: it starts with the oldest stored event"));
    }
    require_consumer(store, name)
}

/// Returns a consumer, or an error if there is none with this name.
fn require_consumer(store: &StoreReader, name: &str) -> anyhow::Result<ConsumerRow> {
    find_consumer(store, name)?.ok_or_else(|| {
        let error = anyhow::anyhow!("there is no consumer named {name}");
        error.context(ErrorHint(CONSUMERS_HINT.to_owned()))
    })
}

fn find_consumer(store: &StoreReader, name: &str) -> anyhow::Result<Option<ConsumerRow>> {
    Ok(store.consumers()?.into_iter().find(|consumer| consumer.name == name))
}
