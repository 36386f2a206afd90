//! The table of chores.

use hw_rules::version::ObservedAt;

use super::{Chore, ChoreKind, ChorePosition, TextPosition};
use crate::error::StoreError;
use crate::removed_items::RemovalReason;
use crate::sql::{Sql, SqlParam, SqlRow, params};
use crate::transaction::Transaction;

/// Adds a chore: its kind, host, repository and lane. One that is there already starts over, because the decision may
/// be another one.
pub(super) fn insert(
    tx: &mut Transaction<'_>,
    subject: &[SqlParam<'_>; 4],
) -> Result<(), StoreError> {
    const INSERT: Sql = Sql::portable(
        "insert into chores (kind, host, repository_id, lane_id, stage, after_host, after_id)
         values ($1, $2, $3, $4, 0, '', $5)
         on conflict (kind, host, repository_id, lane_id) do update
            set stage = 0, after_host = '', after_id = excluded.after_id",
    );
    let [kind, host, repository_id, lane_id] = *subject;
    let params = [kind, host, repository_id, lane_id, SqlParam::Int(i64::MIN)];
    tx.execute(INSERT, &params).map(drop)
}

/// Reads the chore that was decided first: a later one may build on it.
pub(super) fn read_oldest(tx: &mut Transaction<'_>) -> Result<Option<Chore>, StoreError> {
    const OLDEST: Sql = Sql::portable(
        "select id, kind, host, repository_id, lane_id, observed_at_ms, observed_request, reason,
                stage, after_host, after_id
           from chores order by id limit 1",
    );
    tx.query_first(OLDEST, &[], read_chore)
}

fn read_chore(mut row: SqlRow) -> Result<Chore, StoreError> {
    let name = row.text("kind")?;
    let kind = ChoreKind::ALL.into_iter().find(|kind| kind.name() == name);
    let observed_at = row.maybe_int("observed_at_ms")?.zip(row.maybe_int("observed_request")?);
    let reason = row.maybe_text("reason")?;
    Ok(Chore {
        id: row.int("id")?,
        kind: kind.ok_or_else(|| StoreError::Damaged(format!("unknown chore {name:?}")))?,
        host: row.text("host")?,
        repository_id: row.int("repository_id")?,
        lane_id: row.int("lane_id")?,
        observed_at: observed_at.map(|(at_ms, request)| ObservedAt::new(at_ms, request)),
        reason: RemovalReason::ALL
            .into_iter()
            .find(|known| reason.as_deref() == Some(known.name())),
        position: ChorePosition {
            stage: usize::try_from(row.int("stage")?).unwrap_or(usize::MAX),
            after: TextPosition { host: row.text("after_host")?, id: row.int("after_id")? },
        },
    })
}

pub(super) fn store_position(
    tx: &mut Transaction<'_>,
    id: i64,
    position: &ChorePosition,
) -> Result<(), StoreError> {
    const STORE: Sql =
        Sql::portable("update chores set stage = $1, after_host = $2, after_id = $3 where id = $4");
    let stage = i64::try_from(position.stage).unwrap_or(i64::MAX);
    let params = params![stage, &position.after.host, position.after.id, id];
    tx.execute(STORE, &params).map(drop)
}

pub(super) fn remove(tx: &mut Transaction<'_>, id: i64) -> Result<(), StoreError> {
    const REMOVE: Sql = Sql::portable("delete from chores where id = $1");
    tx.execute(REMOVE, &params![id]).map(drop)
}
