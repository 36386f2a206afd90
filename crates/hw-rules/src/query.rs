//! The search grammar: any text is a query, and none is an error.
//!
//! Words, `"phrases"`, `prefix*`, `a OR b`, `-word` or `NOT word`, and filters: `repo:` `author:` `type:` `state:`
//! `label:` `created:` `updated:`. What looks like a filter and is none is searched as text.

mod chunks;
mod dated;
mod exclusion;
mod filters;

pub use exclusion::Exclusion;
pub use filters::{Filters, Named, Type};

use crate::tokens::{self, Word};
use chunks::Chunk;

/// How many terms count. A pasted page is found by its beginning.
const TERMS_MAX: usize = 32;
/// How many notes are made, and how much of the text each quotes.
const NOTES_MAX: usize = 3;
const NOTE_BYTES: usize = 60;
/// How much of a text is read.
const TEXT_MAX: usize = 64 * 1024;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Each must be found.
    pub terms: Vec<Term>,
    /// Of each of these, one alternative must be found.
    pub unions: Vec<Union>,
    /// Literal forms: what has them all comes first. They are tokens of their own.
    pub literals: Vec<String>,
    /// Symbols, where there is no word to go by.
    pub symbols: Vec<String>,
    pub filters: Filters,
    /// Threads that match one of these as well are left out.
    pub excluded: Vec<Exclusion>,
    /// What looks like a filter and is none: a sentence each, for who wonders.
    pub misread: Vec<String>,
    /// The last word, if it may be the beginning of one.
    last_word: Option<LastWord>,
}

/// Alternatives, of each of which all terms must be found.
pub type Union = Vec<Vec<Term>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastWord {
    Term,
    Union,
}

/// Tokens side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    pub tokens: Vec<String>,
    /// Whether the last token may go on.
    pub is_prefix: bool,
}

