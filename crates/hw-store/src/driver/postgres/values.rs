//! Converts values to and from PostgreSQL, by the type of the parameter or column.

use std::error::Error as StdError;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Column, Row as PostgresRow, types::FromSql};

use crate::error::DriverError;
use crate::sql::{ColumnNames, SqlParam, SqlRow, SqlValue};

type ToSqlResult = Result<IsNull, Box<dyn StdError + Sync + Send>>;

impl ToSql for SqlParam<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> ToSqlResult {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) if *ty == Type::BOOL => (*value != 0).to_sql(ty, out),
            Self::Int(value) if *ty == Type::INT4 => i32::try_from(*value)?.to_sql(ty, out),
            Self::Int(value) if *ty == Type::INT8 => value.to_sql(ty, out),
            Self::Text(value) if *ty == Type::BYTEA => value.as_bytes().to_sql(ty, out),
            Self::Text(value) if *ty == Type::TEXT => value.to_sql(ty, out),
            Self::Bytes(value) if *ty == Type::BYTEA => value.to_sql(ty, out),
            Self::Ints(values) if *ty == Type::INT8_ARRAY => values.to_sql(ty, out),
            Self::Texts(values) if *ty == Type::TEXT_ARRAY => values.to_sql(ty, out),
            Self::OwnedTexts(values) if *ty == Type::TEXT_ARRAY => values.to_sql(ty, out),
            Self::Int(_)
            | Self::Text(_)
            | Self::Bytes(_)
            | Self::Ints(_)
            | Self::Texts(_)
            | Self::OwnedTexts(_) => Err(format!("{self:?} does not fit the type {ty}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A parameter in the format in which it is sent. It borrows nothing, so its statement can be sent now and awaited later.
#[derive(Debug, Clone)]
pub(super) struct EncodedParam(Option<BytesMut>);

impl EncodedParam {
    fn encode(param: &impl ToSql, ty: &Type) -> Result<Self, DriverError> {
        let mut bytes = BytesMut::new();
        Ok(match param.to_sql(ty, &mut bytes)? {
            IsNull::Yes => Self(None),
            IsNull::No => Self(Some(bytes)),
        })
    }
}

impl ToSql for EncodedParam {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> ToSqlResult {
        let Some(bytes) = &self.0 else { return Ok(IsNull::Yes) };
        out.extend_from_slice(bytes);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Encodes the parameters of a statement by their types.
pub(super) fn encode_params(
    params: &[SqlParam<'_>],
    types: &[Type],
) -> Result<Vec<EncodedParam>, DriverError> {
    check_count(params.len(), types)?;
    params.iter().zip(types).map(|(param, ty)| EncodedParam::encode(param, ty)).collect()
}

/// Encodes each column of these rows as an array.
pub(super) fn encode_columns(
    rows: &[Vec<SqlParam<'_>>],
    types: &[Type],
) -> Result<Vec<EncodedParam>, DriverError> {
    rows.iter().try_for_each(|row| check_count(row.len(), types))?;
    let columns = types.iter().enumerate().map(|(column, ty)| {
        let values: Vec<_> = rows.iter().filter_map(|row| row.get(column)).collect();
        EncodedParam::encode(&values, ty)
    });
    columns.collect()
}

fn check_count(params: usize, types: &[Type]) -> Result<(), DriverError> {
    let expected = types.len();
    if params == expected {
        Ok(())
    } else {
        Err(format!("{params} parameters for a statement with {expected}").into())
    }
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
