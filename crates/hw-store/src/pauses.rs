//! Shares the pauses of rate limits among the processes of a workspace.
//!
//! Each machine has rows of its own, so that times of different clocks never meet in one comparison.

use std::collections::BTreeMap;

use hw_rules::pause_end::{LONGEST_PAUSE_MS, PauseEnd, PauseOrigin, PauseSpan, ReaderTime};
use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope, RequestClass};
use hw_rules::safe_text;
use hw_rules::source_clock::SourceClock;
use hw_rules::source_time::SourceInstant;

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
    /// The machine that stored it; empty if an older version did, or if the machine has no name.
    pub machine: String,
    pub span: PauseSpan,
    pub reason: String,
}

/// A pause that is not over, and its end by this machine's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPause {
    pub pause: PauseRow,
    pub end: PauseEnd,
}

impl PauseRow {
    /// Returns true if it stops requests of all budgets.
    pub fn stops_all(&self) -> bool {
        self.bucket == ALL_BUCKETS
    }

    /// Returns whose clock it ends by for a process on this machine.
    pub fn origin(&self, machine: &str) -> PauseOrigin {
        if self.machine.is_empty() || self.machine == machine {
            PauseOrigin::ThisMachine
        } else {
            PauseOrigin::AnotherMachine
        }
    }

    /// Returns the host whose requests are paused, and the API if only that one is. The id of the user is left out: it
    /// means nothing to people.
    pub fn target(&self) -> String {
        let host = self.principal.host();
        match ApiKind::ALL.into_iter().find(|api| api.bucket() == self.bucket) {
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
    /// The machine whose clock the next two times are of.
    pub machine: &'a str,
    pub stored_ms: i64,
    pub until_ms: i64,
    /// The same end by the source's clock, if the machine knows it.
    pub source_until: Option<SourceInstant>,
    pub reason: &'a str,
}

const PAUSE: TransactionStep = step!("pause");
const LIFT: TransactionStep = step!("lift pause");

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
        PauseCause::Reserve(_) => "reserve",
    }
}

/// Returns the most important class of requests that a pause stops.
fn first_class(cause: PauseCause) -> RequestClass {
    match cause {
        PauseCause::SourceLimit => RequestClass::Replies,
        PauseCause::Reserve(first) => first,
    }
}

fn parse_cause(cause: &str, class: &str) -> PauseCause {
    if cause == "reserve" {
        PauseCause::Reserve(RequestClass::parse(class).unwrap_or(RequestClass::Replies))
    } else {
        PauseCause::SourceLimit
    }
}

impl StoreReader {
    /// Returns the pauses of a principal's requests to one API, whichever classes of them they stop. They may be over.
    ///
    /// A host's pauses apply to each of its users, and those of its users to the host: before the first response the
    /// token's user is unknown, and any pause at the host applies.
    pub fn principal_pauses(
        &self,
        principal: &Principal,
        api: ApiKind,
    ) -> Result<Vec<PauseRow>, StoreError> {
        const PAUSES: Sql = Sql::per_dialect(
            "select principal, bucket, cause, class, machine, stored_ms, until_ms, source_until_ms, reason
               from pauses
              where (principal in (select value from json_each($1)) or substr(principal, 1, $2) = $3)
                and bucket in ('*', $4)
              order by principal, bucket, cause, class, machine",
            "select principal, bucket, cause, class, machine, stored_ms, until_ms, source_until_ms, reason
               from pauses
              where (principal = any($1) or substr(principal, 1, $2) = $3)
                and bucket in ('*', $4)
              order by principal, bucket, cause, class, machine",
        );
        let name = principal.to_string();
        let names = [principal.host(), &name];
        let child_prefix = format!("{name}/");
        let prefix_chars = i64::try_from(child_prefix.chars().count()).unwrap_or(i64::MAX);
        let params = params![names.as_slice(), prefix_chars, &child_prefix, api.bucket()];
        self.read("pauses", |tx| tx.query(PAUSES, &params, read_pause))
    }

