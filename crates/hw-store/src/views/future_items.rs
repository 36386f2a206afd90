//! Finds items that are dated later than their source's own clock.

use hw_rules::item::ObjectKind;
use hw_rules::item_names::{ItemNames, MAX_NAMES};
use hw_rules::source_clock::DATE_TOLERANCE_MS;
use hw_rules::source_time::SourceInstant;

use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;
use crate::views::item_names;

impl StoreReader {
    /// Returns the items whose `updated_at` is later than the newest check of any lane of their host. They are
    /// stored as sent and ordered by the time at which they were read.
    pub fn future_items(&self) -> Result<ItemNames, StoreError> {
        const LAST_CHECKS: Sql = Sql::portable(
            "select host, max(checked_at_ms) as last_checked_ms from lanes
              where checked_at_ms is not null group by host order by host",
        );
        self.read("future items", |tx| {
            let checks = tx.query(LAST_CHECKS, &[], |mut row| {
                Ok((row.text("host")?, row.int("last_checked_ms")?))
            })?;
            let mut items = ItemNames::default();
            for (host, checked_at_ms) in checks {
                let latest = SourceInstant(checked_at_ms).plus_ms(DATE_TOLERANCE_MS);
                // the time of a post is never later than that of the server that showed it
                for kind in ObjectKind::ALL.into_iter().filter(|kind| *kind != ObjectKind::Post) {
                    let ids = ids_dated_beyond(tx, &host, kind, latest)?;
                    items.extend(item_names::names_by_ids(tx, &host, kind, &ids)?);
                }
            }
            Ok(items)
        })
    }
}

/// Returns the ids of present items that were updated after `latest`.
///
/// Times of one source are all in UTC and equally long, so they compare as texts.
fn ids_dated_beyond(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    latest: SourceInstant,
) -> Result<Vec<i64>, StoreError> {
    const BEYOND: Sql = Sql::portable(
        "select id from cells
          where host = $1 and kind = $2 and updated_at > $3
            and (tombstone_at_ms is null
                 or (tombstone_at_ms, tombstone_request) < (observed_at_ms, observed_request))
          order by id limit $4",
    );
    let limit = i64::try_from(MAX_NAMES).unwrap_or(i64::MAX);
    let latest = latest.to_string();
    let params = params![host, kind.name(), latest.as_str(), limit];
    tx.query(BEYOND, &params, |mut row| row.int("id"))
}
