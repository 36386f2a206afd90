//! `.env`: one `NAME=value` a line.
//!
//! `export` may stand before it, `#` begins a comment at the start of a line or behind a blank, and a value
//! may stand in quotes: 'as it is', or "with \" \\ \n and \t". Nothing is expanded, and no value goes on in
//! the next line.

use std::path::Path;

use super::found::{Found, Layer, Origin};
use super::keys::{self, Key, Stands};
use super::nearest::or_nearest;
use super::problem::Problem;

/// What the file says.
pub(super) fn read(path: &Path, text: &str) -> Layer {
    let mut layer = Layer::default();
    for (index, line) in text.lines().enumerate() {
        let origin = Origin::Line { file: path.to_owned(), line: index + 1 };
        match assignment(line) {
            Ok(None) => {}
            Ok(Some((name, value))) => keep(&mut layer, &origin, name, value),
            Err((name, wrong)) => layer.problems.push(Problem::new(&origin, name, wrong)),
        }
    }
    layer
}

fn keep(layer: &mut Layer, origin: &Origin, name: &str, text: String) {
    match key(name) {
        Err(wrong) => layer.problems.push(Problem::new(origin, name, &wrong)),
        Ok(key) => {
            if let Some((_, before)) = layer.found.iter().find(|(held, _)| held.name == key.name) {
                let wrong = format!("it is set twice, first at {}", before.origin);
                layer.problems.push(Problem::new(origin, name, &wrong));
            } else if !text.is_empty() {
                layer.found.push((key, Found { text, origin: origin.clone() }));
            }
        }
    }
}

fn key(name: &str) -> Result<&'static Key, String> {
    let named = |key: &&'static Key| key.variable == name;
    match keys::ALL.into_iter().find(named) {
        Some(key) if key.stands == Stands::Outside => {
            Err("it leads to this file, and cannot stand in it".to_owned())
        }
        Some(key) => Ok(key),
        None => {
            let names = keys::ALL.into_iter().filter(|key| key.stands != Stands::Outside);
            let nearest = or_nearest(name, names.map(|key| key.variable));
            Err(format!("there is no such setting{nearest}"))
        }
    }
}

/// Name and value; none on a line without them. What is wrong never quotes a value.
fn assignment(line: &str) -> Result<Option<(&str, String)>, (&str, &'static str)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=').ok_or(("this line", "it is no NAME=value"))?;
    let name = name.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty()
        || name.starts_with(|c: char| c.is_ascii_digit())
        || !name.chars().all(is_name)
    {
        return Err(("this line", "a name is letters, digits and _, and = follows it"));
    }
    Ok(Some((name, unquoted(value.trim()).map_err(|wrong| (name, wrong))?)))
}

fn unquoted(value: &str) -> Result<String, &'static str> {
    match value.chars().next() {
        Some('\'') => {
            let (inside, rest) = value[1..].split_once('\'').ok_or("its quote is not closed")?;
            nothing_more(rest).map(|()| inside.to_owned())
        }
        Some('"') => in_double_quotes(&value[1..]),
        _ => Ok(without_comment(value).to_owned()),
    }
}

fn in_double_quotes(text: &str) -> Result<String, &'static str> {
    let mut inside = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => return nothing_more(rest.as_str()).map(|()| inside),
            '\\' => inside.push(match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(c @ ('"' | '\\' | '$' | '`')) => c,
                _ => return Err("only \\\" \\\\ \\$ \\` \\n and \\t may stand in its quotes"),
            }),
            _ => inside.push(c),
        }
    }
    Err("its quote is not closed")
}

fn nothing_more(rest: &str) -> Result<(), &'static str> {
    let rest = rest.trim();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(())
    } else {
        Err("something stands behind its quote")
    }
}

fn without_comment(value: &str) -> &str {
    let comment = value.char_indices().zip(value.chars().skip(1));
    let mut comment = comment.filter(|((_, before), c)| before.is_whitespace() && *c == '#');
    if value.starts_with('#') {
        return "";
    }
    comment.next().map_or(value, |((at, _), _)| value[..at].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_be_bare_quoted_exported_and_commented() {
        for (line, value) in [
            ("ORGANIZATION=acme", "acme"),
            ("  export  ORGANIZATION = acme  ", "acme"),
            ("ORGANIZATION=acme # ours", "acme"),
            ("ORGANIZATION=a#b", "a#b"),
            ("ORGANIZATION='a # b' # c", "a # b"),
            ("ORGANIZATION=\"a \\\"b\\\" $c\"", "a \"b\" $c"),
            ("ORGANIZATION=a=b", "a=b"),
        ] {
            let layer = read(Path::new(".env"), &format!("\n# x\n{line}\r\n"));
            let found: Vec<_> =
                layer.found.iter().map(|(_, it)| (&*it.text, it.origin.to_string())).collect();
            assert_eq!(found, [(value, ".env:3".to_owned())], "{line}");
        }
        assert!(read(Path::new(".env"), "ORGANIZATION=\nGITHUB_TOKEN= # none\n").found.is_empty());
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        for (line, expected) in [
            (
                "ORGANISATION=x",
                "ORGANISATION: there is no such setting; did you mean ORGANIZATION?",
            ),
            ("PATH=x", "PATH: there is no such setting"),
            ("HIGHWATER_HOME=x", "HIGHWATER_HOME: it leads to this file, and cannot stand in it"),
            ("ghp_secret", "this line: it is no NAME=value"),
            ("a b=c", "this line: a name is letters, digits and _, and = follows it"),
            ("GITHUB_TOKEN='ghp_secret", "GITHUB_TOKEN: its quote is not closed"),
            ("GITHUB_TOKEN=\"ghp_secret", "GITHUB_TOKEN: its quote is not closed"),
            ("GITHUB_TOKEN='ghp' secret", "GITHUB_TOKEN: something stands behind its quote"),
            ("ORGANIZATION=a\nORGANIZATION=b", "ORGANIZATION: it is set twice, first at .env:2"),
        ] {
            let layer = read(Path::new(".env"), &format!("\n{line}\n"));
            let told: Vec<_> = layer.problems.iter().map(|problem| &*problem.told).collect();
            let number = 1 + line.lines().count();
            assert_eq!(told, [format!(".env:{number}: {expected}")], "{line}");
        }
    }
}
