//! The lines that a poll prints, one for each account with something to report.
//!
//! Scripts search for these lines, so that their words never change, not even for a count of one. An account is named by
//! its handle, or by its DID if it has none.

use crate::safe_text;

/// The result of a poll of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollCounts {
    /// New posts and reposts.
    pub posts: u64,
    /// Their links.
    pub urls: u64,
    pub pages: u32,
}

/// Returns the line of an account with new posts.
pub fn poll_line(name: &str, counts: PollCounts) -> String {
    format!("[POLL] {}", describe_counts(name, counts))
}

/// Returns the line of an account that was read for the first time.
pub fn initial_line(name: &str, counts: PollCounts) -> String {
    format!("[INITIAL] {}", describe_counts(name, counts))
}

/// Returns the line of an account whose first page did not reach the posts that are known.
pub fn high_volume_line(name: &str) -> String {
    format!("[POLL] {name}: High volume detected, fetching more pages")
}

/// Returns the line of an account that the server refuses with this status.
pub fn skip_line(name: &str, status: u16) -> String {
    format!("[SKIP] {name}: Account unavailable (invalid/deleted/private): API error: {status}")
}

/// Returns the line of an account that could not be read for another reason.
pub fn error_line(name: &str, error: &str) -> String {
    format!("[ERROR] {name}: {}", safe_text::sanitize_terminal_line(error))
}

/// Returns the counts; the pages only if there were several.
fn describe_counts(name: &str, counts: PollCounts) -> String {
    let PollCounts { posts, urls, pages } = counts;
    let across = if pages > 1 { format!(" across {pages} pages") } else { String::new() };
    format!("{name}: {posts} posts, {urls} URLs{across}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_lines_have_the_words_that_scripts_search_for() {
        let post = "washingtonpost.com";
        for (line, expected) in [
            (
                poll_line(post, PollCounts { posts: 150, urls: 75, pages: 3 }),
                "[POLL] washingtonpost.com: 150 posts, 75 URLs across 3 pages",
            ),
            (
                poll_line(post, PollCounts { posts: 1, urls: 0, pages: 1 }),
                "[POLL] washingtonpost.com: 1 posts, 0 URLs",
            ),
            (
                initial_line(post, PollCounts { posts: 1_500, urls: 1, pages: 30 }),
                "[INITIAL] washingtonpost.com: 1500 posts, 1 URLs across 30 pages",
            ),
            (
                high_volume_line("handle.test"),
                "[POLL] handle.test: High volume detected, fetching more pages",
            ),
            (
                skip_line("handle.invalid", 400),
                "[SKIP] handle.invalid: Account unavailable (invalid/deleted/private): API error: 400",
            ),
            (
                error_line(post, "server error: status 502"),
                "[ERROR] washingtonpost.com: server error: status 502",
            ),
        ] {
            assert_eq!(line, expected);
        }
    }

    #[test]
    fn poll_lines_are_one_line_without_escapes() {
        let line = error_line("a.test", "bad\n[POLL] x: 1 posts\u{1b}[31m\u{202e}\0");
        assert_eq!(line, "[ERROR] a.test: bad [POLL] x: 1 posts[31m");
    }
}
