//! The settings of polls, with their defaults and ranges.

use std::ops::RangeInclusive;

use crate::backoff::RetryDelays;

/// The most pages that one poll reads of a feed that was read before. What is left is a gap, and the next poll's.
pub const MAX_REGULAR_PAGES: u32 = 10;

/// The user's choices for polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollingSettings {
    /// The time between two rounds.
    pub interval_minutes: u32,
    /// The rows of a feed to request at once.
    pub posts_per_page: u32,
    /// The look-back: the part of a feed that is read the first time, and each day.
    pub initial_lookback_hours: u32,
    /// The number of times that a failed request is sent again.
    pub max_retries: u32,
    /// The delay before the first retry; it doubles with each one.
    pub retry_backoff_ms: u32,
    /// The most pages that the first poll of an account reads.
    pub max_pages_per_user: u32,
}

impl Default for PollingSettings {
    fn default() -> Self {
        let default_of = PollingSetting::default_value;
        Self {
            interval_minutes: default_of(PollingSetting::IntervalMinutes),
            posts_per_page: default_of(PollingSetting::PostsPerPage),
            initial_lookback_hours: default_of(PollingSetting::InitialLookbackHours),
            max_retries: default_of(PollingSetting::MaxRetries),
            retry_backoff_ms: default_of(PollingSetting::RetryBackoffMs),
            max_pages_per_user: default_of(PollingSetting::MaxPagesPerUser),
        }
    }
}

/// The polls of one account, as far as their length differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollKind {
    /// Down to the look-back.
    First,
    /// Down to what is known.
    Regular,
}

impl PollingSettings {
    pub fn interval_ms(&self) -> i64 {
        i64::from(self.interval_minutes) * 60_000
    }

    pub fn lookback_ms(&self) -> i64 {
        i64::from(self.initial_lookback_hours) * 3_600_000
    }

    /// Returns the most pages that a poll reads of one feed.
    pub fn max_pages(&self, kind: PollKind) -> u32 {
        match kind {
            PollKind::First => self.max_pages_per_user,
            PollKind::Regular => self.max_pages_per_user.min(MAX_REGULAR_PAGES),
        }
    }

    /// Returns the rows to request at once when a known feed is read again, down to the look-back.
    ///
    /// Cursors are times, so items with the time of a page's last row are lost to the next page. Pages of another size end
    /// elsewhere.
    pub fn second_page_size(&self) -> u32 {
        let size = self.posts_per_page;
        if size > 66 { size * 2 / 3 } else { size * 3 / 2 + 1 }
    }

    /// Returns the delays between the attempts at a request: 1, 2 and 4 s unless they are set.
    pub fn retry_delays(&self) -> RetryDelays {
        let first_ms = i64::from(self.retry_backoff_ms);
        RetryDelays::Doubling { first_ms, retries: self.max_retries }
    }

    /// Sets one of the settings to a value that was [checked](PollingSetting::parse).
    pub fn set(&mut self, setting: PollingSetting, value: u32) {
        *self.field_mut(setting) = value;
    }

    fn field_mut(&mut self, setting: PollingSetting) -> &mut u32 {
        match setting {
            PollingSetting::IntervalMinutes => &mut self.interval_minutes,
            PollingSetting::PostsPerPage => &mut self.posts_per_page,
            PollingSetting::InitialLookbackHours => &mut self.initial_lookback_hours,
            PollingSetting::MaxRetries => &mut self.max_retries,
            PollingSetting::RetryBackoffMs => &mut self.retry_backoff_ms,
            PollingSetting::MaxPagesPerUser => &mut self.max_pages_per_user,
        }
    }
}

/// One of the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollingSetting {
    IntervalMinutes,
    PostsPerPage,
    InitialLookbackHours,
    MaxRetries,
    RetryBackoffMs,
    MaxPagesPerUser,
}

/// A value that a setting cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a number between {} and {}, got {text:?}", .range.start(), .range.end())]
pub struct InvalidPollingValue {
    range: RangeInclusive<u32>,
    text: String,
}

