//! Values between us and PostgreSQL, by the type the statement or the column has.

use std::error::Error as StdError;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Row as PostgresRow, types::FromSql};

use crate::error::DriverError;
use crate::sql::{Param, Row, Value};

type Written = Result<IsNull, Box<dyn StdError + Sync + Send>>;

impl ToSql for Param<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Written {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) if *ty == Type::BOOL => (*value != 0).to_sql(ty, out),
            Self::Int(value) if *ty == Type::INT4 => i32::try_from(*value)?.to_sql(ty, out),
            Self::Int(value) if *ty == Type::INT8 => value.to_sql(ty, out),
            Self::Real(value) if *ty == Type::FLOAT8 => value.to_sql(ty, out),
            Self::Text(value) if *ty == Type::BYTEA => value.as_bytes().to_sql(ty, out),
            Self::Text(value) if *ty == Type::TEXT => value.to_sql(ty, out),
            Self::Bytes(value) if *ty == Type::BYTEA => value.to_sql(ty, out),
            Self::Ints(values) if *ty == Type::INT8_ARRAY => values.to_sql(ty, out),
            Self::Texts(values) if *ty == Type::TEXT_ARRAY => values.to_sql(ty, out),
            Self::Names(values) if *ty == Type::TEXT_ARRAY => values.to_sql(ty, out),
            Self::Int(_)
            | Self::Real(_)
            | Self::Text(_)
            | Self::Bytes(_)
            | Self::Ints(_)
            | Self::Texts(_)
            | Self::Names(_) => Err(format!("{self:?} does not fit the type {ty}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// The row's values as ours.
pub(super) fn read(row: &PostgresRow) -> Result<Row, DriverError> {
    let values = row.columns().iter().enumerate().map(|(column, described)| {
        let ty = described.type_();
        Ok(match *ty {
            Type::INT8 => get(row, column, Value::Int)?,
            Type::INT4 => get(row, column, |value: i32| Value::Int(value.into()))?,
            Type::BOOL => get(row, column, |value: bool| Value::Int(value.into()))?,
            Type::FLOAT8 => get(row, column, Value::Real)?,
            Type::TEXT | Type::VARCHAR | Type::NAME => get(row, column, |text: RawText| text.0)?,
            Type::BYTEA => get(row, column, Value::Bytes)?,
            _ => return Err(format!("a column of the type {ty}").into()),
        })
    });
    Ok(Row(values.collect::<Result<_, DriverError>>()?))
}

/// A text, or its bytes where a database of another encoding holds what is no UTF-8.
struct RawText(Value);

impl FromSql<'_> for RawText {
    fn from_sql(_: &Type, raw: &[u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(match str::from_utf8(raw) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Bytes(raw.to_vec()),
        }))
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::TEXT | Type::VARCHAR | Type::NAME)
    }
}

fn get<'a, T: FromSql<'a>>(
    row: &'a PostgresRow,
    column: usize,
    value: impl Fn(T) -> Value,
) -> Result<Value, DriverError> {
    Ok(row.try_get::<_, Option<T>>(column)?.map_or(Value::Null, value))
}
