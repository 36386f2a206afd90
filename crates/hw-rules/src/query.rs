//! The search grammar: any text is a query, and none is an error.
//!
//! Words, `"phrases"`, `prefix*`, and filters: `repo:` `author:` `type:` `state:` `label:` `created:` `updated:`.
//! What looks like a filter and is none is searched as text.

mod dated;
mod filters;

pub use filters::{Filters, Named, Type};

use crate::tokens::{self, Word};

/// How many terms count. A pasted page is found by its beginning.
const TERMS_MAX: usize = 32;
/// How many misread filters are told, and how much of each.
const MISREAD_MAX: usize = 3;
const MISREAD_BYTES: usize = 60;
/// How much of a text is read.
const TEXT_MAX: usize = 64 * 1024;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Each must be found.
    pub terms: Vec<Term>,
    /// Literal forms: what has them all comes first. They are tokens of their own.
    pub literals: Vec<String>,
    /// Symbols, where there is no word to go by.
    pub symbols: Vec<String>,
    pub filters: Filters,
    /// What looks like a filter and is none: a sentence each, for who wonders.
    pub misread: Vec<String>,
    /// Whether the text ends within a word, which somebody may still be typing.
    ends_in_word: bool,
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
        let mut query = Self::default();
        let text = &text[..text.floor_char_boundary(TEXT_MAX)];
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (chunk, after) = next_chunk(rest);
            let before = query.terms.len();
            query.take(&chunk);
            let is_word = matches!(chunk, Chunk::Plain(_)) && before < query.terms.len();
            query.ends_in_word = after.is_empty() && is_word;
            rest = after.trim_start();
        }
        query.ends_in_word &= !text.ends_with(char::is_whitespace);
        query.tidy();
        query
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        !self.has_words() && self.filters.is_empty()
    }

    /// Whether there is anything to rank by.
    pub fn has_words(&self) -> bool {
        !self.terms.is_empty() || !self.symbols.is_empty()
    }

    /// The same query with its last word taken as the beginning of one; none when it ends otherwise.
    pub fn unfinished(&self) -> Option<Self> {
        let mut query = self.clone();
        let last = query.terms.last_mut()?;
        let is_begun = last.tokens.last()?.chars().count() >= 2 && !last.is_prefix;
        if !self.ends_in_word || !is_begun {
            return None;
        }
        last.is_prefix = true;
        query.literals.clear();
        Some(query)
    }

    fn take(&mut self, chunk: &Chunk<'_>) {
        match *chunk {
            Chunk::Quoted { text, is_prefix } => self.phrase(text, is_prefix),
            Chunk::Filter { name, value, text } => {
                if !self.filters.take(name, value) {
                    self.text(text);
                    let name = name.to_lowercase();
                    self.misread(text, &format!("{name}: wants {}", Filters::takes(&name)));
                }
            }
            Chunk::Plain(text) => {
                self.text(text);
                let name = text.strip_prefix('-').and_then(|it| it.split_once(':'));
                if name.is_some_and(|(name, _)| Filters::knows(name)) {
                    self.misread(text, "nothing can be excluded");
                }
            }
        }
    }

    fn misread(&mut self, text: &str, why: &str) {
        if self.misread.len() < MISREAD_MAX {
            let text = &text[..text.floor_char_boundary(MISREAD_BYTES)];
            self.misread.push(format!("{text} was taken for words: {why}"));
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
        // where somebody repeats a word, another is the last one now
        self.ends_in_word &= self.terms.last() == last.as_ref();
        if !self.terms.is_empty() {
            self.literals.append(&mut self.symbols);
        }
        if TERMS_MAX < self.terms.len() {
            self.ends_in_word = false;
        }
        self.terms.truncate(TERMS_MAX);
        for term in &mut self.terms {
            term.tokens.truncate(TERMS_MAX);
        }
        for list in [&mut self.literals, &mut self.symbols] {
            list.sort_unstable();
            list.dedup();
            list.truncate(TERMS_MAX);
        }
    }
}

enum Chunk<'a> {
    Quoted { text: &'a str, is_prefix: bool },
    Filter { name: &'a str, value: &'a str, text: &'a str },
    Plain(&'a str),
}

/// The next chunk of a text that does not begin with a space, and what follows it.
fn next_chunk(text: &str) -> (Chunk<'_>, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let (text, after) = until_quote(quoted);
        let rest = after.strip_prefix('*');
        return (Chunk::Quoted { text, is_prefix: rest.is_some() }, rest.unwrap_or(after));
    }
    if let Some((chunk, after)) = quoted_filter(text) {
        return (chunk, after);
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (chunk, after) = text.split_at(end);
    match chunk.split_once(':') {
        Some((name, value)) if Filters::knows(name) => {
            (Chunk::Filter { name, value, text: chunk }, after)
        }
        _ => (Chunk::Plain(chunk), after),
    }
}

/// `label:"help wanted"`.
fn quoted_filter(text: &str) -> Option<(Chunk<'_>, &str)> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (name, _) = text[..end].split_once(":\"").filter(|(name, _)| Filters::knows(name))?;
    let rest = &text[name.len() + ":\"".len()..];
    let (value, after) = until_quote(rest);
    let whole = &text[..text.len() - after.len()];
    Some((Chunk::Filter { name, value, text: whole }, after))
}

/// What stands before the next quotation mark, or all when there is none, and what follows.
fn until_quote(text: &str) -> (&str, &str) {
    text.split_once('"').unwrap_or((text, ""))
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
