//! The fields of events, their deliveries and their consumers.

use hw_rules::delivery::DeliveryState;
use hw_rules::event::{EventClass, IgnoredReason, StateChange};
use hw_rules::item::AuthorKind;
use hw_rules::source_time::SourceInstant;
use hw_store::{ConsumerRow, DeadLetter, DeliveredEvent, Event, EventDelivery, EventRow};
use serde_json::{Value, json};

use crate::row_writer::{OutputColumn, object_json};

const EVENT_COLUMNS: [OutputColumn<EventRow>; 29] = [
    // consumers without a JSON parser rely on the id being the first field
    OutputColumn::new("id", |row| json!(row.event.id)),
    OutputColumn::new("seq", |row| json!(row.seq)),
    OutputColumn::new("key", |row| json!(row.event.key)),
    OutputColumn::new("change", |row| json!(row.event.change.name())),
    OutputColumn::new("state_change", |row| {
        json!(row.event.change.state_change().map(StateChange::name))
    }),
    OutputColumn::new("class", |row| json!(row.event.class.name())),
    OutputColumn::new("reason", |row| json!(row.event.class.reason().map(IgnoredReason::name))),
    OutputColumn::new("thread", |row| json!(row.event.thread_name())),
    OutputColumn::new("thread_kind", |row| json!(row.event.thread_kind.name())),
    OutputColumn::new("title", |row| json!(row.event.title)),
    OutputColumn::new("kind", |row| json!(row.event.object.kind.name())),
    OutputColumn::new("object_id", |row| json!(row.event.object.id)),
    OutputColumn::new("author", |row| json!(row.event.author)),
    OutputColumn::new("author_id", |row| json!(row.event.author_id)),
    OutputColumn::new("author_kind", |row| {
        json!(row.event.author_kind.as_ref().map(AuthorKind::name))
    }),
    OutputColumn::new("association", |row| json!(row.event.association)),
    OutputColumn::new("body", |row| json!(row.event.body)),
    OutputColumn::new("url", |row| json!(row.event.url)),
    OutputColumn::new("path", |row| json!(row.event.path)),
    OutputColumn::new("line", |row| json!(row.event.line)),
    OutputColumn::new("reply_to", |row| json!(row.event.reply_to)),
    OutputColumn::new("review_id", |row| json!(row.event.review_id)),
    OutputColumn::new("state", |row| json!(lower(row.event.state.as_deref()))),
    OutputColumn::new("head_sha", |row| json!(row.event.head_sha)),
    OutputColumn::new("labels", |row| json!(row.event.labels)),
    OutputColumn::new("host", |row| json!(row.event.repository.host.as_str())),
    OutputColumn::new("watch", |row| json!(row.event.watch_id.0)),
    OutputColumn::new("created_at", |row| json!(row.event.created_at)),
    OutputColumn::new("updated_at", |row| json!(row.event.updated_at)),
];

pub(crate) fn event_columns() -> Vec<OutputColumn<EventRow>> {
    EVENT_COLUMNS.to_vec()
}

fn lower(state: Option<&str>) -> Option<String> {
    state.map(str::to_lowercase)
}

/// Returns a delivered event as consumers get it: the event, and its lease.
pub(crate) fn delivered_event_json(delivered: &DeliveredEvent, leased_until_ms: i64) -> String {
    let lease = [
        ("token", json!(delivered.token)),
        ("tries", json!(delivered.tries)),
        ("leased_until", time_json(Some(leased_until_ms))),
    ];
    object_json(event_fields(&delivered.event).chain(lease.into_iter().map(to_json_text)))
}

/// Returns an event with what each consumer did with it.
pub(crate) fn shown_event_json(event: &EventRow, deliveries: &[EventDelivery]) -> String {
    let deliveries: Value = deliveries.iter().map(delivery_json).collect();
    object_json(event_fields(event).chain([to_json_text(("deliveries", deliveries))]))
}

fn event_fields(event: &EventRow) -> impl Iterator<Item = (&'static str, String)> {
    EVENT_COLUMNS.iter().map(|column| to_json_text((column.name, (column.value)(event))))
}

fn to_json_text((name, value): (&'static str, Value)) -> (&'static str, String) {
    (name, value.to_string())
}

fn delivery_json(delivery: &EventDelivery) -> Value {
    let stdout = delivery.stdout.as_deref().map(String::from_utf8_lossy);
    json!({
        "consumer": delivery.consumer,
        "state": delivery_state_name(delivery.state),
        "tries": delivery.tries,
        "until": time_json(delivery.until_ms),
        "error": delivery.error,
        "exit_code": delivery.exit_code,
        "stdout": stdout,
        "ended_at": time_json(delivery.ended_ms),
    })
}

/// Returns the name of a delivery's state; `unread` if there was none.
pub(crate) fn delivery_state_name(state: Option<DeliveryState>) -> &'static str {
    state.map_or("unread", DeliveryState::name)
}

/// A dead letter, and the consumer that could not process it.
pub(crate) struct DeadLetterRow {
    pub(crate) consumer: String,
    pub(crate) letter: DeadLetter,
}

impl DeadLetterRow {
    fn event(&self) -> &Event {
        &self.letter.event.event
    }
}

const DEAD_LETTER_COLUMNS: [OutputColumn<DeadLetterRow>; 12] = [
    OutputColumn::new("id", |row| json!(row.event().id)),
    OutputColumn::new("consumer", |row| json!(row.consumer)),
    OutputColumn::new("seq", |row| json!(row.letter.event.seq)),
    OutputColumn::new("tries", |row| json!(row.letter.tries)),
    OutputColumn::new("error", |row| json!(row.letter.error)),
    OutputColumn::new("change", |row| json!(row.event().change.name())),
    OutputColumn::new("thread", |row| json!(row.event().thread_name())),
    OutputColumn::new("kind", |row| json!(row.event().object.kind.name())),
    OutputColumn::new("author", |row| json!(row.event().author)),
    OutputColumn::new("url", |row| json!(row.event().url)),
    OutputColumn::new("updated_at", |row| json!(row.event().updated_at)),
    OutputColumn::new("body", |row| json!(row.event().body)),
];

pub(crate) fn dead_letter_columns() -> Vec<OutputColumn<DeadLetterRow>> {
    DEAD_LETTER_COLUMNS.to_vec()
}

const CONSUMER_COLUMNS: [OutputColumn<ConsumerRow>; 8] = [
    OutputColumn::new("name", |consumer| json!(consumer.name)),
    OutputColumn::new("position", |consumer| json!(consumer.floor_seq)),
    OutputColumn::new("unread", |consumer| json!(consumer.unread)),
    OutputColumn::new("leased", |consumer| json!(consumer.leased)),
    OutputColumn::new("waiting", |consumer| json!(consumer.waiting)),
    OutputColumn::new("dead", |consumer| json!(consumer.dead)),
    OutputColumn::new("max_tries", |consumer| json!(consumer.max_tries)),
    OutputColumn::new("added_at", |consumer| time_json(Some(consumer.created_ms))),
];

pub(crate) fn consumer_columns() -> Vec<OutputColumn<ConsumerRow>> {
    CONSUMER_COLUMNS.to_vec()
}

fn time_json(ms: Option<i64>) -> Value {
    json!(ms.map(|ms| SourceInstant(ms).to_string()))
}

/// Returns the class for people, with the reason of what is ignored: `ignored: bot`.
pub(crate) fn class_text(class: EventClass) -> String {
    match class.reason() {
        Some(reason) => format!("{}: {}", class.name(), reason.name()),
        None => class.name().to_owned(),
    }
}
