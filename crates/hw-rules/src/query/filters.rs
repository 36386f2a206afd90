//! What a search is narrowed by.

use std::collections::BTreeSet;

use super::dated;
use crate::dates::Span;
use crate::item::Kind;
use crate::tokens::folded;

/// Of each sort of filter anything that is named is enough; of labels, all are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    pub repositories: BTreeSet<Named>,
    pub authors: BTreeSet<String>,
    pub types: BTreeSet<Type>,
    /// `open`, `closed`, `merged`.
    pub states: BTreeSet<String>,
    pub labels: BTreeSet<String>,
    pub created: Span,
    pub updated: Span,
}

/// A repository, with or without its owner, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    pub owner: Option<String>,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    Thread(Kind),
    Comment,
}

/// How many names count, and how long they may be.
const MOST: usize = 64;
const LONGEST: usize = 1_024;

const NAMES: [&str; 8] = ["repo", "author", "type", "state", "is", "label", "created", "updated"];

impl Filters {
    pub(super) fn knows(name: &str) -> bool {
        NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// What a filter can be given.
    pub(super) fn takes(name: &str) -> &'static str {
        match name {
            "repo" => "a repository, as pump or acme/pump",
            "author" => "a login",
            "type" => "issue, pr, discussion or comment",
            "state" => "open, closed or merged",
            "is" => "what state: and type: take",
            "label" => "a label, as bug or \"help wanted\"",
            _ => "a date or two, as 2025-01-31, >=2025-01-01 or 2025-01-01..2025-01-31",
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether comments are wanted for themselves, and nothing else is.
    pub fn is_for_comments(&self) -> bool {
        self.types.iter().eq(&[Type::Comment])
    }

    /// Takes a filter; tells whether it made sense.
    pub(super) fn take(&mut self, name: &str, value: &str) -> bool {
        let lower = folded(value.trim());
        if lower.is_empty() || LONGEST < lower.len() {
            return false;
        }
        let name = name.to_ascii_lowercase();
        let is_full = MOST <= self.repositories.len() + self.authors.len() + self.labels.len();
        match name.as_str() {
            "repo" | "author" | "label" if is_full => true,
            "repo" => self.repository(&lower),
            "author" => {
                let login = lower.strip_prefix('@').unwrap_or(&lower);
                self.authors.extend((!login.is_empty()).then(|| login.to_owned()));
                !login.is_empty()
            }
            "type" => self.sort(&lower),
            "state" => self.state(&lower),
            // as it is said at the source
            "is" => self.state(&lower) || self.sort(&lower),
            "label" => {
                self.labels.insert(lower);
                true
            }
            "created" => narrow(&mut self.created, &lower),
            "updated" => narrow(&mut self.updated, &lower),
            _ => false,
        }
    }

    fn sort(&mut self, name: &str) -> bool {
        let sort = type_named(name);
        self.types.extend(sort);
        sort.is_some()
    }

    fn state(&mut self, name: &str) -> bool {
        let state = ["open", "closed", "merged"].into_iter().find(|state| *state == name);
        self.states.extend(state.map(str::to_owned));
        state.is_some()
    }

    fn repository(&mut self, name: &str) -> bool {
        let (owner, name) = match name.split_once('/') {
            Some((owner, name)) if !owner.is_empty() => (Some(owner.to_owned()), name),
            Some(_) => return false,
            None => (None, name),
        };
        if name.is_empty() {
            return false;
        }
        self.repositories.insert(Named { owner, name: name.to_owned() });
        true
    }
}

fn narrow(span: &mut Span, value: &str) -> bool {
    let Some(narrower) = dated::span(value) else { return false };
    *span = span.and(narrower);
    true
}

fn type_named(name: &str) -> Option<Type> {
    Some(match name {
        "issue" | "issues" => Type::Thread(Kind::Issue),
        "pr" | "prs" | "pull" | "pull_request" | "pull_requests" | "pull-request"
        | "pull-requests" => Type::Thread(Kind::PullRequest),
        "discussion" | "discussions" => Type::Thread(Kind::Discussion),
        "comment" | "comments" => Type::Comment,
        _ => return None,
    })
}
