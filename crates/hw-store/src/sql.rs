//! SQL statements, their parameters and their rows, independent of the database.

use std::sync::Arc;

use hw_rules::repository_key::{Host, RepositoryId};

use crate::error::StoreError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// One statement. Its parameters `$1…` first appear in this order, because SQLite numbers them by appearance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql<'a> {
    sqlite: &'a str,
    postgres: &'a str,
}

impl<'a> Sql<'a> {
    /// Creates a statement that works in both dialects.
    pub(crate) const fn portable(text: &'a str) -> Self {
        Self { sqlite: text, postgres: text }
    }

    /// Creates a statement that differs between the dialects.
    pub(crate) const fn per_dialect(sqlite: &'a str, postgres: &'a str) -> Self {
        Self { sqlite, postgres }
    }

    pub(crate) fn text_for(self, dialect: Dialect) -> &'a str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

/// A parameter of a statement.
///
/// Statements expand a list with `json_each` in SQLite and with `any` in PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SqlParam<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    /// A text that PostgreSQL stores as bytes, because it may contain U+0000.
    TextBytes(&'a str),
    Bytes(&'a [u8]),
    Ints(&'a [i64]),
    Texts(&'a [&'a str]),
    OwnedTexts(&'a [String]),
}

impl From<i64> for SqlParam<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for SqlParam<'_> {
    fn from(value: bool) -> Self {
        Self::Int(value.into())
    }
}

impl<'a> From<&'a str> for SqlParam<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a String> for SqlParam<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a Host> for SqlParam<'a> {
    fn from(value: &'a Host) -> Self {
        Self::Text(value.as_str())
    }
}

impl From<RepositoryId> for SqlParam<'_> {
    fn from(value: RepositoryId) -> Self {
        Self::Int(value.0)
    }
}

impl<'a> From<&'a [u8]> for SqlParam<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Bytes(value)
    }
}

impl<'a> From<&'a [i64]> for SqlParam<'a> {
    fn from(value: &'a [i64]) -> Self {
        Self::Ints(value)
    }
}

impl<'a> From<&'a [&'a str]> for SqlParam<'a> {
    fn from(value: &'a [&'a str]) -> Self {
        Self::Texts(value)
    }
}

impl<'a, T: Into<Self>> From<Option<T>> for SqlParam<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! params {
    ($($value:expr),* $(,)?) => { [$($crate::sql::SqlParam::from($value)),*] };
}
pub(crate) use params;

/// A value of a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SqlValue {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// The names of a result's columns, which its rows share.
#[derive(Debug, Clone)]
pub(crate) struct ColumnNames(Arc<[Box<str>]>);

impl ColumnNames {
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Arc<[Box<str>]> = names.into_iter().map(Box::from).collect();
        debug_assert!(
            names.iter().enumerate().all(|(n, name)| !names[..n].contains(name)),
            "two columns have one name: {names:?}"
        );
        Self(names)
    }
}

/// One row of a result; its columns are taken out by name.
#[derive(Debug)]
pub(crate) struct SqlRow {
    names: ColumnNames,
    values: Vec<SqlValue>,
    /// The column after the one that was taken last: readers take most columns in the order of their statement, so the
    /// search for a name begins here and nearly always ends here.
    next: usize,
}

impl SqlRow {
    pub(crate) fn new(names: ColumnNames, values: Vec<SqlValue>) -> Self {
        Self { names, values, next: 0 }
    }

    pub(crate) fn int(&mut self, column: &str) -> Result<i64, StoreError> {
        self.maybe_int(column)?.ok_or_else(|| unexpected_value(column, &SqlValue::Null))
    }

    pub(crate) fn maybe_int(&mut self, column: &str) -> Result<Option<i64>, StoreError> {
        match self.take_value(column)? {
            SqlValue::Null => Ok(None),
            SqlValue::Int(value) => Ok(Some(value)),
            other @ (SqlValue::Real(_) | SqlValue::Text(_) | SqlValue::Bytes(_)) => {
                Err(unexpected_value(column, &other))
            }
        }
    }

    /// Takes a number. SQLite may return a round one as an integer.
    #[expect(clippy::cast_precision_loss, reason = "a score is compared, not counted")]
    pub(crate) fn real(&mut self, column: &str) -> Result<f64, StoreError> {
        match self.take_value(column)? {
            SqlValue::Real(value) => Ok(value),
            SqlValue::Int(value) => Ok(value as f64),
            other @ (SqlValue::Null | SqlValue::Text(_) | SqlValue::Bytes(_)) => {
                Err(unexpected_value(column, &other))
            }
        }
    }

    pub(crate) fn flag(&mut self, column: &str) -> Result<bool, StoreError> {
        Ok(self.int(column)? != 0)
    }

