//! SQL statements, their parameters and their rows, independent of the database.

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

/// One row of a result; its columns are taken out by position.
#[derive(Debug)]
pub(crate) struct SqlRow(pub(crate) Vec<SqlValue>);

impl SqlRow {
    pub(crate) fn int(&mut self, column: usize) -> Result<i64, StoreError> {
        self.maybe_int(column)?.ok_or_else(|| unexpected_value(column, &SqlValue::Null))
    }

    pub(crate) fn maybe_int(&mut self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.take_value(column) {
            SqlValue::Null => Ok(None),
            SqlValue::Int(value) => Ok(Some(value)),
            other @ (SqlValue::Real(_) | SqlValue::Text(_) | SqlValue::Bytes(_)) => {
                Err(unexpected_value(column, &other))
            }
        }
    }

    /// Takes a number. SQLite may return a round one as an integer.
    #[expect(clippy::cast_precision_loss, reason = "a score is compared, not counted")]
    pub(crate) fn real(&mut self, column: usize) -> Result<f64, StoreError> {
        match self.take_value(column) {
            SqlValue::Real(value) => Ok(value),
            SqlValue::Int(value) => Ok(value as f64),
            other @ (SqlValue::Null | SqlValue::Text(_) | SqlValue::Bytes(_)) => {
                Err(unexpected_value(column, &other))
            }
        }
    }

    pub(crate) fn flag(&mut self, column: usize) -> Result<bool, StoreError> {
        Ok(self.int(column)? != 0)
    }

    pub(crate) fn text(&mut self, column: usize) -> Result<String, StoreError> {
        self.maybe_text(column)?.ok_or_else(|| unexpected_value(column, &SqlValue::Null))
    }

    /// Takes a text, including one that PostgreSQL stores as bytes because it may contain U+0000.
    pub(crate) fn maybe_text(&mut self, column: usize) -> Result<Option<String>, StoreError> {
        match self.take_value(column) {
            SqlValue::Null => Ok(None),
            SqlValue::Text(value) => Ok(Some(value)),
            SqlValue::Bytes(value) => String::from_utf8(value).map(Some).map_err(|_| {
                StoreError::UnreadableRow(format!("column {column} is not valid UTF-8"))
            }),
            other @ (SqlValue::Int(_) | SqlValue::Real(_)) => Err(unexpected_value(column, &other)),
        }
    }

    pub(crate) fn maybe_bytes(&mut self, column: usize) -> Result<Option<Vec<u8>>, StoreError> {
        match self.take_value(column) {
            SqlValue::Null => Ok(None),
            SqlValue::Bytes(value) => Ok(Some(value)),
            other @ (SqlValue::Int(_) | SqlValue::Real(_) | SqlValue::Text(_)) => {
                Err(unexpected_value(column, &other))
            }
        }
    }

    /// Returns an integer without taking it; none if the value is something else.
    pub(crate) fn peek_int(&self, column: usize) -> Option<i64> {
        match self.0.get(column)? {
            SqlValue::Int(value) => Some(*value),
            SqlValue::Null | SqlValue::Real(_) | SqlValue::Text(_) | SqlValue::Bytes(_) => None,
        }
    }

    /// Returns a text without taking it; none if the value is something else.
    pub(crate) fn peek_text(&self, column: usize) -> Option<String> {
        match self.0.get(column)? {
            SqlValue::Text(value) => Some(value.clone()),
            SqlValue::Null | SqlValue::Int(_) | SqlValue::Real(_) | SqlValue::Bytes(_) => None,
        }
    }

    fn take_value(&mut self, column: usize) -> SqlValue {
        self.0
            .get_mut(column)
            .map_or(SqlValue::Null, |value| std::mem::replace(value, SqlValue::Null))
    }
}

fn unexpected_value(column: usize, value: &SqlValue) -> StoreError {
    let kind = match value {
        SqlValue::Null => "nothing",
        SqlValue::Int(_) => "an integer",
        SqlValue::Real(_) => "a number",
        SqlValue::Text(_) => "a text",
        SqlValue::Bytes(_) => "bytes",
    };
    StoreError::UnreadableRow(format!("column {column} contains {kind}"))
}
