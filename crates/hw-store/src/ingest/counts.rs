//! Counts what a page has changed.

use hw_rules::cells::{CellChange, CellWrite};
use hw_rules::item::MirrorItem;

use super::{IngestCounts, IngestPage};

pub(super) fn count_changes(page: &IngestPage, writes: &[CellWrite]) -> IngestCounts {
    let mut counts = IngestCounts {
        quarantined: page.quarantined.len() as u64,
        links: count_links(page, writes),
        ..IngestCounts::default()
    };
    for write in writes {
        match write.change {
            CellChange::Created => counts.created += 1,
            CellChange::Edited => counts.edited += 1,
            CellChange::Revived => counts.revived += 1,
            CellChange::Removed => counts.removed += 1,
            CellChange::Bumped | CellChange::Touched | CellChange::Unchanged => {
                counts.unchanged += 1;
            }
        }
    }
    counts
}

/// Returns the number of links of new posts.
fn count_links(page: &IngestPage, writes: &[CellWrite]) -> u64 {
    let new = writes
        .iter()
        .filter(|write| matches!(write.change, CellChange::Created | CellChange::Revived));
    let items = new.filter_map(|write| Some(&page.observations.get(write.text_index?)?.item));
    items
        .map(|item| match item {
            MirrorItem::Post(post) => post.links.len() as u64,
            MirrorItem::Repository(_) | MirrorItem::Thread(_) | MirrorItem::Comment(_) => 0,
        })
        .sum()
}
