//! Explains an answer without hits: which words of the query no text contains.

use hw_store::{Error, Search, SearchEngine};

/// How many words are searched for alone.
const WORDS_MAX: usize = 8;
/// How many bytes of a word are repeated.
const ECHO_BYTES: usize = 60;
/// What narrows a search, and is no word of it.
const QUALIFIERS: [&str; 8] =
    ["repo", "author", "type", "state", "is", "label", "created", "updated"];

/// Searches for each word of a query that found nothing; none when it has no words.
pub(crate) fn explain_no_hits(engine: &SearchEngine, query: &str) -> Result<Option<String>, Error> {
    let words = searchable_words(query);
    let mut missing = Vec::new();
    for word in &words {
        let search = Search { limit: 1, ..Search::new(*word) };
        if engine.search(&search)?.hits.is_empty() {
            missing.push(*word);
        }
    }
    Ok(explanation(&words, &missing))
}

fn explanation(words: &[&str], missing: &[&str]) -> Option<String> {
    if !missing.is_empty() {
        let missing: Vec<String> = missing.iter().map(|word| shortened(word)).collect();
        return Some(format!("no text contains: {}", missing.join(", ")));
    }
    match words.len() {
        0 => None,
        1 => Some("the word occurs, but in nothing that the rest of the query allows".to_owned()),
        _ => Some("each word occurs, but nothing has all that the query asks for".to_owned()),
    }
}

/// The words and quoted phrases that a hit must contain: no filters, exclusions and operators.
fn searchable_words(query: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() && words.len() < WORDS_MAX {
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
    let is_filter =
        |(name, _): (&str, &str)| QUALIFIERS.iter().any(|it| it.eq_ignore_ascii_case(name));
    ["OR", "AND", "NOT"].contains(&word)
        || word.starts_with('-')
        || word.split_once(':').is_some_and(is_filter)
}

/// Ends at the first space outside of quotation marks.
fn end_of_word(text: &str) -> usize {
    let mut is_quoted = false;
    let end = text.char_indices().find(|(_, c)| {
        is_quoted ^= *c == '"';
        !is_quoted && c.is_whitespace()
    });
    end.map_or(text.len(), |(at, _)| at)
}

fn shortened(word: &str) -> String {
    let end = word.floor_char_boundary(ECHO_BYTES);
    if end == word.len() { word.to_owned() } else { format!("{}…", &word[..end]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searchable_words_leave_out_filters_exclusions_and_operators() {
        let query = "tide \"last reading\" -draft OR repo:pump label:\"help wanted\" Type:pr gaug* tide - :) foo:bar";
        let expected = ["tide", "\"last reading\"", "gaug*", "foo:bar"];
        assert_eq!(searchable_words(query), expected);
        assert_eq!(searchable_words("\"open phrase"), ["\"open phrase"]);
        assert_eq!(searchable_words(&"a1 a2 a3 a4 a5 a6 a7 a8 a9".repeat(9)).len(), WORDS_MAX);
        assert!(searchable_words(" repo:pump \t -x ").is_empty());
    }

    #[test]
    fn explanation_names_the_missing_words_and_shortens_them() {
        let long = "é".repeat(50);
        assert_eq!(explanation(&["a", "b"], &["b"]).unwrap(), "no text contains: b");
        let shortened = format!("no text contains: {}…, x", "é".repeat(30));
        assert_eq!(explanation(&[&long, "x"], &[&long, "x"]).unwrap(), shortened);
        assert!(explanation(&["a", "b"], &[]).unwrap().starts_with("each word occurs"));
        assert!(explanation(&["a"], &[]).unwrap().starts_with("the word occurs"));
        assert_eq!(explanation(&[], &[]), None);
    }
}
