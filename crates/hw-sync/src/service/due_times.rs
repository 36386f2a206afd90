//! Gives everything that the service does regularly a due time, as a row.

use std::collections::BTreeSet;

use hw_rules::duty::{DutyName, DutyState};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::watch::WatchState;
use hw_store::{ScheduledDuty, StoreReader};

use super::{BlueskyPart, GithubPart, ServiceSpec};
use crate::SyncError;

/// The time between two runs of the chores.
const CHORES_INTERVAL_MS: i64 = 3_600_000;

/// What the service does regularly, as far as the workspace has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServiceAgenda {
    pub(super) has_pulls: bool,
    pub(super) has_accounts: bool,
    /// The repositories that are polled.
    pub(super) watched: BTreeSet<RepositoryKey>,
    /// True if some watches are new: what they are about has to be found.
    pub(super) has_new_watches: bool,
}

impl ServiceAgenda {
    pub(super) fn read(store: &StoreReader, spec: &ServiceSpec<'_>) -> Result<Self, SyncError> {
        let mut agenda = Self::default();
        if let Some(GithubPart { pull, .. }) = &spec.github {
            let is_followed = || -> Result<bool, SyncError> {
                Ok(store.sources()?.iter().any(|source| source.host == pull.host))
            };
            agenda.has_pulls = !pull.sources.is_empty() || is_followed()?;
            agenda.watched = store.watched_repositories(&pull.host)?;
            agenda.has_new_watches = store.watches()?.iter().any(|watch| {
                watch.host.as_str() == pull.host && watch.state == WatchState::Unresolved
            });
        }
        if let Some(BlueskyPart { poll, .. }) = &spec.bluesky {
            agenda.has_accounts = store.has_accounts(&poll.host)?;
        }
        Ok(agenda)
    }

    /// Returns the duties of the agenda that have no due time, or one that is too late.
    pub(super) fn unscheduled(
        &self,
        spec: &ServiceSpec<'_>,
        duties: &[DutyState],
        now_ms: i64,
    ) -> Vec<ScheduledDuty> {
        let scheduled = self.duties(spec).into_iter().map(|name| ScheduledDuty {
            latest_ms: now_ms.saturating_add(interval_ms(&name, spec)),
            first_ms: now_ms,
            name,
        });
        let is_known = |scheduled: &ScheduledDuty| {
            let known = duties.iter().find(|duty| duty.name == scheduled.name);
            let due_ms = known.and_then(|duty| duty.due_ms);
            due_ms.is_some_and(|due_ms| due_ms <= scheduled.latest_ms)
        };
        scheduled.filter(|scheduled| !is_known(scheduled)).collect()
    }

    /// Returns the duties that a service which ends performs in any case.
    pub(super) fn polled_at_once(&self, spec: &ServiceSpec<'_>) -> BTreeSet<DutyName> {
        let polled = self.duties(spec).into_iter();
        polled
            .filter(|duty| {
                matches!(
                    duty,
                    DutyName::Repository(_) | DutyName::Watches(_) | DutyName::Accounts(_)
                )
            })
            .collect()
    }

    fn duties(&self, spec: &ServiceSpec<'_>) -> Vec<DutyName> {
        let mut duties = vec![DutyName::Chores];
        if let Some(GithubPart { pull, .. }) = &spec.github {
            if self.has_pulls {
                let host = pull.host.as_str();
                duties.extend([DutyName::pull(host), DutyName::Sweeps(host.into())]);
            }
            if self.has_new_watches {
                duties.push(DutyName::Watches(pull.host.as_str().into()));
            }
            duties.extend(self.watched.iter().cloned().map(DutyName::Repository));
        }
        if let Some(BlueskyPart { poll, .. }) = &spec.bluesky
            && self.has_accounts
        {
            duties.push(DutyName::accounts(poll.host.as_str()));
        }
        duties
    }
}

/// Returns the time between two runs of a duty.
pub(super) fn interval_ms(duty: &DutyName, spec: &ServiceSpec<'_>) -> i64 {
    match duty {
        DutyName::Repository(_) | DutyName::Watches(_) => spec.settings.poll_interval_ms(),
        // each pull performs its share of the sweeps
        DutyName::Pull(_) | DutyName::Sweeps(_) => spec.settings.pull_interval_ms(),
        DutyName::Accounts(_) => {
            let settings = spec.bluesky.map(|part| part.poll.settings).unwrap_or_default();
            settings.interval_ms()
        }
        DutyName::Chores | DutyName::Service => CHORES_INTERVAL_MS,
    }
}
