//! How many rows to ask for at once.
//!
//! A server that could not serve a page is asked for half of it, and the size is remembered; clean
//! answers let it grow again, slowly.

/// The most that GitHub serves in one page.
pub const LARGEST: u32 = 100;

/// The size after an answer that was too much for the server.
pub fn shrink(size: u32) -> u32 {
    (size / 2).max(1)
}

/// The size after a clean answer, up to the largest that is ever asked for.
pub fn grow(size: u32, largest: u32) -> u32 {
    size.saturating_add((size / 8).max(1)).min(largest).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_halves_down_to_one_and_grows_slowly_back() {
        let down: Vec<u32> =
            std::iter::successors(Some(LARGEST), |s| Some(shrink(*s))).take(9).collect();
        assert_eq!(down, [100, 50, 25, 12, 6, 3, 1, 1, 1]);
        let steps = std::iter::successors(Some(1), |s| Some(grow(*s, LARGEST)))
            .take_while(|s| *s < LARGEST);
        assert_eq!(steps.count(), 32);
    }
}
