//! Which items are dated beyond their source's own time?

use hw_rules::item::Kind;
use hw_rules::item_names::{ItemNames, MOST_NAMES};
use hw_rules::source_clock::TOLERANCE_MS;
use hw_rules::time::Mark;

use crate::Store;
use crate::error::Error;
use crate::sql::{Row, Sql, params};
use crate::tx::Tx;
use crate::views::item_names;

impl Store {
    /// Returns the items whose time of change lies beyond the last look at any list of their host. They are
    /// stored as sent and ordered by when they were read.
    pub fn future_items(&self) -> Result<ItemNames, Error> {
        const LAST_LOOKS: Sql = Sql::both(
            "select host, max(checked_at_ms) from lanes
              where checked_at_ms is not null group by host order by host",
        );
        self.read("future items", |tx| {
            let looks = tx.query(LAST_LOOKS, &[], |mut row| Ok((row.text(0)?, row.int(1)?)))?;
            let mut items = ItemNames::default();
            for (host, looked_at_ms) in looks {
                let latest = Mark(looked_at_ms).plus(TOLERANCE_MS);
                for kind in Kind::ALL {
                    let ids = dated_beyond(tx, &host, kind, latest)?;
                    items.extend(item_names::by_ids(tx, &host, kind, &ids)?);
                }
            }
            Ok(items)
        })
    }
}

/// Times of one source are all in UTC and equally long, so they can be compared as texts.
fn dated_beyond(tx: &mut Tx<'_>, host: &str, kind: Kind, latest: Mark) -> Result<Vec<i64>, Error> {
    const BEYOND: Sql = Sql::both(
        "select id from cells
          where host = $1 and kind = $2 and updated_at > $3
            and (gone_at_ms is null
                 or (gone_at_ms, gone_request) < (seen_at_ms, seen_request))
          order by id limit $4",
    );
    let most = i64::try_from(MOST_NAMES).unwrap_or(i64::MAX);
    let latest = latest.to_string();
    let params = params![host, kind.name(), latest.as_str(), most];
    tx.query(BEYOND, &params, |mut row: Row| row.int(0))
}
