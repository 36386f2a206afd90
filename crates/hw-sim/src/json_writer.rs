//! A JSON writer that can write lone surrogates, which no JSON value can hold.

use crate::timestamps;
use crate::world::WireText;

/// JSON under construction; the writer adds the commas.
#[derive(Debug, Default)]
pub(crate) struct JsonWriter {
    out: String,
}

impl JsonWriter {
    pub(crate) fn new() -> Self {
        Self { out: String::with_capacity(1024) }
    }

    /// Returns the position at which the next value will start.
    pub(crate) fn position(&self) -> usize {
        self.out.len()
    }

    /// Discards everything from a position on and writes `null` there.
    pub(crate) fn truncate_to_null(&mut self, position: usize) {
        self.out.truncate(position);
        self.write_null();
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    pub(crate) fn open_object(&mut self) {
        self.write_separator();
        self.out.push('{');
    }

    pub(crate) fn close_object(&mut self) {
        self.out.push('}');
    }

    pub(crate) fn open_array(&mut self) {
        self.write_separator();
        self.out.push('[');
    }

    pub(crate) fn close_array(&mut self) {
        self.out.push(']');
    }

    pub(crate) fn write_key(&mut self, name: &str) {
        self.write_separator();
        push_quoted(&mut self.out, name);
        self.out.push(':');
    }

    pub(crate) fn write_null(&mut self) {
        self.write_raw("null");
    }

    pub(crate) fn write_bool(&mut self, value: bool) {
        self.write_raw(if value { "true" } else { "false" });
    }

    pub(crate) fn write_int(&mut self, value: i64) {
        self.write_raw(&value.to_string());
    }

    pub(crate) fn write_string(&mut self, value: &str) {
        self.write_separator();
        push_quoted(&mut self.out, value);
    }

    pub(crate) fn write_time(&mut self, ms: i64) {
        self.write_separator();
        self.out.push('"');
        timestamps::push_rfc3339(&mut self.out, ms);
        self.out.push('"');
    }

    pub(crate) fn write_text(&mut self, text: &WireText) {
        self.write_separator();
        self.out.push('"');
        self.out.push_str(text.escaped());
        self.out.push('"');
    }

    /// Writes a value that is JSON already.
    pub(crate) fn write_raw(&mut self, json: &str) {
        self.write_separator();
        self.out.push_str(json);
    }

    /// Writes the value, or `null`.
    pub(crate) fn write_optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.write_null(),
        }
    }

    fn write_separator(&mut self) {
        if !matches!(self.out.as_bytes().last(), None | Some(b'{' | b'[' | b':' | b',')) {
            self.out.push(',');
        }
    }
}

/// Appends a string with its quotes and with control characters escaped.
fn push_quoted(out: &mut String, value: &str) {
    out.push('"');
    escape_into(out, value);
    out.push('"');
}

/// Appends a string's JSON escape without its quotes.
pub(crate) fn escape_into(out: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_writer_adds_commas() {
        let mut json = JsonWriter::new();
        json.open_object();
        json.write_key("a");
        json.open_array();
        json.write_int(1);
        json.write_string("x\u{0}\"");
        json.close_array();
        json.write_key("b");
        json.open_object();
        json.close_object();
        json.write_key("c");
        json.write_null();
        json.close_object();
        assert_eq!(json.finish(), r#"{"a":[1,"x\u0000\""],"b":{},"c":null}"#);
    }
}
