//! Maps the heading levels of a body to levels that continue those of the page.

/// The deepest heading level of HTML.
const DEEPEST_HEADING: usize = 6;

/// Maps the levels of one body: the topmost becomes `top`, and no level is skipped on the way down.
pub(super) struct HeadingLevels {
    top: usize,
    /// The author's levels from the topmost heading down to the last one.
    open_levels: Vec<usize>,
}

impl HeadingLevels {
    pub(super) fn new(top: usize) -> Self {
        Self { top, open_levels: Vec::new() }
    }

    /// Returns the level of the next heading on the page.
    pub(super) fn next_level(&mut self, level: usize) -> usize {
        while self.open_levels.last().is_some_and(|above| *above >= level) {
            self.open_levels.pop();
        }
        self.open_levels.push(level);
        (self.top + self.open_levels.len() - 1).min(DEEPEST_HEADING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heading_levels_skip_none_on_the_way_down() {
        for (written, expected) in [
            ([1, 2, 3, 2, 1], [3, 4, 5, 4, 3]),
            ([3, 3, 5, 6, 3], [3, 3, 4, 5, 3]),
            ([4, 1, 6, 1, 6], [3, 3, 4, 3, 4]),
            ([1, 2, 3, 4, 5], [3, 4, 5, 6, 6]),
        ] {
            let mut levels = HeadingLevels::new(3);
            assert_eq!(written.map(|level| levels.next_level(level)), expected);
        }
    }
}
