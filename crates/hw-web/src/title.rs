//! Renders titles as GitHub does: code in backticks and emoji shortcodes, and no other Markdown.

use std::ops::Range;

use hw_rules::snippet::SnippetPiece;

use crate::format;
use crate::markdown::references::{ReferenceTarget, find_references};

/// A part of a title with uniform formatting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TitlePart {
    pub(crate) text: String,
    pub(crate) is_code: bool,
    /// The part matches the search query.
    pub(crate) is_match: bool,
}

/// Splits a title into parts.
pub(crate) fn title_parts(title: &str) -> Vec<TitlePart> {
    marked_title_parts(vec![SnippetPiece { text: format::format_line(title), is_match: false }])
}

/// Splits a sentence of the program into parts. It starts with a capital letter, unless it starts with code. Callers
/// do not start it with a name, which capitalizing would change.
pub(crate) fn sentence_parts(sentence: &str) -> Vec<TitlePart> {
    let mut chars = sentence.chars();
    let first = chars.next().map(char::to_uppercase);
    let sentence: String = first.into_iter().flatten().chain(chars).collect();
    title_parts(&sentence)
}

/// Splits a title in which a search has marked the matches.
pub(crate) fn marked_title_parts(pieces: Vec<SnippetPiece>) -> Vec<TitlePart> {
    let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let spans = code_spans(&whole);
    let mut parts = Vec::new();
    let mut at = 0;
    for SnippetPiece { text, is_match } in pieces {
        let end = at + text.len();
        while at < end {
            let run = run_at(&spans, at, end);
            let text = &whole[at..run.end];
            match run.kind {
                RunKind::Text => {
                    let text = replace_shortcodes(text);
                    parts.push(TitlePart { text, is_code: false, is_match });
                }
                RunKind::Code => {
                    parts.push(TitlePart { text: text.to_owned(), is_code: true, is_match });
                }
                RunKind::Backticks => {}
            }
            at = run.end;
        }
    }
    parts
}

/// Code between two runs of backticks of equal length.
struct CodeSpan {
    opening: Range<usize>,
    closing: Range<usize>,
}

struct TitleRun {
    kind: RunKind,
    end: usize,
}

enum RunKind {
    Text,
    Code,
    Backticks,
}

fn code_spans(title: &str) -> Vec<CodeSpan> {
    let runs = backtick_runs(title);
    let mut spans = Vec::new();
    let mut next = 0;
    while let Some(opening) = runs.get(next) {
        let closing = runs[next + 1..].iter().position(|run| run.len() == opening.len());
        next += 1;
        if let Some(closing) = closing {
            let closing = next + closing;
            spans.push(CodeSpan { opening: opening.clone(), closing: runs[closing].clone() });
            next = closing + 1;
        }
    }
    spans
}

fn backtick_runs(title: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in title.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Returns the run at a position; it ends at `end` at the latest.
fn run_at(spans: &[CodeSpan], at: usize, end: usize) -> TitleRun {
    let (kind, run_end) = match spans.iter().find(|span| at < span.closing.end) {
        None => (RunKind::Text, end),
        Some(span) if at < span.opening.start => (RunKind::Text, span.opening.start),
        Some(span) if at < span.opening.end => (RunKind::Backticks, span.opening.end),
        Some(span) if at < span.closing.start => (RunKind::Code, span.closing.start),
        Some(span) => (RunKind::Backticks, span.closing.end),
    };
    TitleRun { kind, end: run_end.min(end) }
}

fn replace_shortcodes(text: &str) -> String {
    let mut replaced = String::new();
    let mut copied = 0;
    for reference in find_references(text) {
        if let ReferenceTarget::Emoji(emoji) = reference.target {
            replaced.push_str(&text[copied..reference.range.start]);
            replaced.push_str(emoji);
            copied = reference.range.end;
        }
    }
    replaced.push_str(&text[copied..]);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_has_code_between_backticks() {
        for (title, expected) in [
            ("fix `a < b` now", "fix [a < b] now"),
            ("``x`y`` and `", "[x`y] and `"),
            ("`one` `two`", "[one] [two]"),
            ("``", "``"),
            (":rocket: `:rocket:` *a*", "🚀 [:rocket:] *a*"),
        ] {
            assert_eq!(render_parts(title_parts(title)), expected);
        }
    }

    #[test]
    fn sentence_starts_with_a_capital_letter_or_with_code() {
        for (sentence, expected) in [
            ("run `highwater pull`", "Run [highwater pull]"),
            ("`type:bug` is not a filter", "[type:bug] is not a filter"),
            ("", ""),
        ] {
            assert_eq!(render_parts(sentence_parts(sentence)), expected);
        }
    }

    #[test]
    fn title_keeps_marks_across_code() {
        let pieces = [("the ", false), ("pump `st", true), ("art` fails", false)];
        let pieces = pieces
            .map(|(text, is_match)| SnippetPiece { text: text.to_owned(), is_match })
            .to_vec();
        let parts = marked_title_parts(pieces);
        assert_eq!(render_parts(parts.clone()), "the pump [st][art] fails");
        let marked: Vec<_> = parts.iter().filter(|part| part.is_match).collect();
        assert_eq!(marked.iter().map(|part| &*part.text).collect::<Vec<_>>(), ["pump ", "st"]);
    }

    fn render_parts(parts: Vec<TitlePart>) -> String {
        let texts = parts.into_iter().map(|TitlePart { text, is_code, .. }| match is_code {
            true => format!("[{text}]"),
            false => text,
        });
        texts.collect()
    }
}
