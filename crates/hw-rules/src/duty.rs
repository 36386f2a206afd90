//! Duties: the work that is done regularly or on request, and which of it comes next.
//!
//! A duty is a lease with a due time. Whoever holds it may write what belongs to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use crate::backoff::{self, Jitter};
use crate::format::format_count;
use crate::lane::{Lane, Surface};
use crate::rate_limit::RequestClass;
use crate::repository_key::{Host, RepositoryKey};

/// Names a duty. Its text is its key in the database.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DutyName {
    /// The comments of one repository, whoever needs them.
    Repository(RepositoryKey),
    /// The repositories and threads of everything that is followed at a host. One duty for all sources of the host: they
    /// share requests, and the brake counts their removals together.
    Pull(Host),
    /// The feeds of all accounts that are followed at a host.
    Accounts(Host),
    /// The watches at a host that are not resolved: their names have to be looked up.
    Watches(Host),
    /// Requests the sweeps of a host's lists, each once an interval.
    Sweeps(Host),
    /// Everything in the database that has to be finished or removed.
    Chores,
    /// Held by the service as long as it runs, in a workspace that allows only one.
    Service,
}

/// A kind of duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DutyKind {
    Repository,
    Pull,
    Accounts,
    Watches,
    Sweeps,
    Chores,
    Service,
}

impl DutyName {
    pub fn pull(host: impl Into<Host>) -> Self {
        Self::Pull(host.into())
    }

    pub fn accounts(host: impl Into<Host>) -> Self {
        Self::Accounts(host.into())
    }

    /// Returns the duty that a lane belongs to: all comments of a repository and its activity to one, feeds to the one of
    /// all accounts, everything else to the pull.
    pub fn for_lane(lane: &Lane) -> Self {
        match (lane.repository(), lane.surface) {
            (_, Surface::Feed) => Self::Accounts(lane.host.clone()),
            (Some(repository), Surface::Activity | Surface::Comments(_)) => {
                Self::Repository(repository)
            }
            _ => Self::Pull(lane.host.clone()),
        }
    }

    pub fn kind(&self) -> DutyKind {
        match self {
            Self::Repository(_) => DutyKind::Repository,
            Self::Pull(_) => DutyKind::Pull,
            Self::Accounts(_) => DutyKind::Accounts,
            Self::Watches(_) => DutyKind::Watches,
            Self::Sweeps(_) => DutyKind::Sweeps,
            Self::Chores => DutyKind::Chores,
            Self::Service => DutyKind::Service,
        }
    }
}

impl DutyKind {
    /// Returns the class of its requests. That of a watched repository is [higher](RequestClass::WatchedThreads).
    pub fn class(self) -> RequestClass {
        match self {
            Self::Watches => RequestClass::WatchedThreads,
            Self::Accounts => RequestClass::Accounts,
            Self::Repository | Self::Pull | Self::Service => RequestClass::Mirror,
            Self::Sweeps | Self::Chores => RequestClass::Sweeps,
        }
    }

    /// Returns the number of such duties of one class that one worker performs at once. It is small enough to leave some
    /// to others.
    pub fn max_concurrent(self) -> usize {
        match self {
            Self::Repository => 16,
            Self::Pull
            | Self::Accounts
            | Self::Watches
            | Self::Sweeps
            | Self::Chores
            | Self::Service => 1,
        }
    }
}

impl fmt::Display for DutyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository(repository) => write!(f, "repository/{repository}"),
            Self::Pull(host) => write!(f, "pull/{host}"),
            Self::Accounts(host) => write!(f, "accounts/{host}"),
            Self::Watches(host) => write!(f, "watches/{host}"),
            Self::Sweeps(host) => write!(f, "sweeps/{host}"),
            Self::Chores => f.write_str(CHORES_NAME),
            Self::Service => f.write_str(SERVICE_NAME),
        }
    }
}

const CHORES_NAME: &str = "chores";
const SERVICE_NAME: &str = "service";

