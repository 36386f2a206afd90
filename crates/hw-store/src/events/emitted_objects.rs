//! What was last emitted for each object. It outlives the events, so that nothing is emitted twice.

use std::collections::BTreeMap;

use hw_rules::event::{LastEvent, SeenContent};
use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;

use super::{read_class, read_digest};
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;
use crate::views::repositories::parse_time;

/// What was last emitted for one object.
#[derive(Debug, Clone)]
pub(crate) struct EmittedObject {
    pub(crate) last: LastEvent,
    pub(crate) repository_id: i64,
    pub(crate) number: i64,
    /// As the source sent it.
    pub(crate) updated_at: SourceTime,
    /// How many events of the object have this `updated_at`.
    pub(crate) repeats: i64,
}

pub(crate) type EmittedObjects = BTreeMap<ObjectId, EmittedObject>;

/// The rows of some objects, requested.
pub(crate) struct PendingEmitted(Vec<(ObjectKind, PendingRows)>);

impl PendingEmitted {
    pub(crate) fn send(
        tx: &mut Transaction<'_>,
        host: &str,
        ids: &BTreeMap<ObjectKind, Vec<i64>>,
    ) -> Result<Self, StoreError> {
        const SELECT: Sql = Sql::per_dialect(
            concat!(select_emitted!(), "id in (select value from json_each($3))"),
            concat!(select_emitted!(), "id = any($3)"),
        );
        let sent = ids.iter().map(|(kind, ids)| {
            let params = params![host, kind.name(), ids.as_slice()];
            Ok((*kind, tx.send_query(SELECT, &params)?))
        });
        Ok(Self(sent.collect::<Result<_, StoreError>>()?))
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<EmittedObjects, StoreError> {
        let mut objects = EmittedObjects::new();
        for (kind, rows) in self.0 {
            let rows = tx.read_pending(rows, |mut row| {
                let id = ObjectId { kind, id: row.int("id")? };
                let object = EmittedObject {
                    repository_id: row.int("repository_id")?,
                    number: row.int("number")?,
                    updated_at: parse_time(&row.text("updated_at")?)?,
                    last: LastEvent {
                        seen: SeenContent {
                            updated_at: SourceInstant(row.int("updated_at_ms")?),
                            observed_at: ObservedAt::new(
                                row.int("observed_at_ms")?,
                                row.int("observed_request")?,
                            ),
                            content: read_digest(&mut row)?,
                        },
                        is_withdrawn: row.flag("is_withdrawn")?,
                        class: read_class(&mut row)?,
                    },
                    repeats: row.int("repeats")?,
                };
                Ok((id, object))
            })?;
            objects.extend(rows);
        }
        Ok(objects)
    }
}

macro_rules! select_emitted {
    () => {
        "select id, repository_id, number, updated_at, updated_at_ms, observed_at_ms, observed_request,
                content, is_withdrawn, class, reason, repeats
           from emitted_objects where host = $1 and kind = $2 and "
    };
}
use select_emitted;

/// Writes what was emitted.
pub(crate) fn store_emitted(
    tx: &mut Transaction<'_>,
    host: &str,
    emitted: &EmittedObjects,
) -> Result<(), StoreError> {
    const STORE: Sql = Sql::per_dialect(
        concat!(
            store_start!(),
            "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            store_end!()
        ),
        concat!(
            store_start!(),
            "select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
                $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bytea[], $11::boolean[],
                $12::text[], $13::text[], $14::bigint[])",
            store_end!()
        ),
    );
    let rows: Vec<_> = emitted
        .iter()
        .map(|(key, object)| {
            let LastEvent { seen, is_withdrawn, class } = &object.last;
            params![
                host,
                key.kind.name(),
                key.id,
                object.repository_id,
                object.number,
                object.updated_at.as_str(),
                seen.updated_at.0,
                seen.observed_at.at_ms,
                seen.observed_at.request,
                seen.content.0.as_slice(),
                *is_withdrawn,
                class.name(),
                class.reason().map(hw_rules::event::IgnoredReason::name),
                object.repeats,
            ]
            .to_vec()
        })
        .collect();
    tx.insert_rows(STORE, &rows)
}

macro_rules! store_start {
    () => {
        "insert into emitted_objects (host, kind, id, repository_id, number, updated_at, updated_at_ms,
             observed_at_ms, observed_request, content, is_withdrawn, class, reason, repeats) "
    };
}
macro_rules! store_end {
    () => {
        " on conflict (host, kind, id) do update
             set repository_id = excluded.repository_id, number = excluded.number,
                 updated_at = excluded.updated_at, updated_at_ms = excluded.updated_at_ms,
                 observed_at_ms = excluded.observed_at_ms, observed_request = excluded.observed_request,
                 content = excluded.content, is_withdrawn = excluded.is_withdrawn, class = excluded.class,
                 reason = excluded.reason, repeats = excluded.repeats"
    };
}
use {store_end, store_start};
