//! Writes the rows of the index: tokens and facets, and beside them a word profile for scoring.

use std::borrow::Cow;

use hw_rules::ranking::{TITLE_WEIGHT, WordProfile};

use super::tokens;
use super::{MAX_BODY_BYTES, MAX_NAME_BYTES, SearchRow, facets};
use crate::error::StoreError;
use crate::sql::{Dialect, Sql, SqlParam, params};
use crate::transaction::Transaction;

/// Inserts search rows in the order of their ids.
///
/// FTS5 buffers rows in memory while their ids ascend and writes a segment before a lower id. A newest-first page would
/// otherwise become one segment per row.
pub(super) fn insert_rows(
    tx: &mut Transaction<'_>,
    rows: &[(i64, SearchRow<'_>)],
) -> Result<(), StoreError> {
    const INSERT: Sql = Sql::per_dialect(
        "insert into search (rowid, type, url, title, body, repository, author, facets,
                             created_at, state, boost)
         values ($1, '', '', $2, $3, $4, $5, $6, $7, $8, 1.0)",
        "insert into search (rowid, words, facets, created_at, state, boost)
         select rowid,
                setweight(cast(title as tsvector), 'A') || cast(body as tsvector)
                || cast(repository as tsvector) || cast(author as tsvector),
                cast(facets as tsvector), created_at, state, 1.0
           from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
                       $7::text[], $8::text[])
             as rows (rowid, title, body, repository, author, facets, created_at, state)",
    );
    let dialect = tx.dialect();
    let mut rows: Vec<_> =
        rows.iter().map(|(rowid, row)| (*rowid, IndexRow::from_search_row(row, dialect))).collect();
    rows.sort_unstable_by_key(|(rowid, _)| *rowid);
    let values: Vec<_> = rows.iter().map(|(rowid, row)| row.index_params(*rowid)).collect();
    tx.insert_rows(INSERT, &values)?;
    let documents: Vec<_> = rows.iter().map(|(rowid, row)| row.document_params(*rowid)).collect();
    tx.insert_rows(INSERT_DOCUMENT, &documents)
}

const INSERT_DOCUMENT: Sql = Sql::per_dialect(
    "insert into search_documents (rowid, host, repository_id, thread_number, created_ms, token_count, profile)
     values ($1, $2, $3, $4, $5, $6, $7)",
    "insert into search_documents (rowid, host, repository_id, thread_number, created_ms, token_count, profile)
     select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
                          $6::bigint[], $7::bytea[])",
);

/// The tokens and facets of a text in the form that the index stores, and its word profile.
#[derive(Debug, Clone)]
pub(crate) struct IndexText {
    title: String,
    body: String,
    repository: String,
    author: String,
    facets: String,
    profile: WordProfile,
    /// The repository's name that the text was prepared with.
    repository_name: String,
}

impl IndexText {
    pub(crate) fn from_search_row(row: &SearchRow<'_>, dialect: Dialect) -> Self {
        let format = tokens::index_format(dialect);
        let title = tokens::tokenize(row.title, MAX_NAME_BYTES);
        let body = tokens::tokenize(row.body, MAX_BODY_BYTES);
        let repository = name_tokens(row, row.repository);
        let mut author = name_tokens(row, row.author.unwrap_or_default());
        let others = body.iter().chain(&repository).chain(&author);
        let title_words = title.iter().map(|word| (word.as_str(), TITLE_WEIGHT));
        let other_words = others.clone().map(|word| (word.as_str(), 1));
        let profile = WordProfile::from_words(title_words.chain(other_words));
        if dialect == Dialect::Postgres && tokens::has_lost_positions(title.iter().chain(others)) {
            author.push(tokens::lost_positions_token());
        }
        Self {
            profile,
            title: format(&title),
            body: format(&body),
            repository: format(&repository),
            author: format(&author),
            facets: format(&tokens::take_fitting(facets::row_facets(row), MAX_BODY_BYTES)),
            repository_name: row.repository.to_owned(),
        }
    }
}

/// A row of the index.
struct IndexRow<'a> {
    text: Cow<'a, IndexText>,
    row: &'a SearchRow<'a>,
}

impl<'a> IndexRow<'a> {
    /// Takes the prepared text, unless the repository has another name by now.
    fn from_search_row(row: &'a SearchRow<'a>, dialect: Dialect) -> Self {
        let prepared = row.prepared.filter(|text| text.repository_name == row.repository);
        let text = match prepared {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(IndexText::from_search_row(row, dialect)),
        };
        Self { text, row }
    }

    fn document_params(&self, rowid: i64) -> Vec<SqlParam<'_>> {
        let SearchRow { host, repository_id, thread, created_at, .. } = self.row;
        let WordProfile { length, words } = &self.text.profile;
        let (created_ms, length) = (created_at.instant().0, i64::from(*length));
        let words = words.as_slice();
        params![rowid, *host, *repository_id, *thread, created_ms, length, words].to_vec()
    }

    fn index_params(&self, rowid: i64) -> Vec<SqlParam<'_>> {
        params![
            rowid,
            &self.text.title,
            &self.text.body,
            &self.text.repository,
            &self.text.author,
            &self.text.facets,
            self.row.created_at.as_str(),
            self.row.state,
        ]
        .to_vec()
    }
}

/// Tokenizes the name of a thread's repository or author. Comments have no such tokens: otherwise a search for a name
/// would match every comment in the repository or by the author.
fn name_tokens(row: &SearchRow<'_>, name: &str) -> Vec<String> {
    if row.is_comment() { Vec::new() } else { tokens::tokenize(name, MAX_NAME_BYTES) }
}
