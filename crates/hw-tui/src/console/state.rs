//! What is known of a pull: a fold over its news.

use std::collections::BTreeSet;

use hw_rules::lane::{Choice, Surface};
use hw_rules::news::News;

use super::activity::{Activity, Tone};
use super::item::{Item, title};
use super::spinner::Spinner;
use super::told;
use crate::words::{counted, span};

/// A shorter wait is over before anybody has read of it.
const WORTH_TELLING_MS: i64 = 1_000;

/// How a pull ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It went to its end, whatever failed on the way.
    Done,
    /// It could not go on.
    Failed(String),
    /// Somebody stopped it.
    Stopped,
}

/// What the console shows.
#[derive(Debug, Clone)]
pub struct State {
    pub(super) items: Vec<Item>,
    pub(super) answered: u64,
    pub(super) retried: u64,
    pub(super) failed: u64,
    pub(super) budget: Option<Budget>,
    pub(super) activity: Activity,
    pub(super) spinner: Spinner,
    pub(super) paused_until_ms: i64,
}

/// The hour's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) used: i64,
    pub(super) limit: i64,
    pub(super) resets_ms: i64,
}

impl Budget {
    fn percent_left(self) -> i64 {
        100 * (self.limit - self.used).max(0) / self.limit.max(1)
    }
}

impl State {
    /// A pull of these items, about to begin.
    ///
    /// The usual ones have a row in any case, others only when they are pulled.
    pub fn new(items: &BTreeSet<Choice>, now_ms: i64) -> Self {
        let is_whole = Choice::USUAL.iter().all(|choice| items.contains(choice));
        let shown: BTreeSet<Choice> = items.iter().copied().chain(Choice::USUAL).collect();
        let row = |choice| Item::new(title(choice), items.contains(&choice));
        let rows: Vec<Item> = shown.into_iter().map(row).collect();
        let mut activity = Activity::default();
        let opening = if is_whole { told::ALL } else { told::SOME };
        activity.push(now_ms, Tone::Plain, opening.to_owned());
        Self {
            items: rows,
            answered: 0,
            retried: 0,
            failed: 0,
            budget: None,
            activity,
            spinner: Spinner::new(now_ms),
            paused_until_ms: i64::MIN,
        }
    }

    /// Takes in one thing that happened.
    pub fn hear(&mut self, news: News, now_ms: i64) {
        match news {
            News::Viewer(login) => self.say(now_ms, format!("The token speaks for {login}")),
            News::Clearing { surface } => self.say(now_ms, told::clearing(surface)),
            News::Asking { surface, scope, page } => self.asking(surface, &scope, page, now_ms),
            News::Listed { repositories, is_all } => {
                let step = |item: &mut Item| item.listed(repositories, is_all);
                self.step(Choice::Repositories, now_ms, step);
            }
            News::Moved { lanes } => {
                for (choice, to_read) in lanes {
                    self.step(choice, now_ms, |item| item.expect(to_read, now_ms));
                }
            }
            News::Kept { surface, seen, stored, .. } => {
                self.step(surface.choice(), now_ms, |item| item.count(seen, now_ms));
                if 0 < stored {
                    self.say(now_ms, told::saved(surface, stored));
                }
            }
            News::Read { surface, .. } => self.step(surface.choice(), now_ms, Item::read_one),
            News::Removed { scope, count, .. } => {
                self.say(now_ms, format!("Removed {count}: {scope}"));
            }
            News::Answered => self.answered += 1,
            News::Retried { why, wait_ms } => self.retried(&why, wait_ms, now_ms),
            News::Paused { why, until_ms } => self.paused(&why, until_ms, now_ms),
            News::Budget { used, limit, resets_in_ms } => {
                let resets_ms = now_ms.saturating_add(resets_in_ms);
                self.budgeted(Budget { used, limit, resets_ms }, now_ms);
            }
            News::Failed { surface, scope, message } => {
                self.failed += 1;
                self.step(surface.choice(), now_ms, Item::fail);
                self.log(Tone::Error, &format!("❌ {scope}: {message}"), now_ms);
            }
        }
    }