/// Describes duties as one part of a sentence: `pull from github.com, comments of 3 repositories`.
pub fn describe_duties(names: &[DutyName]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut repositories = 0;
    for name in names {
        match name {
            DutyName::Pull(host) => parts.push(format!("pull from {host}")),
            DutyName::Accounts(host) => parts.push(format!("accounts at {host}")),
            DutyName::Watches(host) => parts.push(format!("new watches at {host}")),
            DutyName::Sweeps(host) => parts.push(format!("sweeps at {host}")),
            DutyName::Chores => parts.push("chores".to_owned()),
            DutyName::Service => parts.push("service".to_owned()),
            DutyName::Repository(_) => repositories += 1,
        }
    }
    if repositories > 0 {
        parts.push(format!("comments of {}", format_count(repositories, "repository")));
    }
    parts.join(", ")
}

/// A text that names no duty of this version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDuty;

impl FromStr for DutyName {
    type Err = UnknownDuty;

    fn from_str(text: &str) -> Result<Self, UnknownDuty> {
        match text {
            CHORES_NAME => return Ok(Self::Chores),
            SERVICE_NAME => return Ok(Self::Service),
            _ => {}
        }
        let (kind, rest) = text.split_once('/').ok_or(UnknownDuty)?;
        match kind {
            "pull" => Ok(Self::pull(rest)),
            "accounts" => Ok(Self::accounts(rest)),
            "watches" => Ok(Self::Watches(rest.into())),
            "sweeps" => Ok(Self::Sweeps(rest.into())),
            "repository" => {
                let (host, id) = rest.rsplit_once('/').ok_or(UnknownDuty)?;
                let id = id.parse().map_err(|_| UnknownDuty)?;
                Ok(Self::Repository(RepositoryKey::new(host, id)))
            }
            _ => Err(UnknownDuty),
        }
    }
}

/// The state of a duty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutyState {
    pub name: DutyName,
    /// Tells runs apart that cover different things: the options of the pull that requested or performs it.
    pub detail: String,
    /// When it is performed next, by our own clock; none if only on request.
    pub due_ms: Option<i64>,
    /// When it was requested; none if it was not, or was claimed since.
    pub requested_ms: Option<i64>,
    /// The worker that performs it.
    pub owner: Option<String>,
    /// The number of the claim. It rises with each one.
    pub epoch: i64,
    /// The claim that was performed to its end most recently, when it ended, and the error that it ended with.
    pub ended_epoch: Option<i64>,
    pub ended_ms: Option<i64>,
    pub last_error: Option<String>,
    /// The number of runs in a row that ended with an error.
    pub failures: u32,
}

impl DutyState {
    /// Returns the state of a duty that was never requested or claimed.
    pub fn new(name: DutyName) -> Self {
        Self {
            name,
            detail: String::new(),
            due_ms: None,
            requested_ms: None,
            owner: None,
            epoch: 0,
            ended_epoch: None,
            ended_ms: None,
            last_error: None,
            failures: 0,
        }
    }

    /// Returns true if nobody performs it, or only a worker that is dead.
    pub fn is_free(&self, dead_workers: &BTreeSet<String>) -> bool {
        self.owner.as_ref().is_none_or(|owner| dead_workers.contains(owner))
    }

    /// Returns true if the claim with this number, or a later one, was performed without an error.
    pub fn has_succeeded_since(&self, epoch: i64) -> bool {
        self.ended_epoch >= Some(epoch) && self.last_error.is_none()
    }

    /// Returns true if a worker should perform it. One that a dead worker began is due as well.
    fn is_due(&self, now_ms: i64) -> bool {
        self.requested_ms.is_some()
            || self.owner.is_some()
            || self.due_ms.is_some_and(|due_ms| due_ms <= now_ms)
    }
}

/// When a duty that has ended is due next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextDue {
    /// As before: whoever performed it on request leaves the schedule of the service alone.
    Kept,
    At(i64),
    /// Only on request.
    OnRequest,
}

