//! Words posts for people: marks, links, one-line excerpts.

pub(crate) mod post_page;

use hw_rules::bluesky::post::Post;
use hw_rules::source_time::SourceTime;

use crate::terminal::clean_line;

/// The number of characters of a post that a line prints.
const MAX_EXCERPT_CHARS: usize = 80;

/// Returns what a row of a feed is, if it is more than a post: `reply`, `quote` or `repost`.
pub(crate) fn post_mark(post: &Post) -> &'static str {
    match post.kind_name() {
        "post" => "",
        kind => kind,
    }
}

/// Returns the beginning of a post on one line, cleaned.
pub(crate) fn post_excerpt(text: &str) -> String {
    let line = clean_line(text);
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns a time in UTC, to the minute.
pub(crate) fn minute_text(time: &SourceTime) -> String {
    let text = time.instant().to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn post_excerpt_is_one_line_without_escapes() {
        assert_eq!(post_excerpt(" two\n\n lines\u{1b}[2J\u{202e} "), "two lines[2J");
        let long = "é".repeat(10_000);
        assert_eq!(post_excerpt(&long), format!("{}…", "é".repeat(MAX_EXCERPT_CHARS)));
        assert_eq!(post_excerpt(&"x".repeat(MAX_EXCERPT_CHARS)), "x".repeat(MAX_EXCERPT_CHARS));
    }

    #[test]
    fn minute_is_in_utc_whatever_the_source_sent() {
        let time = SourceTime::parse("2026-01-02T03:04:05.678+02:00").unwrap();
        assert_eq!(minute_text(&time), "2026-01-02 01:04");
    }
}
