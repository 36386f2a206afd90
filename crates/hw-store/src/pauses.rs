//! Shares the pauses of rate limits among the processes of a workspace.

use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope};
use hw_rules::safe_text;

use crate::error::StoreError;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::{TransactionStep, step};
use crate::{StoreReader, StoreWriter};

/// A pause of a principal's requests. It may be over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseRow {
    pub principal: Principal,
    /// The budget that is paused, as the source names it; `*` means all of them.
    pub bucket: String,
    pub cause: PauseCause,
    pub until_ms: i64,
    pub reason: String,
}

impl PauseRow {
    /// Returns true if it stops requests of all budgets.
    pub fn stops_all(&self) -> bool {
        self.bucket == ALL_BUCKETS
    }

    /// Returns the host whose requests are paused, and the API if only that one is. The id of the user is left out: it
    /// means nothing to people.
    pub fn target(&self) -> String {
        let host = self.principal.host();
        let apis = [ApiKind::Rest, ApiKind::Graphql];
        match apis.into_iter().find(|api| api.bucket() == self.bucket) {
            Some(api) => format!("{host} ({})", api.name()),
            None if self.stops_all() => host.to_string(),
            None => format!("{host} ({})", self.bucket),
        }
    }
}

/// A pause to store.
#[derive(Debug, Clone)]
pub struct NewPause<'a> {
    pub principal: Principal,
    pub scope: PauseScope,
    pub cause: PauseCause,
    pub until_ms: i64,
    pub reason: &'a str,
}

const PAUSE: TransactionStep = step!("pause");

const ALL_BUCKETS: &str = "*";

fn scope_bucket(scope: PauseScope) -> &'static str {
    match scope {
        PauseScope::Everything => ALL_BUCKETS,
        PauseScope::Api(api) => api.bucket(),
    }
}

fn cause_name(cause: PauseCause) -> &'static str {
    match cause {
        PauseCause::SourceLimit => "limit",
        PauseCause::Reserve => "reserve",
    }
}

impl StoreReader {
    /// Returns the pauses that stop requests of a principal to one API, the longest first. They may be over. Pauses that
    /// end after `latest_ms` are ignored.
    ///
    /// A host's pauses apply to each of its users, and those of its users to the host: before the first response the
    /// token's user is unknown, and any pause at the host applies.
    pub fn principal_pauses(
        &self,
        principal: &Principal,
        api: ApiKind,
        latest_ms: i64,
    ) -> Result<Vec<PauseRow>, StoreError> {
        const PAUSES: Sql = Sql::per_dialect(
            "select principal, bucket, cause, until_ms, reason from pauses
              where (principal in (select value from json_each($1)) or substr(principal, 1, $2) = $3)
                and bucket in ('*', $4) and until_ms <= $5
              order by until_ms desc, principal, bucket, cause",
            "select principal, bucket, cause, until_ms, reason from pauses
              where (principal = any($1) or substr(principal, 1, $2) = $3)
                and bucket in ('*', $4) and until_ms <= $5
              order by until_ms desc, principal, bucket, cause",
        );
        let name = principal.to_string();
        let names = [principal.host(), &name];
        let child_prefix = format!("{name}/");
        let prefix_chars = i64::try_from(child_prefix.chars().count()).unwrap_or(i64::MAX);
        let params =
            params![names.as_slice(), prefix_chars, &child_prefix, api.bucket(), latest_ms];
        self.read("pauses", |tx| tx.query(PAUSES, &params, read_pause))
    }

    /// Returns the pauses that are not over at `now_ms`, ordered by principal and budget.
    pub fn pauses(&self, now_ms: i64) -> Result<Vec<PauseRow>, StoreError> {
        const PAUSES: Sql = Sql::portable(
            "select principal, bucket, cause, until_ms, reason from pauses
              where $1 < until_ms order by principal, bucket, cause",
        );
        self.read("pauses", |tx| tx.query(PAUSES, &params![now_ms], read_pause))
    }
}

impl StoreWriter {
    /// Pauses requests of a principal. A longer pause stays, unless it ends after `latest_ms`: no limit lasts that long,
    /// so it was written under a wrong clock.
    pub fn store_pause(&self, pause: NewPause<'_>, latest_ms: i64) -> Result<(), StoreError> {
        const UPSERT: Sql = Sql::portable(
            "insert into pauses (principal, bucket, cause, until_ms, reason)
             values ($1, $2, $3, $4, $5)
             on conflict (principal, bucket, cause) do update
                set until_ms = excluded.until_ms, reason = excluded.reason
              where pauses.until_ms < excluded.until_ms or $6 < pauses.until_ms",
        );
        let NewPause { principal, scope, cause, until_ms, reason } = pause;
        let reason = safe_text::sanitize_for_storage(reason);
        let (bucket, cause) = (scope_bucket(scope), cause_name(cause));
        let name = principal.to_string();
        let params = params![&name, bucket, cause, until_ms, &reason, latest_ms];
        self.write(PAUSE, |tx| tx.send_statement(UPSERT, &params))
    }

    /// Deletes a pause that ends no later than `until_ms`.
    pub fn lift_pause(&self, pause: &PauseRow, until_ms: i64) -> Result<(), StoreError> {
        const LIFT: Sql = Sql::portable(
            "delete from pauses
              where principal = $1 and bucket = $2 and cause = $3 and until_ms <= $4",
        );
        let PauseRow { principal, bucket, cause, .. } = pause;
        let name = principal.to_string();
        let params = params![&name, bucket, cause_name(*cause), until_ms];
        self.write(PAUSE, |tx| tx.send_statement(LIFT, &params))
    }
}

fn read_pause(mut row: SqlRow) -> Result<PauseRow, StoreError> {
    let principal = Principal::parse(&row.text("principal")?);
    let (bucket, cause) = (row.text("bucket")?, row.text("cause")?);
    let cause = if cause == cause_name(PauseCause::Reserve) {
        PauseCause::Reserve
    } else {
        PauseCause::SourceLimit
    };
    Ok(PauseRow {
        principal,
        bucket,
        cause,
        until_ms: row.int("until_ms")?,
        reason: row.text("reason")?,
    })
}