    /// Returns the pauses that are not over, ordered by principal and budget. Their ends are by the clock of this
    /// machine, and depend on what it knows of the sources' clocks.
    pub fn pending_pauses(
        &self,
        machine: &str,
        now_ms: i64,
    ) -> Result<Vec<PendingPause>, StoreError> {
        const PAUSES: Sql = Sql::portable(
            "select principal, bucket, cause, class, machine, stored_ms, until_ms, source_until_ms, reason
               from pauses order by principal, bucket, cause, class, machine",
        );
        let pauses = self.read("pauses", |tx| tx.query(PAUSES, &[], read_pause))?;
        let mut clocks: BTreeMap<String, Option<SourceClock>> = BTreeMap::new();
        let mut pending = Vec::new();
        for pause in pauses {
            let host = pause.principal.host();
            if !clocks.contains_key(host) {
                clocks.insert(host.to_owned(), self.source_clock(host, machine)?);
            }
            let clock = clocks.get(host).and_then(Option::as_ref);
            let source_now = clock.and_then(|clock| clock.undisputed_now(now_ms));
            let reader = ReaderTime { now_ms, source_now, first_seen_ms: now_ms };
            let end = pause.span.end_for(pause.origin(machine), reader);
            if let Some(end) = end.filter(|end| now_ms < end.until_ms()) {
                pending.push(PendingPause { pause, end });
            }
        }
        Ok(pending)
    }

    /// Returns true if a pause is stored. It may be over.
    pub(crate) fn has_pauses(&self) -> Result<bool, StoreError> {
        const COUNT: Sql = Sql::portable("select count(*) as matching from pauses");
        self.read("pauses", |tx| Ok(tx.query_count(COUNT, &[])? > 0))
    }
}

impl StoreWriter {
    /// Pauses requests of a principal. A longer pause of the same machine stays, unless no limit lasts that long: then
    /// it was stored under a wrong clock.
    pub fn store_pause(&self, pause: NewPause<'_>) -> Result<(), StoreError> {
        const UPSERT: Sql = Sql::portable(
            "insert into pauses
                    (principal, bucket, cause, class, machine, stored_ms, until_ms, source_until_ms, reason)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             on conflict (principal, bucket, cause, class, machine) do update
                set stored_ms = excluded.stored_ms, until_ms = excluded.until_ms,
                    source_until_ms = excluded.source_until_ms, reason = excluded.reason
              where pauses.until_ms < excluded.until_ms or $10 < pauses.until_ms",
        );
        let NewPause {
            principal,
            scope,
            cause,
            machine,
            stored_ms,
            until_ms,
            source_until,
            reason,
        } = pause;
        let reason = safe_text::sanitize_for_storage(reason);
        let (bucket, name) = (scope_bucket(scope), principal.to_string());
        let params = params![
            &name,
            bucket,
            cause_name(cause),
            first_class(cause).name(),
            machine,
            stored_ms,
            until_ms,
            source_until.map(|until| until.0),
            &reason,
            stored_ms.saturating_add(LONGEST_PAUSE_MS),
        ];
        self.write(PAUSE, |tx| tx.send_statement(UPSERT, &params))
    }

    /// Deletes a pause, unless it was prolonged since it was read.
    pub fn lift_pause(&self, pause: &PauseRow) -> Result<(), StoreError> {
        const DELETE: Sql = Sql::portable(
            "delete from pauses
              where principal = $1 and bucket = $2 and cause = $3 and class = $4 and machine = $5
                and until_ms <= $6",
        );
        let PauseRow { principal, bucket, cause, machine, span, .. } = pause;
        let (name, class) = (principal.to_string(), first_class(*cause).name());
        let params = params![&name, bucket, cause_name(*cause), class, machine, span.until_ms];
        self.write(LIFT, |tx| tx.send_statement(DELETE, &params))
    }
}

fn read_pause(mut row: SqlRow) -> Result<PauseRow, StoreError> {
    let (cause, class) = (row.text("cause")?, row.text("class")?);
    Ok(PauseRow {
        principal: Principal::parse(&row.text("principal")?),
        bucket: row.text("bucket")?,
        cause: parse_cause(&cause, &class),
        machine: row.text("machine")?,
        span: PauseSpan {
            stored_ms: row.maybe_int("stored_ms")?,
            until_ms: row.int("until_ms")?,
            source_until: row.maybe_int("source_until_ms")?.map(SourceInstant),
        },
        reason: row.text("reason")?,
    })
}