impl PollingSetting {
    pub const ALL: [Self; 6] = [
        Self::IntervalMinutes,
        Self::PostsPerPage,
        Self::InitialLookbackHours,
        Self::MaxRetries,
        Self::RetryBackoffMs,
        Self::MaxPagesPerUser,
    ];

    /// Returns its name in `highwater.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::IntervalMinutes => "interval_minutes",
            Self::PostsPerPage => "posts_per_page",
            Self::InitialLookbackHours => "initial_lookback_hours",
            Self::MaxRetries => "max_retries",
            Self::RetryBackoffMs => "retry_backoff_ms",
            Self::MaxPagesPerUser => "max_pages_per_user",
        }
    }

    pub const fn default_value(self) -> u32 {
        match self {
            Self::IntervalMinutes => 15,
            Self::PostsPerPage => 50,
            Self::InitialLookbackHours => 24,
            Self::MaxRetries => 3,
            Self::RetryBackoffMs => 1_000,
            Self::MaxPagesPerUser => 100,
        }
    }

    /// Returns the values that it can have.
    pub fn range(self) -> RangeInclusive<u32> {
        match self {
            Self::IntervalMinutes => 1..=1_440,
            // the API's own limit
            Self::PostsPerPage => 1..=100,
            // a year
            Self::InitialLookbackHours => 1..=8_784,
            Self::MaxRetries => 0..=10,
            Self::RetryBackoffMs => 0..=60_000,
            // one for what is new, and one for what an earlier poll has left
            Self::MaxPagesPerUser => 2..=1_000,
        }
    }

    /// Parses a value, and checks that it is in range.
    pub fn parse(self, text: &str) -> Result<u32, InvalidPollingValue> {
        let value = text.trim().parse().ok().filter(|value| self.range().contains(value));
        let invalid = || InvalidPollingValue { range: self.range(), text: text.to_owned() };
        value.ok_or_else(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_settings_have_defaults_within_their_ranges() {
        let defaults = [15, 50, 24, 3, 1_000, 100];
        let mut settings = PollingSettings::default();
        for (setting, default) in PollingSetting::ALL.into_iter().zip(defaults) {
            assert_eq!(setting.default_value(), default, "{}", setting.name());
            assert_eq!(*settings.field_mut(setting), default, "{}", setting.name());
            assert!(setting.range().contains(&default));
            settings.set(setting, default + 1);
            assert_eq!(*settings.field_mut(setting), default + 1);
        }
    }

    #[test]
    fn polling_values_out_of_range_are_refused() {
        assert_eq!(PollingSetting::PostsPerPage.parse(" 100 "), Ok(100));
        assert_eq!(PollingSetting::MaxRetries.parse("0"), Ok(0));
        for text in ["0", "101", "-1", "many", "", "1e2", "4294967296"] {
            let error = PollingSetting::PostsPerPage.parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("expected a number between 1 and 100, got {text:?}"));
        }
    }

    #[test]
    fn polls_of_known_feeds_are_short() {
        let mut settings = PollingSettings::default();
        let caps = [PollKind::First, PollKind::Regular].map(|kind| settings.max_pages(kind));
        assert_eq!(caps, [100, 10]);
        settings.max_pages_per_user = 3;
        assert_eq!(settings.max_pages(PollKind::Regular), 3);
        assert_eq!((settings.interval_ms(), settings.lookback_ms()), (900_000, 86_400_000));
    }

    #[test]
    fn second_read_has_pages_of_another_size() {
        for posts_per_page in PollingSetting::PostsPerPage.range() {
            let settings = PollingSettings { posts_per_page, ..PollingSettings::default() };
            assert_ne!(settings.second_page_size(), posts_per_page);
            assert!(PollingSetting::PostsPerPage.range().contains(&settings.second_page_size()));
        }
    }

    #[test]
    fn polls_retry_after_one_two_and_four_seconds() {
        let delays = PollingSettings::default().retry_delays();
        let waits: Vec<_> = (1..=4).map(|failures| delays.delay_ms(failures, 7)).collect();
        assert_eq!(waits, [Some(1_000), Some(2_000), Some(4_000), None]);
    }
}
