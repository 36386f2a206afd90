//! Splits a query into chunks: words, phrases and filters, each excluded or not.

use super::filters::FilterName;

/// Qualifiers that GitHub's search supports and this one does not.
const UNSUPPORTED_QUALIFIERS: [&str; 27] = [
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
pub(super) struct QueryChunk<'a> {
    /// The whole chunk, without a leading `-`.
    pub(super) text: &'a str,
    /// The text between quotation marks.
    pub(super) quoted: Option<&'a str>,
    /// A star follows the quotation marks.
    pub(super) is_prefix: bool,
    pub(super) filter: Option<FilterChunk<'a>>,
    /// A `-` precedes the chunk.
    pub(super) is_excluded: bool,
}

/// A filter as written; its value may be invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FilterChunk<'a> {
    pub(super) name: FilterName,
    pub(super) value: &'a str,
}

/// A chunk and the rest of the text after it.
struct SplitChunk<'a> {
    chunk: QueryChunk<'a>,
    rest: &'a str,
}

impl<'a> QueryChunk<'a> {
    pub(super) fn is_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// Returns the name of a qualifier that GitHub's search supports and this one does not.
    pub(super) fn unsupported_qualifier(&self) -> Option<&'a str> {
        let (name, value) = self.text.split_once(':').filter(|_| self.quoted.is_none())?;
        let is_known = UNSUPPORTED_QUALIFIERS.iter().any(|known| known.eq_ignore_ascii_case(name));
        (is_known && !value.is_empty() && !value.starts_with(':')).then_some(name)
    }
}

pub(super) fn split_chunks(text: &str) -> impl Iterator<Item = QueryChunk<'_>> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let split = next_chunk(rest);
        rest = split.rest.trim_start();
        Some(split.chunk)
    })
}

/// Splits the next chunk off a text that does not begin with a space.
fn next_chunk(text: &str) -> SplitChunk<'_> {
    if let Some(excluded) = text.strip_prefix('-').filter(|rest| can_be_excluded(rest)) {
        let SplitChunk { chunk, rest } = next_chunk(excluded);
        return SplitChunk { chunk: QueryChunk { is_excluded: true, ..chunk }, rest };
    }
    if let Some(quoted) = text.strip_prefix('"') {
        let (inside, after) = split_at_quote(quoted);
        let after_star = after.strip_prefix('*');
        let rest = after_star.unwrap_or(after);
        let chunk = QueryChunk {
            text: &text[..text.len() - rest.len()],
            quoted: Some(inside),
            is_prefix: after_star.is_some(),
            ..QueryChunk::default()
        };
        return SplitChunk { chunk, rest };
    }
    if let Some(split) = parse_quoted_filter(text) {
        return split;
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (text, rest) = text.split_at(end);
    let filter = text
        .split_once(':')
        .and_then(|(name, value)| Some(FilterChunk { name: FilterName::parse(name)?, value }));
    SplitChunk { chunk: QueryChunk { text, filter, ..QueryChunk::default() }, rest }
}

/// Returns true if a `-` before this text excludes it: `-word` and `-"a phrase"` do, `--flag` and `->` are text.
fn can_be_excluded(text: &str) -> bool {
    text.starts_with(|c: char| c == '"' || c.is_alphanumeric() || !c.is_ascii())
        && !text.starts_with(char::is_whitespace)
}

/// Parses a filter such as `label:"help wanted"`.
fn parse_quoted_filter(text: &str) -> Option<SplitChunk<'_>> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (prefix, _) = text[..end].split_once(":\"")?;
    let name = FilterName::parse(prefix)?;
    let (value, rest) = split_at_quote(&text[prefix.len() + ":\"".len()..]);
    let text = &text[..text.len() - rest.len()];
    let filter = Some(FilterChunk { name, value });
    Some(SplitChunk { chunk: QueryChunk { text, filter, ..QueryChunk::default() }, rest })
}

/// Splits a text at its next quotation mark; the first part is the whole text if there is none.
fn split_at_quote(text: &str) -> (&str, &str) {
    text.split_once('"').unwrap_or((text, ""))
}
