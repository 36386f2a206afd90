//! Prints the progress of a pull as plain lines on stderr: important events at once, counters at most once a second.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hw_rules::format::{format_count, format_duration, group_digits, of_total, time_left};
use hw_rules::lane::PullItem;
use hw_rules::probe::ExpectedRows;
use hw_rules::progress_event::LanesToRead;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::progress::{ProgressEvent, ProgressSink};

use crate::terminal;

/// The time between two lines of counters.
const COUNTER_INTERVAL_MS: i64 = 1_000;
/// The time after which a retry for the same reason is reported again. Many requests can fail at once.
const REPEATED_RETRY_INTERVAL_MS: i64 = 10_000;
/// A shorter wait is over before anyone has read the line.
const MIN_REPORTED_WAIT_MS: i64 = 1_000;

/// Returns a sink that prints each event as a line with its UTC time.
pub(crate) fn line_progress_sink() -> ProgressSink {
    let formatter = Mutex::new(ProgressFormatter::new());
    ProgressSink::new(move |event| {
        let mut formatter = formatter.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = MachineClock.now_ms();
        if let Some(line) = formatter.format_event(event, now_ms) {
            terminal::print_status(&format!("{} {line}", utc_time_of_day(now_ms)));
        }
    })
}

/// Turns progress events into lines.
struct ProgressFormatter {
    /// The number of repositories in the last line about them.
    reported_repositories: Option<u64>,
    /// The times at which the reasons for retries were last reported.
    reported_retries_ms: BTreeMap<String, i64>,
    counts: BTreeMap<PullItem, ItemCount>,
    requests: u64,
    counted_ms: i64,
    paused_until_ms: i64,
}

/// The progress of one item.
#[derive(Default)]
struct ItemCount {
    seen: u64,
    stored: u64,
    expected: Option<ExpectedRows>,
    began_ms: i64,
}

impl ItemCount {
    fn line(&self, now_ms: i64) -> String {
        let of = of_total(self.seen, self.expected);
        let left = time_left(self.seen, self.expected, now_ms - self.began_ms)
            .map_or_else(String::new, |left| format!(" ({left})"));
        let [seen, stored] = [self.seen, self.stored].map(group_digits);
        format!("{seen}{of} seen{left}, {stored} stored")
    }
}

impl ProgressFormatter {
    fn new() -> Self {
        Self {
            reported_repositories: None,
            reported_retries_ms: BTreeMap::new(),
            counts: BTreeMap::new(),
            requests: 0,
            counted_ms: i64::MIN,
            paused_until_ms: i64::MIN,
        }
    }

    /// Returns the line to print, if there is one.
    fn format_event(&mut self, event: ProgressEvent, now_ms: i64) -> Option<String> {
        match event {
            ProgressEvent::ViewerIdentified(login) => Some(format!("signed in as {login}")),
            ProgressEvent::RepositoriesListed { repositories, is_all } => {
                let is_due = is_all || self.is_due(now_ms);
                is_due.then(|| self.listing_line(repositories)).flatten()
            }
            ProgressEvent::LanesMoved { lanes } => self.moved_line(&lanes, now_ms),
            ProgressEvent::PageStored { surface, observed, stored, .. } => {
                let count = self.counts.entry(surface.pull_item()).or_default();
                count.seen += observed;
                count.stored += stored;
                self.is_due(now_ms).then(|| self.counters_line(now_ms))
            }
            ProgressEvent::FollowingPull { worker } => {
                Some(format!("{worker} is already pulling; following it until it finishes"))
            }
            ProgressEvent::WaitingForPull { worker } => Some(format!(
                "{worker} is pulling with other options; this pull starts when it finishes"
            )),
            ProgressEvent::WaitingForPoll { worker } => {
                Some(format!("{worker} is polling; this poll starts when it finishes"))
            }
            ProgressEvent::TakingOverPull { worker } => {
                Some(format!("{worker} ended unexpectedly; taking over"))
            }
            ProgressEvent::ItemsRemoved { scope, count, .. } => {
                Some(format!("removed {}: {scope}", format_count(count, "item")))
            }
            ProgressEvent::ResponseReceived => {
                self.requests += 1;
                None
            }
            ProgressEvent::RetryScheduled { reason, wait_ms } => {
                self.requests += 1;
                self.retry_line(reason, wait_ms, now_ms)
            }
            ProgressEvent::RequestsPaused { reason, until_ms, resumes_slowly } => {
                let resuming = if resumes_slowly { "resuming slowly" } else { "resuming" };
                self.pause_line(&format!("{reason}; {resuming}"), until_ms, now_ms)
            }
            ProgressEvent::LaneFailed { scope, message, .. } => {
                Some(format!("failed: {scope}: {message}"))
            }
            ProgressEvent::ClearingSurface { .. }
            | ProgressEvent::RequestingPage { .. }
            | ProgressEvent::LaneFinished { .. }
            | ProgressEvent::BudgetReported { .. } => None,
        }
    }

    fn is_due(&mut self, now_ms: i64) -> bool {
        let is_due = now_ms >= self.counted_ms.saturating_add(COUNTER_INTERVAL_MS);
        if is_due {
            self.counted_ms = now_ms;
        }
        is_due
    }

