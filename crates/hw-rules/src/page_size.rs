//! Adapts the number of rows to request at once.
//!
//! After a page that the server could not serve, half as many rows are requested, and the size is remembered.
//! Clean responses let it grow again, slowly.

/// The largest page that GitHub serves.
pub const MAX_PAGE_SIZE: u32 = 100;

/// Returns the size after a page that was too much for the server.
pub fn shrink_page(size: u32) -> u32 {
    (size / 2).max(1)
}

/// Returns the size after a clean response, up to `max`.
pub fn grow_page(size: u32, max: u32) -> u32 {
    size.saturating_add((size / 8).max(1)).min(max).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_size_halves_down_to_one_and_grows_back_slowly() {
        let down: Vec<u32> =
            std::iter::successors(Some(MAX_PAGE_SIZE), |s| Some(shrink_page(*s))).take(9).collect();
        assert_eq!(down, [100, 50, 25, 12, 6, 3, 1, 1, 1]);
        let steps = std::iter::successors(Some(1), |s| Some(grow_page(*s, MAX_PAGE_SIZE)))
            .take_while(|s| *s < MAX_PAGE_SIZE);
        assert_eq!(steps.count(), 32);
    }
}
