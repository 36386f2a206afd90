//! Rows on stdout: as lines for people, as JSON or CSV for programs, with the fields that were chosen.

use serde_json::Value;

use crate::cli::Output;
use crate::report::{Unheard, Usage};
use crate::terminal::Page;

/// A field: its name, and what it says of a row.
pub(crate) type Column<R> = (&'static str, fn(&R) -> Value);

/// How rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines for people, as the command makes them.
    Lines,
    /// The chosen fields with tabs between them.
    Columns,
    Json,
    Csv,
}

impl Form {
    pub(crate) fn of(output: &Output) -> Self {
        match (output.json, output.csv, output.fields.is_empty()) {
            (true, _, _) => Self::Json,
            (_, true, _) => Self::Csv,
            (_, _, false) => Self::Columns,
            (_, _, true) => Self::Lines,
        }
    }
}

/// Stdout, for as many rows as there are.
pub(crate) struct Sheet<R> {
    page: Page,
    form: Form,
    columns: Vec<Column<R>>,
}

impl<R> Sheet<R> {
    /// A sheet of the chosen ones among these columns; CSV begins with their names.
    pub(crate) fn open(output: &Output, all: Vec<Column<R>>) -> anyhow::Result<Self> {
        let columns = chosen(&output.fields, all)?;
        let mut page = Page::new();
        let form = Form::of(output);
        if form == Form::Csv {
            page.cells(&csv(columns.iter().map(|(name, _)| (*name).to_owned())))?;
        }
        Ok(Self { page, form, columns })
    }

    /// Prints a row; `line` makes what people see of it.
    pub(crate) fn put(
        &mut self,
        row: &R,
        line: impl FnOnce(&mut Page, &R) -> Result<(), Unheard>,
    ) -> Result<(), Unheard> {
        match self.form {
            Form::Lines => line(&mut self.page, row),
            Form::Json => self.page.object(&object(&self.columns, row)),
            Form::Csv => self.page.cells(&csv(self.cells(row))),
            Form::Columns => {
                let cells: Vec<String> = self.cells(row).collect();
                self.page.columns(&cells)
            }
        }
    }

    pub(crate) fn end(self) -> Result<(), Unheard> {
        self.page.end()
    }

    fn cells(&self, row: &R) -> impl Iterator<Item = String> {
        self.columns.iter().map(move |(_, value)| cell(&value(row)))
    }
}

/// A row for programs, its fields in the order of the columns.
pub(crate) fn object<R>(columns: &[Column<R>], row: &R) -> String {
    object_of(columns.iter().map(|(name, value)| (*name, value(row).to_string())))
}

/// An object of names and the JSON of their values.
pub(crate) fn object_of(fields: impl Iterator<Item = (&'static str, String)>) -> String {
    let fields = fields.map(|(name, json)| format!("{}:{json}", Value::from(name)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// The columns of these names, in their order; all when none is named.
fn chosen<R>(names: &[String], all: Vec<Column<R>>) -> Result<Vec<Column<R>>, Usage> {
    if names.is_empty() {
        return Ok(all);
    }
    let (mut columns, mut unknown): (Vec<Column<R>>, Vec<&str>) = (Vec::new(), Vec::new());
    for name in names.iter().map(|name| name.trim()) {
        match all.iter().find(|(known, _)| *known == name) {
            None => unknown.push(name),
            Some((name, _)) if columns.iter().any(|(taken, _)| taken == name) => {}
            Some(column) => columns.push(*column),
        }
    }
    if unknown.is_empty() { Ok(columns) } else { Err(no_such_fields(&unknown, &all)) }
}

fn no_such_fields<R>(unknown: &[&str], all: &[Column<R>]) -> Usage {
    let all: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    Usage(format!(
        "invalid fields: {}; the available fields are {}",
        unknown.join(", "),
        all.join(", ")
    ))
}

/// A value in one cell: nothing for null, and a list with semicolons between its entries.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(cell).collect::<Vec<_>>().join(";"),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// One record of RFC 4180.
fn csv(cells: impl Iterator<Item = String>) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    writer.write_record(cells.map(String::into_bytes)).expect("memory takes any record");
    let bytes = writer.into_inner().expect("memory takes any record");
    String::from_utf8(bytes).expect("cells are text, and so is what stands between them")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: [Column<i64>; 3] =
        [("b", |row| json!(row)), ("a", |_| json!(["x", "y;z"])), ("c", |_| Value::Null)];

    #[test]
    fn fields_are_chosen_and_ordered_by_name() {
        let names = |names: &str| -> Vec<String> { names.split(',').map(str::to_owned).collect() };
        let all = chosen(&[], COLUMNS.to_vec()).unwrap();
        assert_eq!(object(&all, &7), r#"{"b":7,"a":["x","y;z"],"c":null}"#);
        let some = chosen(&names("c, b,c"), COLUMNS.to_vec()).unwrap();
        assert_eq!(object(&some, &7), r#"{"c":null,"b":7}"#);
        let refused = chosen(&names("b,titel,"), COLUMNS.to_vec()).err().unwrap();
        let expected = "invalid fields: titel, ; the available fields are b, a, c";
        assert_eq!(refused.to_string(), expected);
    }

    #[test]
    fn a_record_is_quoted_where_it_must_be() {
        let cells = ["plain", "", "a,b", "say \"x\"", "two\r\nlines"].map(str::to_owned);
        let expected = "plain,,\"a,b\",\"say \"\"x\"\"\",\"two\r\nlines\"\r\n";
        assert_eq!(csv(cells.into_iter()), expected);
        assert_eq!(cell(&json!(["x", 2, null])), "x;2;");
    }
}
