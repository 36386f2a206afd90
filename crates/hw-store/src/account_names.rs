//! Stores the names of accounts. A name belongs to the account that was last seen with it.

use std::collections::BTreeMap;

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::handle::Handle;

use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// The current handle of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountName {
    pub did: Did,
    pub handle: Handle,
}

/// Stores names. An account that had one of them before loses it. A placeholder is no name.
pub(crate) fn store_names(
    tx: &mut Transaction<'_>,
    host: &str,
    names: &[AccountName],
) -> Result<(), StoreError> {
    const KNOWN: Sql = Sql::per_dialect(
        "select did, handle from account_names
          where host = $1 and did in (select value from json_each($2))",
        "select did, handle from account_names
          where host = $1 and did in (select json_array_elements_text(cast($2::text as json)))",
    );
    const TAKE: Sql = Sql::portable(
        "update account_names set handle = null where host = $1 and handle = $2 and did <> $3",
    );
    const GIVE: Sql = Sql::portable(
        "insert into account_names (host, did, handle) values ($1, $2, $3)
         on conflict (host, did) do update set handle = excluded.handle",
    );
    if names.is_empty() {
        return Ok(());
    }
    let dids: Vec<&str> = names.iter().map(|name| name.did.as_str()).collect();
    let dids = serde_json::to_string(&dids).expect("texts are always JSON");
    let known: BTreeMap<String, Option<String>> = tx
        .query(KNOWN, &params![host, &dids], |mut row| {
            Ok((row.text("did")?, row.maybe_text("handle")?))
        })?
        .into_iter()
        .collect();
    for AccountName { did, handle } in names {
        let stored = known.get(did.as_str()).and_then(|stored| stored.as_deref());
        if handle.is_placeholder() || stored == Some(handle.as_str()) {
            continue;
        }
        tx.send_statement(TAKE, &params![host, handle.as_str(), did.as_str()])?;
        tx.send_statement(GIVE, &params![host, did.as_str(), handle.as_str()])?;
    }
    Ok(())
}
