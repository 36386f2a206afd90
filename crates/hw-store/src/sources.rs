//! Stores what the workspace follows: owners, and single repositories.

use hw_rules::duty::DutyName;
use hw_rules::followed_source::FollowedSource;
use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::lane::Lane;
use hw_rules::login::Login;
use hw_rules::repository_key::RepositoryKey;

use crate::changes;
use crate::error::StoreError;
use crate::sql::{Sql, SqlParam, SqlRow, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader, follows, lanes, leases};

const ADD: TransactionStep = step!("add source");
const RESOLVE: TransactionStep = step!("resolve source");
const FORGET_REPOSITORY: TransactionStep = step!("forget repository", durable);
const FORGET_SOURCE: TransactionStep = step!("forget source", durable);

/// A followed source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSource {
    pub host: String,
    pub source: FollowedSource,
    /// The repository that was found under the name of a single repository. Its name may have changed since.
    pub repository_id: Option<i64>,
}

/// A repository, and the list that it was last read through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryList {
    pub repository_id: i64,
    pub lane: Lane,
}

impl StoreReader {
    /// Returns everything that the workspace follows, by host and name.
    pub fn sources(&self) -> Result<Vec<StoredSource>, StoreError> {
        self.read("sources", read_sources)
    }

    /// Returns the list that each of these repositories was last read through.
    pub fn repository_lists(
        &self,
        host: &str,
        ids: &[i64],
    ) -> Result<Vec<RepositoryList>, StoreError> {
        const LISTS: Sql = Sql::per_dialect(
            "select lanes.host, lanes.organization, lanes.repository_id, lanes.account, lanes.surface, cells.id
               from cells join lanes on lanes.id = cells.lane_id
              where cells.host = $1 and cells.kind = 'repository'
                and cells.id in (select value from json_each($2))",
            "select lanes.host, lanes.organization, lanes.repository_id, lanes.account, lanes.surface, cells.id
               from cells join lanes on lanes.id = cells.lane_id
              where cells.host = $1 and cells.kind = 'repository' and cells.id = any($2)",
        );
        self.read("repository lists", |tx| {
            tx.query(LISTS, &params![host, ids], |mut row| {
                Ok(RepositoryList {
                    lane: lanes::read_lane(&mut row)?,
                    repository_id: row.int("id")?,
                })
            })
        })
    }
}

impl LeasedStore {
    /// Adds a source to those that are followed. Names ignore case.
    pub fn add_source(
        &self,
        host: &str,
        source: &FollowedSource,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        const INSERT: Sql = Sql::portable(
            "insert into sources (host, name, added_ms) values ($1, $2, $3) on conflict do nothing",
        );
        let name = source.to_string();
        self.write_with_lease(ADD, |tx| tx.execute(INSERT, &params![host, &name, now_ms]).map(drop))
    }

    /// Records the repository that was found under the name of a single repository.
    pub fn resolve_source(
        &self,
        source: &FollowedSource,
        repository: &RepositoryKey,
    ) -> Result<(), StoreError> {
        const UPDATE: Sql = Sql::portable(
            "update sources set repository_id = $1 where host = $2 and lower(name) = lower($3)",
        );
        let name = source.to_string();
        self.write_with_lease(RESOLVE, |tx| {
            tx.execute(UPDATE, &params![repository.id, &repository.host, &name]).map(drop)
        })
    }

    /// Takes a repository out of the mirror, and leaves it stored, if it is followed for another reason. Returns false if
    /// it is not, and changes nothing.
    pub fn release_repository(&self, repository: &RepositoryKey) -> Result<bool, StoreError> {
        self.write_with_lease(FORGET_REPOSITORY, |tx| follows::release_from_mirror(tx, repository))
    }

    /// Forgets a repository that is no longer followed, once its lanes are cleared.
    pub fn forget_repository(&self, repository: &RepositoryKey) -> Result<(), StoreError> {
        const DELETE_REMOVED: Sql =
            Sql::portable("delete from removed_items where host = $1 and repository_id = $2");
        let RepositoryKey { host, id } = repository;
        self.write_with_lease(FORGET_REPOSITORY, |tx| {
            leases::revoke_from_others(
                tx,
                &DutyName::Repository(repository.clone()),
                self.lease(),
            )?;
            let key = ObjectId { kind: ObjectKind::Repository, id: id.0 };
            changes::forget_items(tx, host, None, &[key])?;
            tx.execute(DELETE_REMOVED, &params![host, *id])?;
            follows::remove_from_mirror(tx, repository)?;
            delete_lanes(tx, &DELETE_LANES_OF_REPOSITORY, &params![host, *id])
        })
    }

