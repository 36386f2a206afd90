//! Sizes the transactions of work on many rows, so that other writers never wait long.

/// The most rows that one write transaction changes.
pub const MAX_CHUNK_ROWS: u32 = 1_000;
/// The rows of the first chunk, before it is known how long one takes.
pub const FIRST_CHUNK_ROWS: u32 = 50;
/// The time that a chunk should take.
const TARGET_MS: i64 = 50;
/// The time between two chunks in which another process can write. SQLite has no queue of writers: each tries again and
/// again, and finds no gap that is shorter than the time between two tries.
pub const GAP_MS: i64 = 3;

/// Returns the number of rows of the next chunk, after one of `rows` rows that took `elapsed_ms`. It at most doubles,
/// because a single measurement may be an outlier.
pub fn next_chunk_rows(rows: u32, elapsed_ms: i64) -> u32 {
    let largest = rows.saturating_mul(2).min(MAX_CHUNK_ROWS);
    let fitting = i64::from(rows) * TARGET_MS / elapsed_ms.max(1);
    u32::try_from(fitting).unwrap_or(MAX_CHUNK_ROWS).clamp(1, largest.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_size_follows_the_time_that_a_chunk_took() {
        for (rows, elapsed_ms, expected) in [
            (50, 0, 100),
            (50, 25, 100),
            (100, 40, 125),
            (400, 50, 400),
            (400, 200, 100),
            (900, 10, 1_000),
            (1, 10_000, 1),
            (50, -7, 100),
        ] {
            assert_eq!(next_chunk_rows(rows, elapsed_ms), expected, "{rows} in {elapsed_ms} ms");
        }
    }
}
