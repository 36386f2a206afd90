//! How far a pull is, in plain lines on stderr: what matters at once, counters at most once a second.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hw_rules::lane::Choice;
use hw_rules::news::LanesToRead;
use hw_rules::probe::ExpectedRows;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::news::{Herald, News};
use hw_tui::words::{counted, grouped, out_of, span};

use crate::terminal;

/// The time between two lines of counters.
const BETWEEN_COUNTERS_MS: i64 = 1_000;
/// A shorter wait is over before anybody has read of it.
const WORTH_TELLING_MS: i64 = 1_000;

/// Somebody who tells all that a pull does.
pub(crate) fn herald(organization: &str) -> Herald {
    let teller = Mutex::new(Teller::new(organization));
    Herald::new(move |news| {
        let mut teller = teller.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = MachineClock.now_ms();
        if let Some(line) = teller.tell(news, now_ms) {
            terminal::tell(&format!("{} {line}", time_of_day(now_ms)));
        }
    })
}

/// Makes lines of news.
struct Teller {
    organization: String,
    is_moved_told: bool,
    counts: BTreeMap<Choice, ItemCount>,
    requests: u64,
    counted_ms: i64,
    paused_until_ms: i64,
}

/// How far one choice is.
#[derive(Default)]
struct ItemCount {
    seen: u64,
    stored: u64,
    expected: Option<ExpectedRows>,
    began_ms: i64,
}

impl ItemCount {
    fn line(&self, now_ms: i64) -> String {
        let out_of = out_of(self.seen, self.expected, now_ms - self.began_ms);
        format!("{} seen{out_of}, {} stored", grouped(self.seen), grouped(self.stored))
    }
}

impl Teller {
    fn new(organization: &str) -> Self {
        Self {
            organization: organization.to_owned(),
            is_moved_told: false,
            counts: BTreeMap::new(),
            requests: 0,
            counted_ms: i64::MIN,
            paused_until_ms: i64::MIN,
        }
    }

    /// The line to print, if there is one.
    fn tell(&mut self, news: News, now_ms: i64) -> Option<String> {
        match news {
            News::Viewer(login) => Some(format!("the token speaks for {login}")),
            News::Listed { repositories, is_all } => {
                (is_all || self.is_due(now_ms)).then(|| self.listing(repositories))
            }
            News::Moved { lanes } => self.moved(&lanes, now_ms),
            News::Kept { surface, seen, stored, .. } => {
                let count = self.counts.entry(surface.choice()).or_default();
                count.seen += seen;
                count.stored += stored;
                self.is_due(now_ms).then(|| self.counters(now_ms))
            }
            News::Removed { scope, count, .. } => Some(format!("removed {count}: {scope}")),
            News::Answered => {
                self.requests += 1;
                None
            }
            News::Retried { why, wait_ms } => {
                self.requests += 1;
                let wait = span(wait_ms);
                (WORTH_TELLING_MS <= wait_ms).then(|| format!("asking again in {wait}: {why}"))
            }
            News::Paused { why, until_ms } => self.pause(&why, until_ms, now_ms),
            News::Failed { scope, message, .. } => Some(format!("failed: {scope}: {message}")),
            News::Clearing { .. }
            | News::Asking { .. }
            | News::Read { .. }
            | News::Budget { .. } => None,
        }
    }

    fn is_due(&mut self, now_ms: i64) -> bool {
        let is_due = self.counted_ms.saturating_add(BETWEEN_COUNTERS_MS) <= now_ms;
        if is_due {
            self.counted_ms = now_ms;
        }
        is_due
    }

    fn listing(&self, repositories: u64) -> String {
        format!("listing {}: {} repositories", self.organization, grouped(repositories))
    }

    /// Threads come first, comments after them; that nothing moved is told once.
    fn moved(&mut self, lanes: &BTreeMap<Choice, LanesToRead>, now_ms: i64) -> Option<String> {
        let is_told = std::mem::replace(&mut self.is_moved_told, true);
        for (choice, to_read) in lanes {
            let count = self.counts.entry(*choice).or_default();
            (count.expected, count.began_ms) = (to_read.expected, now_ms);
        }
        if lanes.values().all(|to_read| to_read.lanes == 0) {
            return (!is_told).then(|| "nothing moved".to_owned());
        }
        let each = lanes
            .iter()
            .map(|(choice, to_read)| format!("{} {}", choice.name(), grouped(to_read.lanes)));
        Some(format!("reading the lists that moved: {}", each.collect::<Vec<_>>().join(", ")))
    }

    fn counters(&self, now_ms: i64) -> String {
        let begun = self.counts.iter().filter(|(_, count)| count.seen > 0);
        let each =
            begun.map(|(choice, count)| format!("{} {}; ", choice.name(), count.line(now_ms)));
        format!("{}{}", each.collect::<String>(), counted(self.requests, "request"))
    }

