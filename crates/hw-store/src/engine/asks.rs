//! What the index is asked for, and what is still to be checked of what it gives.
//!
//! A thread's type, state and labels are no facets of its comments: they change without them. Where such a
//! filter meets a match in a comment, its thread is looked up.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::clean::shorten;
use hw_rules::item::Kind;
use hw_rules::query::{Filters, Named, Query, Type};

use super::ask::Ask;
use super::rank::ThreadPlace;
use crate::error::Error;
use crate::search::facets;
use crate::sql::{Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;
use crate::views::meant::HostIds;
use crate::views::skipped::{ReadableRows, SkippedRows};
use crate::views::threads::list;

pub(super) struct Asked {
    pub(super) ask: Ask,
    /// What the thread of a comment has to fulfil.
    pub(super) check: Option<Check>,
    /// Whether a comment is shown for itself, and not for its thread.
    pub(super) for_itself: bool,
}

/// What is asked of a thread.
pub(super) struct Check {
    kinds: BTreeSet<Kind>,
    states: BTreeSet<String>,
    labels: BTreeSet<String>,
}

impl Check {
    /// None when nothing is.
    fn of(filters: &Filters, kinds: BTreeSet<Kind>) -> Option<Self> {
        let (states, labels) = (filters.states.clone(), filters.labels.clone());
        let is_open = kinds.is_empty() && states.is_empty() && labels.is_empty();
        (!is_open).then_some(Self { kinds, states, labels })
    }

    /// Which of these threads are wanted.
    pub(super) fn wanted(
        &self,
        tx: &mut Tx<'_>,
        threads: &BTreeSet<ThreadPlace>,
    ) -> Result<ReadableRows<ThreadPlace>, Error> {
        const STANDING: OfKind = of_kind!(
            "select number, state, labels from",
            "where host = $1 and repository_id = $2 and number in (select value from json_each($3))",
            "where host = $1 and repository_id = $2 and number = any($3)"
        );
        let mut numbers: BTreeMap<(&str, i64), Vec<i64>> = BTreeMap::new();
        for ThreadPlace { host, repository_id, number } in threads {
            numbers.entry((host, *repository_id)).or_default().push(*number);
        }
        let mut wanted = ReadableRows { rows: Vec::new(), skipped: SkippedRows::default() };
        for ((host, repository_id), numbers) in numbers {
            for kind in Kind::THREADS.into_iter().filter(|kind| self.lets_kind(*kind)) {
                let params = params![host, repository_id, numbers.as_slice()];
                let read = |mut row: Row| {
                    let number = row.int(0)?;
                    Ok((number, self.fits(&row.text(1)?, &row.text(2)?)?))
                };
                let found = tx.query_readable(STANDING.of(kind), &params, read)?;
                wanted.skipped.add(found.skipped);
                let fitting = found.rows.into_iter().filter(|(_, fits)| *fits);
                wanted.rows.extend(fitting.map(|(number, _)| ThreadPlace {
                    host: host.to_owned(),
                    repository_id,
                    number,
                }));
            }
        }
        Ok(wanted)
    }

    fn lets_kind(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn fits(&self, state: &str, labels: &str) -> Result<bool, Error> {
        if !self.states.is_empty() && !self.states.contains(&state.to_lowercase()) {
            return Ok(false);
        }
        if self.labels.is_empty() {
            return Ok(true);
        }
        let labels: Vec<String> = list(labels)?;
        let labels: BTreeSet<_> = labels.iter().map(|label| label.to_lowercase()).collect();
        Ok(self.labels.is_subset(&labels))
    }
}

/// Threads by what they are, and comments for their threads or for themselves.
pub(super) fn asks(tx: &mut Tx<'_>, query: &Query, literally: bool) -> Result<Vec<Asked>, Error> {
    let (filters, dialect) = (&query.filters, tx.dialect());
    let ids = repositories(tx, filters)?;
    let ask = |wanted| Ask::new(query, literally, &wanted, dialect).in_repositories(ids.clone());
    let kinds = kinds(filters);
    let for_itself = filters.types.contains(&Type::Comment);
    let mut asks = Vec::new();
    let plain = |ask| Asked { ask, check: None, for_itself: false };
    let check = |kinds| Check::of(filters, kinds);
    if filters.types.is_empty() && check(BTreeSet::new()).is_none() && query.has_words() {
        // nothing is asked of threads alone: one look finds them and what is said in them
        return Ok(vec![plain(ask(facets::wanted_of_all(filters)))]);
    }
    if !kinds.is_empty() || !for_itself {
        let wanted = if kinds.is_empty() { Kind::THREADS.into() } else { kinds.clone() };
        asks.push(plain(ask(facets::wanted_of_threads(filters, &wanted))));
    }
    if for_itself || query.has_words() {
        let check = check(if for_itself { BTreeSet::new() } else { kinds });
        asks.push(Asked { ask: ask(facets::wanted_of_comments(filters)), check, for_itself });
    }
    Ok(asks)
}

fn kinds(filters: &Filters) -> BTreeSet<Kind> {
    let kind = |it: &Type| match it {
        Type::Thread(kind) => Some(*kind),
        Type::Comment => None,
    };
    filters.types.iter().filter_map(kind).collect()
}

/// The repositories that are meant, where one is named with its owner.
fn repositories(tx: &mut Tx<'_>, filters: &Filters) -> Result<Option<HostIds>, Error> {
    if filters.repositories.iter().all(|named| named.owner.is_none()) {
        return Ok(None);
    }
    let is_meant = |it: &Held| filters.repositories.iter().any(|named| it.is(named));
    let mut ids = HostIds::new();
    for stored in held(tx)?.into_iter().filter(is_meant) {
        ids.entry(stored.host).or_default().push(stored.id);
    }
    Ok(Some(ids))
}

/// How many unknown repositories are named, and how much of each: a name on GitHub has at most 100 characters.
const UNHELD_MAX: usize = 3;
const UNHELD_BYTES: usize = 200;

/// A sentence for each repository that a filter names and that is not held.
pub(super) fn unheld(tx: &mut Tx<'_>, filters: &Filters) -> Result<Vec<String>, Error> {
    if filters.repositories.is_empty() {
        return Ok(Vec::new());
    }
    let held = held(tx)?;
    let is_unheld = |named: &&Named| !held.iter().any(|it| it.is(named));
    let told = |named: &Named| {
        let owner = named.owner.as_ref().map(|owner| format!("{owner}/")).unwrap_or_default();
        let name = format!("{owner}{}", named.name);
        format!("no repository named {} is in this workspace", shorten(&name, UNHELD_BYTES))
    };
    Ok(filters.repositories.iter().filter(is_unheld).take(UNHELD_MAX).map(told).collect())
}

/// A repository, its names in lower case.
struct Held {
    host: String,
    id: i64,
    owner: String,
    name: String,
}

impl Held {
    fn is(&self, named: &Named) -> bool {
        let is_owner = named.owner.as_ref().is_none_or(|owner| *owner == self.owner);
        is_owner && named.name == self.name
    }
}

fn held(tx: &mut Tx<'_>) -> Result<Vec<Held>, Error> {
    const ALL: Sql = Sql::both("select host, id, lower(owner), lower(name) from repositories");
    let read = |mut row: Row| {
        let (host, id) = (row.text(0)?, row.int(1)?);
        Ok(Held { host, id, owner: row.text(2)?, name: row.text(3)? })
    };
    tx.query(ALL, &params![], read)
}
