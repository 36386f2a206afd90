//! Finds what is damaged in the store, and has this same pull read it again.

use crate::Error;
use crate::turn::Room;

/// What a repair came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repair {
    /// How many damaged items were found.
    pub found: u64,
    /// How many of them this pull did not read again: it was not asked for them, or could not.
    pub waiting: u64,
}

/// Marks everything that is damaged; the lanes of the damaged items are swept by this pull.
///
/// The lease is renewed between the pages.
pub(crate) async fn mark_damaged(room: &Room<'_>) -> Result<Repair, Error> {
    room.store.rebuild_indexes(room.lease)?;
    let mut repair = Repair::default();
    let mut next = None;
    loop {
        let page = room.store.verify_page(next.as_ref())?;
        let now_ms = room.fetch.clock().now_ms();
        room.store.mark_damaged(room.lease, &page.damaged, now_ms)?;
        repair.found += page.damaged.len() as u64;
        tokio::task::yield_now().await;
        match page.next {
            Some(cursor) => next = Some(cursor),
            None => break,
        }
    }
    room.store.remove_stray_search_rows(room.lease)?;
    Ok(repair)
}
