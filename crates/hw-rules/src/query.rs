//! Parses search queries. Any text is a query, and none is an error.
//!
//! The grammar has words, `"phrases"`, `prefix*`, `a OR b`, `-word` or `NOT word`, and filters: `repo:` `author:`
//! `type:` `state:` `label:` `created:` `updated:`. A filter with an invalid value is searched as text.

mod chunks;
mod date_filter;
mod exclusion;
mod filters;

pub use exclusion::QueryExclusion;
pub use filters::{ItemTypeFilter, QueryFilters, RepositoryFilter};

use crate::tokens::{self, WordOccurrence};
use chunks::{FilterChunk, QueryChunk};

/// The number of terms that count. A pasted page is searched by its beginning.
const MAX_TERMS: usize = 32;
const MAX_NOTES: usize = 3;
/// The length of the text that a note quotes.
const MAX_NOTE_BYTES: usize = 60;
/// The length of the text that is parsed.
const MAX_QUERY_BYTES: usize = 64 * 1024;

/// A parsed search query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Terms that a text must all match.
    pub terms: Vec<QueryTerm>,
    /// Unions of which a text must match one alternative each.
    pub unions: Vec<TermUnion>,
    /// Literal forms, which are separate tokens. A text that has them all ranks first.
    pub literals: Vec<String>,
    /// Symbols to search for, if the query has no words.
    pub symbols: Vec<String>,
    pub filters: QueryFilters,
    /// Threads that also match one of these are left out.
    pub exclusions: Vec<QueryExclusion>,
    /// Explanations of the parts that were ignored or read in an unexpected way, a sentence each.
    pub notes: Vec<String>,
    /// The position of the last word, if it may be incomplete.
    last_word: Option<LastWordPosition>,
}

/// A list of alternatives; all terms of an alternative must match.
pub type TermUnion = Vec<Vec<QueryTerm>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastWordPosition {
    Term,
    Union,
}

/// A sequence of adjacent tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerm {
    pub tokens: Vec<String>,
    /// The last token matches every word that starts with it.
    pub is_prefix: bool,
}

impl Query {
    pub fn parse(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
        let mut query = Self::default();
        let mut operand = OperandState::default();
        let mut chunks = chunks::split_chunks(text).peekable();
        while let Some(chunk) = chunks.next() {
            let is_last = chunks.peek().is_none();
            if !is_last && operand.take_operator(chunk, &query) {
                continue;
            }
            query.take_chunk(chunk, &mut operand);
            if is_last && text.ends_with(char::is_whitespace) && !chunk.is_filter() {
                query.last_word = None;
            }
        }
        query.normalize_terms();
        query
    }

    /// Returns true if the query has neither words nor filters.
    pub fn is_empty(&self) -> bool {
        !self.has_words() && self.filters.is_empty()
    }

    /// Returns true if the query has words or symbols to rank by.
    pub fn has_words(&self) -> bool {
        !self.terms.is_empty() || !self.symbols.is_empty() || !self.unions.is_empty()
    }

    /// Returns every term that a text may be found by.
    pub fn all_terms(&self) -> impl Iterator<Item = &QueryTerm> {
        self.terms.iter().chain(self.unions.iter().flatten().flatten())
    }

    /// Returns the query with its last word as a prefix; none if no word may be incomplete.
    ///
    /// In a union, each alternative has a last word.
    pub fn with_last_word_as_prefix(&self) -> Option<Self> {
        let mut query = self.clone();
        let last: Vec<&mut QueryTerm> = match self.last_word? {
            LastWordPosition::Term => query.terms.last_mut().into_iter().collect(),
            LastWordPosition::Union => {
                let alternatives = query.unions.last_mut()?.iter_mut();
                alternatives.filter_map(|terms| terms.last_mut()).collect()
            }
        };
        let mut is_changed = false;
        for term in last {
            is_changed |= term.make_prefix();
        }
        query.literals.clear();
        is_changed.then_some(query)
    }

    /// Returns the query for the texts that an exclusion leaves out: they match this query and the exclusion. None if
    /// no text can match both.
    pub fn narrow_to_exclusion(&self, exclusion: &QueryExclusion) -> Option<Self> {
        let mut query = match exclusion {
            QueryExclusion::Words(terms) => {
                let terms = self.terms.iter().chain(terms).cloned().collect();
                Self { terms, ..self.clone() }
            }
            // the last word may be incomplete in both queries
            QueryExclusion::Filter(filters) => {
                let query = self.with_last_word_as_prefix().unwrap_or_else(|| self.clone());
                Self { filters: self.filters.intersection(filters)?, ..query }
            }
        };
        query.exclusions.clear();
        query.literals.clear();
        query.last_word = None;
        if !query.terms.is_empty() {
            // beside words, symbols are only a preference
            query.symbols.clear();
        }
        Some(query)
    }