/// A duty that a worker may perform, and the class of the requests that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DutyCandidate<'a> {
    pub duty: &'a DutyState,
    pub class: RequestClass,
}

/// A duty that a worker performs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningDuty {
    pub name: DutyName,
    pub class: RequestClass,
}

/// Returns the duties to claim now, the most important first: by class, then those that were requested, then by due time.
///
/// `running` are the duties that this worker performs already. Those of one kind and class are limited together, so that
/// less important ones never take the place of more important ones.
pub fn order_duties(
    candidates: &[DutyCandidate<'_>],
    running: &[RunningDuty],
    dead_workers: &BTreeSet<String>,
    now_ms: i64,
) -> Vec<DutyName> {
    let mut due: Vec<DutyCandidate<'_>> = candidates
        .iter()
        .filter(|DutyCandidate { duty, .. }| duty.is_free(dead_workers) && duty.is_due(now_ms))
        .filter(|candidate| running.iter().all(|running| running.name != candidate.duty.name))
        .copied()
        .collect();
    due.sort_by_key(|DutyCandidate { duty, class }| {
        (*class, duty.requested_ms.is_none(), duty.due_ms, &duty.name)
    });
    let mut counts: BTreeMap<(DutyKind, RequestClass), usize> = BTreeMap::new();
    for RunningDuty { name, class } in running {
        *counts.entry((name.kind(), *class)).or_default() += 1;
    }
    let mut picked = Vec::new();
    for DutyCandidate { duty, class } in due {
        let kind = duty.name.kind();
        let count = counts.entry((kind, class)).or_default();
        if *count < kind.max_concurrent() {
            *count += 1;
            picked.push(duty.name.clone());
        }
    }
    picked
}

/// Returns when a duty is due after a run that ended now: after its interval, or sooner if it failed and the interval is
/// longer than the delay of a retry.
pub fn next_due_ms(interval_ms: i64, failures: u32, now_ms: i64, jitter: Jitter) -> i64 {
    let delay_ms = match failures {
        0 => interval_ms,
        failures => interval_ms.min(backoff::failed_turn_delay_ms(failures, jitter)),
    };
    now_ms.saturating_add(delay_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duty_names_are_read_as_they_are_written() {
        for name in [
            DutyName::pull("github.com"),
            DutyName::Repository(RepositoryKey::new("ghe.local:8443", 42)),
            DutyName::accounts("bsky.app"),
            DutyName::Watches("github.com".into()),
            DutyName::Sweeps("github.com".into()),
            DutyName::Chores,
            DutyName::Service,
        ] {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert_eq!(
            DutyName::Repository(RepositoryKey::new("github.com", 42)).to_string(),
            "repository/github.com/42"
        );
        for text in ["", "pull", "repository/github.com", "repository/github.com/x", "hooks/a"] {
            assert_eq!(text.parse::<DutyName>(), Err(UnknownDuty), "{text:?}");
        }
    }

    #[test]
    fn duty_of_a_feed_is_that_of_all_accounts_of_its_host() {
        let lane = Lane::account_feed("bsky.app", "did:plc:alice".parse().unwrap());
        assert_eq!(DutyName::for_lane(&lane), DutyName::accounts("bsky.app"));
        assert_eq!(lane.to_string(), "bsky.app/account/did:plc:alice/feed");
    }

    #[test]
    fn duties_are_described_with_the_number_of_repositories() {
        let repository = |id| DutyName::Repository(RepositoryKey::new("h", id));
        let names = [DutyName::pull("github.com"), repository(1), repository(2)];
        assert_eq!(describe_duties(&names), "pull from github.com, comments of 2 repositories");
        assert_eq!(describe_duties(&[repository(1)]), "comments of 1 repository");
    }

    #[test]
    fn duties_that_are_requested_come_before_those_that_are_due() {
        let duties = [
            DutyState { due_ms: Some(90), ..repository(1) },
            DutyState { due_ms: Some(80), ..repository(2) },
            DutyState { requested_ms: Some(99), ..repository(3) },
            DutyState { due_ms: Some(101), ..repository(4) },
            repository(5),
        ];
        let picked = order_all(&duties, &[], &BTreeSet::new(), 100);
        assert_eq!(picked, [3, 2, 1].map(|id| DutyName::Repository(RepositoryKey::new("h", id))));
    }

    #[test]
    fn duties_of_a_dead_worker_are_due_and_those_of_a_living_one_are_left_to_it() {
        let held = |id, owner: &str| DutyState { owner: Some(owner.to_owned()), ..repository(id) };
        let duties = [held(1, "alive"), held(2, "dead")];
        let dead = BTreeSet::from(["dead".to_owned()]);
        assert_eq!(
            order_all(&duties, &[], &dead, 0),
            [DutyName::Repository(RepositoryKey::new("h", 2))]
        );
    }

    #[test]
    fn duties_of_a_kind_are_limited_together_with_those_that_run() {
        let requested = |id| DutyState { requested_ms: Some(1), ..repository(id) };
        let duties: Vec<_> = (0..40).map(requested).collect();
        let running: Vec<_> =
            (0..10).map(|id| DutyName::Repository(RepositoryKey::new("h", id))).collect();
        let picked = order_all(&duties, &running, &BTreeSet::new(), 0);
        assert_eq!(
            picked,
            (10..16)
                .map(|id| DutyName::Repository(RepositoryKey::new("h", id)))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn duties_of_a_higher_class_come_first_and_have_room_of_their_own() {
        let duties: Vec<_> =
            (0..20).map(|id| DutyState { due_ms: Some(id), ..repository(id) }).collect();
        let candidates: Vec<_> = duties
            .iter()
            .enumerate()
            .map(|(index, duty)| {
                let class =
                    if index < 17 { RequestClass::Mirror } else { RequestClass::WatchedThreads };
                DutyCandidate { duty, class }
            })
            .collect();
        let picked = order_duties(&candidates, &[], &BTreeSet::new(), 100);
        assert_eq!(picked.len(), 3 + 16);
        let watched: Vec<_> = duties[17..].iter().map(|duty| duty.name.clone()).collect();
        assert_eq!(picked[..3], watched);
    }

    #[test]
    fn duty_that_fails_is_due_sooner_and_less_often_with_each_failure() {
        let hour_ms = 3_600_000;
        let delays = [0, 1, 2, 9].map(|failures| next_due_ms(hour_ms, failures, 0, Jitter(0.0)));
        assert_eq!(delays, [hour_ms, 15_000, 30_000, 1_800_000]);
        assert_eq!(next_due_ms(10_000, 5, 0, Jitter(0.0)), 10_000);
    }

    #[test]
    fn duty_has_succeeded_once_its_claim_or_a_later_one_ended_without_an_error() {
        let ended = DutyState { ended_epoch: Some(4), ..repository(1) };
        assert!(ended.has_succeeded_since(3) && ended.has_succeeded_since(4));
        assert!(!ended.has_succeeded_since(5) && !repository(1).has_succeeded_since(0));
        assert!(!DutyState { last_error: Some("x".into()), ..ended }.has_succeeded_since(3));
    }

    fn repository(id: i64) -> DutyState {
        DutyState::new(DutyName::Repository(RepositoryKey::new("h", id)))
    }

    fn order_all(
        duties: &[DutyState],
        running: &[DutyName],
        dead: &BTreeSet<String>,
        now_ms: i64,
    ) -> Vec<DutyName> {
        let class = RequestClass::Mirror;
        let candidates: Vec<_> = duties.iter().map(|duty| DutyCandidate { duty, class }).collect();
        let running: Vec<_> =
            running.iter().map(|name| RunningDuty { name: name.clone(), class }).collect();
        order_duties(&candidates, &running, dead, now_ms)
    }
}
