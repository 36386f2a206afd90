//! Parses `.env`: one `NAME=value` per line.
//!
//! The name may follow `export`. `#` starts a comment at the start of a line or after whitespace. A value may be
//! quoted: 'taken literally', or "with \" \\ \n and \t". Nothing is expanded, and no value spans two lines.

use std::path::Path;

use super::keys::{self, AllowedFiles, SettingKey};
use super::layer::{SettingLayer, SettingOrigin, SettingValue};
use super::problem::SettingProblem;
use super::suggestion::did_you_mean;

/// Reads the settings in the text of `.env`.
pub(super) fn read_dotenv(path: &Path, text: &str) -> SettingLayer {
    let mut layer = SettingLayer::default();
    for (index, line) in text.lines().enumerate() {
        let origin = SettingOrigin::FileLine { file: path.to_owned(), line: index + 1 };
        match parse_assignment(line) {
            Ok(None) => {}
            Ok(Some(assignment)) => add_assignment(&mut layer, &origin, assignment),
            Err(LineError { subject: Some(name), reason }) => {
                layer.problems.push(SettingProblem::new(&origin, name, reason));
            }
            Err(LineError { subject: None, reason }) => {
                layer.problems.push(SettingProblem::in_line(path, index + 1, reason));
            }
        }
    }
    layer
}

/// A line `NAME=value`, with the value unquoted.
struct Assignment<'a> {
    name: &'a str,
    value: String,
}

/// Why a line cannot be parsed. The reason never quotes a value, which may be a secret.
struct LineError<'a> {
    /// The name of the variable, if there is one.
    subject: Option<&'a str>,
    reason: &'static str,
}

fn add_assignment(layer: &mut SettingLayer, origin: &SettingOrigin, assignment: Assignment<'_>) {
    let Assignment { name, value } = assignment;
    match find_key(name) {
        Err(reason) => layer.problems.push(SettingProblem::new(origin, name, &reason)),
        Ok(key) => {
            if let Some((_, first)) = layer.values.iter().find(|(set, _)| *set == key) {
                let reason = format!("set twice, first at {}", first.origin);
                layer.problems.push(SettingProblem::new(origin, name, &reason));
            } else if !value.is_empty() {
                layer.values.push((key, SettingValue { text: value, origin: origin.clone() }));
            }
        }
    }
}

fn find_key(name: &str) -> Result<&'static SettingKey, String> {
    match keys::ALL_KEYS.into_iter().find(|key| key.variable == name) {
        Some(key) if key.allowed_in == AllowedFiles::NoFile => {
            Err("cannot be set here, because it determines where this file is".to_owned())
        }
        Some(key) => Ok(key),
        None => {
            let names =
                keys::ALL_KEYS.into_iter().filter(|key| key.allowed_in != AllowedFiles::NoFile);
            let nearest = did_you_mean(name, names.map(|key| key.variable));
            Err(format!("unknown setting{nearest}"))
        }
    }
}

/// Parses one line; returns `None` for a blank line or a comment.
fn parse_assignment(line: &str) -> Result<Option<Assignment<'_>>, LineError<'_>> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) =
        line.split_once('=').ok_or(LineError { subject: None, reason: "expected NAME=value" })?;
    let name = name.trim();
    if !is_variable_name(name) {
        let reason = "a name consists of letters, digits and _, and is followed by =";
        return Err(LineError { subject: None, reason });
    }
    let value =
        unquote_value(value.trim()).map_err(|reason| LineError { subject: Some(name), reason })?;
    Ok(Some(Assignment { name, value }))
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn unquote_value(value: &str) -> Result<String, &'static str> {
    match value.chars().next() {
        Some('\'') => {
            let (inside, rest) = value[1..].split_once('\'').ok_or("unclosed quote")?;
            check_rest_empty(rest).map(|()| inside.to_owned())
        }
        Some('"') => unescape_double_quoted(&value[1..]),
        _ => Ok(strip_comment(value).to_owned()),
    }
}

fn unescape_double_quoted(text: &str) -> Result<String, &'static str> {
    let mut inside = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => return check_rest_empty(rest.as_str()).map(|()| inside),
            '\\' => inside.push(match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(c @ ('"' | '\\' | '$' | '`')) => c,
                _ => return Err("only \\\" \\\\ \\$ \\` \\n and \\t are allowed in double quotes"),
            }),
            _ => inside.push(c),
        }
    }
    Err("unclosed quote")
}

fn check_rest_empty(rest: &str) -> Result<(), &'static str> {
    let rest = rest.trim();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(())
    } else {
        Err("unexpected text after the closing quote")
    }
}

fn strip_comment(value: &str) -> &str {
    if value.starts_with('#') {
        return "";
    }
    let mut pairs = value.char_indices().zip(value.chars().skip(1));
    let comment = pairs.find(|((_, before), c)| before.is_whitespace() && *c == '#');
    comment.map_or(value, |((at, _), _)| value[..at].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotenv_value_may_be_bare_quoted_exported_and_commented() {
        for (line, value) in [
            ("ORGANIZATION=acme", "acme"),
            ("  export  ORGANIZATION = acme  ", "acme"),
            ("ORGANIZATION=acme # ours", "acme"),
            ("ORGANIZATION=a#b", "a#b"),
            ("ORGANIZATION='a # b' # c", "a # b"),
            ("ORGANIZATION=\"a \\\"b\\\" $c\"", "a \"b\" $c"),
            ("ORGANIZATION=a=b", "a=b"),
        ] {
            let layer = read_dotenv(Path::new(".env"), &format!("\n# x\n{line}\r\n"));
            let found: Vec<_> =
                layer.values.iter().map(|(_, set)| (&*set.text, set.origin.to_string())).collect();
            assert_eq!(found, [(value, ".env:3".to_owned())], "{line}");
        }
        assert!(
            read_dotenv(Path::new(".env"), "ORGANIZATION=\nGITHUB_TOKEN= # none\n")
                .values
                .is_empty()
        );
    }

    #[test]
    fn dotenv_mistake_is_reported_with_its_line() {
        for (line, expected) in [
            ("ORGANISATION=x", "ORGANISATION: unknown setting; did you mean ORGANIZATION?"),
            ("PATH=x", "PATH: unknown setting"),
            (
                "HIGHWATER_HOME=x",
                "HIGHWATER_HOME: cannot be set here, because it determines where this file is",
            ),
            ("ghp_secret", "expected NAME=value"),
            ("a b=c", "a name consists of letters, digits and _, and is followed by ="),
            ("GITHUB_TOKEN='ghp_secret", "GITHUB_TOKEN: unclosed quote"),
            ("GITHUB_TOKEN=\"ghp_secret", "GITHUB_TOKEN: unclosed quote"),
            ("GITHUB_TOKEN='ghp' secret", "GITHUB_TOKEN: unexpected text after the closing quote"),
            ("ORGANIZATION=a\nORGANIZATION=b", "ORGANIZATION: set twice, first at .env:2"),
        ] {
            let layer = read_dotenv(Path::new(".env"), &format!("\n{line}\n"));
            let messages: Vec<_> = layer.problems.iter().map(|problem| &*problem.message).collect();
            let number = 1 + line.lines().count();
            assert_eq!(messages, [format!(".env:{number}: {expected}")], "{line}");
        }
    }
}
