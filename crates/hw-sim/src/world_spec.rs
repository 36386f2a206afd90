//! The configuration of a simulated world.

use std::ops::RangeInclusive;

use crate::faults::FaultRates;

/// 2026-01-02T03:04:05Z, the start of the predefined worlds.
const DEFAULT_START_MS: i64 = 1_767_323_045_000;

/// The size, faults and activity of a world.
///
/// From the fourth repository on, every seventh is archived and every seventh is a fork, unless `no_archives_or_forks`
/// is set.
#[derive(Debug, Clone)]
pub struct WorldSpec {
    pub organization: String,
    /// Other owners of repositories, which are like those of the organization.
    pub other_owners: Vec<OwnerSpec>,
    /// The base of its web URLs, without a slash at the end.
    pub web_url: String,
    pub repositories: usize,
    /// Per repository, as the next two.
    pub issues: usize,
    pub pull_requests: usize,
    pub discussions: usize,
    /// The share of the pull requests that are open. `None`: about two thirds, as for the other threads.
    pub open_pull_request_percent: Option<u8>,
    /// On average.
    pub comments_per_thread: usize,
    pub users: usize,
    /// The end of the seeded history, which covers the `history_days` before it.
    pub start_ms: i64,
    pub history_days: u32,
    pub hostile_text: bool,
    /// The approximate length of bodies, which then come from a few hundred texts that all threads share, so that a
    /// million of them fit into memory. `None`: each body has a few sentences of its own.
    pub body_bytes: Option<usize>,
    /// True if no repository is archived or a fork at the start.
    pub no_archives_or_forks: bool,
    pub activity: ActivitySpec,
    /// The longest time until a change reaches the lists.
    pub list_lag_ms: u64,
    /// The longest lag of a replica.
    pub replica_lag_ms: u64,
    pub faults: FaultRates,
    /// The heaviest GraphQL request that can be answered; a heavier one fails on every retry. The weight is the size of
    /// the widest outermost page, or the number of root fields or ids.
    pub max_request_weight: Option<u64>,
    /// True if the clocks of the service disagree by a second, in `Date` and in the reset of a quota, and timeouts cost
    /// points in the next hour.
    pub clock_jitter: bool,
    pub limits: RateLimitSpec,
    pub latency_ms: RangeInclusive<u64>,
}

/// An owner of repositories.
#[derive(Debug, Clone)]
pub struct OwnerSpec {
    pub login: String,
    pub kind: OwnerKind,
    pub repositories: usize,
}

/// The kind of account that owns a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerKind {
    Organization,
    User,
}

impl OwnerKind {
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Organization => "Organization",
            Self::User => "User",
        }
    }

    pub(crate) fn node_prefix(self) -> &'static str {
        match self {
            Self::Organization => "O",
            Self::User => "U",
        }
    }
}

impl WorldSpec {
    /// Returns a world of two repositories with a little of everything, without faults or activity.
    #[must_use]
    pub fn small() -> Self {
        Self {
            organization: "acme".to_owned(),
            other_owners: Vec::new(),
            web_url: "https://github.com".to_owned(),
            repositories: 2,
            issues: 6,
            pull_requests: 3,
            discussions: 2,
            open_pull_request_percent: None,
            comments_per_thread: 2,
            users: 5,
            start_ms: DEFAULT_START_MS,
            history_days: 30,
            hostile_text: false,
            body_bytes: None,
            no_archives_or_forks: false,
            activity: ActivitySpec::none(),
            list_lag_ms: 0,
            replica_lag_ms: 0,
            faults: FaultRates::none(),
            max_request_weight: None,
            clock_jitter: false,
            limits: RateLimitSpec::default(),
            latency_ms: 40..=120,
        }
    }

    /// Returns the small world with clocks that disagree.
    #[must_use]
    pub fn with_clock_jitter() -> Self {
        Self { clock_jitter: true, ..Self::small() }
    }

    /// Returns a fictional organization of twelve repositories, large enough to explore.
    #[must_use]
    pub fn demo() -> Self {
        Self {
            organization: "harborworks".to_owned(),
            other_owners: Vec::new(),
            // a name that never exists (RFC 2606), so no link of the demo leads to the real GitHub
            web_url: "https://github.example".to_owned(),
            repositories: 12,
            issues: 50,
            pull_requests: 20,
            discussions: 6,
            comments_per_thread: 2,
            users: 18,
            history_days: 300,
            latency_ms: 5..=25,
            ..Self::small()
        }
    }
}

/// The activity of a world's users.
#[derive(Debug, Clone)]
pub struct ActivitySpec {
    pub actions_per_minute: u32,
    pub until_ms: i64,
    pub weights: ActionWeights,
}

impl ActivitySpec {
    #[must_use]
    pub fn none() -> Self {
        Self { actions_per_minute: 0, until_ms: i64::MIN, weights: ActionWeights::default() }
    }

    /// Returns this many actions of every kind per minute, until this time.
    #[must_use]
    pub fn busy(actions_per_minute: u32, until_ms: i64) -> Self {
        Self { actions_per_minute, until_ms, weights: ActionWeights::default() }
    }