    fn take_chunk(&mut self, chunk: QueryChunk<'_>, operand: &mut OperandState) {
        let is_excluded = std::mem::take(&mut operand.is_excluded) || chunk.is_excluded;
        let is_union = std::mem::take(&mut operand.is_union);
        if is_excluded && self.exclude_chunk(chunk) {
            *operand = OperandState::from_query(self);
            return;
        }
        if let Some(filter) = chunk.filter {
            if self.take_filter(filter, chunk) {
                if is_union {
                    self.add_note(chunk.text, "applies to the whole search: OR joins words only");
                }
                return;
            }
        } else if let Some(name) = chunk.unsupported_qualifier() {
            self.add_note(chunk.text, &format!("was ignored: `{name}:` is not supported here"));
            return;
        }
        let before = self.term_counts();
        match chunk.quoted {
            Some(quoted) => self.add_phrase(quoted, chunk.is_prefix),
            None => self.add_words(chunk.text),
        }
        let is_word = chunk.quoted.is_none() && self.terms.len() > before.terms;
        self.last_word = is_word.then_some(LastWordPosition::Term);
        if is_union && self.add_alternative(operand, before) {
            self.last_word = is_word.then_some(LastWordPosition::Union);
            operand.follows_union = true;
        } else {
            operand.follows_union = false;
        }
        operand.before = before;
    }

    fn term_counts(&self) -> TermCounts {
        TermCounts { terms: self.terms.len(), literals: self.literals.len() }
    }

    /// Adds a filter. Returns false if its value is invalid: then the chunk is read as words.
    fn take_filter(&mut self, filter: FilterChunk<'_>, chunk: QueryChunk<'_>) -> bool {
        let is_valid = self.filters.add_filter(filter);
        if !is_valid {
            let values = filter.name.describe_values();
            self.add_note(
                chunk.text,
                &format!("is not a valid filter (use {values}); searching for it as text"),
            );
        }
        is_valid
    }

    /// Makes alternatives of the last operand and of the terms that were added since `before`.
    fn add_alternative(&mut self, operand: &OperandState, before: TermCounts) -> bool {
        let right = self.terms.split_off(before.terms);
        if right.is_empty() {
            return false;
        }
        self.literals.truncate(operand.before.literals);
        if operand.follows_union {
            if let Some(union) = self.unions.last_mut() {
                union.push(right);
            }
            return true;
        }
        let left = self.terms.split_off(operand.before.terms);
        self.unions.push(vec![left, right]);
        true
    }

    /// Excludes the matches of a chunk. Returns false if the chunk matches nothing.
    fn exclude_chunk(&mut self, chunk: QueryChunk<'_>) -> bool {
        if let Some(filter) = chunk.filter {
            return self.exclude_filter(filter, chunk);
        }
        let mut excluded = Self::default();
        match chunk.quoted {
            Some(quoted) => excluded.add_phrase(quoted, chunk.is_prefix),
            None => excluded.add_words(chunk.text),
        }
        if excluded.terms.is_empty() {
            return false;
        }
        if let Some(last) = excluded.terms.last_mut().filter(|_| chunk.quoted.is_none()) {
            // a search for the word also finds the words that start with it
            last.make_prefix();
        }
        self.exclusions.push(QueryExclusion::Words(excluded.terms));
        true
    }

    fn exclude_filter(&mut self, filter: FilterChunk<'_>, chunk: QueryChunk<'_>) -> bool {
        let mut filters = QueryFilters::default();
        if !filters.add_filter(filter) {
            return false;
        }
        if filters.types.contains(&ItemTypeFilter::Comment) {
            let sign = if chunk.is_excluded { "-" } else { "NOT " };
            let text = format!("{sign}{}", chunk.text);
            self.add_note(&text, "was ignored: comments cannot be excluded");
        } else if filters.types.is_empty() && filters.states.is_empty() {
            self.exclusions.push(QueryExclusion::Filter(filters));
        } else {
            self.filters.exclude_values(&filters);
        }
        true
    }

    fn add_note(&mut self, text: &str, explanation: &str) {
        if self.notes.len() < MAX_NOTES {
            let text = &text[..text.floor_char_boundary(MAX_NOTE_BYTES)];
            self.notes.push(format!("`{text}` {explanation}"));
        }
    }

