//! `highwater events ack` and `highwater events nack`

use anyhow::Context as _;
use hw_rules::format::format_count;
use hw_store::{AckOutcome, DeliveryRef, RejectOutcome, Rejection};
use hw_sync::clock::{Clock as _, MachineClock};

use super::{open_writer, require_consumer};
use crate::cli::{AckEventsArgs, EventRef, NackEventsArgs, parse_event_ref};
use crate::config::AppSettings;
use crate::hints;
use crate::report::{ErrorHint, UsageError};
use crate::terminal::{print_status, print_warning};

pub(super) fn ack(args: &AckEventsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let events = read_refs(&args.events.ids)?;
    let store = open_writer(settings)?;
    let consumer = &args.consumer.name;
    require_consumer(&store, consumer).map_err(hints::add_database_hint)?;
    let outcomes =
        store.acknowledge_events(consumer, &to_deliveries(&events), MachineClock.now_ms());
    let outcomes = outcomes.map_err(|error| hints::add_database_hint(error.into()))?;
    let mut counts = ReferenceCounts::default();
    for (event, outcome) in events.iter().zip(outcomes) {
        match outcome {
            AckOutcome::Acknowledged | AckOutcome::AlreadyAcknowledged => counts.done += 1,
            AckOutcome::LeaseEnded => counts.report_late(event),
            AckOutcome::Unknown => counts.report_unknown(event),
        }
    }
    counts.finish("acknowledged")
}

pub(super) fn nack(args: &NackEventsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let events = read_refs(&args.events.ids)?;
    let store = open_writer(settings)?;
    let consumer = &args.consumer.name;
    require_consumer(&store, consumer).map_err(hints::add_database_hint)?;
    let now_ms = MachineClock.now_ms();
    let rejection = Rejection {
        retry_at_ms: now_ms + i64::from(args.retry_after) * 1_000,
        error: args.reason.clone(),
    };
    let outcomes = store.reject_events(consumer, &to_deliveries(&events), &rejection, now_ms);
    let outcomes = outcomes.map_err(|error| hints::add_database_hint(error.into()))?;
    let mut counts = ReferenceCounts::default();
    for (event, outcome) in events.iter().zip(outcomes) {
        match outcome {
            RejectOutcome::Waiting => counts.done += 1,
            RejectOutcome::Dead => {
                counts.done += 1;
                print_warning(&format!("{event} failed too often and is a dead letter now"));
            }
            RejectOutcome::LeaseEnded => counts.report_late(event),
            RejectOutcome::Unknown => counts.report_unknown(event),
        }
    }
    counts.finish("given back")
}

/// What became of the events that a user named.
#[derive(Default)]
struct ReferenceCounts {
    done: u64,
    missed: u64,
}

impl ReferenceCounts {
    fn report_late(&mut self, event: &EventRef) {
        self.missed += 1;
        print_warning(&format!(
            "{event} is not leased any more: it was given to another reader, or is done"
        ));
    }

    fn report_unknown(&mut self, event: &EventRef) {
        self.missed += 1;
        print_warning(&format!("there is no event {event}"));
    }

    fn finish(self, action: &str) -> anyhow::Result<()> {
        print_status(&format!("{} {action}", format_count(self.done, "event")));
        if self.missed == 0 {
            return Ok(());
        }
        let missed = format_count(self.missed, "event");
        let hint = "`highwater events show ID` shows what each consumer did with an event";
        let error = anyhow::anyhow!("{missed} could not be {action}");
        Err(error.context(ErrorHint(hint.to_owned())))
    }
}

fn to_deliveries(events: &[EventRef]) -> Vec<DeliveryRef> {
    let deliveries = events.iter().map(|event| match event {
        EventRef::Id(id) => DeliveryRef::Event(id.clone()),
        EventRef::Token(token) => DeliveryRef::Token(token.clone()),
        EventRef::Stdin => DeliveryRef::Event(String::new()),
    });
    deliveries.collect()
}

/// Returns the references of the arguments, in order; `-` stands for those on stdin.
pub(super) fn read_refs(arguments: &[EventRef]) -> anyhow::Result<Vec<EventRef>> {
    let mut events = Vec::new();
    for argument in arguments {
        if *argument != EventRef::Stdin {
            events.push(argument.clone());
            continue;
        }
        let text = std::io::read_to_string(std::io::stdin()).context("cannot read stdin")?;
        for (number, line) in (1..).zip(text.lines()) {
            if !line.trim().is_empty() {
                let event = parse_event_ref(line).ok().filter(|event| *event != EventRef::Stdin);
                events.push(event.ok_or_else(|| {
                    UsageError(format!("stdin:{number}: expected the id of an event, got {line:?}"))
                })?);
            }
        }
    }
    Ok(events)
}
