//! Folds the progress events of a pull into the state of its screen.

use hw_rules::format::{format_count, format_duration};
use std::collections::BTreeSet;

use hw_rules::lane::{PullItem, Surface};
use hw_rules::progress_event::ProgressEvent;

use super::activity_log::{ActivityLog, MessageTone};
use super::item_progress::ItemProgress;
use super::messages;
use super::spinner::Spinner;

/// The shortest wait that is reported: a shorter one is over before the line can be read.
const MIN_REPORTED_WAIT_MS: i64 = 1_000;

/// The end of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullEnding {
    /// The pull tried every lane; some may have failed.
    Completed,
    /// The pull could not continue.
    Failed(String),
    /// The user stopped the pull.
    Stopped,
}

/// The content of the pull screen.
#[derive(Debug, Clone)]
pub struct ScreenState {
    pub(super) items: Vec<ItemProgress>,
    pub(super) response_count: u64,
    pub(super) retry_count: u64,
    pub(super) error_count: u64,
    pub(super) budget: Option<HourlyBudget>,
    pub(super) activity: ActivityLog,
    pub(super) spinner: Spinner,
    pub(super) paused_until_ms: i64,
}

/// The hourly rate limit, as last reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HourlyBudget {
    pub(super) used: i64,
    pub(super) limit: i64,
    pub(super) resets_ms: i64,
}

impl HourlyBudget {
    fn percent_left(self) -> i64 {
        100 * (self.limit - self.used).max(0) / self.limit.max(1)
    }
}

impl ScreenState {
    /// Creates the screen of a pull of these items, before it starts.
    ///
    /// The default items always have a row, others only if they are pulled.
    pub fn new(items: &BTreeSet<PullItem>, now_ms: i64) -> Self {
        let is_whole = PullItem::DEFAULT.iter().all(|item| items.contains(item));
        let shown: BTreeSet<PullItem> = items.iter().copied().chain(PullItem::DEFAULT).collect();
        let mut rows = Vec::new();
        for item in shown {
            let is_chosen = items.contains(&item);
            rows.push(if is_chosen {
                ItemProgress::new(item)
            } else {
                ItemProgress::skipped(item)
            });
        }
        let mut activity = ActivityLog::default();
        let opening =
            if is_whole { messages::FULL_PULL_START } else { messages::PARTIAL_PULL_START };
        activity.push(now_ms, MessageTone::Plain, opening.to_owned());
        Self {
            items: rows,
            response_count: 0,
            retry_count: 0,
            error_count: 0,
            budget: None,
            activity,
            spinner: Spinner::new(now_ms),
            paused_until_ms: i64::MIN,
        }
    }

    /// Updates the screen with one event.
    pub fn apply(&mut self, event: ProgressEvent, now_ms: i64) {
        match event {
            ProgressEvent::ViewerIdentified(login) => {
                self.add_message(now_ms, format!("Signed in as {login}"));
            }
            ProgressEvent::ClearingSurface { surface } => {
                self.add_message(now_ms, messages::describe_clearing(surface));
            }
            ProgressEvent::RequestingPage { surface, scope, page } => {
                self.start_request(surface, &scope, page, now_ms);
            }
            ProgressEvent::RepositoriesListed { repositories, is_all } => {
                self.update_item(PullItem::Repositories, now_ms, |row| {
                    if is_all {
                        row.finish_listing(repositories);
                    } else {
                        row.set_listed(repositories);
                    }
                });
            }
            ProgressEvent::FollowingPull { worker } => {
                self.add_message(now_ms, messages::describe_followed_pull(&worker));
            }
            ProgressEvent::WaitingForPull { worker } => {
                self.add_message(now_ms, messages::describe_awaited_pull(&worker));
            }
            ProgressEvent::WaitingForPoll { worker } => {
                self.add_message(now_ms, messages::describe_awaited_poll(&worker));
            }
            ProgressEvent::TakingOverPull { worker } => {
                self.add_message(now_ms, messages::describe_takeover(&worker));
            }
            ProgressEvent::LanesMoved { lanes } => {
                for (item, to_read) in lanes {
                    self.update_item(item, now_ms, |row| row.expect_lanes(to_read, now_ms));
                }
            }
            ProgressEvent::PageStored { surface, observed, stored, .. } => {
                self.update_item(surface.pull_item(), now_ms, |row| {
                    row.add_observed(observed, now_ms);
                });
                if stored > 0 {
                    self.add_message(now_ms, messages::describe_save(surface, stored));
                }
            }
            ProgressEvent::LaneFinished { surface, .. } => {
                self.update_item(surface.pull_item(), now_ms, ItemProgress::finish_lane);
            }
            ProgressEvent::ItemsRemoved { scope, count, .. } => {
                self.add_message(now_ms, format!("Removed {count}: {scope}"));
            }
            ProgressEvent::ResponseReceived => self.response_count += 1,
            ProgressEvent::RetryScheduled { reason, wait_ms } => {
                self.record_retry(&reason, wait_ms, now_ms);
            }
            ProgressEvent::RequestsPaused { reason, until_ms, .. } => {
                self.record_pause(&reason, until_ms, now_ms);
            }
            ProgressEvent::BudgetReported { used, limit, resets_in_ms } => {
                let resets_ms = now_ms.saturating_add(resets_in_ms);
                self.record_budget(HourlyBudget { used, limit, resets_ms }, now_ms);
            }
            ProgressEvent::LaneFailed { surface, scope, message } => {
                self.error_count += 1;
                self.update_item(surface.pull_item(), now_ms, ItemProgress::record_error);
                self.add_log_line(MessageTone::Error, &format!("❌ {scope}: {message}"), now_ms);
            }
        }
    }

