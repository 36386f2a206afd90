//! Levels of headings that continue those of the page, whatever levels an author used.

/// The deepest heading that HTML has.
const DEEPEST: usize = 6;

/// Maps the levels of one body: the topmost becomes `top`, and none is skipped on the way down.
pub(super) struct HeadingLevels {
    top: usize,
    /// The authors' levels from the topmost down to the last heading.
    open: Vec<usize>,
}

impl HeadingLevels {
    pub(super) fn new(top: usize) -> Self {
        Self { top, open: Vec::new() }
    }

    /// The level in the page of the next heading.
    pub(super) fn next(&mut self, level: usize) -> usize {
        while self.open.last().is_some_and(|above| *above >= level) {
            self.open.pop();
        }
        self.open.push(level);
        (self.top + self.open.len() - 1).min(DEEPEST)
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
            assert_eq!(written.map(|level| levels.next(level)), expected);
        }
    }
}
