//! Converts values to and from PostgreSQL.
//!
//! A parameter is encoded without knowing its type, which the server infers from the statement: asking for it would cost
//! a round trip for each new statement. Numbers are sent as texts, because an integer may belong to a column of any
//! integer type, or of booleans.

use std::error::Error as StdError;
use std::fmt::Write as _;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Column, Row as PostgresRow, types::FromSql};

use crate::error::DriverError;
use crate::sql::{ColumnNames, SqlParam, SqlRow, SqlValue};

type ToSqlResult = Result<IsNull, Box<dyn StdError + Sync + Send>>;

/// A parameter in the format in which it is sent. It borrows nothing, so its statement can be sent now and awaited later.
#[derive(Debug, Clone)]
pub(super) struct EncodedParam {
    format: Format,
    /// None is null.
    bytes: Option<BytesMut>,
}

impl EncodedParam {
    fn null() -> Self {
        Self { format: Format::Text, bytes: None }
    }

    fn text(text: &str) -> Self {
        Self { format: Format::Text, bytes: Some(text.as_bytes().into()) }
    }

    fn binary(bytes: &[u8]) -> Self {
        Self { format: Format::Binary, bytes: Some(bytes.into()) }
    }

    fn array(elements: &impl ToSql, array_type: &Type) -> Result<Self, DriverError> {
        let mut bytes = BytesMut::new();
        elements.to_sql(array_type, &mut bytes)?;
        Ok(Self { format: Format::Binary, bytes: Some(bytes) })
    }

    fn from_param(param: &SqlParam<'_>) -> Result<Self, DriverError> {
        match param {
            SqlParam::Null => Ok(Self::null()),
            SqlParam::Int(value) => Ok(Self::text(&value.to_string())),
            SqlParam::Text(value) | SqlParam::TextBytes(value) => {
                Ok(Self::binary(value.as_bytes()))
            }
            SqlParam::Bytes(value) => Ok(Self::binary(value)),
            SqlParam::Ints(values) => Self::array(values, &Type::INT8_ARRAY),
            SqlParam::Texts(values) => Self::array(values, &Type::TEXT_ARRAY),
            SqlParam::OwnedTexts(values) => Self::array(values, &Type::TEXT_ARRAY),
        }
    }

    /// Encodes the values of a column as an array.
    fn from_column(values: &[&SqlParam<'_>]) -> Result<Self, DriverError> {
        let first = values.iter().find(|value| !matches!(value, SqlParam::Null));
        match first {
            None | Some(SqlParam::Null | SqlParam::Int(_)) => integer_array(values),
            Some(SqlParam::Text(_)) => Self::array(&as_texts(values)?, &Type::TEXT_ARRAY),
            Some(SqlParam::TextBytes(_) | SqlParam::Bytes(_)) => {
                Self::array(&as_bytes(values)?, &Type::BYTEA_ARRAY)
            }
            Some(other @ (SqlParam::Ints(_) | SqlParam::Texts(_) | SqlParam::OwnedTexts(_))) => {
                Err(unfit_value(other))
            }
        }
    }
}

/// Encodes integers as `{1,NULL,2}`: the statement casts the array to its type.
#[expect(clippy::wildcard_enum_match_arm, reason = "a value of any other type does not fit")]
fn integer_array(values: &[&SqlParam<'_>]) -> Result<EncodedParam, DriverError> {
    let mut text = String::from("{");
    for (index, value) in values.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        match value {
            SqlParam::Null => write!(text, "{comma}NULL")?,
            SqlParam::Int(value) => write!(text, "{comma}{value}")?,
            other => return Err(unfit_value(other)),
        }
    }
    text.push('}');
    Ok(EncodedParam::text(&text))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a value of any other type does not fit")]
fn as_texts<'a>(values: &[&SqlParam<'a>]) -> Result<Vec<Option<&'a str>>, DriverError> {
    let texts = values.iter().map(|value| match value {
        SqlParam::Null => Ok(None),
        SqlParam::Text(text) => Ok(Some(*text)),
        other => Err(unfit_value(other)),
    });
    texts.collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a value of any other type does not fit")]