    /// Reports the number of repositories, unless it is the same as in the last such line.
    fn listing_line(&mut self, repositories: u64) -> Option<String> {
        let reported = self.reported_repositories.replace(repositories);
        let line = format!("{} listed", format_count(repositories, "repository"));
        (reported != Some(repositories)).then_some(line)
    }

    /// Reports the lists to read. The event comes once for threads and once for comments.
    fn moved_line(
        &mut self,
        lanes: &BTreeMap<PullItem, LanesToRead>,
        now_ms: i64,
    ) -> Option<String> {
        let mut counts = Vec::new();
        for (item, to_read) in lanes {
            let count = self.counts.entry(*item).or_default();
            (count.expected, count.began_ms) = (to_read.expected, now_ms);
            if to_read.lanes > 0 {
                counts.push(format!("{} {}", item.name(), group_digits(to_read.lanes)));
            }
        }
        if lanes.is_empty() {
            return None;
        }
        if counts.is_empty() {
            let are_comments = lanes.contains_key(&PullItem::Comments);
            let items = if are_comments { "comments" } else { "threads" };
            return Some(format!("no changed {items}"));
        }
        Some(format!("lists to read: {}", counts.join(", ")))
    }

    /// Reports a retry, unless one for the same reason was reported a moment ago.
    fn retry_line(&mut self, reason: String, wait_ms: i64, now_ms: i64) -> Option<String> {
        if wait_ms < MIN_REPORTED_WAIT_MS {
            return None;
        }
        let reported_ms = self.reported_retries_ms.get(&reason);
        if reported_ms.is_some_and(|at_ms| now_ms < at_ms + REPEATED_RETRY_INTERVAL_MS) {
            return None;
        }
        self.reported_retries_ms.retain(|_, at_ms| now_ms < *at_ms + REPEATED_RETRY_INTERVAL_MS);
        let line = format!("{reason}; retrying in {}", format_duration(wait_ms));
        self.reported_retries_ms.insert(reason, now_ms);
        Some(line)
    }

    fn counters_line(&self, now_ms: i64) -> String {
        let started = self.counts.iter().filter(|(_, count)| count.seen > 0);
        let counts =
            started.map(|(item, count)| format!("{} {}; ", item.name(), count.line(now_ms)));
        let requests = format_count(self.requests, "request");
        match counts.collect::<String>() {
            counts if counts.is_empty() => format!("{requests} so far"),
            counts => format!("{counts}{requests}"),
        }
    }

    /// Reports a pause once: several requests can hit the same limit, and each of them emits an event.
    fn pause_line(&mut self, beginning: &str, until_ms: i64, now_ms: i64) -> Option<String> {
        let is_reported = until_ms < self.paused_until_ms.saturating_add(MIN_REPORTED_WAIT_MS);
        self.paused_until_ms = self.paused_until_ms.max(until_ms);
        (!is_reported).then(|| {
            let (at, wait) = (utc_time_of_day(until_ms), format_duration(until_ms - now_ms));
            format!("rate limit: {beginning} at {at}, in {wait} (Ctrl-C is safe)")
        })
    }
}