impl Query {
    /// Reads a query.
    pub fn parse(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(TEXT_MAX)];
        let mut query = Self::default();
        let mut operand = Operand::default();
        let mut chunks = chunks::chunks(text).peekable();
        while let Some(chunk) = chunks.next() {
            let is_last = chunks.peek().is_none();
            if !is_last && operand.take_operator(chunk, &query) {
                continue;
            }
            query.take(chunk, &mut operand);
            if is_last && text.ends_with(char::is_whitespace) && !chunk.is_filter() {
                query.last_word = None;
            }
        }
        query.tidy();
        query
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        !self.has_words() && self.filters.is_empty()
    }

    /// Whether there is anything to rank by.
    pub fn has_words(&self) -> bool {
        !self.terms.is_empty() || !self.symbols.is_empty() || !self.unions.is_empty()
    }

    /// Every term that a text may be found by.
    pub fn all_terms(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().chain(self.unions.iter().flatten().flatten())
    }

    /// The same query with its last word taken as the beginning of one; none when there is no such word.
    ///
    /// Of a union, each alternative has a last word.
    pub fn unfinished(&self) -> Option<Self> {
        let mut query = self.clone();
        let last: Vec<&mut Term> = match self.last_word? {
            LastWord::Term => query.terms.last_mut().into_iter().collect(),
            LastWord::Union => {
                query.unions.last_mut()?.iter_mut().filter_map(|it| it.last_mut()).collect()
            }
        };
        let mut is_changed = false;
        for term in last {
            is_changed |= term.extend();
        }
        query.literals.clear();
        is_changed.then_some(query)
    }

    /// The query that finds what an exclusion leaves out: everything that is asked for, and that as well. None where
    /// no text can fulfil both.
    pub fn and(&self, excluded: &Exclusion) -> Option<Self> {
        let mut query = match excluded {
            Exclusion::Words(terms) => {
                let terms = self.terms.iter().chain(terms).cloned().collect();
                Self { terms, ..self.clone() }
            }
            // its last word is the same, and may go on in the same way
            Exclusion::Filter(filters) => {
                let query = self.unfinished().unwrap_or_else(|| self.clone());
                Self { filters: self.filters.and(filters)?, ..query }
            }
        };
        query.excluded.clear();
        query.literals.clear();
        query.last_word = None;
        if !query.terms.is_empty() {
            // they are a preference beside words
            query.symbols.clear();
        }
        Some(query)
    }

    fn take(&mut self, chunk: Chunk<'_>, operand: &mut Operand) {
        let is_excluded = std::mem::take(&mut operand.is_excluded) || chunk.is_excluded;
        let is_union = std::mem::take(&mut operand.is_union);
        if is_excluded && self.exclude(chunk) {
            *operand = Operand::after(self);
            return;
        }
        if let Some((name, value)) = chunk.filter {
            if self.take_filter(name, value, chunk) {
                if is_union {
                    self.note(chunk.text, "holds for the whole search: OR joins words only");
                }
                return;
            }
        } else if let Some(name) = chunk.foreign_qualifier() {
            self.note(chunk.text, &format!("`{name}:` is not supported here, and was left out"));
            return;
        }
        let before = (self.terms.len(), self.literals.len());
        match chunk.quoted {
            Some(quoted) => self.phrase(quoted, chunk.is_prefix),
            None => self.text(chunk.text),
        }
        let is_word = chunk.quoted.is_none() && self.terms.len() > before.0;
        self.last_word = is_word.then_some(LastWord::Term);
        if is_union && self.unite(operand, before) {
            self.last_word = is_word.then_some(LastWord::Union);
            operand.follows_union = true;
        } else {
            operand.follows_union = false;
        }
        operand.terms_before = before.0;
        operand.literals_before = before.1;
    }

    /// Takes a filter; returns whether it was one. What is none is read as words.
    fn take_filter(&mut self, name: &str, value: &str, chunk: Chunk<'_>) -> bool {
        let is_filter = self.filters.take(name, value);
        if !is_filter {
            let name = name.to_lowercase();
            let takes = Filters::takes(&name);
            self.note(chunk.text, &format!("was taken for words: {name}: wants {takes}"));
        }
        is_filter
    }

    /// Makes alternatives of the last operand and of the terms that were read since `before`.
    fn unite(&mut self, operand: &Operand, before: (usize, usize)) -> bool {
        let right = self.terms.split_off(before.0);
        if right.is_empty() {
            return false;
        }
        self.literals.truncate(operand.literals_before);
        if operand.follows_union {
            if let Some(union) = self.unions.last_mut() {
                union.push(right);
            }
            return true;
        }
        let left = self.terms.split_off(operand.terms_before);
        self.unions.push(vec![left, right]);
        true
    }

    /// Leaves out what a chunk asks for; returns whether there is anything to leave out.
    fn exclude(&mut self, chunk: Chunk<'_>) -> bool {
        if let Some((name, value)) = chunk.filter {
            return self.exclude_filter(name, value, chunk);
        }
        let mut aside = Self::default();
        match chunk.quoted {
            Some(quoted) => aside.phrase(quoted, chunk.is_prefix),
            None => aside.text(chunk.text),
        }
        if aside.terms.is_empty() {
            return false;
        }
        if let Some(last) = aside.terms.last_mut().filter(|_| chunk.quoted.is_none()) {
            // what a search for the word would find is left out
            last.extend();
        }
        self.excluded.push(Exclusion::Words(aside.terms));
        true
    }

    fn exclude_filter(&mut self, name: &str, value: &str, chunk: Chunk<'_>) -> bool {
        let mut filters = Filters::default();
        if !filters.take(name, value) {
            return false;
        }
        if filters.types.contains(&Type::Comment) {
            self.note(chunk.text, "was left out: comments cannot be excluded");
        } else if filters.types.is_empty() && filters.states.is_empty() {
            self.excluded.push(Exclusion::Filter(filters));
        } else {
            self.filters.leave_out(&filters);
        }
        true
    }

    fn note(&mut self, text: &str, why: &str) {
        if self.misread.len() < NOTES_MAX {
            let text = &text[..text.floor_char_boundary(NOTE_BYTES)];
            self.misread.push(format!("{text} {why}"));
        }
    }

    fn phrase(&mut self, text: &str, is_prefix: bool) {
        let tokens: Vec<String> = tokens::words(text).into_iter().map(|word| word.token).collect();
        if tokens.is_empty() {
            self.symbols.extend(tokens::symbol_runs(text));
            return;
        }
        self.literals.extend(text.split_whitespace().filter_map(tokens::literal));
        self.terms.push(Term { tokens, is_prefix });
    }

    /// A run of characters that stand for themselves is a phrase; every other word counts alone.
    fn text(&mut self, text: &str) {
        let words = tokens::words(text);
        let before = self.terms.len();
        for run in words.chunk_by(|a, b| a.is_single && b.is_single) {
            let tokens = run.iter().map(|word: &Word| word.token.clone()).collect();
            self.terms.push(Term { tokens, is_prefix: false });
        }
        let is_new = before < self.terms.len();
        if let Some(last) = self.terms.last_mut().filter(|_| is_new && text.ends_with('*')) {
            last.is_prefix = true;
            return;
        }
        if is_new {
            self.literals.extend(text.split_whitespace().filter_map(tokens::literal));
        } else {
            self.symbols.extend(tokens::symbol_runs(text));
        }
    }

    /// Says everything once, and no more than counts.
    fn tidy(&mut self) {
        let mut seen = std::collections::BTreeSet::new();
        let last = self.terms.last().cloned();
        self.terms.retain(|term| seen.insert((term.tokens.clone(), term.is_prefix)));
        if self.last_word == Some(LastWord::Term)
            && (self.terms.last() != last.as_ref() || self.terms.len() > TERMS_MAX)
        {
            // where somebody repeats a word, another is the last one now
            self.last_word = None;
        }
        if !self.terms.is_empty() || !self.unions.is_empty() {
            self.literals.append(&mut self.symbols);
        }
        self.terms.truncate(TERMS_MAX);
        self.unions.truncate(TERMS_MAX);
        self.excluded.truncate(TERMS_MAX);
        for union in &mut self.unions {
            union.truncate(TERMS_MAX);
            union.iter_mut().for_each(cut);
        }
        cut(&mut self.terms);
        for list in [&mut self.literals, &mut self.symbols] {
            list.sort_unstable();
            list.dedup();
            list.truncate(TERMS_MAX);
        }
        if self.is_empty() && !self.excluded.is_empty() {
            self.misread.push(EXCLUSIONS_ALONE.to_owned());
        }
    }
}

