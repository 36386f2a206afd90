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
    /// Whether each of them was left out.
    has_no_type: bool,
    has_no_state: bool,
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

const STATES: [&str; 3] = ["open", "closed", "merged"];

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

    /// The filters that hold where these and others do; none where nothing can fulfil both.
    pub(super) fn and(&self, other: &Self) -> Option<Self> {
        Some(Self {
            repositories: both_named(&self.repositories, &other.repositories)?,
            authors: both(&self.authors, &other.authors)?,
            types: both(&self.types, &other.types)?,
            states: both(&self.states, &other.states)?,
            labels: self.labels.union(&other.labels).cloned().collect(),
            created: self.created.and(other.created),
            updated: self.updated.and(other.updated),
            has_no_type: self.has_no_type || other.has_no_type,
            has_no_state: self.has_no_state || other.has_no_state,
        })
    }

    /// Leaves out types and states, of which every thread has one.
    pub(super) fn leave_out(&mut self, other: &Self) {
        if !other.types.is_empty() {
            if self.types.is_empty() {
                self.types.extend(Kind::THREADS.map(Type::Thread));
            }
            self.types.retain(|it| !other.types.contains(it));
            self.has_no_type |= self.types.is_empty();
        }
        if !other.states.is_empty() {
            if self.states.is_empty() {
                self.states.extend(STATES.map(str::to_owned));
            }
            self.states.retain(|it| !other.states.contains(it));
            self.has_no_state |= self.states.is_empty();
        }
    }

    /// Whether nothing can fulfil them: every type or every state is left out.
    pub fn is_impossible(&self) -> bool {
        self.has_no_type || self.has_no_state
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
        let state = STATES.into_iter().find(|state| *state == name);
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

/// Of two lists of which any is enough, what fulfils both; an empty one asks for nothing.
fn both<T: Ord + Clone>(these: &BTreeSet<T>, those: &BTreeSet<T>) -> Option<BTreeSet<T>> {
    if these.is_empty() || those.is_empty() {
        return Some(these.union(those).cloned().collect());
    }
    let common: BTreeSet<T> = these.intersection(those).cloned().collect();
    (!common.is_empty()).then_some(common)
}

/// The same of repositories, where a name alone stands for those of all owners.
fn both_named(these: &BTreeSet<Named>, those: &BTreeSet<Named>) -> Option<BTreeSet<Named>> {
    if these.is_empty() || those.is_empty() {
        return both(these, those);
    }
    let common = |(a, b): (&Named, &Named)| {
        let is_one = a.owner.is_none() || b.owner.is_none() || a.owner == b.owner;
        let owner = a.owner.clone().or_else(|| b.owner.clone());
        (is_one && a.name == b.name).then(|| Named { owner, name: a.name.clone() })
    };
    let pairs = these.iter().flat_map(|a| those.iter().map(move |b| (a, b)));
    let common: BTreeSet<Named> = pairs.filter_map(common).collect();
    (!common.is_empty()).then_some(common)
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