    /// Returns this many actions per minute of people who talk in threads, until this time.
    #[must_use]
    pub fn conversations(actions_per_minute: u32, until_ms: i64) -> Self {
        Self { actions_per_minute, until_ms, weights: ActionWeights::conversations() }
    }

    /// Returns the same, including actions that take content away without deleting it.
    #[must_use]
    pub fn disruptive(actions_per_minute: u32, until_ms: i64) -> Self {
        Self { actions_per_minute, until_ms, weights: ActionWeights::disruptive() }
    }
}

/// The relative frequency of each action.
#[derive(Debug, Clone)]
pub struct ActionWeights {
    pub create_issue: u32,
    pub create_pull_request: u32,
    pub create_discussion: u32,
    pub edit: u32,
    /// Two edits within one second.
    pub double_edit: u32,
    pub close_or_reopen: u32,
    pub label: u32,
    pub comment: u32,
    pub edit_comment: u32,
    pub delete_comment: u32,
    pub delete: u32,
    pub transfer: u32,
    pub create_repository: u32,
    pub rename_repository: u32,
    pub archive_or_unarchive: u32,
    pub delete_account: u32,
    /// Disables the issues of a repository, or enables them again.
    pub switch_issues: u32,
    /// Disables the discussions of a repository, or enables them again.
    pub switch_discussions: u32,
    pub delete_repository: u32,
    /// The token loses its access to a repository, or gets it back.
    pub hide_or_show_repository: u32,
    /// A label gets another name on every thread of a repository, and no time changes.
    pub rename_label: u32,
    /// An author is flagged as a spammer and all their content is hidden, or shown again.
    pub hide_or_show_author: u32,
    /// Two edits of a comment within one second; the second one may bring the first text back.
    pub double_edit_comment: u32,
    /// A comment that reaches the lists up to 50 s later, with its own time.
    pub late_comment: u32,
    pub reply_on_line: u32,
    pub push: u32,
    /// A force-push, to other commits or back to the first one.
    pub force_push: u32,
    pub rename_account: u32,
    /// A pull request that would close an issue.
    pub create_closing_pull_request: u32,
    /// A star or a push without a pull request, which no list of issues shows.
    pub star_or_push: u32,
    /// The probability that a repository's new name is one that another gave up; not a weight.
    pub reuse_name_percent: u32,
}

impl ActionWeights {
    /// Returns the actions of people who talk in threads: no thread or repository goes away, and none moves.
    #[must_use]
    pub fn conversations() -> Self {
        Self {
            create_issue: 1,
            create_pull_request: 1,
            create_discussion: 0,
            edit: 3,
            double_edit: 1,
            close_or_reopen: 3,
            label: 5,
            comment: 30,
            edit_comment: 14,
            delete_comment: 6,
            delete: 0,
            transfer: 0,
            create_repository: 0,
            archive_or_unarchive: 0,
            double_edit_comment: 8,
            late_comment: 8,
            reply_on_line: 5,
            push: 3,
            force_push: 2,
            rename_account: 1,
            create_closing_pull_request: 1,
            star_or_push: 3,
            ..Self::default()
        }
    }

    /// Returns the usual actions, and those that take content away without deleting it.
    ///
    /// Renaming a label is not included: nothing reports it, so only a test that reads everything again can use it.
    #[must_use]
    pub fn disruptive() -> Self {
        Self {
            switch_issues: 2,
            switch_discussions: 2,
            delete_repository: 1,
            hide_or_show_repository: 2,
            create_repository: 2,
            rename_repository: 2,
            reuse_name_percent: 50,
            ..Self::default()
        }
    }
}

impl Default for ActionWeights {
    fn default() -> Self {
        Self {
            create_issue: 14,
            create_pull_request: 6,
            create_discussion: 4,
            edit: 20,
            double_edit: 6,
            close_or_reopen: 12,
            label: 8,
            comment: 24,
            edit_comment: 8,
            delete_comment: 3,
            delete: 4,
            transfer: 2,
            create_repository: 1,
            rename_repository: 1,
            archive_or_unarchive: 1,
            delete_account: 1,
            switch_issues: 0,
            switch_discussions: 0,
            delete_repository: 0,
            hide_or_show_repository: 0,
            rename_label: 0,
            hide_or_show_author: 0,
            double_edit_comment: 0,
            late_comment: 0,
            reply_on_line: 0,
            push: 0,
            force_push: 0,
            rename_account: 0,
            create_closing_pull_request: 0,
            star_or_push: 0,
            reuse_name_percent: 0,
        }
    }
}

/// The quotas of the only principal.
#[derive(Debug, Clone)]
pub struct RateLimitSpec {
    pub graphql_points_per_hour: u32,
    pub core_per_hour: u32,
    /// Secondary: GraphQL requests per minute.
    pub graphql_per_minute: u32,
    /// Secondary: REST points per minute (a write counts five).
    pub core_per_minute: u32,
    /// Secondary: requests in flight, both APIs together.
    pub max_concurrent: usize,
}

impl Default for RateLimitSpec {
    fn default() -> Self {
        Self {
            graphql_points_per_hour: 5000,
            core_per_hour: 5000,
            graphql_per_minute: 2000,
            core_per_minute: 900,
            max_concurrent: 100,
        }
    }
}
