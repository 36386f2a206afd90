//! Stores events: what watched threads say, with a full snapshot, so that their readers need nothing else.

use hw_rules::event::{EventChange, EventClass, StateChange};
use hw_rules::item::{AuthorKind, ObjectKey, ThreadKind};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ContentDigest;
use hw_rules::watch::WatchId;

use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Dialect, Sql, SqlParam, SqlRow, params};
use crate::transaction::Transaction;
use crate::views::comment_list::parse_kind;
use crate::views::repositories::parse_time;
use crate::watches::{parse_thread_kind, unknown};

pub(crate) mod context;
pub(crate) mod derivation;
pub(crate) mod emitted_objects;
pub(crate) mod stored_items;

/// An event, as it is emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Unique, and the same for ever.
    pub id: String,
    pub watch_id: WatchId,
    pub repository: RepositoryKey,
    /// Owner and name at that time.
    pub repository_name: String,
    pub number: i64,
    pub thread_kind: ThreadKind,
    pub title: Option<String>,
    pub object: ObjectKey,
    /// `{thread}:{kind}:{id}:{updated_at}`.
    pub key: String,
    pub change: EventChange,
    pub class: EventClass,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub author_kind: Option<AuthorKind>,
    pub association: Option<String>,
    pub body: String,
    pub url: String,
    pub path: Option<String>,
    pub line: Option<i64>,
    pub reply_to: Option<i64>,
    pub review_id: Option<i64>,
    /// The state of the thread, or the verdict of the review.
    pub state: Option<String>,
    pub head_sha: Option<String>,
    pub labels: Vec<String>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
    pub content: ContentDigest,
    /// The source's time of the answer that showed it.
    pub observed_at: SourceInstant,
}

impl Event {
    /// Returns the name of its thread: `acme/pump#12`.
    pub fn thread_name(&self) -> String {
        format!("{}#{}", self.repository_name, self.number)
    }
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Its number in the order of commits.
    pub seq: i64,
    pub event: Event,
    /// Since when no consumer needs it, by our own clock.
    pub settled_ms: Option<i64>,
}

/// Selects the events to list; the default selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Only events before this number: the last one of the page before.
    pub before: Option<i64>,
    /// Only events after this number.
    pub after: Option<i64>,
    pub watch: Option<WatchId>,
    pub repository: Option<RepositoryKey>,
    pub number: Option<i64>,
    /// Only events of this class, by its name.
    pub class: Option<String>,
    /// Only events of this change, by its name.
    pub change: Option<String>,
    /// Only events by this author, in any case.
    pub author: Option<String>,
    /// Only events whose object was updated at this time or later.
    pub since: Option<SourceInstant>,
    /// Leaves out events that no consumer gets.
    pub only_delivered: bool,
    pub limit: u32,
}

const COLUMNS: &str = "events.seq, events.id, events.watch_id, events.host, events.repository_id,
    events.repository, events.number, events.thread_kind, events.title, events.object_kind,
    events.object_id, events.key, events.change, events.state_change, events.class, events.reason,
    events.author, events.author_id, events.author_kind, events.association, events.body, events.url,
    events.path, events.line, events.reply_to, events.review_id, events.state, events.head_sha,
    events.labels, events.created_at, events.updated_at, events.content, events.observed_at_ms,
    events.settled_ms";

/// The condition that consumers get an event.
pub(crate) const IS_DELIVERED: &str = "events.class in ('feedback', 'followup')";

impl StoreReader {
    /// Returns events, the newest first.
    pub fn list_events(&self, filter: &EventFilter) -> Result<Vec<EventRow>, StoreError> {
        let repository = filter.repository.as_ref();
        let author = filter.author.as_deref().map(str::to_ascii_lowercase);
        let selected = [
            ("events.seq >", Some(SqlParam::Int(filter.after.unwrap_or(0)))),
            ("events.seq <", filter.before.map(SqlParam::Int)),
            ("events.watch_id =", filter.watch.map(|watch| SqlParam::Int(watch.0))),
            ("events.host =", repository.map(|key| SqlParam::from(&key.host))),
            ("events.repository_id =", repository.map(|key| SqlParam::from(key.id))),
            ("events.number =", filter.number.map(SqlParam::Int)),
            ("events.class =", filter.class.as_deref().map(SqlParam::Text)),
            ("events.change =", filter.change.as_deref().map(SqlParam::Text)),
            ("lower(events.author) =", author.as_deref().map(SqlParam::Text)),
            ("events.updated_at_ms >=", filter.since.map(|since| SqlParam::Int(since.0))),
        ];
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        for (condition, value) in selected {
            let Some(value) = value else { continue };
            values.push(value);
            conditions.push(format!("{condition} ${}", values.len()));
        }
        if filter.only_delivered {
            conditions.push(IS_DELIVERED.to_owned());
        }
        values.push(SqlParam::Int(filter.limit.into()));
        let rest = format!(
            "where {} order by events.seq desc limit ${}",
            conditions.join(" and "),
            values.len()
        );
        self.read("events", |tx| select_events(tx, &rest, &values))
    }

    /// Returns the event with this id.
    pub fn event(&self, id: &str) -> Result<Option<EventRow>, StoreError> {
        self.read("event", |tx| {
            Ok(select_events(tx, "where events.id = $1", &params![id])?.into_iter().next())
        })
    }
}