/// Why a query of exclusions finds nothing.
const EXCLUSIONS_ALONE: &str =
    "only exclusions: add a word or a filter that says what to search for";

fn cut(terms: &mut Vec<Term>) {
    terms.truncate(TERMS_MAX);
    for term in terms {
        term.tokens.truncate(TERMS_MAX);
    }
}

impl Term {
    /// Lets the last token go on, if it is long enough to tell; returns whether that changed anything.
    fn extend(&mut self) -> bool {
        let is_begun = self.tokens.last().is_some_and(|last| last.chars().count() >= 2);
        let is_changed = is_begun && !self.is_prefix;
        self.is_prefix |= is_begun;
        is_changed
    }
}

/// What stands before the next chunk.
#[derive(Default)]
struct Operand {
    /// How many terms and literal forms there were before the last word or phrase.
    terms_before: usize,
    literals_before: usize,
    /// Whether the last word or phrase is an alternative of a union.
    follows_union: bool,
    /// Whether `OR` was read since.
    is_union: bool,
    /// Whether `NOT` was read since.
    is_excluded: bool,
}

impl Operand {
    /// Nothing stands on the left of what comes next.
    fn after(query: &Query) -> Self {
        let (terms_before, literals_before) = (query.terms.len(), query.literals.len());
        Self { terms_before, literals_before, ..Self::default() }
    }

    /// Takes `OR`, `AND` and `NOT` where they stand between two operands; elsewhere they are words.
    fn take_operator(&mut self, chunk: Chunk<'_>, query: &Query) -> bool {
        let has_left = self.follows_union || query.terms.len() > self.terms_before;
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
