//! `>=2025-01-01`, `<2025-06-18T19:19:08Z`, `2025-01-01..2025-01-31`, `2025-01-01`.

use crate::dates::{self, Span};

/// The span that the value of a date filter means; none when it means nothing.
pub(super) fn span(value: &str) -> Option<Span> {
    let value = value.to_ascii_uppercase();
    if let Some((from, to)) = value.split_once("..") {
        let (from, to) = (end(from, dates::parse_from)?, end(to, dates::parse_to)?);
        let is_span = match (from, to) {
            (None, None) => false,
            (Some(from), Some(to)) => from <= to,
            _ => true,
        };
        return is_span.then_some(Span { from, to });
    }
    let (sign, date) = value.split_at(value.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(0));
    let (from, to) = dates::parse(date).ok()?;
    Some(match sign {
        "" | "=" => Span { from: Some(from), to: Some(to) },
        ">=" => Span { from: Some(from), to: None },
        ">" => Span { from: Some(to.plus(1)), to: None },
        "<=" => Span { from: None, to: Some(to) },
        "<" => Span { from: None, to: Some(from.minus(1)) },
        _ => return None,
    })
}

/// One end of a range; `*` or nothing leaves it open.
fn end<E>(
    date: &str,
    parse: impl Fn(&str) -> Result<crate::time::Mark, E>,
) -> Option<Option<crate::time::Mark>> {
    if date.is_empty() || date == "*" { Some(None) } else { parse(date).ok().map(Some) }
}
