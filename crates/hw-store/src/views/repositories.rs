//! Lists the stored repositories.

use hw_rules::follow_reason::FollowReason;
use hw_rules::item::Repository;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceTime;

use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::Transaction;
use crate::views::skipped_rows::ReadableRows;

impl StoreReader {
    /// Returns the readable repositories of one host that the mirror follows, ordered by name.
    pub fn repositories(&self, host: &str) -> Result<Vec<Repository>, StoreError> {
        Ok(self.readable_repositories(host)?.rows)
    }

    /// Returns the readable repositories of one host that are followed for this reason, ordered by id.
    pub fn followed_repositories(
        &self,
        host: &str,
        reason: FollowReason,
    ) -> Result<Vec<Repository>, StoreError> {
        const FOLLOWED: Sql = Sql::portable(
            "select id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled,
                    has_discussions_enabled, created_at, updated_at
               from repositories
              where host = $1
                and exists (select 1 from follows
                             where follows.host = repositories.host
                               and follows.repository_id = repositories.id and reason = $2)
              order by id",
        );
        let params = params![host, reason.name()];
        let rows =
            self.read("repositories", |tx| tx.query_readable(FOLLOWED, &params, read_repository))?;
        Ok(rows.rows)
    }

    /// Like [`Self::repositories`], with the number of repositories that cannot be read.
    pub fn readable_repositories(
        &self,
        host: &str,
    ) -> Result<ReadableRows<Repository>, StoreError> {
        const ALL: Sql = Sql::portable(
            "select id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled,
                    has_discussions_enabled, created_at, updated_at
               from repositories
              where host = $1
                and exists (select 1 from follows
                             where follows.host = repositories.host
                               and follows.repository_id = repositories.id and reason = $2)
              order by owner, name, id",
        );
        let params = params![host, FollowReason::Mirror.name()];
        self.read("repositories", |tx| tx.query_readable(ALL, &params, read_repository))
    }
}

impl StoreReader {
    /// Returns a stored repository, for whatever reason it is followed.
    pub fn repository(&self, key: &RepositoryKey) -> Result<Option<Repository>, StoreError> {
        let RepositoryKey { host, id } = key;
        let found = self.read("repository", |tx| repositories_by_ids(tx, host.as_str(), &[id.0]));
        Ok(found?.pop())
    }
}

/// Returns the repositories that have these ids.
pub(crate) fn repositories_by_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    ids: &[i64],
) -> Result<Vec<Repository>, StoreError> {
    const BY_IDS: Sql = Sql::per_dialect(
        "select id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled,
                has_discussions_enabled, created_at, updated_at
           from repositories
          where host = $1 and id in (select value from json_each($2)) order by id",
        "select id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled,
                has_discussions_enabled, created_at, updated_at
           from repositories where host = $1 and id = any($2) order by id",
    );
    tx.query(BY_IDS, &params![host, ids], read_repository)
}

pub(crate) fn read_repository(mut row: SqlRow) -> Result<Repository, StoreError> {
    Ok(Repository {
        id: row.int("id")?,
        node_id: row.text("node_id")?,
        owner: row.text("owner")?,
        name: row.text("name")?,
        url: row.text("url")?,
        is_archived: row.flag("is_archived")?,
        is_fork: row.flag("is_fork")?,
        has_issues_enabled: row.flag("has_issues_enabled")?,
        has_discussions_enabled: row.flag("has_discussions_enabled")?,
        created_at: parse_time(&row.text("created_at")?)?,
        updated_at: parse_time(&row.text("updated_at")?)?,
    })
}

pub(crate) fn parse_time(text: &str) -> Result<SourceTime, StoreError> {
    SourceTime::parse(text).map_err(|error| StoreError::UnreadableRow(error.to_string()))
}
