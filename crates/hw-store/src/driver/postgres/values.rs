//! Converts values to and from PostgreSQL, by the type of the parameter or column.

use std::error::Error as StdError;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Row as PostgresRow, types::FromSql};

use crate::error::DriverError;
use crate::sql::{SqlParam, SqlRow, SqlValue};

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

/// Converts a row of PostgreSQL.
pub(super) fn read_row(row: &PostgresRow) -> Result<SqlRow, DriverError> {
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
    Ok(SqlRow(values.collect::<Result<_, DriverError>>()?))
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
