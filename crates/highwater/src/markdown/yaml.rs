//! Values as YAML that every reader reads alike.

use hw_rules::clean::is_harmless;
use serde_json::Value;

/// A value on one line. Every text is quoted: plain ones can be mistaken for numbers, dates or lists.
pub(super) fn yaml(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(entries) => {
            let entries: Vec<String> = entries.iter().map(yaml).collect();
            format!("[{}]", entries.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    text.chars().for_each(|c| quoted.push_str(&escaped(c)));
    quoted.push('"');
    quoted
}

/// A character inside quotes. What YAML calls not printable is written as its number, and so is what
/// would steer a terminal.
fn escaped(c: char) -> String {
    let number = u32::from(c);
    match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        _ if is_harmless(c) && !matches!(number, 0xfffe | 0xffff) => c.to_string(),
        _ if number <= 0xffff => format!("\\u{number:04x}"),
        _ => format!("\\U{number:08x}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_text_can_be_anything_but_text() {
        for (text, expected) in [
            ("no", r#""no""#),
            ("2026-01-02", r#""2026-01-02""#),
            ("a: b #c\n---\n", r#""a: b #c\n---\n""#),
            ("\"q\" \\ 'x'", r#""\"q\" \\ 'x'""#),
            ("\0\r\u{1b}\u{9b}\u{202e}\u{feff}", r#""\u0000\u000d\u001b\u009b\u202e\ufeff""#),
            ("\u{e0041}\u{ffff}é港👩", r#""\U000e0041\uffffé港👩""#),
        ] {
            assert_eq!(yaml(&json!(text)), expected);
        }
    }

    #[test]
    fn lists_and_plain_values_stand_on_one_line() {
        assert_eq!(yaml(&json!(["a, b", "]", 1])), r#"["a, b", "]", 1]"#);
        assert_eq!(yaml(&json!([])), "[]");
        assert_eq!(
            (yaml(&Value::Null), yaml(&json!(true))),
            ("null".to_owned(), "true".to_owned())
        );
    }
}