    pub(crate) fn text(&mut self, column: &str) -> Result<String, StoreError> {
        self.maybe_text(column)?.ok_or_else(|| unexpected_value(column, &SqlValue::Null))
    }

    /// Takes a text, including one that PostgreSQL stores as bytes because it may contain U+0000.
    pub(crate) fn maybe_text(&mut self, column: &str) -> Result<Option<String>, StoreError> {
        match self.take_value(column)? {
            SqlValue::Null => Ok(None),
            SqlValue::Text(value) => Ok(Some(value)),
            SqlValue::Bytes(value) => String::from_utf8(value).map(Some).map_err(|_| {
                StoreError::UnreadableRow(format!("the column {column} is not valid UTF-8"))
            }),
            other @ (SqlValue::Int(_) | SqlValue::Real(_)) => Err(unexpected_value(column, &other)),
        }
    }

    pub(crate) fn maybe_bytes(&mut self, column: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match self.take_value(column)? {
            SqlValue::Null => Ok(None),
            SqlValue::Bytes(value) => Ok(Some(value)),
            other @ (SqlValue::Int(_) | SqlValue::Real(_) | SqlValue::Text(_)) => {
                Err(unexpected_value(column, &other))
            }
        }
    }

    /// Returns an integer without taking it; none if the value is something else or the result has no such column.
    pub(crate) fn peek_int(&self, column: &str) -> Option<i64> {
        match self.values.get(self.find_column(column)?)? {
            SqlValue::Int(value) => Some(*value),
            SqlValue::Null | SqlValue::Real(_) | SqlValue::Text(_) | SqlValue::Bytes(_) => None,
        }
    }

    /// Returns a text without taking it; none if the value is something else or the result has no such column.
    pub(crate) fn peek_text(&self, column: &str) -> Option<String> {
        match self.values.get(self.find_column(column)?)? {
            SqlValue::Text(value) => Some(value.clone()),
            SqlValue::Null | SqlValue::Int(_) | SqlValue::Real(_) | SqlValue::Bytes(_) => None,
        }
    }

    /// Returns a value that the reader of the column is to find changed.
    pub(crate) fn value_mut(&mut self, column: &str) -> Option<&mut SqlValue> {
        let index = self.find_column(column)?;
        self.values.get_mut(index)
    }

    fn take_value(&mut self, column: &str) -> Result<SqlValue, StoreError> {
        let index = self.find_column(column);
        let Some((index, value)) =
            index.and_then(|index| Some((index, self.values.get_mut(index)?)))
        else {
            return Err(self.unknown_column(column));
        };
        self.next = index + 1;
        Ok(std::mem::replace(value, SqlValue::Null))
    }

    /// Returns the position of a column.
    fn find_column(&self, column: &str) -> Option<usize> {
        let names = &self.names.0;
        let (before, after) = names.split_at(self.next.min(names.len()));
        let found = after.iter().position(|name| **name == *column);
        found
            .map(|index| before.len() + index)
            .or_else(|| before.iter().position(|name| **name == *column))
    }

    fn unknown_column(&self, column: &str) -> StoreError {
        StoreError::UnknownColumn { column: column.to_owned(), columns: self.names.0.join(", ") }
    }
}

fn unexpected_value(column: &str, value: &SqlValue) -> StoreError {
    let kind = match value {
        SqlValue::Null => "nothing",
        SqlValue::Int(_) => "an integer",
        SqlValue::Real(_) => "a number",
        SqlValue::Text(_) => "a text",
        SqlValue::Bytes(_) => "bytes",
    };
    StoreError::UnreadableRow(format!("the column {column} contains {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_columns_are_taken_by_name_in_any_order() {
        let mut row = sample_row();
        assert_eq!(row.text("url").unwrap(), "u");
        assert_eq!(row.int("id").unwrap(), 7);
        assert_eq!(row.maybe_text("author").unwrap(), None);
        assert_eq!(row.maybe_text("url").unwrap(), None, "it was taken");
    }

    #[test]
    fn row_without_a_column_is_an_internal_error_and_never_skipped() {
        let error = sample_row().int("rowid").unwrap_err();
        assert!(matches!(error, StoreError::UnknownColumn { .. }), "{error:?}");
        assert_eq!(error.to_string(), "internal error: no column \"rowid\" among id, author, url");
        assert_eq!(sample_row().peek_int("rowid"), None);
    }

    fn sample_row() -> SqlRow {
        let names = ColumnNames::new(["id", "author", "url"]);
        SqlRow::new(names, vec![SqlValue::Int(7), SqlValue::Null, SqlValue::Text("u".into())])
    }
}
