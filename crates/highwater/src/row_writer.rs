//! Writes rows to stdout: as lines, tab-separated columns, JSON or CSV, with the chosen fields.

use serde_json::Value;

use crate::cli::OutputArgs;
use crate::report::{OutputError, RequestedHelp, UsageError};
use crate::terminal::StdoutWriter;

/// An output field: its name, and the function that returns its value for a row.
pub(crate) struct OutputColumn<R> {
    pub(crate) name: &'static str,
    pub(crate) value: fn(&R) -> Value,
}

impl<R> OutputColumn<R> {
    pub(crate) const fn new(name: &'static str, value: fn(&R) -> Value) -> Self {
        Self { name, value }
    }
}

// derived, these would require `R: Copy`
impl<R> Clone for OutputColumn<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for OutputColumn<R> {}

/// Asks `--fields` for the names of all fields.
const HELP_NAME: &str = "help";

/// The format of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Lines for people, as the command formats them.
    Lines,
    /// The chosen fields, tab-separated.
    Columns,
    Json,
    Csv,
}

impl OutputFormat {
    pub(crate) fn from_args(output: &OutputArgs) -> Self {
        match (output.json, output.csv, output.fields.is_empty()) {
            (true, _, _) => Self::Json,
            (_, true, _) => Self::Csv,
            (_, _, false) => Self::Columns,
            (_, _, true) => Self::Lines,
        }
    }
}

/// Writes rows to stdout in the chosen format.
pub(crate) struct RowWriter<R> {
    out: StdoutWriter,
    format: OutputFormat,
    columns: Vec<OutputColumn<R>>,
}

impl<R> RowWriter<R> {
    /// Opens a writer for the chosen columns; for CSV it writes the header.
    pub(crate) fn open(output: &OutputArgs, all: Vec<OutputColumn<R>>) -> anyhow::Result<Self> {
        if output.fields.iter().map(|name| name.trim()).eq([HELP_NAME]) {
            return Err(RequestedHelp(field_names(&all).join("\n")).into());
        }
        let columns = select_columns(&output.fields, all)?;
        let mut out = StdoutWriter::new();
        let format = OutputFormat::from_args(output);
        if format == OutputFormat::Csv {
            out.write_csv(&csv_record(columns.iter().map(|column| column.name.to_owned())))?;
        }
        Ok(Self { out, format, columns })
    }

    /// Writes a row; `line` writes it in the format for people.
    pub(crate) fn write_row(
        &mut self,
        row: &R,
        line: impl FnOnce(&mut StdoutWriter, &R) -> Result<(), OutputError>,
    ) -> Result<(), OutputError> {
        match self.format {
            OutputFormat::Lines => line(&mut self.out, row),
            OutputFormat::Json => self.out.write_json(&row_json(&self.columns, row)),
            OutputFormat::Csv => self.out.write_csv(&csv_record(self.row_cells(row))),
            OutputFormat::Columns => {
                let cells: Vec<String> = self.row_cells(row).collect();
                self.out.write_columns(&cells)
            }
        }
    }

    pub(crate) fn finish(self) -> Result<(), OutputError> {
        self.out.finish()
    }

    fn row_cells(&self, row: &R) -> impl Iterator<Item = String> {
        self.columns.iter().map(move |column| cell_text(&(column.value)(row)))
    }
}

/// Returns a row as a JSON object, with its fields in the order of the columns.
pub(crate) fn row_json<R>(columns: &[OutputColumn<R>], row: &R) -> String {
    object_json(columns.iter().map(|column| (column.name, (column.value)(row).to_string())))
}

/// Returns a JSON object of names and the JSON of their values. Unlike `serde_json`'s map, it keeps their order.
pub(crate) fn object_json(fields: impl Iterator<Item = (&'static str, String)>) -> String {
    let fields = fields.map(|(name, json)| format!("{}:{json}", Value::from(name)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// Returns the columns with these names, in their order; all columns without names.
fn select_columns<R>(
    names: &[String],
    all: Vec<OutputColumn<R>>,
) -> Result<Vec<OutputColumn<R>>, UsageError> {
    if names.is_empty() {
        return Ok(all);
    }
    let (mut columns, mut unknown): (Vec<OutputColumn<R>>, Vec<&str>) = (Vec::new(), Vec::new());
    let names: Vec<&str> =
        names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Err(UsageError(format!("--fields is empty; {}", available_fields(&all))));
    }

    for name in names {
        match all.iter().find(|column| column.name == name) {
            None => unknown.push(name),
            Some(_) if columns.iter().any(|column| column.name == name) => {}
            Some(column) => columns.push(*column),
        }
    }
    if unknown.is_empty() { Ok(columns) } else { Err(unknown_fields_error(&unknown, &all)) }
}

fn unknown_fields_error<R>(unknown: &[&str], all: &[OutputColumn<R>]) -> UsageError {
    let unknown_fields = if unknown.len() == 1 { "unknown field" } else { "unknown fields" };
    UsageError(format!("{unknown_fields}: {}; {}", unknown.join(", "), available_fields(all)))
}

fn available_fields<R>(all: &[OutputColumn<R>]) -> String {
    format!("the available fields are {}", field_names(all).join(", "))
}

fn field_names<R>(all: &[OutputColumn<R>]) -> Vec<&'static str> {
    all.iter().map(|column| column.name).collect()
}

/// Formats a value as one cell: null is empty, and the entries of a list are joined with semicolons.
fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().map(cell_text).collect::<Vec<_>>().join(";"),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Formats one record as RFC 4180 defines it.
fn csv_record(cells: impl Iterator<Item = String>) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    writer.write_record(cells.map(String::into_bytes)).expect("writing to memory never fails");
    let bytes = writer.into_inner().expect("writing to memory never fails");
    String::from_utf8(bytes).expect("cells and separators are UTF-8")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const COLUMNS: [OutputColumn<i64>; 3] = [
        OutputColumn::new("b", |row| json!(row)),
        OutputColumn::new("a", |_| json!(["x", "y;z"])),
        OutputColumn::new("c", |_| Value::Null),
    ];

    #[test]
    fn fields_are_chosen_and_ordered_by_name() {
        let all = select_columns(&[], COLUMNS.to_vec()).unwrap();
        assert_eq!(row_json(&all, &7), r#"{"b":7,"a":["x","y;z"],"c":null}"#);
        let names = ["c", " b", "c"].map(str::to_owned);
        let some = select_columns(&names, COLUMNS.to_vec()).unwrap();
        assert_eq!(row_json(&some, &7), r#"{"c":null,"b":7}"#);
    }

    #[test]
    fn unknown_fields_are_named_beside_the_available_ones() {
        for (fields, problem) in [
            ("b,titel,", "unknown field: titel; "),
            ("x,b,y", "unknown fields: x, y; "),
            ("", "--fields is empty; "),
            (" , ", "--fields is empty; "),
        ] {
            let names: Vec<String> = fields.split(',').map(str::to_owned).collect();
            let error = select_columns(&names, COLUMNS.to_vec()).err().unwrap();
            assert_eq!(error.to_string(), format!("{problem}the available fields are b, a, c"));
        }
    }

    #[test]
    fn csv_cells_are_quoted_where_necessary() {
        let cells = ["plain", "", "a,b", "say \"x\"", "two\r\nlines"].map(str::to_owned);
        let expected = "plain,,\"a,b\",\"say \"\"x\"\"\",\"two\r\nlines\"\r\n";
        assert_eq!(csv_record(cells.into_iter()), expected);
        assert_eq!(cell_text(&json!(["x", 2, null])), "x;2;");
    }
}
