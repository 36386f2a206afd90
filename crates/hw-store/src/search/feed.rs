//! What the index is fed with: tokens, facets, and beside them a profile of the words.

use hw_rules::ranking::{Profile, TITLE_WEIGHT};

use super::words;
use super::{BODY_BYTES, NAME_BYTES, SearchRow, facets};
use crate::error::Error;
use crate::sql::{Dialect, Param, Sql, params};
use crate::tx::Tx;

/// Writes search rows in the order of their ids.
///
/// FTS5 gathers rows in memory while their ids ascend; one that descends has it write a segment first,
/// and a newest-first page would be as many segments as rows.
pub(crate) fn insert(tx: &mut Tx<'_>, rows: &[(i64, &SearchRow<'_>)]) -> Result<(), Error> {
    const INSERT: Sql = Sql::each(
        "insert into search (rowid, type, url, title, body, repository, author, facets,
                             created_at, state, boost)
         values ($1, '', '', $2, $3, $4, $5, $6, $7, $8, 1.0)",
        "insert into search (rowid, words, facets, created_at, state, boost)
         values ($1,
                 setweight(cast($2::text as tsvector), 'A') || cast($3::text as tsvector)
                 || cast($4::text as tsvector) || cast($5::text as tsvector),
                 cast($6::text as tsvector), $7, $8, 1.0)",
    );
    let dialect = tx.dialect();
    let mut fed: Vec<_> = rows.iter().map(|(rowid, row)| (*rowid, Fed::of(row, dialect))).collect();
    fed.sort_unstable_by_key(|(rowid, _)| *rowid);
    let values: Vec<_> = fed.iter().map(|(rowid, fed)| fed.values(*rowid)).collect();
    tx.execute_each(INSERT, &values)?;
    let places: Vec<_> = fed.iter().map(|(rowid, fed)| fed.place(*rowid)).collect();
    tx.execute_each(INSERT_PLACE, &places)
}

const INSERT_PLACE: Sql = Sql::both(
    "insert into search_places (rowid, host, repository_id, thread, created_ms, length, words)
     values ($1, $2, $3, $4, $5, $6, $7)",
);

/// A search row as the index is fed with it.
struct Fed<'a> {
    title: String,
    body: String,
    repository: String,
    author: String,
    facets: String,
    profile: Profile,
    row: &'a SearchRow<'a>,
}

impl<'a> Fed<'a> {
    fn of(row: &'a SearchRow<'a>, dialect: Dialect) -> Self {
        let spell = words::spelling(dialect);
        let name = |text: &str| words::of(text, NAME_BYTES);
        let (title, body) = (name(row.title), words::of(row.body, BODY_BYTES));
        // a name would make all comments of a repository or of a person matches of it
        let named = |text| if row.is_comment() { Vec::new() } else { name(text) };
        let (repository, mut author) =
            (named(row.repository), named(row.author.unwrap_or_default()));
        let others = body.iter().chain(&repository).chain(&author);
        let titles = title.iter().map(|word| (word.as_str(), TITLE_WEIGHT));
        let profile = Profile::of(titles.chain(others.clone().map(|word| (word.as_str(), 1))));
        if dialect == Dialect::Postgres && words::is_placeless(title.iter().chain(others)) {
            author.push(words::placeless());
        }
        Self {
            profile,
            title: spell(&title),
            body: spell(&body),
            repository: spell(&repository),
            author: spell(&author),
            facets: spell(&words::fitting(facets::of(row), BODY_BYTES)),
            row,
        }
    }

    fn place(&self, rowid: i64) -> Vec<Param<'_>> {
        let SearchRow { host, repository_id, thread, created_at, .. } = self.row;
        let (created_ms, length) = (created_at.mark().0, i64::from(self.profile.length));
        let words = self.profile.words.as_slice();
        params![rowid, *host, *repository_id, *thread, created_ms, length, words].to_vec()
    }

    fn values(&self, rowid: i64) -> Vec<Param<'_>> {
        params![
            rowid,
            &self.title,
            &self.body,
            &self.repository,
            &self.author,
            &self.facets,
            self.row.created_at.as_str(),
            self.row.state,
        ]
        .to_vec()
    }
}