    fn add_phrase(&mut self, text: &str, is_prefix: bool) {
        let tokens: Vec<String> =
            tokens::split_words(text).into_iter().map(|word| word.token).collect();
        if tokens.is_empty() {
            self.symbols.extend(tokens::symbol_run_tokens(text));
            return;
        }
        self.literals.extend(text.split_whitespace().filter_map(tokens::literal_token));
        self.terms.push(QueryTerm { tokens, is_prefix });
    }

    /// Adds a run of single-character words as a phrase, and every other word by itself.
    fn add_words(&mut self, text: &str) {
        let words = tokens::split_words(text);
        let before = self.terms.len();
        for run in words.chunk_by(|a, b| a.is_single_char && b.is_single_char) {
            let tokens = run.iter().map(|word: &WordOccurrence| word.token.clone()).collect();
            self.terms.push(QueryTerm { tokens, is_prefix: false });
        }
        let is_new = self.terms.len() > before;
        if let Some(last) = self.terms.last_mut().filter(|_| is_new && text.ends_with('*')) {
            last.is_prefix = true;
            return;
        }
        if is_new {
            self.literals.extend(text.split_whitespace().filter_map(tokens::literal_token));
        } else {
            self.symbols.extend(tokens::symbol_run_tokens(text));
        }
    }

    /// Removes duplicates, and truncates every list.
    fn normalize_terms(&mut self) {
        let mut seen = std::collections::BTreeSet::new();
        let last = self.terms.last().cloned();
        self.terms.retain(|term| seen.insert((term.tokens.clone(), term.is_prefix)));
        if self.last_word == Some(LastWordPosition::Term)
            && (self.terms.last() != last.as_ref() || self.terms.len() > MAX_TERMS)
        {
            // the last word was a duplicate, or was cut off
            self.last_word = None;
        }
        if !self.terms.is_empty() || !self.unions.is_empty() {
            self.literals.append(&mut self.symbols);
        }
        self.terms.truncate(MAX_TERMS);
        self.unions.truncate(MAX_TERMS);
        self.exclusions.truncate(MAX_TERMS);
        for union in &mut self.unions {
            union.truncate(MAX_TERMS);
            union.iter_mut().for_each(truncate_terms);
        }
        truncate_terms(&mut self.terms);
        for list in [&mut self.literals, &mut self.symbols] {
            list.sort_unstable();
            list.dedup();
            list.truncate(MAX_TERMS);
        }
        if self.is_empty() && !self.exclusions.is_empty() {
            self.notes.push(ONLY_EXCLUSIONS_NOTE.to_owned());
        }
    }
}

/// The note on a query that has only exclusions, and finds nothing.
const ONLY_EXCLUSIONS_NOTE: &str =
    "the query contains only exclusions; add a word or a filter to search for";

fn truncate_terms(terms: &mut Vec<QueryTerm>) {
    terms.truncate(MAX_TERMS);
    for term in terms {
        term.tokens.truncate(MAX_TERMS);
    }
}

impl QueryTerm {
    /// Makes the last token a prefix, if it has at least two characters. Returns true if that changed the term.
    fn make_prefix(&mut self) -> bool {
        let is_long_enough = self.tokens.last().is_some_and(|last| last.chars().count() >= 2);
        let is_changed = is_long_enough && !self.is_prefix;
        self.is_prefix |= is_long_enough;
        is_changed
    }
}

/// The length of a query's lists at some point of the parse.
#[derive(Debug, Clone, Copy, Default)]
struct TermCounts {
    terms: usize,
    literals: usize,
}

/// The operand and the operators before the next chunk.
#[derive(Default)]
struct OperandState {
    /// The counts before the last word or phrase.
    before: TermCounts,
    /// The last word or phrase is an alternative of a union.
    follows_union: bool,
    /// `OR` follows the last word or phrase.
    is_union: bool,
    /// `NOT` follows the last word or phrase.
    is_excluded: bool,
}

impl OperandState {
    /// Creates a state without a left operand.
    fn from_query(query: &Query) -> Self {
        Self { before: query.term_counts(), ..Self::default() }
    }

    /// Takes `OR`, `AND` and `NOT` between two operands. Returns false elsewhere, where they are words.
    fn take_operator(&mut self, chunk: QueryChunk<'_>, query: &Query) -> bool {
        let has_left = self.follows_union || query.terms.len() > self.before.terms;
        match chunk.text {
            _ if chunk.quoted.is_some() => return false,
            "OR" if has_left => self.is_union = true,
            "AND" if has_left => {}
            "NOT" => self.is_excluded = true,
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
