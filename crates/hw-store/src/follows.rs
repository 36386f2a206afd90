//! Stores the reasons for which repositories are followed.
//!
//! The mirror takes away its own reason only: a repository that is followed for another one keeps its texts, and is no
//! longer listed as mirrored.

use std::collections::BTreeSet;

use hw_rules::follow_reason::{FollowReason, LaneUse};
use hw_rules::repository_key::RepositoryKey;

use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader};

const FOLLOW: TransactionStep = step!("follow repository");

impl StoreReader {
    /// Returns the reasons for which a repository is followed.
    pub fn follow_reasons(
        &self,
        repository: &RepositoryKey,
    ) -> Result<BTreeSet<FollowReason>, StoreError> {
        const REASONS: Sql =
            Sql::portable("select reason from follows where host = $1 and repository_id = $2");
        let RepositoryKey { host, id } = repository;
        let reasons = self.read("follows", |tx| {
            tx.query(REASONS, &params![host, *id], |mut row| {
                let name = row.text("reason")?;
                FollowReason::from_name(&name)
                    .ok_or_else(|| StoreError::UnreadableRow(format!("unknown reason {name:?}")))
            })
        })?;
        Ok(reasons.into_iter().collect())
    }
}

impl StoreReader {
    /// Returns the repositories of a host that are followed because they are watched.
    pub fn watched_repositories(&self, host: &str) -> Result<BTreeSet<RepositoryKey>, StoreError> {
        const WATCHED: Sql =
            Sql::portable("select repository_id from follows where host = $1 and reason = $2");
        let params = params![host, FollowReason::Watch.name()];
        let ids = self.read("watched repositories", |tx| {
            tx.query(WATCHED, &params, |mut row| row.int("repository_id"))
        })?;
        Ok(ids.into_iter().map(|id| RepositoryKey::new(host, id)).collect())
    }
}

impl LeasedStore {
    /// Records another reason to follow a repository.
    pub fn follow_repository(
        &self,
        repository: &RepositoryKey,
        reason: FollowReason,
    ) -> Result<(), StoreError> {
        let RepositoryKey { host, id } = repository;
        self.write_with_lease(FOLLOW, |tx| add_reason(tx, host, [id.0], reason))
    }
}

impl StoreReader {
    /// Returns true if a repository of this host is followed, or a lane read, for another reason than the mirror.
    pub fn is_followed_beyond_mirror(&self, host: &str) -> Result<bool, StoreError> {
        const OTHERS: Sql = Sql::portable(
            "select count(*) as matching
              where exists (select 1 from follows where host = $1 and reason <> $2)
                 or exists (select 1 from lane_uses
                             where use <> $3
                               and exists (select 1 from lanes
                                            where lanes.id = lane_uses.lane_id and host = $1))",
        );
        let params = params![host, FollowReason::Mirror.name(), LaneUse::Mirror.name()];
        self.read("reasons to follow", |tx| Ok(tx.query_count(OTHERS, &params)? > 0))
    }
}

/// Records that the mirror follows these repositories.
pub(crate) fn add_to_mirror(
    tx: &mut Transaction<'_>,
    host: &str,
    ids: impl IntoIterator<Item = i64>,
) -> Result<(), StoreError> {
    add_reason(tx, host, ids, FollowReason::Mirror)
}

/// Records that a watch follows this repository.
pub(crate) fn add_watch_reason(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
) -> Result<(), StoreError> {
    add_reason(tx, &repository.host, [repository.id.0], FollowReason::Watch)
}

/// Takes the reason of watches away if no watch is left. The next pull removes texts that nothing follows.
pub(crate) fn release_from_watches(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
) -> Result<(), StoreError> {
    const RELEASE: Sql = Sql::portable(
        "delete from follows
          where host = $1 and repository_id = $2 and reason = $3
            and not exists (select 1 from watches
                             where watches.host = follows.host
                               and watches.repository_id = follows.repository_id)",
    );
    const DELETE_USES: Sql = Sql::portable(
        "delete from lane_uses
          where use = $1 and lane_id in
                (select id from lanes where host = $2 and repository_id = $3)
            and not exists (select 1 from watches where host = $4 and repository_id = $5)",
    );
    let RepositoryKey { host, id } = repository;
    tx.send_statement(RELEASE, &params![host, *id, FollowReason::Watch.name()])?;
    tx.send_statement(DELETE_USES, &params![LaneUse::Watch.name(), host, *id, host, *id])
}

fn add_reason(
    tx: &mut Transaction<'_>,
    host: &str,
    ids: impl IntoIterator<Item = i64>,
    reason: FollowReason,
) -> Result<(), StoreError> {
    const ADD: Sql = Sql::per_dialect(
        "insert into follows (host, repository_id, reason) values ($1, $2, $3)
         on conflict do nothing",
        "insert into follows (host, repository_id, reason)
         select * from unnest($1::text[], $2::bigint[], $3::text[]) on conflict do nothing",
    );
    let rows: Vec<_> =
        ids.into_iter().map(|id| params![host, id, reason.name()].to_vec()).collect();
    tx.insert_rows(ADD, &rows)
}

/// Takes away the mirror's reason, and its use of the lanes, if the repository is followed for another reason. Returns
/// false if it is not: its texts are to be removed.
pub(crate) fn release_from_mirror(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
) -> Result<bool, StoreError> {
    const OTHER_REASONS: Sql = Sql::portable(
        "select count(*) as matching from follows
          where host = $1 and repository_id = $2 and reason <> $3",
    );
    const DELETE_USES: Sql = Sql::portable(
        "delete from lane_uses
          where use = $1 and lane_id in
                (select id from lanes where host = $2 and repository_id = $3)",
    );
    let RepositoryKey { host, id } = repository;
    let params = params![host, *id, FollowReason::Mirror.name()];
    if tx.query_count(OTHER_REASONS, &params)? == 0 {
        return Ok(false);
    }
    tx.send_statement(DELETE_USES, &params![LaneUse::Mirror.name(), host, *id])?;
    remove_from_mirror(tx, repository)?;
    Ok(true)
}

/// Takes away the mirror's reason.
pub(crate) fn remove_from_mirror(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
) -> Result<(), StoreError> {
    const DELETE: Sql =
        Sql::portable("delete from follows where host = $1 and repository_id = $2 and reason = $3");
    let RepositoryKey { host, id } = repository;
    tx.send_statement(DELETE, &params![host, *id, FollowReason::Mirror.name()])
}