    /// Takes in a line that somebody wrote into the log.
    pub fn log(&mut self, tone: Tone, text: &str, now_ms: i64) {
        self.activity.push(now_ms, tone, text.to_owned());
    }

    /// Lets time pass.
    pub fn tick(&mut self, now_ms: i64) {
        self.spinner.measure(self.answered + self.retried, now_ms);
    }

    /// Nothing more will be told.
    pub fn end(&mut self, ending: &Ending, now_ms: i64) {
        match ending {
            Ending::Done => {
                for index in 0..self.items.len() {
                    self.change(index, now_ms, Item::end);
                }
                let line = match self.failed {
                    0 => "✅ Synchronization completed".to_owned(),
                    errors => format!("❌ Completed with {}", counted(errors, "error")),
                };
                let tone = if self.failed == 0 { Tone::Plain } else { Tone::Error };
                self.log(tone, &line, now_ms);
            }
            Ending::Failed(message) => {
                self.failed += 1;
                self.items.iter_mut().for_each(Item::break_off);
                self.log(Tone::Error, &format!("❌ {message}"), now_ms);
            }
            Ending::Stopped => self.say(now_ms, "Stopped; what was read is kept".to_owned()),
        }
    }

    /// How many rows it takes, the frame included.
    pub fn height(&self) -> u16 {
        u16::try_from(self.items.len()).unwrap_or(u16::MAX).saturating_add(14)
    }

    fn asking(&mut self, surface: Surface, scope: &str, page: u64, now_ms: i64) {
        if let Some(item) = self.items.iter_mut().find(|item| item.title == title(surface.choice()))
            && item.is_chosen()
            && item.begin()
        {
            let starting = told::starting(item.title);
            self.say(now_ms, starting);
        }
        self.say(now_ms, told::asking(surface, scope, page));
    }

    /// Changes a row, and tells when that made it complete.
    fn step(&mut self, choice: Choice, now_ms: i64, step: impl FnOnce(&mut Item)) {
        if let Some(index) = self.items.iter().position(|item| item.title == title(choice)) {
            self.change(index, now_ms, step);
        }
    }

    fn change(&mut self, index: usize, now_ms: i64, step: impl FnOnce(&mut Item)) {
        let item = &mut self.items[index];
        let was_over = item.is_over();
        step(item);
        if item.is_chosen() && !was_over && item.is_over() && item.errors() == 0 {
            let completed = told::completed(item.title, item.seen());
            self.say(now_ms, completed);
        }
    }

    /// What is limited is asked again, too; the pause has been told by then.
    fn retried(&mut self, why: &str, wait_ms: i64, now_ms: i64) {
        self.retried += 1;
        if now_ms < self.paused_until_ms {
            return;
        }
        self.say(now_ms, format!("⚠\u{fe0f} {why}"));
        if WORTH_TELLING_MS <= wait_ms {
            self.say(now_ms, told::retrying(wait_ms));
        }
    }

    /// Several requests can meet one limit, and each of them tells of it.
    fn paused(&mut self, why: &str, until_ms: i64, now_ms: i64) {
        let is_told = until_ms < self.paused_until_ms.saturating_add(WORTH_TELLING_MS);
        self.paused_until_ms = self.paused_until_ms.max(until_ms);
        if !is_told {
            self.say(now_ms, format!("⚠\u{fe0f} API limit: {why}"));
            self.say(now_ms, format!("🔄 Waiting {}...", span(until_ms.saturating_sub(now_ms))));
        }
    }

    /// What remains is told once for each tenth.
    fn budgeted(&mut self, budget: Budget, now_ms: i64) {
        let before = self.budget.map_or(10, |before| before.percent_left() / 10);
        self.budget = Some(budget);
        if budget.percent_left() / 10 < before {
            self.say(now_ms, format!("Rate limit: {}% remaining", budget.percent_left()));
        }
    }

    fn say(&mut self, now_ms: i64, text: String) {
        self.activity.push(now_ms, Tone::Plain, text);
    }
}
