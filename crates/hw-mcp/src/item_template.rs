//! Renders an item as Markdown: the fields that a tool offers, and the selection that a caller requests.

use std::borrow::Cow;

use hw_rules::safe_text::{sanitize_for_display, truncate_echo};
use serde_json::Value;

use crate::tool_error::ToolError;

/// Ends an item, and separates a sentence about all items from them.
pub(crate) const ITEM_RULE: &str = "---";

/// The fields of a tool's items.
pub(crate) struct ItemTemplate {
    /// The names of the fields, in the order of the tool's description.
    pub(crate) fields: &'static [&'static str],
    /// The fields that have a line of their own, with its label, in the order of the text.
    pub(crate) lines: &'static [(&'static str, &'static str)],
}

/// The fields of a template that a caller requests.
pub(crate) struct FieldSelection {
    template: &'static ItemTemplate,
    names: Vec<&'static str>,
    /// The caller named fields; otherwise structured items have all fields, including those outside of the template.
    is_narrowed: bool,
}

impl ItemTemplate {
    /// Selects the fields of these names; all of them when none is named.
    pub(crate) fn select_fields(
        &'static self,
        requested: &[String],
    ) -> Result<FieldSelection, ToolError> {
        let unknown = requested.iter().filter(|name| !self.fields.contains(&name.as_str()));
        let unknown: Vec<String> = unknown.map(|name| single_line(name)).collect();
        if !unknown.is_empty() {
            return Err(ToolError(format!(
                "Invalid fields: {}\n\nUse one of the available fields: {}",
                truncate_echo(&unknown.join(", ")),
                self.fields.join(", ")
            )));
        }
        let is_narrowed = !requested.is_empty();
        let fields = self.fields.iter().copied();
        let names = fields
            .filter(|name| !is_narrowed || requested.iter().any(|requested| requested == name))
            .collect();
        Ok(FieldSelection { template: self, names, is_narrowed })
    }
}

impl FieldSelection {
    fn has_field(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Removes the fields that were not requested from a structured item.
    ///
    /// `comment` is not a field of the thread but the position of the match, so it stays.
    pub(crate) fn narrow_item(&self, mut item: Value) -> Value {
        if let Some(fields) = item.as_object_mut().filter(|_| self.is_narrowed) {
            fields.retain(|name, _| name == "comment" || self.has_field(name));
        }
        item
    }

    /// Renders an item as Markdown: the requested parts of a heading, a list and a text, then a rule, separated by
    /// blank lines.
    pub(crate) fn render_item<'a>(&self, value: &dyn Fn(&str) -> Cow<'a, str>) -> String {
        let mut blocks = Vec::new();
        if self.has_field("title") {
            blocks.push(format!("## {}", single_line(&value("title"))));
        }
        let lines = self.template.lines.iter().filter(|(name, _)| self.has_field(name));
        let lines: Vec<String> = lines
            .map(|(name, label)| format!("- {label}: {}", single_line(&value(name))))
            .collect();
        if !lines.is_empty() {
            blocks.push(lines.join("\n"));
        }
        if self.has_field("body") {
            blocks.push(sanitize_for_display(&value("body")));
        }
        blocks.push(ITEM_RULE.to_owned());
        blocks.join("\n\n")
    }
}

/// Puts a text on one line, whatever it contains.
pub(crate) fn single_line(text: &str) -> String {
    sanitize_for_display(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    static SAMPLE_TEMPLATE: ItemTemplate = ItemTemplate {
        fields: &["title", "url", "author", "body"],
        lines: &[("author", "Author"), ("url", "URL")],
    };

    #[test]
    fn item_contains_the_selected_fields_only() {
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
            assert_eq!(
                select_sample(&fields).unwrap().render_item(&sample_value),
                expected,
                "{fields:?}"
            );
        }
    }

    #[test]
    fn item_prints_a_missing_value_as_empty() {
        let item = select_sample(&["author", "body"]).unwrap().render_item(&|_| Cow::Borrowed(""));
        assert_eq!(item, "- Author: \n\n\n\n---");
    }

    #[test]
    fn fields_narrow_a_structured_item_except_its_matched_comment() {
        let item = json!({ "title": "T", "url": "u", "number": 7, "labels": [], "comment": {} });
        for (fields, expected) in [
            (&["title"][..], json!({ "title": "T", "comment": {} })),
            (&["body"], json!({ "comment": {} })),
            (&[], item.clone()),
            // naming all fields still excludes those outside of the template
            (SAMPLE_TEMPLATE.fields, json!({ "title": "T", "url": "u", "comment": {} })),
        ] {
            let narrowed = select_sample(fields).unwrap().narrow_item(item.clone());
            assert_eq!(narrowed, expected, "{fields:?}");
        }
    }

    #[test]
    fn fields_that_are_unknown_are_reported_with_the_available_ones() {
        let error = select_sample(&["titel", "url", "x\ny"]).err().unwrap().0;
        let expected = "Invalid fields: titel, x y\n\n\
                        Use one of the available fields: title, url, author, body";
        assert_eq!(error, expected);
    }

    #[test]
    fn item_title_stays_on_one_line_without_invisible_characters() {
        let selection = select_sample(&["title"]).unwrap();
        let item = selection.render_item(&|_| Cow::Borrowed("a\n## b\u{202e}\u{200b}"));
        assert_eq!(item, "## a ## b\n\n---");
    }

    fn select_sample(fields: &[&str]) -> Result<FieldSelection, ToolError> {
        SAMPLE_TEMPLATE
            .select_fields(&fields.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    fn sample_value(name: &str) -> Cow<'static, str> {
        Cow::Borrowed(match name {
            "title" => "T",
            "url" => "u",
            "author" => "me",
            _ => "B",
        })
    }
}
