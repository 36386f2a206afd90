//! Statements, what goes into them and what comes out, the same for both databases.

use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// One statement. Its parameters are `$1…`, first named in that order: SQLite numbers them by appearance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql<'a> {
    sqlite: &'a str,
    postgres: &'a str,
}

impl<'a> Sql<'a> {
    /// A statement that means the same to both.
    pub(crate) const fn both(text: &'a str) -> Self {
        Self { sqlite: text, postgres: text }
    }

    /// A statement the dialects spell differently.
    pub(crate) const fn each(sqlite: &'a str, postgres: &'a str) -> Self {
        Self { sqlite, postgres }
    }

    pub(crate) fn text(self, dialect: Dialect) -> &'a str {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

/// A value on its way in.
///
/// Lists go to `json_each` in SQLite and to `any` in PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Param<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Ints(&'a [i64]),
    Texts(&'a [&'a str]),
    /// The same, of texts that somebody owns.
    Names(&'a [String]),
}

impl From<i64> for Param<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Param<'_> {
    fn from(value: bool) -> Self {
        Self::Int(value.into())
    }
}

impl From<f64> for Param<'_> {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Bytes(value)
    }
}

impl<'a> From<&'a [i64]> for Param<'a> {
    fn from(value: &'a [i64]) -> Self {
        Self::Ints(value)
    }
}

impl<'a> From<&'a [&'a str]> for Param<'a> {
    fn from(value: &'a [&'a str]) -> Self {
        Self::Texts(value)
    }
}

impl<'a, T: Into<Self>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! params {
    ($($value:expr),* $(,)?) => { [$($crate::sql::Param::from($value)),*] };
}
pub(crate) use params;

/// A value on its way out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// One row of an answer; its columns are taken out by position.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&mut self, column: usize) -> Result<i64, Error> {
        self.maybe_int(column)?.ok_or_else(|| unexpected(column, &Value::Null))
    }

    pub(crate) fn maybe_int(&mut self, column: usize) -> Result<Option<i64>, Error> {
        match self.take(column) {
            Value::Null => Ok(None),
            Value::Int(value) => Ok(Some(value)),
            other @ (Value::Real(_) | Value::Text(_) | Value::Bytes(_)) => {
                Err(unexpected(column, &other))
            }
        }
    }

    /// A number; SQLite may tell a round one as a whole one.
    #[expect(clippy::cast_precision_loss, reason = "a score is compared, not counted")]
    pub(crate) fn real(&mut self, column: usize) -> Result<f64, Error> {
        match self.take(column) {
            Value::Real(value) => Ok(value),
            Value::Int(value) => Ok(value as f64),
            other @ (Value::Null | Value::Text(_) | Value::Bytes(_)) => {
                Err(unexpected(column, &other))
            }
        }
    }

    pub(crate) fn flag(&mut self, column: usize) -> Result<bool, Error> {
        Ok(self.int(column)? != 0)
    }

    pub(crate) fn text(&mut self, column: usize) -> Result<String, Error> {
        self.maybe_text(column)?.ok_or_else(|| unexpected(column, &Value::Null))
    }

    /// A text, also one that PostgreSQL keeps as bytes because it may contain U+0000.
    pub(crate) fn maybe_text(&mut self, column: usize) -> Result<Option<String>, Error> {
        match self.take(column) {
            Value::Null => Ok(None),
            Value::Text(value) => Ok(Some(value)),
            Value::Bytes(value) => String::from_utf8(value)
                .map(Some)
                .map_err(|_| Error::UnreadableRow(format!("column {column} is no UTF-8 text"))),
            other @ (Value::Int(_) | Value::Real(_)) => Err(unexpected(column, &other)),
        }
    }

    pub(crate) fn maybe_bytes(&mut self, column: usize) -> Result<Option<Vec<u8>>, Error> {
        match self.take(column) {
            Value::Null => Ok(None),
            Value::Bytes(value) => Ok(Some(value)),
            other @ (Value::Int(_) | Value::Real(_) | Value::Text(_)) => {
                Err(unexpected(column, &other))
            }
        }
    }

    /// An integer that is left in its place; none where something else is.
    pub(crate) fn peek_int(&self, column: usize) -> Option<i64> {
        match self.0.get(column)? {
            Value::Int(value) => Some(*value),
            Value::Null | Value::Real(_) | Value::Text(_) | Value::Bytes(_) => None,
        }
    }

    /// A text that is left in its place; none where something else is.
    pub(crate) fn peek_text(&self, column: usize) -> Option<String> {
        match self.0.get(column)? {
            Value::Text(value) => Some(value.clone()),
            Value::Null | Value::Int(_) | Value::Real(_) | Value::Bytes(_) => None,
        }
    }

    fn take(&mut self, column: usize) -> Value {
        self.0.get_mut(column).map_or(Value::Null, |value| std::mem::replace(value, Value::Null))
    }
}

fn unexpected(column: usize, value: &Value) -> Error {
    let kind = match value {
        Value::Null => "nothing",
        Value::Int(_) => "an integer",
        Value::Real(_) => "a number",
        Value::Text(_) => "a text",
        Value::Bytes(_) => "bytes",
    };
    Error::UnreadableRow(format!("column {column} holds {kind}"))
}
