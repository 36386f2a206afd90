//! Parses and combines the filters of a search.

use std::collections::BTreeSet;

use super::chunks::FilterChunk;
use super::date_filter;
use crate::date_range::DateRange;
use crate::item::ThreadKind;
use crate::tokens::fold_case;

/// The filters of a query. A thread needs to match one value of each filter, but all labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryFilters {
    pub repositories: BTreeSet<RepositoryFilter>,
    pub authors: BTreeSet<String>,
    pub types: BTreeSet<ItemTypeFilter>,
    /// `open`, `closed`, `merged`.
    pub states: BTreeSet<String>,
    pub labels: BTreeSet<String>,
    pub created: DateRange,
    pub updated: DateRange,
    /// Every type, or every state, was excluded.
    has_no_type: bool,
    has_no_state: bool,
}

/// A repository name with or without its owner, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepositoryFilter {
    pub owner: Option<String>,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemTypeFilter {
    Thread(ThreadKind),
    Comment,
    Post,
}

/// The number of repositories, authors and labels that count.
const MAX_FILTER_NAMES: usize = 64;
const MAX_VALUE_BYTES: usize = 1_024;

const STATE_NAMES: [&str; 3] = ["open", "closed", "merged"];

/// The part of a filter before the colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterName {
    Repo,
    Author,
    Type,
    State,
    /// GitHub's name for a state or a type.
    Is,
    Label,
    Created,
    Updated,
}

impl FilterName {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "repo" => Self::Repo,
            "author" => Self::Author,
            "type" => Self::Type,
            "state" => Self::State,
            "is" => Self::Is,
            "label" => Self::Label,
            "created" => Self::Created,
            "updated" => Self::Updated,
            _ => return None,
        })
    }

    /// Describes the values that the filter takes.
    pub(super) fn describe_values(self) -> &'static str {
        match self {
            Self::Repo => "a repository such as pump or acme/pump",
            Self::Author => "a login or a handle",
            Self::Type => "issue, pr, discussion, comment or post",
            Self::State => "open, closed or merged",
            Self::Is => "a state or a type, such as open or pr",
            Self::Label => "a label such as bug or \"help wanted\"",
            Self::Created | Self::Updated => {
                "a date or a range such as 2025-01-31, >=2025-01-01 or 2025-01-01..2025-01-31"
            }
        }
    }
}

impl QueryFilters {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if the only type is `comment`: then the results are comments, not threads.
    pub fn is_comments_only(&self) -> bool {
        self.types.iter().eq(&[ItemTypeFilter::Comment])
    }

    /// Returns true if posts can match: they have no repository, state or labels, and their type is not another one.
    pub fn allows_posts(&self) -> bool {
        let allows_type = self.types.is_empty() || self.types.contains(&ItemTypeFilter::Post);
        allows_type
            && self.repositories.is_empty()
            && self.states.is_empty()
            && self.labels.is_empty()
    }

    /// Returns the filters that match where both match; none if nothing can match both.
    pub(super) fn intersection(&self, other: &Self) -> Option<Self> {
        Some(Self {
            repositories: intersect_repositories(&self.repositories, &other.repositories)?,
            authors: intersect_sets(&self.authors, &other.authors)?,
            types: intersect_sets(&self.types, &other.types)?,
            states: intersect_sets(&self.states, &other.states)?,
            labels: self.labels.union(&other.labels).cloned().collect(),
            created: self.created.intersection(other.created),
            updated: self.updated.intersection(other.updated),
            has_no_type: self.has_no_type || other.has_no_type,
            has_no_state: self.has_no_state || other.has_no_state,
        })
    }

    /// Excludes types and states by listing the remaining ones, because every thread has exactly one of each. Posts have
    /// a type only, and stay unless it is excluded.
    pub(super) fn exclude_values(&mut self, other: &Self) {
        if !other.types.is_empty() {
            if self.types.is_empty() {
                self.types.extend(ThreadKind::ALL.map(ItemTypeFilter::Thread));
                self.types.insert(ItemTypeFilter::Post);
            }
            self.types.retain(|item_type| !other.types.contains(item_type));
            self.has_no_type |= self.types.is_empty();
        }
        if !other.states.is_empty() {
            if self.states.is_empty() {
                self.states.extend(STATE_NAMES.map(str::to_owned));
            }
            self.states.retain(|state| !other.states.contains(state));
            self.has_no_state |= self.states.is_empty();
        }
    }

