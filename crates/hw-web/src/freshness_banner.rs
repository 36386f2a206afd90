//! The banner on every page with content: how fresh the content is, and what may be missing from it.

use hw_rules::format::group_digits;
use hw_rules::missing_text::describe_missing;
use hw_rules::source_time::SourceInstant;
use hw_store::Completeness;

use crate::format::DisplayTime;
use crate::title::{TitlePart, sentence_parts};

/// Warnings that a banner lists; the health page lists all of them.
const MAX_WARNINGS: usize = 5;

pub(crate) struct FreshnessBanner {
    pub(crate) fresh_through: Option<DisplayTime>,
    pub(crate) missing: Vec<Vec<TitlePart>>,
    /// Number of warnings that are not listed; empty when there are none.
    pub(crate) more: String,
}

impl From<Completeness> for FreshnessBanner {
    fn from(completeness: Completeness) -> Self {
        let Completeness { fresh_through, missing } = completeness;
        let more = missing.len().saturating_sub(MAX_WARNINGS);
        Self {
            fresh_through: fresh_through
                .filter(|instant| *instant != SourceInstant::BEGINNING)
                .map(DisplayTime::new),
            missing: missing
                .iter()
                .take(MAX_WARNINGS)
                .map(|missing| sentence_parts(&describe_missing(missing)))
                .collect(),
            more: if more == 0 { String::new() } else { group_digits(more as u64) },
        }
    }
}
