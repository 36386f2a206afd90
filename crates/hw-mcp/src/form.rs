//! How one item is set: which fields a tool knows, which of them are wanted, and the Markdown they make.

use std::borrow::Cow;

use hw_rules::clean::{for_reading, shorten_echo};
use serde_json::Value;

use crate::arguments::Refusal;

/// What ends an item, and what stands below a sentence about all of them.
pub(crate) const RULE: &str = "---";

/// What a tool can tell of an item.
pub(crate) struct Form {
    /// The names of the fields, in the order in which they are offered.
    pub(crate) fields: &'static [&'static str],
    /// Those that are a line of their own, with its label, in the order of the text.
    pub(crate) lines: &'static [(&'static str, &'static str)],
}

/// The fields of a form that somebody wants.
pub(crate) struct Chosen {
    form: &'static Form,
    names: Vec<&'static str>,
    /// Whether fields were named at all; otherwise structured items carry everything there is.
    is_narrowed: bool,
}

impl Form {
    /// The fields of these names; all of them when none is named.
    pub(crate) fn choose(&'static self, wanted: &[String]) -> Result<Chosen, Refusal> {
        let known = |name: &&String| self.fields.contains(&name.as_str());
        let unknown: Vec<String> =
            wanted.iter().filter(|name| !known(name)).map(|name| line(name)).collect();
        if !unknown.is_empty() {
            return Err(Refusal(format!(
                "Invalid fields: {}\n\nUse one of the available fields: {}",
                shorten_echo(&unknown.join(", ")),
                self.fields.join(", ")
            )));
        }
        let is_wanted = |name: &&&str| wanted.is_empty() || wanted.iter().any(|it| it == **name);
        let names = self.fields.iter().filter(is_wanted).copied().collect();
        Ok(Chosen { form: self, names, is_narrowed: !wanted.is_empty() })
    }
}

impl Chosen {
    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Removes the fields that were not requested from a structured item.
    ///
    /// `comment` is no field of a thread but the place of the match, so it stays.
    pub(crate) fn narrow(&self, mut item: Value) -> Value {
        if let Some(fields) = item.as_object_mut().filter(|_| self.is_narrowed) {
            fields.retain(|name, _| name == "comment" || self.has(name));
        }
        item
    }

    /// An item as Markdown: a heading, a list, a text and a rule, as far as they are wanted, a blank line between two.
    pub(crate) fn entry<'a>(&self, value: &dyn Fn(&str) -> Cow<'a, str>) -> String {
        let mut blocks = Vec::new();
        if self.has("title") {
            blocks.push(format!("## {}", line(&value("title"))));
        }
        let lines = self.form.lines.iter().filter(|(name, _)| self.has(name));
        let lines: Vec<String> =
            lines.map(|(name, label)| format!("- {label}: {}", line(&value(name)))).collect();
        if !lines.is_empty() {
            blocks.push(lines.join("\n"));
        }
        if self.has("body") {
            blocks.push(for_reading(&value("body")));
        }
        blocks.push(RULE.to_owned());
        blocks.join("\n\n")
    }
}

/// A value that stays on its line, whatever was written into it.
pub(crate) fn line(text: &str) -> String {
    for_reading(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    static FORM: Form = Form {
        fields: &["title", "url", "author", "body"],
        lines: &[("author", "Author"), ("url", "URL")],
    };

    #[test]
    fn every_choice_of_fields_is_the_whole_text_without_the_others() {
        for (fields, expected) in [
            (vec![], "## T\n\n- Author: me\n- URL: u\n\nB\n\n---"),
            (vec!["body", "title"], "## T\n\nB\n\n---"),
            (vec!["title"], "## T\n\n---"),
            (vec!["url"], "- URL: u\n\n---"),
            (vec!["url", "author"], "- Author: me\n- URL: u\n\n---"),
            (vec!["body"], "B\n\n---"),
            (vec!["author", "body"], "- Author: me\n\nB\n\n---"),
            (vec!["title", "url"], "## T\n\n- URL: u\n\n---"),
            (vec!["url", "url"], "- URL: u\n\n---"),
        ] {
            assert_eq!(chosen(&fields).unwrap().entry(&value), expected, "{fields:?}");
        }
    }

    #[test]
    fn a_value_that_is_missing_is_printed_as_nothing() {
        let entry = chosen(&["author", "body"]).unwrap().entry(&|_| Cow::Borrowed(""));
        assert_eq!(entry, "- Author: \n\n\n\n---");
    }

    #[test]
    fn fields_narrow_a_structured_item_and_keep_the_comment_that_matched() {
        let item = json!({ "title": "T", "url": "u", "number": 7, "labels": [], "comment": {} });
        let narrowed = |fields: &[&str]| chosen(fields).unwrap().narrow(item.clone());
        assert_eq!(narrowed(&["title"]), json!({ "title": "T", "comment": {} }));
        assert_eq!(narrowed(&["body"]), json!({ "comment": {} }));
        assert_eq!(narrowed(&[]), item, "everything is the default");
        let all = json!({ "title": "T", "url": "u", "comment": {} });
        assert_eq!(narrowed(FORM.fields), all, "all fields are still those of the form");
    }

    #[test]
    fn unknown_fields_are_named_beside_those_there_are() {
        let told = chosen(&["titel", "url", "x\ny"]).err().unwrap().0;
        let expected = "Invalid fields: titel, x y\n\n\
                        Use one of the available fields: title, url, author, body";
        assert_eq!(told, expected);
    }

    #[test]
    fn a_title_stays_one_line_and_hides_nothing() {
        let hostile = |name: &str| {
            Cow::Borrowed(if name == "title" { "a\n## b\u{202e}\u{200b}" } else { "" })
        };
        assert_eq!(chosen(&["title"]).unwrap().entry(&hostile), "## a ## b\n\n---");
    }

    fn chosen(fields: &[&str]) -> Result<Chosen, Refusal> {
        FORM.choose(&fields.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    fn value(name: &str) -> Cow<'static, str> {
        Cow::Borrowed(match name {
            "title" => "T",
            "url" => "u",
            "author" => "me",
            _ => "B",
        })
    }
}