/// Formats a time as the time of day in UTC.
fn utc_time_of_day(now_ms: i64) -> String {
    let seconds = now_ms.div_euclid(1_000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use hw_rules::lane::Surface;

    use hw_rules::item::ThreadKind;

    use super::*;

    #[test]
    fn counters_come_at_most_once_a_second() {
        let mut formatter = new_formatter();
        assert_eq!(formatter.format_event(ProgressEvent::ResponseReceived, 0), None);
        let first = formatter.format_event(issues_page(1_200, 600), 0);
        assert_eq!(first.as_deref(), Some("issues 1,200 seen, 600 stored; 1 request"));
        assert_eq!(formatter.format_event(issues_page(100, 50), 999), None);
        let second = formatter.format_event(issues_page(100, 50), 1_000);
        assert_eq!(second.as_deref(), Some("issues 1,400 seen, 700 stored; 1 request"));
    }

    #[test]
    fn lists_to_read_are_one_line_without_zeros() {
        let mut formatter = new_formatter();
        let threads = lanes_moved(&[(PullItem::Issues, 12), (PullItem::PullRequests, 0)], None);
        let line = formatter.format_event(threads, 0);
        assert_eq!(line.as_deref(), Some("lists to read: issues 12"));
        let comments = lanes_moved(&[(PullItem::Comments, 36)], None);
        let line = formatter.format_event(comments, 0);
        assert_eq!(line.as_deref(), Some("lists to read: comments 36"));
    }

    #[test]
    fn unchanged_threads_do_not_contradict_comments_to_read() {
        let mut formatter = new_formatter();
        let threads = lanes_moved(&[(PullItem::Issues, 0)], None);
        assert_eq!(formatter.format_event(threads, 0).as_deref(), Some("no changed threads"));
        let comments = lanes_moved(&[(PullItem::Comments, 36)], None);
        let line = formatter.format_event(comments, 0);
        assert_eq!(line.as_deref(), Some("lists to read: comments 36"));
        let comments = lanes_moved(&[(PullItem::Comments, 0)], None);
        let line = formatter.format_event(comments, 0);
        assert_eq!(line.as_deref(), Some("no changed comments"));
    }

    #[test]
    fn retries_for_the_same_reason_are_reported_once_in_a_while() {
        let mut formatter = new_formatter();
        let mut retry = |reason: &str, now_ms| {
            let event = ProgressEvent::RetryScheduled { reason: reason.to_owned(), wait_ms: 3_000 };
            formatter.format_event(event, now_ms)
        };
        assert_eq!(retry("timed out", 0).as_deref(), Some("timed out; retrying in 3s"));
        assert_eq!(retry("timed out", 900), None);
        assert!(retry("server error", 1_000).is_some());
        assert!(retry("timed out", 20_000).is_some());
    }

    #[test]
    fn comment_counter_includes_every_kind_of_comment() {
        let mut formatter = new_formatter();
        let mut line = None;
        for (now_ms, surface) in (0..).step_by(1_000).zip(Surface::COMMENTS) {
            line = formatter.format_event(
                ProgressEvent::PageStored { surface, page: 1, observed: 2, stored: 1 },
                now_ms,
            );
        }
        assert_eq!(line.as_deref(), Some("comments 8 seen, 4 stored; 0 requests"));
    }

    #[test]
    fn rate_limit_is_reported_once() {
        let mut formatter = new_formatter();
        let line = formatter.format_event(paused_until(60_000), 0);
        assert_eq!(
            line.as_deref(),
            Some(
                "rate limit: secondary limit; resuming slowly at 00:01:00, in 60s (Ctrl-C is safe)"
            )
        );
        assert_eq!(formatter.format_event(paused_until(60_200), 100), None);
        assert!(formatter.format_event(paused_until(180_000), 61_000).is_some());
    }

    #[test]
    fn pull_of_another_process_is_one_line() {
        let worker = || "process 7 on vm".to_owned();
        for (event, line) in [
            (
                ProgressEvent::FollowingPull { worker: worker() },
                "process 7 on vm is already pulling; following it until it finishes",
            ),
            (
                ProgressEvent::WaitingForPull { worker: worker() },
                "process 7 on vm is pulling with other options; this pull starts when it finishes",
            ),
            (
                ProgressEvent::WaitingForPoll { worker: worker() },
                "process 7 on vm is polling; this poll starts when it finishes",
            ),
            (
                ProgressEvent::TakingOverPull { worker: worker() },
                "process 7 on vm ended unexpectedly; taking over",
            ),
        ] {
            assert_eq!(new_formatter().format_event(event, 0).as_deref(), Some(line));
        }
    }

    #[test]
    fn time_of_day_has_hours_minutes_and_seconds() {
        assert_eq!(utc_time_of_day(86_400_000 + 3_723_999), "01:02:03");
    }

    #[test]
    fn counters_show_the_total_and_the_time_left() {
        let expected = ExpectedRows { rows: 11_700, is_upper_bound: false };
        for (is_upper_bound, line) in [
            (false, "issues 2,200 of 11,700 seen (about 44s left), 2,200 stored; 0 requests"),
            (
                true,
                "issues 2,200 of up to 11,700 seen (at most 44s left), 2,200 stored; 0 requests",
            ),
        ] {
            let mut formatter = new_formatter();
            let expected = ExpectedRows { is_upper_bound, ..expected };
            formatter.format_event(lanes_moved(&[(PullItem::Issues, 12)], Some(expected)), 1_000);
            let page = issues_page(2_200, 2_200);
            assert_eq!(formatter.format_event(page, 11_000).as_deref(), Some(line));
        }
    }

    #[test]
    fn counters_drop_the_total_when_more_rows_arrive_than_expected() {
        let mut formatter = new_formatter();
        let expected = ExpectedRows { rows: 10, is_upper_bound: false };
        formatter.format_event(lanes_moved(&[(PullItem::Issues, 1)], Some(expected)), 0);
        let line = formatter.format_event(issues_page(11, 1), 9_000);
        assert_eq!(line.as_deref(), Some("issues 11 seen, 1 stored; 0 requests"));
    }

    fn lanes_moved(lanes: &[(PullItem, u64)], expected: Option<ExpectedRows>) -> ProgressEvent {
        let lanes =
            lanes.iter().map(|(item, lanes)| (*item, LanesToRead { lanes: *lanes, expected }));
        ProgressEvent::LanesMoved { lanes: lanes.collect() }
    }

    fn issues_page(observed: u64, stored: u64) -> ProgressEvent {
        ProgressEvent::PageStored {
            surface: Surface::Threads(ThreadKind::Issue),
            page: 1,
            observed,
            stored,
        }
    }

    fn paused_until(until_ms: i64) -> ProgressEvent {
        ProgressEvent::RequestsPaused {
            reason: "secondary limit".into(),
            until_ms,
            resumes_slowly: true,
        }
    }

    fn new_formatter() -> ProgressFormatter {
        ProgressFormatter::new()
    }
}
