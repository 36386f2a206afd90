//! How fresh a page is, and what may be missing from it: every page that shows something says so.

use hw_rules::time::Mark;
use hw_store::Behind;

use crate::texts::{When, grouped, line};

/// How many sentences are worth reading; the health page has them all.
const TOLD: usize = 5;

pub(crate) struct Told {
    pub(crate) fresh_through: Option<When>,
    pub(crate) missing: Vec<String>,
    /// How many more there are; empty when there are none.
    pub(crate) more: String,
}

impl From<Behind> for Told {
    fn from(behind: Behind) -> Self {
        let Behind { fresh_through, missing } = behind;
        let more = missing.len().saturating_sub(TOLD);
        Self {
            fresh_through: fresh_through.filter(|it| *it != Mark::BEGINNING).map(When::of),
            missing: missing.iter().take(TOLD).map(|sentence| line(sentence)).collect(),
            more: if more == 0 { String::new() } else { grouped(more as u64) },
        }
    }
}