    /// Returns true if nothing can match: every type, or every state, is excluded.
    pub fn is_impossible(&self) -> bool {
        self.has_no_type || self.has_no_state
    }

    /// Adds a filter. Returns false if its value is invalid.
    pub(super) fn add_filter(&mut self, filter: FilterChunk<'_>) -> bool {
        let value = fold_case(filter.value.trim());
        if value.is_empty() || value.len() > MAX_VALUE_BYTES {
            return false;
        }
        let name_count = self.repositories.len() + self.authors.len() + self.labels.len();
        let is_full = name_count >= MAX_FILTER_NAMES;
        match filter.name {
            FilterName::Repo | FilterName::Author | FilterName::Label if is_full => true,
            FilterName::Repo => self.add_repository(&value),
            FilterName::Author => self.add_author(&value),
            FilterName::Type => self.add_type(&value),
            FilterName::State => self.add_state(&value),
            FilterName::Is => self.add_state(&value) || self.add_type(&value),
            FilterName::Label => {
                self.labels.insert(value);
                true
            }
            FilterName::Created => narrow_range(&mut self.created, &value),
            FilterName::Updated => narrow_range(&mut self.updated, &value),
        }
    }

    fn add_author(&mut self, name: &str) -> bool {
        let login = name.strip_prefix('@').unwrap_or(name);
        self.authors.extend((!login.is_empty()).then(|| login.to_owned()));
        !login.is_empty()
    }

    fn add_type(&mut self, name: &str) -> bool {
        let item_type = parse_type(name);
        self.types.extend(item_type);
        item_type.is_some()
    }

    fn add_state(&mut self, name: &str) -> bool {
        let state = STATE_NAMES.into_iter().find(|state| *state == name);
        self.states.extend(state.map(str::to_owned));
        state.is_some()
    }

    fn add_repository(&mut self, name: &str) -> bool {
        let (owner, name) = match name.split_once('/') {
            Some((owner, name)) if !owner.is_empty() => (Some(owner.to_owned()), name),
            Some(_) => return false,
            None => (None, name),
        };
        if name.is_empty() {
            return false;
        }
        self.repositories.insert(RepositoryFilter { owner, name: name.to_owned() });
        true
    }
}

impl RepositoryFilter {
    /// Returns the filter that matches where both match. A name without an owner matches every owner.
    fn intersection(&self, other: &Self) -> Option<Self> {
        let is_same_owner =
            self.owner.is_none() || other.owner.is_none() || self.owner == other.owner;
        (is_same_owner && self.name == other.name).then(|| Self {
            owner: self.owner.clone().or_else(|| other.owner.clone()),
            name: self.name.clone(),
        })
    }
}

/// Intersects two lists of alternatives; none if nothing can match both. An empty list matches everything.
fn intersect_sets<T: Ord + Clone>(left: &BTreeSet<T>, right: &BTreeSet<T>) -> Option<BTreeSet<T>> {
    if left.is_empty() || right.is_empty() {
        return Some(left.union(right).cloned().collect());
    }
    let common: BTreeSet<T> = left.intersection(right).cloned().collect();
    (!common.is_empty()).then_some(common)
}

fn intersect_repositories(
    left: &BTreeSet<RepositoryFilter>,
    right: &BTreeSet<RepositoryFilter>,
) -> Option<BTreeSet<RepositoryFilter>> {
    if left.is_empty() || right.is_empty() {
        return intersect_sets(left, right);
    }
    let common: BTreeSet<RepositoryFilter> =
        left.iter().flat_map(|a| right.iter().filter_map(|b| a.intersection(b))).collect();
    (!common.is_empty()).then_some(common)
}

fn narrow_range(range: &mut DateRange, value: &str) -> bool {
    let Some(narrower) = date_filter::parse_date_filter(value) else { return false };
    *range = range.intersection(narrower);
    true
}

fn parse_type(name: &str) -> Option<ItemTypeFilter> {
    Some(match name {
        "issue" | "issues" => ItemTypeFilter::Thread(ThreadKind::Issue),
        "pr" | "prs" | "pull" | "pull_request" | "pull_requests" | "pull-request"
        | "pull-requests" => ItemTypeFilter::Thread(ThreadKind::PullRequest),
        "discussion" | "discussions" => ItemTypeFilter::Thread(ThreadKind::Discussion),
        "comment" | "comments" => ItemTypeFilter::Comment,
        "post" | "posts" => ItemTypeFilter::Post,
        _ => return None,
    })
}