fn as_bytes<'a>(values: &[&SqlParam<'a>]) -> Result<Vec<Option<&'a [u8]>>, DriverError> {
    let bytes = values.iter().map(|value| match value {
        SqlParam::Null => Ok(None),
        SqlParam::TextBytes(text) => Ok(Some(text.as_bytes())),
        SqlParam::Bytes(bytes) => Ok(Some(*bytes)),
        other => Err(unfit_value(other)),
    });
    bytes.collect()
}

fn unfit_value(value: &SqlParam<'_>) -> DriverError {
    format!("{value:?} does not fit the values before it").into()
}

impl ToSql for EncodedParam {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> ToSqlResult {
        let Some(bytes) = &self.bytes else { return Ok(IsNull::Yes) };
        out.extend_from_slice(bytes);
        Ok(IsNull::No)
    }

    fn encode_format(&self, _: &Type) -> Format {
        self.format
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// The parameters of a statement.
#[derive(Clone, Copy)]
pub(super) enum SentParams<'a> {
    Values(&'a [SqlParam<'a>]),
    /// Rows, of which the statement takes each column as an array.
    Columns(&'a [Vec<SqlParam<'a>>]),
}

impl SentParams<'_> {
    pub(super) fn encode(self) -> Result<Vec<EncodedParam>, DriverError> {
        match self {
            Self::Values(params) => params.iter().map(EncodedParam::from_param).collect(),
            Self::Columns(rows) => encode_columns(rows),
        }
    }
}

fn encode_columns(rows: &[Vec<SqlParam<'_>>]) -> Result<Vec<EncodedParam>, DriverError> {
    let width = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != width) {
        return Err("rows of different lengths".into());
    }
    let columns = (0..width).map(|column| {
        let values: Vec<_> = rows.iter().filter_map(|row| row.get(column)).collect();
        EncodedParam::from_column(&values)
    });
    columns.collect()
}

/// Converts the rows of one result.
#[derive(Default)]
pub(super) struct RowReader {
    names: Option<ColumnNames>,
}

impl RowReader {
    pub(super) fn read_row(&mut self, row: &PostgresRow) -> Result<SqlRow, DriverError> {
        let names = self
            .names
            .get_or_insert_with(|| ColumnNames::new(row.columns().iter().map(Column::name)));
        Ok(SqlRow::new(names.clone(), read_values(row)?))
    }
}

fn read_values(row: &PostgresRow) -> Result<Vec<SqlValue>, DriverError> {
    let values = row.columns().iter().enumerate().map(|(column, described)| {
        let ty = described.type_();
        Ok(match *ty {
            Type::INT8 => get_value(row, column, SqlValue::Int)?,
            Type::INT4 => get_value(row, column, |value: i32| SqlValue::Int(value.into()))?,
            Type::BOOL => get_value(row, column, |value: bool| SqlValue::Int(value.into()))?,
            Type::FLOAT8 => get_value(row, column, SqlValue::Real)?,
            Type::TEXT | Type::VARCHAR | Type::NAME => {
                get_value(row, column, |text: RawText| text.0)?
            }
            Type::BYTEA => get_value(row, column, SqlValue::Bytes)?,
            _ => return Err(format!("unsupported column type {ty}").into()),
        })
    });
    values.collect()
}

/// A text, or its bytes if they are not UTF-8, which a database with another encoding can contain.
struct RawText(SqlValue);

impl FromSql<'_> for RawText {
    fn from_sql(_: &Type, raw: &[u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(match str::from_utf8(raw) {
            Ok(text) => SqlValue::Text(text.to_owned()),
            Err(_) => SqlValue::Bytes(raw.to_vec()),
        }))
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::TEXT | Type::VARCHAR | Type::NAME)
    }
}

fn get_value<'a, T: FromSql<'a>>(
    row: &'a PostgresRow,
    column: usize,
    value: impl Fn(T) -> SqlValue,
) -> Result<SqlValue, DriverError> {
    Ok(row.try_get::<_, Option<T>>(column)?.map_or(SqlValue::Null, value))
}
