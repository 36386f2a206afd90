//! The fields of search hits.

use hw_rules::item::ObjectKind;
use hw_rules::snippet::SnippetPiece;
use hw_store::Hit;
use serde_json::{Value, json};

use crate::row_writer::OutputColumn;

const HIT_COLUMNS: [OutputColumn<Hit>; 16] = [
    OutputColumn::new("title", |hit| json!(hit.title)),
    OutputColumn::new("url", |hit| json!(hit.url)),
    OutputColumn::new("repository", |hit| thread_value(hit, json!(hit.repository))),
    OutputColumn::new("created_at", |hit| json!(hit.created_at)),
    OutputColumn::new("author", |hit| json!(hit.author)),
    OutputColumn::new("type", |hit| json!(hit.type_name())),
    OutputColumn::new("state", |hit| thread_value(hit, json!(hit.state))),
    OutputColumn::new("owner", |hit| thread_value(hit, json!(hit.owner))),
    OutputColumn::new("number", |hit| thread_value(hit, json!(hit.number))),
    OutputColumn::new("updated_at", |hit| json!(hit.updated_at)),
    OutputColumn::new("labels", |hit| json!(hit.labels)),
    OutputColumn::new("comment_url", |hit| {
        json!(hit.matched_comment.as_ref().map(|comment| &comment.url))
    }),
    OutputColumn::new("snippet", |hit| json!(snippet_text(&hit.snippet))),
    OutputColumn::new("matches", |hit| json!(match_ranges(&hit.snippet))),
    OutputColumn::new("body", |hit| json!(hit.body)),
    OutputColumn::new("reposted_by", |hit| json!(hit.reposted_by)),
];

pub(crate) fn hit_columns() -> Vec<OutputColumn<Hit>> {
    HIT_COLUMNS.to_vec()
}

/// Returns a value that a post does not have.
fn thread_value(hit: &Hit, value: Value) -> Value {
    if hit.kind == ObjectKind::Post { Value::Null } else { value }
}

fn snippet_text(pieces: &[SnippetPiece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

/// Returns the ranges of the matched words, in characters; the end is exclusive.
fn match_ranges(pieces: &[SnippetPiece]) -> Vec<[usize; 2]> {
    let (mut start, mut ranges) = (0, Vec::new());
    for piece in pieces {
        let end = start + piece.text.chars().count();
        if piece.is_match {
            ranges.push([start, end]);
        }
        start = end;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_counted_in_characters() {
        let pieces = [("é 港 ", false), ("Pümp", true), ("!", false)]
            .map(|(text, is_match)| SnippetPiece { text: text.to_owned(), is_match });
        assert_eq!(
            (snippet_text(&pieces).as_str(), match_ranges(&pieces)),
            ("é 港 Pümp!", vec![[4, 8]])
        );
    }
}