    /// Stops following a source, whose repositories were forgotten before, and forgets its list and its last pull.
    pub fn forget_source(&self, host: &str, source: &FollowedSource) -> Result<(), StoreError> {
        const DELETE_SOURCE: Sql =
            Sql::portable("delete from sources where host = $1 and lower(name) = lower($2)");
        const DELETE_LAST_PULL: Sql =
            Sql::portable("delete from last_pulls where host = $1 and lower(source) = lower($2)");
        // repositories that another source follows were read through this list
        const HAND_OVER: Sql = Sql::portable(
            "update cells set lane_id = $1 where lane_id in
                (select id from lanes where host = $2 and organization = lower($3))",
        );
        let name = source.to_string();
        self.write_with_lease(FORGET_SOURCE, |tx| {
            let single = lanes::ensure_lane_id(tx, &Lane::single_repositories(host))?;
            tx.execute(HAND_OVER, &params![single, host, &name])?;
            delete_lanes(tx, &DELETE_LANES_OF_OWNER, &params![host, &name])?;
            for sql in [DELETE_LAST_PULL, DELETE_SOURCE] {
                tx.execute(sql, &params![host, &name])?;
            }
            Ok(())
        })
    }
}

/// The lanes to delete, and what refers to them.
struct LaneDeletion {
    quarantine: Sql<'static>,
    inventory: Sql<'static>,
    lanes: Sql<'static>,
}

const DELETE_LANES_OF_OWNER: LaneDeletion = LaneDeletion {
    quarantine: Sql::portable(
        "delete from quarantine where lane_id in
            (select id from lanes where host = $1 and organization = lower($2))",
    ),
    inventory: Sql::portable(
        "delete from sweep_inventory where lane_id in
            (select id from lanes where host = $1 and organization = lower($2))",
    ),
    lanes: Sql::portable("delete from lanes where host = $1 and organization = lower($2)"),
};

const DELETE_LANES_OF_REPOSITORY: LaneDeletion = LaneDeletion {
    quarantine: Sql::portable(
        "delete from quarantine where lane_id in
            (select id from lanes where host = $1 and repository_id = $2)",
    ),
    inventory: Sql::portable(
        "delete from sweep_inventory where lane_id in
            (select id from lanes where host = $1 and repository_id = $2)",
    ),
    lanes: Sql::portable("delete from lanes where host = $1 and repository_id = $2"),
};

fn delete_lanes(
    tx: &mut Transaction<'_>,
    deletion: &LaneDeletion,
    params: &[SqlParam<'_>],
) -> Result<(), StoreError> {
    for sql in [deletion.quarantine, deletion.inventory, deletion.lanes] {
        tx.execute(sql, params)?;
    }
    Ok(())
}

pub(crate) fn read_sources(tx: &mut Transaction<'_>) -> Result<Vec<StoredSource>, StoreError> {
    const ALL: Sql =
        Sql::portable("select host, name, repository_id from sources order by host, lower(name)");
    tx.query(ALL, &[], read_source)
}

/// Returns the owner with this login if all of its repositories are followed.
pub(crate) fn find_followed_owner(
    tx: &mut Transaction<'_>,
    host: &str,
    login: &str,
) -> Result<Option<Login>, StoreError> {
    const OWNER: Sql =
        Sql::portable("select name from sources where host = $1 and lower(name) = lower($2)");
    tx.query_first(OWNER, &params![host, login], |mut row| row.text("name").map(Login::from_known))
}

fn read_source(mut row: SqlRow) -> Result<StoredSource, StoreError> {
    let (host, name) = (row.text("host")?, row.text("name")?);
    let source = FollowedSource::from_stored(&name);
    Ok(StoredSource { host, source, repository_id: row.maybe_int("repository_id")? })
}
