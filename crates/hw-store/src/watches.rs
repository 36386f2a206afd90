//! Stores what is watched. A watch is a person's decision: no refetch of the mirror touches it.

use hw_rules::followed_source::RepositoryName;
use hw_rules::item::{ObjectKind, ThreadKind};
use hw_rules::repository_key::{Host, RepositoryId, RepositoryKey};
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::{Watch, WatchId, WatchMode, WatchStart, WatchState, WatchSubject};

use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::change_counter::bump_change_counter;
use crate::{LeasedStore, StoreReader, StoreWriter, follows};

pub(crate) mod moved_threads;
pub(crate) mod resolution;
pub(crate) mod watched_threads;

const ADD: TransactionStep = step!("add watch", durable);
const REMOVE: TransactionStep = step!("remove watch", durable);
const PAUSE: TransactionStep = step!("pause watch", durable);
const SET_STATE: TransactionStep = step!("set watch state");

/// A watch to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWatch {
    pub host: Host,
    pub subject: WatchSubject,
    pub mode: WatchMode,
    /// None for the usual start of its kind.
    pub start: Option<WatchStart>,
    pub source_issue: Option<i64>,
}

/// The result of adding a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedWatch {
    pub watch: Watch,
    /// False if the same subject was watched before: that watch stays as it is.
    pub is_new: bool,
}

macro_rules! select_watches {
    ($rest:literal) => {
        select_watches!($rest, $rest)
    };
    ($sqlite:literal, $postgres:literal) => {
        $crate::sql::Sql::per_dialect(
            concat!(
                "select id, host, owner, name, number, label, repository_id, kind, mode, start, floor_ms,
                        source_issue, state, problem, created_ms from watches ",
                $sqlite
            ),
            concat!(
                "select id, host, owner, name, number, label, repository_id, kind, mode, start, floor_ms,
                        source_issue, state, problem, created_ms from watches ",
                $postgres
            ),
        )
    };
}
pub(crate) use select_watches;

impl StoreReader {
    /// Returns all watches, the oldest first.
    pub fn watches(&self) -> Result<Vec<Watch>, StoreError> {
        const ALL: Sql = select_watches!("order by id");
        self.read("watches", |tx| Ok(tx.query_readable(ALL, &[], read_watch)?.rows))
    }

    pub fn watch(&self, id: WatchId) -> Result<Option<Watch>, StoreError> {
        self.read("watch", |tx| find_watch(tx, id))
    }
}

impl StoreWriter {
    /// Adds a watch, which the service resolves. A subject that is watched already keeps its watch.
    pub fn add_watch(&self, new: &NewWatch, now_ms: i64) -> Result<AddedWatch, StoreError> {
        const INSERT: Sql = Sql::portable(
            "insert into watches (host, owner, name, number, label, mode, start, source_issue, state, created_ms)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        );
        let NewWatch { host, subject, mode, start, source_issue } = new;
        self.write(ADD, |tx| {
            if let Some(watch) = find_same(tx, new)? {
                return Ok(AddedWatch { watch, is_new: false });
            }
            let start = start.map(|start| start.to_string());
            let params = params![
                host,
                subject.repository.owner.as_str(),
                &subject.repository.name,
                subject.number,
                subject.label.as_deref(),
                mode.name(),
                start.as_deref(),
                *source_issue,
                WatchState::Unresolved.name(),
                now_ms,
            ];
            tx.execute(INSERT, &params)?;
            bump_change_counter(tx)?;
            let watch = find_same(tx, new)?;
            let watch =
                watch.ok_or_else(|| StoreError::Damaged("a watch is missing".to_owned()))?;
            Ok(AddedWatch { watch, is_new: true })
        })
    }

    /// Removes a watch. Its events stay, and what it emitted is not emitted again by another watch. Returns false if
    /// there is no such watch.
    pub fn remove_watch(&self, id: WatchId) -> Result<bool, StoreError> {
        const DELETE: Sql = Sql::portable("delete from watches where id = $1");
        self.write(REMOVE, |tx| {
            let Some(watch) = find_watch(tx, id)? else { return Ok(false) };
            tx.send_statement(DELETE, &params![id.0])?;
            if let Some(repository) = watch.repository() {
                follows::release_from_watches(tx, &repository)?;
                moved_threads::forget_unwatched(tx, &repository)?;
            }
            // the rows of its threads can be many; retention removes the rest
            watched_threads::delete_orphans(tx)?;
            bump_change_counter(tx)?;
            Ok(true)
        })
    }

    /// Pauses a watch, or resumes it: what was said meanwhile becomes events then. Returns false if there is no such
    /// watch, or if its state does not allow it.
    pub fn set_watch_paused(&self, id: WatchId, is_paused: bool) -> Result<bool, StoreError> {
        self.write(PAUSE, |tx| {
            let Some(watch) = find_watch(tx, id)? else { return Ok(false) };
            match (is_paused, watch.state) {
                (true, WatchState::Bootstrapping | WatchState::Active) => {
                    set_state(tx, id, WatchState::Paused, None)?;
                }
                (false, WatchState::Paused) => {
                    set_state(tx, id, WatchState::Bootstrapping, None)?;
                    resolution::derive_again(tx, &watch)?;
                }
                _ => return Ok(false),
            }
            bump_change_counter(tx)?;
            Ok(true)
        })
    }
}

impl LeasedStore {
    /// Sets the state of a watch, with what is wrong. A watch that a person has paused stays paused.
    pub fn set_watch_state(
        &self,
        id: WatchId,
        state: WatchState,
        problem: Option<&str>,
    ) -> Result<(), StoreError> {
        self.write_with_lease(SET_STATE, |tx| match find_watch(tx, id)? {
            Some(watch) if watch.state != WatchState::Paused => set_state(tx, id, state, problem),
            Some(_) | None => Ok(()),
        })
    }

