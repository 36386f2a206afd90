//! Writes values as YAML that every parser reads the same way.

use hw_rules::safe_text::is_safe_char;
use serde_json::Value;

/// Returns a value on one line. Every text is quoted, because plain ones can be mistaken for numbers, dates or lists.
pub(super) fn to_yaml(value: &Value) -> String {
    match value {
        Value::String(text) => quote_text(text),
        Value::Array(entries) => {
            let entries: Vec<String> = entries.iter().map(to_yaml).collect();
            format!("[{}]", entries.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn quote_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    text.chars().for_each(|c| quoted.push_str(&escape_char(c)));
    quoted.push('"');
    quoted
}

/// Escapes a character inside quotes. Characters that YAML does not call printable, or that could affect a terminal,
/// are written as numbers.
fn escape_char(c: char) -> String {
    let number = u32::from(c);
    match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        _ if is_safe_char(c) && !matches!(number, 0xfffe | 0xffff) => c.to_string(),
        _ if number <= 0xffff => format!("\\u{number:04x}"),
        _ => format!("\\U{number:08x}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_texts_are_always_quoted() {
        for (text, expected) in [
            ("no", r#""no""#),
            ("2026-01-02", r#""2026-01-02""#),
            ("a: b #c\n---\n", r#""a: b #c\n---\n""#),
            ("\"q\" \\ 'x'", r#""\"q\" \\ 'x'""#),
            ("\0\r\u{1b}\u{9b}\u{202e}\u{feff}", r#""\u0000\u000d\u001b\u009b\u202e\ufeff""#),
            ("\u{e0041}\u{ffff}é港👩", r#""\U000e0041\uffffé港👩""#),
        ] {
            assert_eq!(to_yaml(&json!(text)), expected);
        }
    }

    #[test]
    fn yaml_lists_and_plain_values_are_on_one_line() {
        assert_eq!(to_yaml(&json!(["a, b", "]", 1])), r#"["a, b", "]", 1]"#);
        assert_eq!(to_yaml(&json!([])), "[]");
        assert_eq!(
            (to_yaml(&Value::Null), to_yaml(&json!(true))),
            ("null".to_owned(), "true".to_owned())
        );
    }
}
