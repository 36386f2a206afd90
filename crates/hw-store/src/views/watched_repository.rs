//! Finds the repository that a user names.

use hw_rules::followed_source::RepositoryName;
use hw_rules::repository_key::RepositoryKey;

use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};

impl StoreReader {
    /// Returns the repository with this name: a stored one, a watched one, or one that had this name when an event was
    /// emitted.
    pub fn find_repository_key(
        &self,
        name: &RepositoryName,
    ) -> Result<Option<RepositoryKey>, StoreError> {
        const STORED: Sql = Sql::portable(
            "select host, id from repositories
              where lower(owner) = lower($1) and lower(name) = lower($2) order by host limit 1",
        );
        const WATCHED: Sql = Sql::portable(
            "select host, repository_id as id from watches
              where lower(owner) = lower($1) and lower(name) = lower($2)
                and repository_id is not null order by id limit 1",
        );
        const EMITTED: Sql = Sql::portable(
            "select host, repository_id as id from events
              where lower(repository) = lower($1) order by seq desc limit 1",
        );
        let (owner, short_name) = (name.owner.as_str(), name.name.as_str());
        let full_name = name.to_string();
        self.read("repository", |tx| {
            let parts = params![owner, short_name];
            for (statement, params) in
                [(STORED, &parts[..]), (WATCHED, &parts[..]), (EMITTED, &params![&full_name][..])]
            {
                let found = tx.query_first(statement, params, |mut row| {
                    Ok(RepositoryKey::new(&row.text("host")?, row.int("id")?))
                })?;
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        })
    }
}
