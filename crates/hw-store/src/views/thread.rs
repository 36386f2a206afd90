//! What does one thread say?

use hw_rules::address::ThreadAddress;
use hw_rules::item::{Kind, Repository};
use hw_rules::lane::Surface;

use super::behind::Behind;
use super::comments::{self, CommentRow};
use super::skipped::{ReadableRows, SkippedRows};
use super::threads::{Table, ThreadRow};
use crate::Store;
use crate::error::Error;
use crate::sql::{Row, Sql, params};
use crate::tx::Tx;

/// A thread and everything that is said in it, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadView {
    pub owner: String,
    pub row: ThreadRow,
    pub comments: Vec<CommentRow>,
    /// Among its comments.
    pub skipped: SkippedRows,
}

impl Store {
    /// The thread at an address; none when it is not held.
    pub fn thread(&self, address: &ThreadAddress) -> Result<Option<ThreadView>, Error> {
        self.read("thread", |tx| {
            let Some((owner, row)) = at(tx, address)? else { return Ok(None) };
            view(tx, owner, row).map(Some)
        })
    }

    /// Returns the URLs of all threads at an address. A name without its owner can mean several, and so can
    /// `owner/name` where two hosts have it.
    pub fn thread_urls(&self, address: &ThreadAddress) -> Result<Vec<String>, Error> {
        let found = self.read("thread urls", |tx| all_at(tx, address))?;
        Ok(found.into_iter().map(|(_, row)| row.thread.url).collect())
    }

    /// Returns the thread of this number in this repository; none when it is not held.
    ///
    /// An address can mean several repositories: others of the same name on another host, or in another case.
    pub fn thread_of(
        &self,
        host: &str,
        repository: &Repository,
        number: i64,
    ) -> Result<Option<ThreadView>, Error> {
        self.read("thread", |tx| {
            let row = numbered(tx, host, repository.id, number)?;
            row.map(|row| view(tx, repository.owner.clone(), row)).transpose()
        })
    }

    /// What is behind a thread and its talk. One without any may be one whose talk was never pulled.
    pub fn behind_thread(&self, view: &ThreadView) -> Result<Behind, Error> {
        self.behind_talk(&view.row, view.skipped, view.comments.is_empty())
    }

    pub(super) fn behind_talk(
        &self,
        row: &ThreadRow,
        skipped: SkippedRows,
        is_silent: bool,
    ) -> Result<Behind, Error> {
        let (threads, talk) = surfaces(row.thread.kind());
        let repository = Some(row.repository.as_str());
        let mut behind = self.behind(&[&[threads], talk].concat(), repository)?;
        behind.missing.extend(skipped.sentence());
        if is_silent {
            let talk = self.behind(talk, repository)?.missing;
            let untold = |it: &String| !behind.missing.contains(it);
            let untold: Vec<_> = talk.into_iter().filter(untold).collect();
            behind.missing.extend(untold);
        }
        Ok(behind)
    }
}

fn view(tx: &mut Tx<'_>, owner: String, row: ThreadRow) -> Result<ThreadView, Error> {
    let said = said(tx, &row.host, row.thread.repository_id, row.thread.number)?;
    let ReadableRows { rows: comments, skipped } = said;
    Ok(ThreadView { owner, row, comments, skipped })
}

/// The listings of a thread and of its talk.
fn surfaces(kind: Kind) -> (Surface, &'static [Surface]) {
    match kind {
        Kind::Discussion => (Surface::Discussions, &[Surface::DiscussionComments]),
        Kind::PullRequest => (
            Surface::PullRequests,
            &[Surface::IssueComments, Surface::ReviewComments, Surface::Reviews],
        ),
        Kind::Issue
        | Kind::Repository
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::Review
        | Kind::DiscussionComment => (Surface::Issues, &[Surface::IssueComments]),
    }
}

/// The thread at an address, with its owner.
pub(crate) fn at(
    tx: &mut Tx<'_>,
    address: &ThreadAddress,
) -> Result<Option<(String, ThreadRow)>, Error> {
    Ok(all_at(tx, address)?.into_iter().next())
}

fn all_at(tx: &mut Tx<'_>, address: &ThreadAddress) -> Result<Vec<(String, ThreadRow)>, Error> {
    let mut found = Vec::new();
    for (host, id, owner) in repositories(tx, address)? {
        let row = numbered(tx, &host, id, address.number)?;
        let row = row.filter(|row| address.is_at_host_of(&row.thread.url));
        found.extend(row.map(|row| (owner, row)));
    }
    Ok(found)
}

/// The repositories of that name, in any case, with their owners.
fn repositories(
    tx: &mut Tx<'_>,
    address: &ThreadAddress,
) -> Result<Vec<(String, i64, String)>, Error> {
    const NAMED: Sql = Sql::both(
        "select host, id, owner from repositories
          where lower(name) = lower($1) order by host, owner, id",
    );
    let read = |mut row: Row| Ok((row.text(0)?, row.int(1)?, row.text(2)?));
    let mut named = tx.query_readable(NAMED, &params![&address.repository], read)?.rows;
    let is_meant = |owner: &str| {
        address.owner.as_deref().is_none_or(|meant| meant.eq_ignore_ascii_case(owner))
    };
    named.retain(|(_, _, owner)| is_meant(owner));
    Ok(named)
}

/// The thread of a number in a repository.
pub(crate) fn numbered(
    tx: &mut Tx<'_>,
    host: &str,
    repository_id: i64,
    number: i64,
) -> Result<Option<ThreadRow>, Error> {
    let conditions = "where host = $1 and repository_id = $2 and number = $3";
    for table in Kind::THREADS.into_iter().filter_map(Table::of) {
        let text = table.select(conditions, "limit 1");
        let params = params![host, repository_id, number];
        if let Some(row) = tx.first(Sql::both(&text), &params, |row| table.read(row))? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

pub(crate) fn by_id(
    tx: &mut Tx<'_>,
    table: &Table,
    host: &str,
    id: i64,
) -> Result<Option<ThreadRow>, Error> {
    let text = table.select("where host = $1 and id = $2", "");
    tx.first(Sql::both(&text), &params![host, id], |row| table.read(row))
}

fn said(
    tx: &mut Tx<'_>,
    host: &str,
    repository_id: i64,
    number: i64,
) -> Result<ReadableRows<CommentRow>, Error> {
    let text = format!(
        "select {} from comments where host = $1 and repository_id = $2 and thread = $3 order by {}",
        comments::COLUMNS,
        comments::order(tx.dialect())
    );
    tx.query_readable(Sql::both(&text), &params![host, repository_id, number], comments::read)
}
