//! Runs the chores that the store has pending: in small transactions, so that nobody else waits long.

use hw_rules::chunk_size::{FIRST_CHUNK_ROWS, GAP_MS, next_chunk_rows};
use hw_store::{ChoreChunk, LeasedStore};

use crate::SyncError;
use crate::clock::Clock;
use crate::crash_points::{self, CrashPoints};

/// Runs all pending chores. Sleeps between two transactions, so that others can write, the lease is renewed and a pull can
/// be stopped; the next one continues where this one stopped.
pub(crate) async fn run_chores(
    store: &LeasedStore,
    clock: &dyn Clock,
    crash_points: &CrashPoints,
) -> Result<(), SyncError> {
    let mut rows = FIRST_CHUNK_ROWS;
    loop {
        let began_ms = clock.monotonic_ms();
        match store.run_chore(rows)? {
            ChoreChunk::NothingLeft => return Ok(()),
            ChoreChunk::Done => crash_points.pass_point(crash_points::CHUNK_DONE)?,
        }
        rows = next_chunk_rows(rows, clock.monotonic_ms() - began_ms);
        clock.sleep_until(clock.now_ms() + GAP_MS).await;
    }
}
