//! Explains an answer without hits by the words of the query that no text contains.

use hw_rules::query::Query;
use hw_store::{SearchEngine, SearchRequest, StoreError};

/// Words that are searched for individually.
const MAX_WORDS: usize = 8;
/// Bytes of a word in the explanation.
const MAX_ECHO_BYTES: usize = 60;

/// Searches for each word of a query without hits; returns none when the query has no words.
pub(crate) fn explain_no_hits(
    engine: &SearchEngine,
    query: &str,
) -> Result<Option<String>, StoreError> {
    let words = searchable_words(query);
    let mut missing = Vec::new();
    for word in &words {
        let request = SearchRequest { limit: 1, ..SearchRequest::new(*word) };
        if engine.search(&request)?.hits.is_empty() {
            missing.push(*word);
        }
    }
    Ok(format_explanation(&words, &missing))
}

fn format_explanation(words: &[&str], missing: &[&str]) -> Option<String> {
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(|word| shorten_word(word)).collect();
        return Some(format!("no text contains: {}", missing.join(", ")));
    }
    match words.len() {
        0 => None,
        1 => Some(
            "the word occurs, but not in any text that matches the rest of the query".to_owned(),
        ),
        _ => Some("each word occurs, but no text matches the whole query".to_owned()),
    }
}

/// Returns the words and quoted phrases that a hit must contain: no filters, exclusions or operators.
fn searchable_words(query: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() && words.len() < MAX_WORDS {
        let (word, after) = rest.split_at(end_of_word(rest));
        let has_text = word.contains(char::is_alphanumeric);
        if has_text && !is_operator(word) && !words.contains(&word) {
            words.push(word);
        }
        rest = after.trim_start();
    }
    words
}

fn is_operator(word: &str) -> bool {
    // a filter with an invalid value is searched as text
    ["OR", "AND", "NOT"].contains(&word) || !Query::parse(word).has_words()
}

/// Returns the position of the first space outside of quotation marks.
fn end_of_word(text: &str) -> usize {
    let mut is_quoted = false;
    let end = text.char_indices().find(|(_, c)| {
        is_quoted ^= *c == '"';
        !is_quoted && c.is_whitespace()
    });
    end.map_or(text.len(), |(at, _)| at)
}

fn shorten_word(word: &str) -> String {
    let end = word.floor_char_boundary(MAX_ECHO_BYTES);
    if end == word.len() { word.to_owned() } else { format!("{}…", &word[..end]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searchable_words_leave_out_filters_exclusions_and_operators() {
        let query = "tide \"last reading\" -draft OR repo:pump label:\"help wanted\" Type:pr gaug* tide - :) foo:bar state:opn sort:new";
        let expected = ["tide", "\"last reading\"", "gaug*", "foo:bar", "state:opn"];
        assert_eq!(searchable_words(query), expected);
        assert_eq!(searchable_words("\"open phrase"), ["\"open phrase"]);
        assert_eq!(searchable_words(&"a1 a2 a3 a4 a5 a6 a7 a8 a9".repeat(9)).len(), MAX_WORDS);
        assert!(searchable_words(" repo:pump \t -x ").is_empty());
    }

    #[test]
    fn explanation_names_the_missing_words_and_shortens_them() {
        let long = "é".repeat(50);
        assert_eq!(format_explanation(&["a", "b"], &["b"]).unwrap(), "no text contains: b");
        let shortened = format!("no text contains: {}…, x", "é".repeat(30));
        assert_eq!(format_explanation(&[&long, "x"], &[&long, "x"]).unwrap(), shortened);
        assert!(format_explanation(&["a", "b"], &[]).unwrap().starts_with("each word occurs"));
        assert!(format_explanation(&["a"], &[]).unwrap().starts_with("the word occurs"));
        assert_eq!(format_explanation(&[], &[]), None);
    }
}
