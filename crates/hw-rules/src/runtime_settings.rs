//! The settings of the service, with their defaults and ranges: how often it reads what, and how watched threads are read.

use std::ops::RangeInclusive;

/// The user's choices for the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuntimeSettings {
    /// The time between two polls of a watched repository.
    pub poll_interval_seconds: u32,
    /// False reads the watched threads whole at each poll.
    pub enable_incremental_comment_fetch: bool,
    /// How far back of the newest known comment a list is requested. What is claimed to be complete does not depend on it.
    pub comment_fetch_overlap_seconds: u32,
    /// How far back is read again when a stored position turns out to be invalid.
    pub comment_fetch_safe_backfill_seconds: u32,
    /// Also sweep at each poll, and report what the incremental reading missed.
    pub shadow_compare: bool,
    /// The most watched threads that one poll reads whole for the first time.
    pub bootstrap_per_poll: u32,
    /// The time between two pulls.
    pub pull_interval_minutes: u32,
    /// The time in which every list is compared with the source's once.
    pub reconcile_interval_hours: u32,
}

impl Default for RuntimeSettings {
    fn default() -> Self {
        let default_of = RuntimeSetting::default_value;
        Self {
            poll_interval_seconds: default_of(RuntimeSetting::PollIntervalSeconds),
            enable_incremental_comment_fetch: true,
            comment_fetch_overlap_seconds: default_of(RuntimeSetting::CommentFetchOverlapSeconds),
            comment_fetch_safe_backfill_seconds: default_of(
                RuntimeSetting::CommentFetchSafeBackfillSeconds,
            ),
            shadow_compare: false,
            bootstrap_per_poll: default_of(RuntimeSetting::BootstrapPerPoll),
            pull_interval_minutes: default_of(RuntimeSetting::PullIntervalMinutes),
            reconcile_interval_hours: default_of(RuntimeSetting::ReconcileIntervalHours),
        }
    }
}

impl RuntimeSettings {
    pub fn poll_interval_ms(&self) -> i64 {
        i64::from(self.poll_interval_seconds) * 1_000
    }

    pub fn pull_interval_ms(&self) -> i64 {
        i64::from(self.pull_interval_minutes) * 60_000
    }

    pub fn reconcile_interval_ms(&self) -> i64 {
        i64::from(self.reconcile_interval_hours) * 3_600_000
    }

    /// Sets one of the settings to a value that was [checked](RuntimeSetting::parse).
    pub fn set(&mut self, setting: RuntimeSetting, value: u32) {
        *self.field_mut(setting) = value;
    }

    fn field_mut(&mut self, setting: RuntimeSetting) -> &mut u32 {
        match setting {
            RuntimeSetting::PollIntervalSeconds => &mut self.poll_interval_seconds,
            RuntimeSetting::CommentFetchOverlapSeconds => &mut self.comment_fetch_overlap_seconds,
            RuntimeSetting::CommentFetchSafeBackfillSeconds => {
                &mut self.comment_fetch_safe_backfill_seconds
            }
            RuntimeSetting::BootstrapPerPoll => &mut self.bootstrap_per_poll,
            RuntimeSetting::PullIntervalMinutes => &mut self.pull_interval_minutes,
            RuntimeSetting::ReconcileIntervalHours => &mut self.reconcile_interval_hours,
        }
    }
}

/// One of the settings that are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeSetting {
    PollIntervalSeconds,
    CommentFetchOverlapSeconds,
    CommentFetchSafeBackfillSeconds,
    BootstrapPerPoll,
    PullIntervalMinutes,
    ReconcileIntervalHours,
}

/// A value that a setting cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a number between {} and {}, got {text:?}", .range.start(), .range.end())]
pub struct InvalidRuntimeValue {
    range: RangeInclusive<u32>,
    text: String,
}

impl RuntimeSetting {
    pub const ALL: [Self; 6] = [
        Self::PollIntervalSeconds,
        Self::CommentFetchOverlapSeconds,
        Self::CommentFetchSafeBackfillSeconds,
        Self::BootstrapPerPoll,
        Self::PullIntervalMinutes,
        Self::ReconcileIntervalHours,
    ];

    pub const fn default_value(self) -> u32 {
        match self {
            Self::PollIntervalSeconds | Self::CommentFetchOverlapSeconds => 60,
            Self::CommentFetchSafeBackfillSeconds => 86_400,
            Self::BootstrapPerPoll => 5,
            Self::PullIntervalMinutes => 15,
            Self::ReconcileIntervalHours => 24,
        }
    }

    /// Returns the values that it can have.
    pub fn range(self) -> RangeInclusive<u32> {
        match self {
            Self::PollIntervalSeconds => 10..=86_400,
            // a list may lag by a minute
            Self::CommentFetchOverlapSeconds => 60..=3_600,
            // from an hour to a month
            Self::CommentFetchSafeBackfillSeconds => 3_600..=2_678_400,
            Self::BootstrapPerPoll => 1..=1_000,
            Self::PullIntervalMinutes => 1..=1_440,
            // a week
            Self::ReconcileIntervalHours => 1..=168,
        }
    }

    /// Parses a value, and checks that it is in range.
    pub fn parse(self, text: &str) -> Result<u32, InvalidRuntimeValue> {
        let value = text.trim().parse().ok().filter(|value| self.range().contains(value));
        let invalid = || InvalidRuntimeValue { range: self.range(), text: text.to_owned() };
        value.ok_or_else(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_settings_have_defaults_within_their_ranges() {
        let mut settings = RuntimeSettings::default();
        for (setting, default) in RuntimeSetting::ALL.into_iter().zip([60, 60, 86_400, 5, 15, 24]) {
            assert_eq!(setting.default_value(), default, "{setting:?}");
            assert_eq!(*settings.field_mut(setting), default, "{setting:?}");
            assert!(setting.range().contains(&default));
            settings.set(setting, default + 1);
            assert_eq!(*settings.field_mut(setting), default + 1);
        }
    }

    #[test]
    fn runtime_values_out_of_range_are_refused() {
        assert_eq!(RuntimeSetting::PollIntervalSeconds.parse(" 10 "), Ok(10));
        for text in ["9", "86401", "-1", "", "1e2", "a minute"] {
            let error = RuntimeSetting::PollIntervalSeconds.parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("expected a number between 10 and 86400, got {text:?}"));
        }
    }

    #[test]
    fn runtime_intervals_are_in_milliseconds() {
        let settings = RuntimeSettings::default();
        let intervals = [
            settings.poll_interval_ms(),
            settings.pull_interval_ms(),
            settings.reconcile_interval_ms(),
        ];
        assert_eq!(intervals, [60_000, 900_000, 86_400_000]);
    }
}
