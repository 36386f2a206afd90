//! The duty of a repository in a service: the poll of a watched one, and the comments that a pull requests.

use hw_rules::duty::{DutyState, NextDue};
use hw_rules::rate_limit::RequestClass;
use hw_rules::repository_key::RepositoryKey;
use hw_store::{ClaimReason, DutyEnd, StoreError};

use super::{AcceptedDuty, ClaimedDuty, LeasedStore, PerformedDuty, ServiceRun};
use crate::SyncError;
use crate::pull_run::PullRun;
use crate::repository_duty::RepositoryTask;
use crate::service::duty_errors::FailedDuty;
use crate::turn::{PullContext, ReadingPurpose, SweepPolicy, TargetRepository};
use crate::watch_context::WatchContext;
use crate::watch_resolution::resolve_watches;
use crate::watched_repository::poll_repository;

/// The time after which a poll between two requests of a pull looks whether the pull has ended.
const LOOK_INTERVAL_MS: i64 = 500;

impl ServiceRun<'_> {
    pub(super) fn accepts_repository(
        &self,
        duty: &DutyState,
        key: &RepositoryKey,
    ) -> Option<AcceptedDuty> {
        let is_watched = self.progress().agenda.watched.contains(key);
        let class = if is_watched { RequestClass::WatchedThreads } else { RequestClass::Mirror };
        if let Some((_, requested)) = self.pulls.as_ref()?.run_for(duty) {
            return Some(AcceptedDuty { class, ..requested });
        }
        // a repository that is no longer watched loses its due time
        self.is_due(duty).then_some(AcceptedDuty { class, reason: ClaimReason::Schedule })
    }

    /// Polls a watched repository if that is due, and then reads what a pull requests until the next poll.
    pub(super) async fn perform_repository(
        &self,
        store: LeasedStore,
        claimed: ClaimedDuty,
    ) -> Result<PerformedDuty, SyncError> {
        let (before, began_ms) = (&claimed.before, self.now_ms());
        let hw_rules::duty::DutyName::Repository(key) = &before.name else {
            return Ok(PerformedDuty::Kept(before.name.clone()));
        };
        let is_watched = self.progress().agenda.watched.contains(key);
        let mut next_due = match (is_watched, before.due_ms) {
            (false, Some(_)) => NextDue::OnRequest,
            (true | false, _) => NextDue::Kept,
        };
        let mut error = None;
        if is_watched && self.is_due(before) {
            let result = self.poll_repository(&store, key).await;
            match self.finish(&store, before, began_ms, result)? {
                PerformedDuty::Ended(end) => (next_due, error) = (end.next_due, end.error),
                kept @ PerformedDuty::Kept(_) => return Ok(kept),
            }
        }
        let ClaimReason::Request(detail) = &claimed.reason else {
            return Ok(PerformedDuty::Ended(self.end_of(&store, next_due, error)));
        };
        let run = self.pulls.as_ref().and_then(|pulls| pulls.run_of(detail));
        let (Some(run), Some(task)) = (run, RepositoryTask::from_detail(detail)) else {
            return Ok(PerformedDuty::Ended(self.end_of(&store, next_due, error)));
        };
        let until_ms = match next_due {
            NextDue::At(due_ms) => Some(due_ms),
            NextDue::Kept => before.due_ms,
            NextDue::OnRequest => None,
        };
        let read = run.perform_repository_duty(store.clone(), key, task, until_ms).await;
        match read {
            Ok(PerformedDuty::Ended(end)) => {
                let error = end.error.or(error);
                Ok(PerformedDuty::Ended(self.end_of(&store, next_due, error)))
            }
            Ok(kept @ PerformedDuty::Kept(_)) => {
                self.poll_while_kept(&run, &store, key, until_ms).await?;
                Ok(kept)
            }
            Err(error) => match FailedDuty::from_error(error, &before.name) {
                FailedDuty::Failed(error) => {
                    let reason = error.reason();
                    run.abort(error);
                    Ok(PerformedDuty::Ended(self.end_of(&store, next_due, Some(reason))))
                }
                FailedDuty::Interrupted(error) => Err(error),
                FailedDuty::Lost => Ok(PerformedDuty::Kept(before.name.clone())),
            },
        }
    }

    fn end_of(&self, store: &LeasedStore, next_due: NextDue, error: Option<String>) -> DutyEnd {
        let (lease, ended_ms) = (store.lease().clone(), self.now_ms());
        DutyEnd { lease, ended_ms, next_due, error }
    }

    /// Polls a watched repository while a pull keeps its duty, because the removals of the pull are counted together.
    async fn poll_while_kept(
        &self,
        run: &PullRun<'_>,
        store: &LeasedStore,
        key: &RepositoryKey,
        due_ms: Option<i64>,
    ) -> Result<(), SyncError> {
        let Some(mut due_ms) = due_ms else { return Ok(()) };
        let duty = &store.lease().duty;
        while run.is_kept(duty) {
            if self.now_ms() >= due_ms {
                due_ms = self.now_ms() + self.spec.settings.poll_interval_ms();
                match self.poll_repository(store, key).await {
                    Ok(None) => {}
                    Ok(Some(reason)) => tracing::warn!(%duty, reason, "a poll failed"),
                    Err(SyncError::Store(StoreError::LeaseLost { .. })) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            self.clock.sleep_until(self.now_ms() + LOOK_INTERVAL_MS).await;
        }
        Ok(())
    }

    /// Polls a repository. Returns the first thing that could not be read.
    async fn poll_repository(
        &self,
        store: &LeasedStore,
        key: &RepositoryKey,
    ) -> Result<Option<String>, SyncError> {
        let Some(context) = self.watch_context(store) else { return Ok(None) };
        let Some(repository) = store.repository(key)? else { return Ok(None) };
        let repository = TargetRepository::for_watches(&repository);
        let outcome = poll_repository(&context, &repository).await?;
        self.progress().summary.repository_polls += 1;
        Ok(outcome.failures.into_iter().next())
    }

    /// Finds what new watches are about. Returns the first reason why that is not known.
    pub(super) async fn resolve_watches(
        &self,
        store: &LeasedStore,
    ) -> Result<Option<String>, SyncError> {
        let Some(context) = self.watch_context(store) else { return Ok(None) };
        let outcome = resolve_watches(&context).await?;
        // the repositories of these watches are polled at once
        self.progress().read_ms = None;
        Ok(outcome.failures.into_iter().next())
    }

    fn watch_context<'b>(&'b self, store: &'b LeasedStore) -> Option<WatchContext<'b>> {
        let pulls = self.pulls.as_ref()?;
        let pull = PullContext {
            store,
            client: pulls.client(),
            reading: ReadingPurpose::Mirror { window_days: pulls.spec().window_days },
            allow_mass_removal: false,
            sweeps: SweepPolicy::LeftToOthers,
            run: &self.poll_state,
        };
        Some(WatchContext { pull, host: &pulls.spec().host, settings: &self.spec.settings })
    }
}
