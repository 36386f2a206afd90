//! What a simulated world is asked to be.

use std::ops::RangeInclusive;

use crate::faults::FaultRates;

/// 2026-01-02T03:04:05Z, the birth of the ready-made worlds.
const BIRTH_MS: i64 = 1_767_323_045_000;

/// The size, the weather and the habits of a world.
///
/// From the fourth repository on, every seventh is archived and every seventh is a fork, unless the
/// world is `plain`.
#[derive(Debug, Clone)]
pub struct WorldSpec {
    pub organization: String,
    /// Where its pages would be in a browser, without a slash at the end.
    pub web_url: String,
    pub repositories: usize,
    /// Per repository, as the next two.
    pub issues: usize,
    pub pull_requests: usize,
    pub discussions: usize,
    /// On average.
    pub comments_per_thread: usize,
    pub users: usize,
    /// The end of the seeded history, which lies before it, spread over `history_days`.
    pub start_ms: i64,
    pub history_days: u32,
    pub hostile_text: bool,
    /// About how long bodies are; they then come from a few hundred texts that all threads share, so
    /// that a million of them fit into memory. `None`: a few sentences, each body its own.
    pub body_bytes: Option<usize>,
    /// Whether no repository is archived or a fork at birth.
    pub plain: bool,
    pub writers: Writers,
    /// The longest time a change may stay out of lists.
    pub list_lag_ms: u64,
    /// The longest time a replica may lag behind.
    pub replica_lag_ms: u64,
    pub faults: FaultRates,
    /// The heaviest GraphQL request that can be answered. One above it fails every time, whoever
    /// retries: its weight is its widest outermost page, or the number of its root fields or ids.
    pub heaviest: Option<u64>,
    /// Whether the clocks of the service disagree by a second, in `Date` and in when a quota resets,
    /// and time-outs cost points in the next hour.
    pub jitter: bool,
    pub limits: Limits,
    pub latency_ms: RangeInclusive<u64>,
}

impl WorldSpec {
    /// Two repositories with a handful of everything, fair weather, nobody writing.
    #[must_use]
    pub fn small() -> Self {
        Self {
            organization: "acme".to_owned(),
            web_url: "https://github.com".to_owned(),
            repositories: 2,
            issues: 6,
            pull_requests: 3,
            discussions: 2,
            comments_per_thread: 2,
            users: 5,
            start_ms: BIRTH_MS,
            history_days: 30,
            hostile_text: false,
            body_bytes: None,
            plain: false,
            writers: Writers::none(),
            list_lag_ms: 0,
            replica_lag_ms: 0,
            faults: FaultRates::none(),
            heaviest: None,
            jitter: false,
            limits: Limits::default(),
            latency_ms: 40..=120,
        }
    }

    /// The small world with clocks that disagree.
    #[must_use]
    pub fn rough() -> Self {
        Self { jitter: true, ..Self::small() }
    }

    /// An invented organisation of twelve repositories, large enough to look around in.
    #[must_use]
    pub fn demo() -> Self {
        Self {
            organization: "harbourworks".to_owned(),
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

/// How busy the people of a world are.
#[derive(Debug, Clone)]
pub struct Writers {
    pub actions_per_minute: u32,
    pub until_ms: i64,
    pub weights: Weights,
}

impl Writers {
    #[must_use]
    pub fn none() -> Self {
        Self { actions_per_minute: 0, until_ms: i64::MIN, weights: Weights::default() }
    }

    /// So many actions a minute of every sort, until a moment.
    #[must_use]
    pub fn busy(actions_per_minute: u32, until_ms: i64) -> Self {
        Self { actions_per_minute, until_ms, weights: Weights::default() }
    }

    /// The same, with the rarer and ruder actions as well.
    #[must_use]
    pub fn rough(actions_per_minute: u32, until_ms: i64) -> Self {
        Self { actions_per_minute, until_ms, weights: Weights::rough() }
    }
}

/// How often each action is chosen, relative to the others.
#[derive(Debug, Clone)]
pub struct Weights {
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
    /// Issues off where they are on, and on again where they are off.
    pub switch_issues: u32,
    /// The same for discussions.
    pub switch_discussions: u32,
    pub delete_repository: u32,
    /// The token loses its access to a repository, or gets it back.
    pub hide_or_show_repository: u32,
    /// A label gets another name on every thread of a repository, and no time moves.
    pub rename_label: u32,
    /// Somebody is taken for a spammer, and everything they wrote is hidden; or they are shown again.
    pub hide_or_show_author: u32,
    /// How often a new name of a repository is one that another gave up; not a weight.
    pub reuse_name_percent: u32,
}

impl Weights {
    /// The usual actions, and those that take things away without deleting them.
    ///
    /// A renamed label stays out: nothing tells of it, so only a test that reads everything anew
    /// can ask for it.
    #[must_use]
    pub fn rough() -> Self {
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

impl Default for Weights {
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
            reuse_name_percent: 0,
        }
    }
}

/// The quotas of the one principal that asks.
#[derive(Debug, Clone)]
pub struct Limits {
    pub graphql_points_per_hour: u32,
    pub core_per_hour: u32,
    /// Secondary: GraphQL requests a minute.
    pub graphql_per_minute: u32,
    /// Secondary: REST points a minute (a write counts five).
    pub core_per_minute: u32,
    /// Secondary: requests in flight, both sides together.
    pub concurrent: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            graphql_points_per_hour: 5000,
            core_per_hour: 5000,
            graphql_per_minute: 2000,
            core_per_minute: 900,
            concurrent: 100,
        }
    }
}
