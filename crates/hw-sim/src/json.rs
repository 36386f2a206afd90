//! A JSON writer that can write what no JSON value can hold: a lone surrogate.

use crate::times;
use crate::world::Text;

/// JSON under construction; commas take care of themselves.
#[derive(Debug, Default)]
pub(crate) struct Json {
    out: String,
}

impl Json {
    pub(crate) fn new() -> Self {
        Self { out: String::with_capacity(1024) }
    }

    /// Where the next value will begin.
    pub(crate) fn mark(&self) -> usize {
        self.out.len()
    }

    /// Forgets everything from a mark on and writes `null` there.
    pub(crate) fn null_from(&mut self, mark: usize) {
        self.out.truncate(mark);
        self.null();
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    pub(crate) fn open_object(&mut self) {
        self.separate();
        self.out.push('{');
    }

    pub(crate) fn close_object(&mut self) {
        self.out.push('}');
    }

    pub(crate) fn open_array(&mut self) {
        self.separate();
        self.out.push('[');
    }

    pub(crate) fn close_array(&mut self) {
        self.out.push(']');
    }

    pub(crate) fn key(&mut self, name: &str) {
        self.separate();
        push_escaped(&mut self.out, name);
        self.out.push(':');
    }

    pub(crate) fn null(&mut self) {
        self.raw("null");
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    pub(crate) fn int(&mut self, value: i64) {
        self.raw(&value.to_string());
    }

    pub(crate) fn string(&mut self, value: &str) {
        self.separate();
        push_escaped(&mut self.out, value);
    }

    pub(crate) fn time(&mut self, ms: i64) {
        self.separate();
        self.out.push('"');
        times::push_rfc3339(&mut self.out, ms);
        self.out.push('"');
    }

    pub(crate) fn text(&mut self, text: &Text) {
        self.separate();
        self.out.push('"');
        self.out.push_str(text.escaped());
        self.out.push('"');
    }

    /// A value that is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.separate();
        self.out.push_str(json);
    }

    /// What is there, or `null`.
    pub(crate) fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.null(),
        }
    }

    fn separate(&mut self) {
        if !matches!(self.out.as_bytes().last(), None | Some(b'{' | b'[' | b':' | b',')) {
            self.out.push(',');
        }
    }
}

/// Appends a string with its quotes, control characters escaped, everything else as it is.
fn push_escaped(out: &mut String, value: &str) {
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
    fn commas_come_where_json_wants_them() {
        let mut json = Json::new();
        json.open_object();
        json.key("a");
        json.open_array();
        json.int(1);
        json.string("x\u{0}\"");
        json.close_array();
        json.key("b");
        json.open_object();
        json.close_object();
        json.key("c");
        json.null();
        json.close_object();
        assert_eq!(json.finish(), r#"{"a":[1,"x\u0000\""],"b":{},"c":null}"#);
    }
}