    /// Records what is wrong with a watch, and leaves its state as it is.
    pub fn set_watch_problem(&self, id: WatchId, problem: Option<&str>) -> Result<(), StoreError> {
        const PROBLEM: Sql = Sql::portable("update watches set problem = $1 where id = $2");
        self.write_with_lease(SET_STATE, |tx| tx.send_statement(PROBLEM, &params![problem, id.0]))
    }
}

pub(crate) fn set_state(
    tx: &mut Transaction<'_>,
    id: WatchId,
    state: WatchState,
    problem: Option<&str>,
) -> Result<(), StoreError> {
    const STATE: Sql = Sql::portable("update watches set state = $1, problem = $2 where id = $3");
    tx.send_statement(STATE, &params![state.name(), problem, id.0])
}

pub(crate) fn find_watch(
    tx: &mut Transaction<'_>,
    id: WatchId,
) -> Result<Option<Watch>, StoreError> {
    const ONE: Sql = select_watches!("where id = $1");
    tx.query_first(ONE, &params![id.0], read_watch)
}

fn find_same(tx: &mut Transaction<'_>, new: &NewWatch) -> Result<Option<Watch>, StoreError> {
    const OF_OWNER: Sql =
        select_watches!("where host = $1 and lower(owner) = lower($2) order by id");
    let owner = new.subject.repository.owner.as_str();
    let watches = tx.query(OF_OWNER, &params![&new.host, owner], read_watch)?;
    Ok(watches.into_iter().find(|watch| {
        let is_same_source = watch.source_issue == new.source_issue;
        watch.subject.is_same(&new.subject) && (new.subject.number.is_some() || is_same_source)
    }))
}

pub(crate) fn read_watch(mut row: SqlRow) -> Result<Watch, StoreError> {
    let id = WatchId(row.int("id")?);
    let host = Host::from(row.text("host")?);
    let repository = RepositoryName::from_known(&row.text("owner")?, &row.text("name")?);
    let number = row.maybe_int("number")?;
    let label = row.maybe_text("label")?;
    let repository_id = row.maybe_int("repository_id")?.map(RepositoryId);
    let kind = row.maybe_text("kind")?.map(|kind| parse_thread_kind(&kind)).transpose()?;
    let mode = row.text("mode")?;
    let start = row.maybe_text("start")?;
    Ok(Watch {
        id,
        host,
        subject: WatchSubject { repository, number, label },
        repository_id,
        kind,
        mode: WatchMode::from_name(&mode).ok_or_else(|| unknown("watch mode", &mode))?,
        start: match start {
            Some(start) => Some(start.parse().map_err(|_| unknown("start", &start))?),
            None => None,
        },
        floor: row.maybe_int("floor_ms")?.map(SourceInstant),
        source_issue: row.maybe_int("source_issue")?,
        state: {
            let state = row.text("state")?;
            WatchState::from_name(&state).ok_or_else(|| unknown("watch state", &state))?
        },
        problem: row.maybe_text("problem")?,
        created_ms: row.int("created_ms")?,
    })
}

pub(crate) fn parse_thread_kind(name: &str) -> Result<ThreadKind, StoreError> {
    let kind = ObjectKind::from_name(name).and_then(ObjectKind::as_thread);
    kind.ok_or_else(|| unknown("kind of thread", name))
}

pub(crate) fn unknown(what: &str, value: &str) -> StoreError {
    StoreError::UnreadableRow(format!("unknown {what} {value:?}"))
}

/// The watches that have something to say about some repositories, requested.
pub(crate) struct PendingWatches(PendingRows);

impl PendingWatches {
    pub(crate) fn send(
        tx: &mut Transaction<'_>,
        host: &str,
        repositories: &[i64],
    ) -> Result<Self, StoreError> {
        const SELECTING: Sql = select_watches!(
            "where host = $1 and repository_id in (select value from json_each($2)) order by id",
            "where host = $1 and repository_id = any($2) order by id"
        );
        Ok(Self(tx.send_query(SELECTING, &params![host, repositories])?))
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<Vec<Watch>, StoreError> {
        let mut watches = tx.read_pending(self.0, read_watch)?;
        watches.retain(|watch| watch.state.selects());
        Ok(watches)
    }
}

/// Returns the key of a repository at a host.
pub(crate) fn repository_key(host: &str, id: i64) -> RepositoryKey {
    RepositoryKey::new(host, id)
}