/// Returns the readable ones of some events.
pub(crate) fn select_events(
    tx: &mut Transaction<'_>,
    rest: &str,
    params: &[SqlParam<'_>],
) -> Result<Vec<EventRow>, StoreError> {
    let text = format!("select {COLUMNS} from events {rest}");
    Ok(tx.query_readable(Sql::portable(&text), params, read_event)?.rows)
}

/// Returns the statement that selects events by their numbers, in order.
pub(crate) fn events_by_seq(dialect: Dialect) -> String {
    let list = match dialect {
        Dialect::Sqlite => "in (select value from json_each($1))",
        Dialect::Postgres => "= any($1)",
    };
    format!("where events.seq {list} order by events.seq")
}

pub(crate) fn read_event(mut row: SqlRow) -> Result<EventRow, StoreError> {
    let seq = row.int("seq")?;
    let (id, watch_id) = (row.text("id")?, WatchId(row.int("watch_id")?));
    let host = row.text("host")?;
    let repository = RepositoryKey::new(&host, row.int("repository_id")?);
    let (repository_name, number) = (row.text("repository")?, row.int("number")?);
    let thread_kind = parse_thread_kind(&row.text("thread_kind")?)?;
    let title = row.maybe_text("title")?;
    let object_kind = parse_kind(&row.text("object_kind")?)?;
    let object = ObjectKey::new(&host, object_kind, row.int("object_id")?);
    let key = row.text("key")?;
    let (change, state_change) = (row.text("change")?, row.maybe_text("state_change")?);
    let change = EventChange::from_names(&change, state_change.as_deref())
        .ok_or_else(|| unknown("change", &change))?;
    let class = read_class(&mut row)?;
    Ok(EventRow {
        seq,
        event: Event {
            id,
            watch_id,
            repository,
            repository_name,
            number,
            thread_kind,
            title,
            object,
            key,
            change,
            class,
            author: row.maybe_text("author")?,
            author_id: row.maybe_int("author_id")?,
            author_kind: row.maybe_text("author_kind")?.map(AuthorKind::from),
            association: row.maybe_text("association")?,
            body: row.text("body")?,
            url: row.text("url")?,
            path: row.maybe_text("path")?,
            line: row.maybe_int("line")?,
            reply_to: row.maybe_int("reply_to")?,
            review_id: row.maybe_int("review_id")?,
            state: row.maybe_text("state")?,
            head_sha: row.maybe_text("head_sha")?,
            labels: serde_json::from_str(&row.text("labels")?)
                .map_err(|error| StoreError::UnreadableRow(format!("labels: {error}")))?,
            created_at: parse_time(&row.text("created_at")?)?,
            updated_at: parse_time(&row.text("updated_at")?)?,
            content: read_digest(&mut row)?,
            observed_at: SourceInstant(row.int("observed_at_ms")?),
        },
        settled_ms: row.maybe_int("settled_ms")?,
    })
}

pub(crate) fn read_class(row: &mut SqlRow) -> Result<EventClass, StoreError> {
    let (class, reason) = (row.text("class")?, row.maybe_text("reason")?);
    EventClass::from_names(&class, reason.as_deref()).ok_or_else(|| unknown("class", &class))
}

pub(crate) fn read_digest(row: &mut SqlRow) -> Result<ContentDigest, StoreError> {
    let bytes = row.maybe_bytes("content")?.unwrap_or_default();
    let digest = bytes.try_into().map_err(|_| {
        StoreError::UnreadableRow("the content of an event has another length".to_owned())
    })?;
    Ok(ContentDigest(digest))
}

/// Stores events. Their numbers are in the order of commits, because there is one writer at a time.
pub(crate) fn insert_events(tx: &mut Transaction<'_>, events: &[Event]) -> Result<(), StoreError> {
    const INSERT: Sql = Sql::per_dialect(
        concat!(
            insert_start!(),
            "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                     $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)"
        ),
        concat!(
            insert_start!(),
            "select * from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[],
                $6::bigint[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[],
                $13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[], $18::text[],
                $19::text[], $20::bytea[], $21::text[], $22::text[], $23::bigint[], $24::bigint[],
                $25::bigint[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[],
                $31::bigint[], $32::bytea[], $33::bigint[])"
        ),
    );
    let labels: Vec<_> = events
        .iter()
        .map(|event| serde_json::to_string(&event.labels).expect("a list of texts is always JSON"))
        .collect();
    let rows: Vec<_> =
        events.iter().zip(&labels).map(|(event, labels)| event_params(event, labels)).collect();
    tx.insert_rows(INSERT, &rows)
}

macro_rules! insert_start {
    () => {
        "insert into events (id, watch_id, host, repository_id, repository, number, thread_kind, title,
             object_kind, object_id, key, change, state_change, class, reason, author, author_id, author_kind,
             association, body, url, path, line, reply_to, review_id, state, head_sha, labels, created_at,
             updated_at, updated_at_ms, content, observed_at_ms) "
    };
}
use insert_start;

fn event_params<'a>(event: &'a Event, labels: &'a str) -> Vec<SqlParam<'a>> {
    params![
        &event.id,
        event.watch_id.0,
        &event.repository.host,
        event.repository.id,
        &event.repository_name,
        event.number,
        event.thread_kind.name(),
        event.title.as_deref(),
        event.object.kind.name(),
        event.object.id,
        &event.key,
        event.change.name(),
        event.change.state_change().map(StateChange::name),
        event.class.name(),
        event.class.reason().map(hw_rules::event::IgnoredReason::name),
        event.author.as_deref(),
        event.author_id,
        event.author_kind.as_ref().map(AuthorKind::name),
        event.association.as_deref(),
        SqlParam::TextBytes(&event.body),
        &event.url,
        event.path.as_deref(),
        event.line,
        event.reply_to,
        event.review_id,
        event.state.as_deref(),
        event.head_sha.as_deref(),
        labels,
        event.created_at.as_str(),
        event.updated_at.as_str(),
        event.updated_at.instant().0,
        event.content.0.as_slice(),
        event.observed_at.0,
    ]
    .to_vec()
}
