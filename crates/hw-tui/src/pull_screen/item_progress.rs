//! Tracks the progress of one pull item.

use hw_rules::format::{format_count, group_digits, out_of};
use hw_rules::lane::PullItem;
use hw_rules::probe::ExpectedRows;
use hw_rules::progress_event::LanesToRead;

/// The status of an item, which is drawn as an icon in front of its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemStatus {
    Pending,
    Active,
    Completed,
    Skipped,
    Failed,
}

/// A row of the screen.
#[derive(Debug, Clone)]
pub(super) struct ItemProgress {
    pub(super) pull_item: PullItem,
    is_chosen: bool,
    has_started: bool,
    has_ended: bool,
    is_aborted: bool,
    /// The number of lanes to read, once it is known; zero for a complete listing of repositories.
    expected_lanes: Option<u64>,
    expected: Option<ExpectedRows>,
    started_ms: Option<i64>,
    counted_ms: i64,
    finished_lanes: u64,
    observed: u64,
    errors: u64,
}

pub(super) fn item_title(item: PullItem) -> &'static str {
    match item {
        PullItem::Repositories => "Repositories",
        PullItem::Discussions => "Discussions",
        PullItem::Issues => "Issues",
        PullItem::PullRequests => "Pull Requests",
        PullItem::Comments => "Comments",
        PullItem::Posts => "Posts",
    }
}

impl ItemProgress {
    /// Creates the row of an item that is pulled.
    pub(super) fn new(pull_item: PullItem) -> Self {
        Self {
            pull_item,
            is_chosen: true,
            has_started: false,
            has_ended: false,
            is_aborted: false,
            expected_lanes: None,
            expected: None,
            started_ms: None,
            counted_ms: 0,
            finished_lanes: 0,
            observed: 0,
            errors: 0,
        }
    }

    /// Creates the row of an item that is not pulled.
    pub(super) fn skipped(pull_item: PullItem) -> Self {
        Self { is_chosen: false, ..Self::new(pull_item) }
    }

    pub(super) fn title(&self) -> &'static str {
        item_title(self.pull_item)
    }

    pub(super) fn status(&self) -> ItemStatus {
        match self {
            _ if !self.is_chosen => ItemStatus::Skipped,
            _ if self.is_aborted || self.is_finished() && self.errors > 0 => ItemStatus::Failed,
            _ if self.is_finished() => ItemStatus::Completed,
            _ if self.has_started => ItemStatus::Active,
            _ => ItemStatus::Pending,
        }
    }

    /// Returns the title, with the count once there is one.
    pub(super) fn label(&self) -> String {
        let title = self.title();
        let errors = match self.errors {
            0 => String::new(),
            errors => format!(" ({})", format_count(errors, "error")),
        };
        match self.status() {
            ItemStatus::Skipped | ItemStatus::Pending => title.to_owned(),
            ItemStatus::Active => {
                let elapsed_ms = self.counted_ms - self.started_ms.unwrap_or(self.counted_ms);
                let out_of = out_of(self.observed, self.expected, elapsed_ms);
                format!("{title}: {}{out_of}{errors}", group_digits(self.observed))
            }
            ItemStatus::Completed | ItemStatus::Failed => {
                format!("{title}: {}{errors}", group_digits(self.observed))
            }
        }
    }

    pub(super) fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    pub(super) fn observed(&self) -> u64 {
        self.observed
    }

    pub(super) fn errors(&self) -> u64 {
        self.errors
    }

    /// Returns true if every lane was read or has failed.
    pub(super) fn is_finished(&self) -> bool {
        self.has_ended
            || self.expected_lanes.is_some_and(|lanes| lanes <= self.finished_lanes + self.errors)
    }

    /// Records that work has started. Returns true the first time.
    pub(super) fn mark_started(&mut self) -> bool {
        !std::mem::replace(&mut self.has_started, true)
    }

    pub(super) fn expect_lanes(&mut self, to_read: LanesToRead, now_ms: i64) {
        *self.expected_lanes.get_or_insert(0) += to_read.lanes;
        self.expected = to_read.expected;
        self.started_ms = Some(now_ms);
    }

    pub(super) fn add_observed(&mut self, observed: u64, now_ms: i64) {
        self.has_started = true;
        self.counted_ms = now_ms;
        self.observed += observed;
    }

    /// Records the number of repositories listed so far.
    pub(super) fn set_listed(&mut self, observed: u64) {
        self.has_started = true;
        self.observed = observed;
        self.expected_lanes = None;
    }

    /// Records the number of repositories in the complete listing.
    pub(super) fn finish_listing(&mut self, observed: u64) {
        self.set_listed(observed);
        self.expected_lanes = Some(0);
    }

    pub(super) fn finish_lane(&mut self) {
        self.has_started = true;
        self.finished_lanes += 1;
    }

    pub(super) fn record_error(&mut self) {
        self.errors += 1;
    }

    /// Marks an item that was in progress when the pull failed.
    pub(super) fn mark_aborted(&mut self) {
        self.is_aborted = self.has_started && !self.is_finished();
    }

    /// Marks the item as finished, because the pull has ended.
    pub(super) fn mark_ended(&mut self) {
        self.has_ended = true;
    }
}
