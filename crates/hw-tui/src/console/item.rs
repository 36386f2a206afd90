//! One of the things that are pulled: how far it is.

use hw_rules::lane::Choice;
use hw_rules::news::LanesToRead;
use hw_rules::probe::ExpectedRows;

use crate::words::{counted, grouped, out_of};

/// What is drawn in front of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Pending,
    Active,
    Completed,
    Skipped,
    Failed,
}

/// A row of the console.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) title: &'static str,
    is_chosen: bool,
    has_begun: bool,
    has_ended: bool,
    is_broken_off: bool,
    /// How many listings are to be read, once that is known; a whole listing of repositories needs none.
    lanes: Option<u64>,
    expected: Option<ExpectedRows>,
    began_ms: Option<i64>,
    counted_ms: i64,
    read: u64,
    seen: u64,
    errors: u64,
}

/// The name of a row.
pub(super) fn title(choice: Choice) -> &'static str {
    match choice {
        Choice::Repositories => "Repositories",
        Choice::Discussions => "Discussions",
        Choice::Issues => "Issues",
        Choice::PullRequests => "Pull Requests",
        Choice::Comments => "Comments",
    }
}

impl Item {
    pub(super) fn new(title: &'static str, is_chosen: bool) -> Self {
        Self {
            title,
            is_chosen,
            has_begun: false,
            has_ended: false,
            is_broken_off: false,
            lanes: None,
            expected: None,
            began_ms: None,
            counted_ms: 0,
            read: 0,
            seen: 0,
            errors: 0,
        }
    }

    pub(super) fn status(&self) -> Status {
        match self {
            _ if !self.is_chosen => Status::Skipped,
            _ if self.is_broken_off || self.is_over() && 0 < self.errors => Status::Failed,
            _ if self.is_over() => Status::Completed,
            _ if self.has_begun => Status::Active,
            _ => Status::Pending,
        }
    }

    /// The name, and the count once there is one.
    pub(super) fn label(&self) -> String {
        let errors = match self.errors {
            0 => String::new(),
            errors => format!(" ({})", counted(errors, "error")),
        };
        match self.status() {
            Status::Skipped | Status::Pending => self.title.to_owned(),
            Status::Active => {
                let elapsed_ms = self.counted_ms - self.began_ms.unwrap_or(self.counted_ms);
                let out_of = out_of(self.seen, self.expected, elapsed_ms);
                format!("{}: {}{out_of}{errors}", self.title, grouped(self.seen))
            }
            Status::Completed | Status::Failed => {
                format!("{}: {}{errors}", self.title, grouped(self.seen))
            }
        }
    }

    pub(super) fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn errors(&self) -> u64 {
        self.errors
    }

    /// Whether all of its listings were read, or have failed.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended || self.lanes.is_some_and(|lanes| lanes <= self.read + self.errors)
    }

    /// Work on it has begun; whether it had not before.
    pub(super) fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.has_begun, true)
    }

    pub(super) fn expect(&mut self, to_read: LanesToRead, now_ms: i64) {
        *self.lanes.get_or_insert(0) += to_read.lanes;
        self.expected = to_read.expected;
        self.began_ms = Some(now_ms);
    }

    pub(super) fn count(&mut self, seen: u64, now_ms: i64) {
        self.has_begun = true;
        self.counted_ms = now_ms;
        self.seen += seen;
    }

    pub(super) fn listed(&mut self, seen: u64, is_all: bool) {
        self.has_begun = true;
        self.seen = seen;
        self.lanes = is_all.then_some(0);
    }

    pub(super) fn read_one(&mut self) {
        self.has_begun = true;
        self.read += 1;
    }

    pub(super) fn fail(&mut self) {
        self.errors += 1;
    }

    /// What is under way cannot go on.
    pub(super) fn break_off(&mut self) {
        self.is_broken_off = self.has_begun && !self.is_over();
    }

    /// There will be no more.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }
}
