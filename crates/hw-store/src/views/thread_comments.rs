//! Lists which versions of a thread's comments are stored, for comparison with what the source shows.

use hw_rules::item::CommentKind;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::version::ItemVersion;

use crate::StoreReader;
use crate::cells;
use crate::error::StoreError;
use crate::sql::params;
use crate::tables::{KindStatements, of_kind};

/// A stored comment, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredComment {
    pub id: i64,
    pub node_id: String,
    pub version: ItemVersion,
}

impl StoreReader {
    /// Returns the stored comments of a kind on a thread, by id.
    pub fn thread_comment_versions(
        &self,
        repository: &RepositoryKey,
        kind: CommentKind,
        number: i64,
    ) -> Result<Vec<StoredComment>, StoreError> {
        const COMMENTS: KindStatements = of_kind!(
            "select comments.id, comments.node_id, cells.updated_at, cells.updated_at_ms, cells.observed_at_ms,
                    cells.observed_request, cells.digest, cells.tombstone_at_ms, cells.tombstone_request
               from",
            "as comments
               join cells on cells.host = comments.host and cells.kind = $1 and cells.id = comments.id
              where comments.host = $2 and comments.repository_id = $3 and comments.thread_number = $4
              order by comments.id"
        );
        let params = params![kind.name(), &repository.host, repository.id, number];
        let rows = self.read("thread comments", |tx| {
            tx.query_readable(COMMENTS.for_kind(kind), &params, |mut row| {
                let (id, node_id) = (row.int("id")?, row.text("node_id")?);
                let cell = cells::read_cell(&mut row)?;
                let version = cell.version.clone().filter(|_| cell.is_present());
                Ok(version.map(|version| StoredComment { id, node_id, version }))
            })
        })?;
        Ok(rows.rows.into_iter().flatten().collect())
    }
}
