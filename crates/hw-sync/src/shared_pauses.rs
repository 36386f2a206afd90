//! The pauses that all processes of a principal obey: stored before this process learns of them, and read before each of
//! its requests.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::pause_end::ReaderTime;
use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope};
use hw_store::{NewPause, PauseRow, StoreError, StoreWriter};

use crate::SyncError;
use crate::clock::Clock;
use crate::crash_points::{self, CrashPoints};
use crate::progress::{ProgressEvent, ProgressSink};
use crate::rate_limiter::lock_unpoisoned;
use crate::request_permit::PermitRequest;
use crate::source_time::SourceTimeTracker;
use crate::work_threads::WorkThreads;

pub(crate) struct SharedPauses {
    pub(crate) store: StoreWriter,
    pub(crate) clock: Arc<dyn Clock>,
    /// The machine, whose clock `clock` is.
    pub(crate) machine: String,
    pub(crate) source_time: Arc<Mutex<SourceTimeTracker>>,
    pub(crate) crash_points: CrashPoints,
    pub(crate) progress: ProgressSink,
    /// The threads that wait for a database server.
    pub(crate) work_threads: WorkThreads,
    pub(crate) memory: PauseMemory,
}

/// What this run knows about pauses.
pub(crate) struct PauseMemory {
    /// When each pause was first read, by our own clock.
    first_seen: Mutex<Vec<(PauseRow, i64)>>,
    /// The pauses for the reserve that this run has caused. They are reported when a request waits for them.
    own_reserves: Mutex<BTreeMap<(PauseScope, PauseCause), OwnReserve>>,
    /// End of the latest pause that this run has reported.
    reported_until_ms: AtomicI64,
}

struct OwnReserve {
    until_ms: i64,
    reason: String,
}

/// A stored pause that is not over, and its end by our own clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalPause {
    pub(crate) row: PauseRow,
    pub(crate) until_ms: i64,
}

impl Default for PauseMemory {
    fn default() -> Self {
        Self {
            first_seen: Mutex::default(),
            own_reserves: Mutex::default(),
            reported_until_ms: AtomicI64::new(i64::MIN),
        }
    }
}

impl LocalPause {
    pub(crate) fn scope(&self, api: ApiKind) -> PauseScope {
        if self.row.stops_all() { PauseScope::Everything } else { PauseScope::Api(api) }
    }
}

impl SharedPauses {
    /// Stores a pause of requests of a principal. The caller updates its own state only afterwards, so that no process
    /// starts a request after it.
    pub(crate) fn store_pause(
        &self,
        principal: Principal,
        scope: PauseScope,
        cause: PauseCause,
        until_ms: i64,
        reason: &str,
    ) -> Result<(), SyncError> {
        let now_ms = self.clock.now_ms();
        let wait_ms = until_ms.saturating_sub(now_ms);
        tracing::warn!(reason, wait_s = wait_ms / 1_000, "rate limited; pausing");
        match cause {
            PauseCause::SourceLimit => {
                self.report(reason, until_ms, scope == PauseScope::Everything);
            }
            PauseCause::Reserve(_) => {
                let reserve = OwnReserve { until_ms, reason: reason.to_owned() };
                lock_unpoisoned(&self.memory.own_reserves).insert((scope, cause), reserve);
            }
        }
        let source_now = lock_unpoisoned(&self.source_time).source_now(&*self.clock);
        self.store.store_pause(NewPause {
            principal,
            scope,
            cause,
            machine: &self.machine,
            stored_ms: now_ms,
            until_ms,
            source_until: source_now.map(|now| now.plus_ms(wait_ms)),
            reason,
        })?;
        self.crash_points.pass_point(crash_points::PAUSE_WRITTEN)
    }

    /// Reads the pauses of a principal's requests to one API, the longest first. Those that are over are deleted: a
    /// machine that does not know the source's clock would obey them once more.
    pub(crate) async fn read_pauses(
        &self,
        principal: Principal,
        api: ApiKind,
    ) -> Result<Vec<LocalPause>, SyncError> {
        let rows = self.run_on_store(move |store| store.principal_pauses(&principal, api)).await?;
        let (pending, over) = self.split_over(rows);
        for row in over {
            match self.run_on_store(move |store| store.lift_pause(&row)).await {
                // the next request tries again
                Err(error) if error.is_transient() => {
                    tracing::debug!(%error, "cannot delete a pause");
                }
                result => result?,
            }
        }
        Ok(pending)
    }

