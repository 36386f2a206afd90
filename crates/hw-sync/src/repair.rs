//! Finds damaged items in the store and has the same pull read them again.

use crate::SyncError;
use crate::turn::PullContext;

/// The result of a repair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RepairSummary {
    /// Damaged items that were found.
    pub found: u64,
    /// Damaged items that this pull did not read again: it did not cover them, or could not read them.
    pub waiting: u64,
}

/// Marks all damaged items; this pull sweeps their lanes.
///
/// Yields between pages, so that the lease is renewed.
pub(crate) async fn mark_damaged(context: &PullContext<'_>) -> Result<RepairSummary, SyncError> {
    context.store.rebuild_indexes()?;
    let mut repair = RepairSummary::default();
    let mut next = None;
    loop {
        let page = context.store.verify_page(next.as_ref())?;
        let now_ms = context.client.clock().now_ms();
        context.store.mark_damaged(&page.damaged, now_ms)?;
        repair.found += page.damaged.len() as u64;
        tokio::task::yield_now().await;
        match page.next {
            Some(cursor) => next = Some(cursor),
            None => break,
        }
    }
    context.store.remove_stray_search_rows()?;
    Ok(repair)
}
