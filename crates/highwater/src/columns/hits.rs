//! The fields of what a search found.

use hw_rules::snippet::Piece;
use hw_store::Hit;
use serde_json::json;

use crate::sheet::Column;

const ALL: [Column<Hit>; 15] = [
    ("title", |hit| json!(hit.title)),
    ("url", |hit| json!(hit.url)),
    ("repository", |hit| json!(hit.repository)),
    ("created_at", |hit| json!(hit.created_at)),
    ("author", |hit| json!(hit.author)),
    ("type", |hit| json!(hit.type_name())),
    ("state", |hit| json!(hit.state)),
    ("owner", |hit| json!(hit.owner)),
    ("number", |hit| json!(hit.number)),
    ("updated_at", |hit| json!(hit.updated_at)),
    ("labels", |hit| json!(hit.labels)),
    ("comment_url", |hit| json!(hit.said.as_ref().map(|said| &said.url))),
    ("snippet", |hit| json!(text(&hit.snippet))),
    ("matches", |hit| json!(matches(&hit.snippet))),
    ("body", |hit| json!(hit.body)),
];

pub(crate) fn of_hits() -> Vec<Column<Hit>> {
    ALL.to_vec()
}

fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

/// Where the matched words are in the text: first character, and the one behind the last.
fn matches(pieces: &[Piece]) -> Vec<[usize; 2]> {
    let (mut at, mut found) = (0, Vec::new());
    for piece in pieces {
        let end = at + piece.text.chars().count();
        if piece.is_match {
            found.push([at, end]);
        }
        at = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_counted_in_characters() {
        let piece = |text: &str, is_match| Piece { text: text.to_owned(), is_match };
        let pieces = [piece("é 港 ", false), piece("Pümp", true), piece("!", false)];
        assert_eq!((text(&pieces).as_str(), matches(&pieces)), ("é 港 Pümp!", vec![[4, 8]]));
    }
}
