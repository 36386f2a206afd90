//! Titles as GitHub shows them: code in backticks and emoji shortcodes, and nothing else of Markdown.

use std::ops::Range;

use hw_rules::snippet::Piece;

use crate::markdown::references::{ReferenceTarget, find_references};
use crate::texts;

/// A run of a title that looks the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TitlePart {
    pub(crate) text: String,
    pub(crate) is_code: bool,
    /// Whether it was searched for.
    pub(crate) is_match: bool,
}

/// The parts of a whole title.
pub(crate) fn title_parts(title: &str) -> Vec<TitlePart> {
    marked_title_parts(vec![Piece { text: texts::line(title), is_match: false }])
}

/// The parts of a title in which a search has marked something.
pub(crate) fn marked_title_parts(pieces: Vec<Piece>) -> Vec<TitlePart> {
    let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let spans = code_spans(&whole);
    let mut parts = Vec::new();
    let mut at = 0;
    for Piece { text, is_match } in pieces {
        let end = at + text.len();
        while at < end {
            let run = run_at(&spans, at, end);
            if !run.is_backticks {
                parts.push(title_part(&whole[at..run.end], run.is_code, is_match));
            }
            at = run.end;
        }
    }
    parts
}

fn title_part(text: &str, is_code: bool, is_match: bool) -> TitlePart {
    let text = if is_code { text.to_owned() } else { with_emoji(text) };
    TitlePart { text, is_code, is_match }
}

/// Code between two equally long runs of backticks.
struct CodeSpan {
    opening: Range<usize>,
    closing: Range<usize>,
}

struct TitleRun {
    end: usize,
    is_code: bool,
    is_backticks: bool,
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

/// What stands at a place, and where it ends, at the latest at `end`.
fn run_at(spans: &[CodeSpan], at: usize, end: usize) -> TitleRun {
    let run = |limit: usize, is_code, is_backticks| TitleRun {
        end: limit.min(end),
        is_code,
        is_backticks,
    };
    match spans.iter().find(|span| at < span.closing.end) {
        None => run(end, false, false),
        Some(span) if at < span.opening.start => run(span.opening.start, false, false),
        Some(span) if at < span.opening.end => run(span.opening.end, false, true),
        Some(span) if at < span.closing.start => run(span.closing.start, true, false),
        Some(span) => run(span.closing.end, false, true),
    }
}

fn with_emoji(text: &str) -> String {
    let mut shown = String::new();
    let mut written = 0;
    for reference in find_references(text) {
        if let ReferenceTarget::Emoji(emoji) = reference.target {
            shown.push_str(&text[written..reference.at.start]);
            shown.push_str(emoji);
            written = reference.at.end;
        }
    }
    shown.push_str(&text[written..]);
    shown
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
            assert_eq!(shown(title_parts(title)), expected);
        }
    }

    #[test]
    fn title_keeps_marks_across_code() {
        let piece = |text: &str, is_match| Piece { text: text.to_owned(), is_match };
        let parts = marked_title_parts(vec![
            piece("the ", false),
            piece("pump `st", true),
            piece("art` fails", false),
        ]);
        assert_eq!(shown(parts.clone()), "the pump [st][art] fails");
        let marked: Vec<_> = parts.iter().filter(|part| part.is_match).collect();
        assert_eq!(marked.iter().map(|part| &*part.text).collect::<Vec<_>>(), ["pump ", "st"]);
    }

    fn shown(parts: Vec<TitlePart>) -> String {
        let shown = parts.into_iter().map(|TitlePart { text, is_code, .. }| match is_code {
            true => format!("[{text}]"),
            false => text,
        });
        shown.collect()
    }
}