    /// Runs a question to a database server where it does not delay other requests.
    async fn run_on_store<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&StoreWriter) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.store.clone();
        let threads = if store.has_server() { self.work_threads } else { WorkThreads::Inline };
        threads.run(move || ask(&store)).await
    }

    /// Converts the ends of pauses to our own clock, and separates those that are over. A pause that is longer than any
    /// limit is left out.
    fn split_over(&self, rows: Vec<PauseRow>) -> (Vec<LocalPause>, Vec<PauseRow>) {
        let now_ms = self.clock.now_ms();
        let source_now = lock_unpoisoned(&self.source_time).source_now(&*self.clock);
        let (mut pending, mut over) = (Vec::new(), Vec::new());
        for row in rows {
            let first_seen_ms = self.memory.first_seen_ms(&row, now_ms);
            let reader = ReaderTime { now_ms, source_now, first_seen_ms };
            match row.span.end_for(row.origin(&self.machine), reader) {
                Some(end) if now_ms < end.until_ms() => {
                    pending.push(LocalPause { row, until_ms: end.until_ms() });
                }
                Some(_) => over.push(row),
                None => {}
            }
        }
        pending.sort_by_key(|pause| std::cmp::Reverse(pause.until_ms));
        self.memory.forget(&over);
        (pending, over)
    }

    /// Deletes the pauses for the reserve that keep requests like this one waiting and end no later than this, so that no
    /// other command reports them.
    pub(crate) fn delete_reserves(
        &self,
        principal: &Principal,
        request: PermitRequest,
        until_ms: i64,
    ) -> Result<(), StoreError> {
        // the user may not be known yet, so the pauses of all users of the host are deleted
        let (pending, _) = self.split_over(self.store.principal_pauses(principal, request.api)?);
        for LocalPause { row, until_ms: end_ms } in pending {
            let is_reserve = row.cause != PauseCause::SourceLimit && row.cause.stops(request.class);
            if is_reserve && end_ms <= until_ms {
                self.store.lift_pause(&row)?;
            }
        }
        Ok(())
    }

    /// Reports a pause that another run stored, once.
    pub(crate) fn report_stored(&self, pause: &LocalPause) {
        self.report(&pause.row.reason, pause.until_ms, pause.row.stops_all());
    }

    /// Reports a pause for the reserve that this run has caused, once.
    pub(crate) fn report_own_reserve(&self, request: PermitRequest, until_ms: i64) {
        let reserves = lock_unpoisoned(&self.memory.own_reserves);
        let awaited = reserves.iter().find(|((scope, cause), reserve)| {
            scope.covers(request.api) && cause.stops(request.class) && reserve.until_ms == until_ms
        });
        if let Some(((scope, _), reserve)) = awaited {
            self.report(&reserve.reason, until_ms, *scope == PauseScope::Everything);
        }
    }

    fn report(&self, reason: &str, until_ms: i64, resumes_slowly: bool) {
        let reported = self.memory.reported_until_ms.fetch_max(until_ms, Ordering::Relaxed);
        if until_ms > reported {
            self.progress.emit(|| ProgressEvent::RequestsPaused {
                reason: reason.to_owned(),
                until_ms,
                resumes_slowly,
            });
        }
    }
}

impl PauseMemory {
    /// Returns when a pause was first read; a pause that was prolonged counts as another one.
    fn first_seen_ms(&self, row: &PauseRow, now_ms: i64) -> i64 {
        let mut first_seen = lock_unpoisoned(&self.first_seen);
        if let Some((_, seen_ms)) = first_seen.iter().find(|(seen, _)| seen == row) {
            return *seen_ms;
        }
        first_seen.push((row.clone(), now_ms));
        now_ms
    }

    fn forget(&self, rows: &[PauseRow]) {
        lock_unpoisoned(&self.first_seen).retain(|(seen, _)| !rows.contains(seen));
    }
}