    /// Adds a line from the log.
    pub fn add_log_line(&mut self, tone: MessageTone, text: &str, now_ms: i64) {
        self.activity.push(now_ms, tone, text.to_owned());
    }

    /// Updates the spinner's speed.
    pub fn tick(&mut self, now_ms: i64) {
        self.spinner.update_rate(self.response_count + self.retry_count, now_ms);
    }

    /// Updates the screen at the end of the pull, after its last event.
    pub fn finish_pull(&mut self, ending: &PullEnding, now_ms: i64) {
        match ending {
            PullEnding::Completed => {
                for index in 0..self.items.len() {
                    self.update_row(index, now_ms, ItemProgress::mark_ended);
                }
                let line = match self.error_count {
                    0 => "✅ Synchronization completed".to_owned(),
                    errors => format!("❌ Completed with {}", format_count(errors, "error")),
                };
                let tone =
                    if self.error_count == 0 { MessageTone::Plain } else { MessageTone::Error };
                self.add_log_line(tone, &line, now_ms);
            }
            PullEnding::Failed(message) => {
                self.error_count += 1;
                self.items.iter_mut().for_each(ItemProgress::mark_aborted);
                self.add_log_line(MessageTone::Error, &format!("❌ {message}"), now_ms);
            }
            PullEnding::Stopped => {
                self.add_message(now_ms, "Stopped; everything read so far is saved".to_owned());
            }
        }
    }

    /// Returns the number of terminal rows that the screen takes, including its frame.
    pub fn frame_height(&self) -> u16 {
        u16::try_from(self.items.len()).unwrap_or(u16::MAX).saturating_add(14)
    }

    fn start_request(&mut self, surface: Surface, scope: &str, page: u64, now_ms: i64) {
        let item = surface.pull_item();
        if let Some(row) = self.items.iter_mut().find(|row| row.pull_item == item)
            && row.is_chosen()
            && row.mark_started()
        {
            let message = messages::describe_start(row.title());
            self.add_message(now_ms, message);
        }
        self.add_message(now_ms, messages::describe_request(surface, scope, page));
    }

    /// Updates a row, and reports when the update completed it.
    fn update_item(&mut self, item: PullItem, now_ms: i64, update: impl FnOnce(&mut ItemProgress)) {
        if let Some(index) = self.items.iter().position(|row| row.pull_item == item) {
            self.update_row(index, now_ms, update);
        }
    }

    fn update_row(&mut self, index: usize, now_ms: i64, update: impl FnOnce(&mut ItemProgress)) {
        let row = &mut self.items[index];
        let was_finished = row.is_finished();
        update(row);
        if row.is_chosen() && !was_finished && row.is_finished() && row.errors() == 0 {
            let message = messages::describe_completion(row.title(), row.observed());
            self.add_message(now_ms, message);
        }
    }

    /// Records a retry. During a pause nothing is shown: a limited request is retried, too, and the pause itself was
    /// reported before.
    fn record_retry(&mut self, reason: &str, wait_ms: i64, now_ms: i64) {
        self.retry_count += 1;
        if now_ms < self.paused_until_ms {
            return;
        }
        self.add_message(now_ms, format!("⚠\u{fe0f} {reason}"));
        if wait_ms >= MIN_REPORTED_WAIT_MS {
            self.add_message(now_ms, messages::describe_retry(wait_ms));
        }
    }

    /// Records a pause. Several requests can run into one limit and report it each, so it is shown once.
    fn record_pause(&mut self, reason: &str, until_ms: i64, now_ms: i64) {
        let is_known = until_ms < self.paused_until_ms.saturating_add(MIN_REPORTED_WAIT_MS);
        self.paused_until_ms = self.paused_until_ms.max(until_ms);
        if !is_known {
            self.add_message(now_ms, format!("⚠\u{fe0f} API limit: {reason}"));
            self.add_message(
                now_ms,
                format!("🔄 Waiting {}...", format_duration(until_ms.saturating_sub(now_ms))),
            );
        }
    }

    /// Records the rate limit, and reports the remaining share once for each tenth.
    fn record_budget(&mut self, budget: HourlyBudget, now_ms: i64) {
        let before = self.budget.map_or(10, |before| before.percent_left() / 10);
        self.budget = Some(budget);
        if budget.percent_left() / 10 < before {
            self.add_message(now_ms, format!("Rate limit: {}% remaining", budget.percent_left()));
        }
    }

    fn add_message(&mut self, now_ms: i64, text: String) {
        self.activity.push(now_ms, MessageTone::Plain, text);
    }
}
