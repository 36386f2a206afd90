//! A query, taken apart: words, phrases, filters, and what is to be left out.

use super::filters::Filters;

/// Qualifiers that GitHub knows and a mirror cannot answer.
const FOREIGN: [&str; 27] = [
    "archived",
    "assignee",
    "base",
    "closed",
    "commenter",
    "comments",
    "draft",
    "head",
    "in",
    "interactions",
    "involves",
    "language",
    "linked",
    "mentions",
    "merged",
    "milestone",
    "no",
    "org",
    "project",
    "reactions",
    "reason",
    "review",
    "review-requested",
    "reviewed-by",
    "sort",
    "team",
    "user",
];

/// A part of a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    /// All of it, but for the sign that leaves it out.
    pub(super) text: &'a str,
    /// What stands between quotation marks.
    pub(super) quoted: Option<&'a str>,
    /// Whether a star follows the quotation marks.
    pub(super) is_prefix: bool,
    /// Name and value of what looks like one of our filters.
    pub(super) filter: Option<(&'a str, &'a str)>,
    /// Whether a `-` stands before it.
    pub(super) is_excluded: bool,
}

impl<'a> Chunk<'a> {
    pub(super) fn is_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// The name of a qualifier that GitHub knows and this search does not.
    pub(super) fn foreign_qualifier(&self) -> Option<&'a str> {
        let (name, value) = self.text.split_once(':').filter(|_| self.quoted.is_none())?;
        let is_known = FOREIGN.iter().any(|known| known.eq_ignore_ascii_case(name));
        (is_known && !value.is_empty() && !value.starts_with(':')).then_some(name)
    }
}

/// Takes a text apart.
pub(super) fn chunks(text: &str) -> impl Iterator<Item = Chunk<'_>> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (chunk, after) = next_chunk(rest);
        rest = after.trim_start();
        Some(chunk)
    })
}

/// The next chunk of a text that does not begin with a space, and what follows it.
fn next_chunk(text: &str) -> (Chunk<'_>, &str) {
    if let Some(excluded) = text.strip_prefix('-').filter(|rest| can_be_excluded(rest)) {
        let (chunk, after) = next_chunk(excluded);
        return (Chunk { is_excluded: true, ..chunk }, after);
    }
    if let Some(quoted) = text.strip_prefix('"') {
        let (inside, after) = until_quote(quoted);
        let rest = after.strip_prefix('*');
        let (after, is_prefix) = (rest.unwrap_or(after), rest.is_some());
        let text = &text[..text.len() - after.len()];
        return (Chunk { text, quoted: Some(inside), is_prefix, ..Chunk::default() }, after);
    }
    if let Some((chunk, after)) = quoted_filter(text) {
        return (chunk, after);
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (text, after) = text.split_at(end);
    let filter = text.split_once(':').filter(|(name, _)| Filters::knows(name));
    (Chunk { text, filter, ..Chunk::default() }, after)
}

/// Whether a `-` before this leaves it out: `-word` and `-"a phrase"` do, `--flag` and `->` are text.
fn can_be_excluded(text: &str) -> bool {
    text.starts_with(|c: char| c == '"' || c.is_alphanumeric() || !c.is_ascii())
        && !text.starts_with(char::is_whitespace)
}

/// `label:"help wanted"`.
fn quoted_filter(text: &str) -> Option<(Chunk<'_>, &str)> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (name, _) = text[..end].split_once(":\"").filter(|(name, _)| Filters::knows(name))?;
    let (value, after) = until_quote(&text[name.len() + ":\"".len()..]);
    let text = &text[..text.len() - after.len()];
    Some((Chunk { text, filter: Some((name, value)), ..Chunk::default() }, after))
}

/// What stands before the next quotation mark, or all when there is none, and what follows.
fn until_quote(text: &str) -> (&str, &str) {
    text.split_once('"').unwrap_or((text, ""))
}