    /// Several requests can meet one limit, and each of them tells of it.
    fn pause(&mut self, why: &str, until_ms: i64, now_ms: i64) -> Option<String> {
        let is_told = until_ms < self.paused_until_ms.saturating_add(WORTH_TELLING_MS);
        self.paused_until_ms = self.paused_until_ms.max(until_ms);
        (!is_told).then(|| {
            let (at, wait) = (time_of_day(until_ms), span(until_ms - now_ms));
            format!("rate limit: {why}; resuming at {at}, in {wait} (Ctrl-C is safe)")
        })
    }
}

/// The time of day in UTC.
fn time_of_day(now_ms: i64) -> String {
    let seconds = now_ms.div_euclid(1_000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use hw_rules::lane::Surface;

    use super::*;

    #[test]
    fn counters_come_at_most_once_a_second() {
        let mut teller = teller();
        let kept = |seen| News::Kept { surface: Surface::Issues, page: 1, seen, stored: seen / 2 };
        assert_eq!(teller.tell(News::Answered, 0), None);
        let first = teller.tell(kept(1_200), 0);
        assert_eq!(first.as_deref(), Some("issues 1,200 seen, 600 stored; 1 request"));
        assert_eq!(teller.tell(kept(100), 999), None);
        let second = teller.tell(kept(100), 1_000);
        assert_eq!(second.as_deref(), Some("issues 1,400 seen, 700 stored; 1 request"));
    }

    #[test]
    fn what_moved_is_one_line() {
        let mut teller = teller();
        let mut moved = |lanes: &[(Choice, u64)]| teller.tell(moved(lanes, None), 0);
        let threads = moved(&[(Choice::Issues, 12), (Choice::PullRequests, 0)]);
        let expected = "reading the lists that moved: issues 12, pull-requests 0";
        assert_eq!(threads.as_deref(), Some(expected));
        let comments = moved(&[(Choice::Comments, 36)]);
        assert_eq!(comments.as_deref(), Some("reading the lists that moved: comments 36"));
    }

    #[test]
    fn that_nothing_moved_is_told_once() {
        let mut teller = teller();
        let quiet = |choice| moved(&[(choice, 0)], None);
        assert_eq!(teller.tell(quiet(Choice::Issues), 0).as_deref(), Some("nothing moved"));
        assert_eq!(teller.tell(quiet(Choice::Comments), 0), None);
    }

    #[test]
    fn whatever_people_say_is_counted_as_comments() {
        let mut teller = teller();
        let mut line = None;
        for (now_ms, surface) in (0..).step_by(1_000).zip(Surface::COMMENTS) {
            line = teller.tell(News::Kept { surface, page: 1, seen: 2, stored: 1 }, now_ms);
        }
        assert_eq!(line.as_deref(), Some("comments 8 seen, 4 stored; 0 requests"));
    }

    #[test]
    fn one_limit_is_told_once() {
        let mut teller = teller();
        let paused = |until_ms| News::Paused { why: "secondary limit".into(), until_ms };
        let line = teller.tell(paused(60_000), 0);
        assert_eq!(
            line.as_deref(),
            Some("rate limit: secondary limit; resuming at 00:01:00, in 60s (Ctrl-C is safe)")
        );
        assert_eq!(teller.tell(paused(60_200), 100), None);
        assert!(teller.tell(paused(180_000), 61_000).is_some());
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time_of_day(86_400_000 + 3_723_999), "01:02:03");
    }

    #[test]
    fn counters_say_how_far_and_how_long() {
        let expected = ExpectedRows { rows: 11_700, is_upper_bound: false };
        for (is_upper_bound, line) in [
            (false, "issues 2,200 seen of 11,700, about 44s left, 2,200 stored; 0 requests"),
            (true, "issues 2,200 seen of up to 11,700, at most 44s left, 2,200 stored; 0 requests"),
        ] {
            let mut teller = teller();
            let expected = ExpectedRows { is_upper_bound, ..expected };
            teller.tell(moved(&[(Choice::Issues, 12)], Some(expected)), 1_000);
            let kept = News::Kept { surface: Surface::Issues, page: 1, seen: 2_200, stored: 2_200 };
            assert_eq!(teller.tell(kept, 11_000).as_deref(), Some(line));
        }
    }

    #[test]
    fn counters_do_not_promise_what_more_rows_than_expected_belie() {
        let mut teller = teller();
        let expected = ExpectedRows { rows: 10, is_upper_bound: false };
        teller.tell(moved(&[(Choice::Issues, 1)], Some(expected)), 0);
        let kept = News::Kept { surface: Surface::Issues, page: 1, seen: 11, stored: 1 };
        let line = teller.tell(kept, 9_000);
        assert_eq!(line.as_deref(), Some("issues 11 seen, 1 stored; 0 requests"));
    }

    fn moved(lanes: &[(Choice, u64)], expected: Option<ExpectedRows>) -> News {
        let lanes =
            lanes.iter().map(|(choice, lanes)| (*choice, LanesToRead { lanes: *lanes, expected }));
        News::Moved { lanes: lanes.collect() }
    }

    fn teller() -> Teller {
        Teller::new("acme")
    }
}
