//! Validates the arguments of a call before anything is read.

use hw_rules::date_range::{self, DateRange};
use hw_rules::safe_text::truncate_echo;
use serde_json::{Map, Value};

use crate::tool_error::ToolError;

/// One parameter of a tool.
#[derive(Clone, Copy)]
pub(crate) struct ToolParameter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) value_type: ParameterType,
    pub(crate) is_required: bool,
    /// Sample values, where the description is prescribed and cannot say more.
    pub(crate) examples: &'static [&'static str],
}

/// The type of a parameter's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterType {
    Text,
    TextList,
    Count,
    Flag,
}

impl ToolParameter {
    pub(crate) const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, ParameterType::Text)
    }

    pub(crate) const fn text_list(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, ParameterType::TextList)
    }

    pub(crate) const fn count(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, ParameterType::Count)
    }

    pub(crate) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, ParameterType::Flag)
    }

    const fn new(name: &'static str, description: &'static str, value_type: ParameterType) -> Self {
        Self { name, description, value_type, is_required: false, examples: &[] }
    }

    pub(crate) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(crate) const fn with_examples(self, examples: &'static [&'static str]) -> Self {
        Self { examples, ..self }
    }
}

/// The arguments of one call, all with known names. Null and an empty text count as absent.
pub(crate) struct ToolArguments<'a>(&'a Map<String, Value>);

impl<'a> ToolArguments<'a> {
    pub(crate) fn from_object(
        arguments: &'a Map<String, Value>,
        known: &[ToolParameter],
    ) -> Result<Self, ToolError> {
        let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
        match arguments.keys().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(ToolError(unknown_parameter(name, &names))),
            None => Ok(Self(arguments)),
        }
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, ToolError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(other) => Err(wrong_type(name, "a string", other)),
        }
    }

    /// Returns a text that must be present, but may be empty.
    pub(crate) fn required_text(&self, name: &str) -> Result<&'a str, ToolError> {
        match self.0.get(name) {
            Some(Value::String(text)) => Ok(text),
            None | Some(Value::Null) => {
                Err(ToolError(format!("the parameter `{name}` is missing")))
            }
            Some(other) => Err(wrong_type(name, "a string", other)),
        }
    }

    /// Returns the entries of a list. A plain string, which models often send, is a comma-separated list.
    pub(crate) fn text_list(&self, name: &str) -> Result<Vec<String>, ToolError> {
        let expected = "an array of strings";
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(values)) => {
                let texts = values.iter().map(|value| match value {
                    Value::String(text) => Ok(text.clone()),
                    other @ (Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Array(_)
                    | Value::Object(_)) => Err(wrong_type(name, expected, other)),
                });
                let mut texts: Vec<String> = texts.collect::<Result<_, _>>()?;
                texts.retain(|text| !text.is_empty());
                Ok(texts)
            }
            Some(Value::String(text)) => {
                let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
                Ok(texts.map(str::to_owned).collect())
            }
            Some(other) => Err(wrong_type(name, expected, other)),
        }
    }

    /// Returns a whole number of at least one.
    pub(crate) fn positive_count(&self, name: &str) -> Result<Option<u64>, ToolError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match parse_whole_number(value) {
                Some(count) if count > 0 => Ok(Some(count)),
                _ => Err(wrong_type(name, "a whole number of at least 1", value)),
            },
        }
    }

    /// Returns a flag; false if it is absent.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, ToolError> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong_type(name, "true or false", other)),
        }
    }

    /// Returns the date range between two parameters, `…_from` and `…_to`.
    pub(crate) fn date_span(&self, from: &str, to: &str) -> Result<DateRange, ToolError> {
        let start = self.optional_text(from)?.map(date_range::parse_first_instant).transpose();
        let end = self.optional_text(to)?.map(date_range::parse_last_instant).transpose();
        let span = DateRange {
            from: start.map_err(|error| ToolError(format!("`{from}`: {error}")))?,
            to: end.map_err(|error| ToolError(format!("`{to}`: {error}")))?,
        };
        if span.is_backwards() {
            return Err(ToolError(format!("`{from}` is later than `{to}`, so the range is empty")));
        }
        Ok(span)
    }
}

/// Parses a whole number. JSON has one number type, so 5.0 is whole as well.
fn parse_whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        format!("{number:.0}").parse().ok()
    })
}

fn unknown_parameter(name: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let suggestion =
        nearest.map_or(String::new(), |(_, known)| format!("; did you mean `{known}`?"));
    let name = truncate_echo(name);
    format!("unknown parameter `{name}` (available: {}){suggestion}", known.join(", "))
}

fn wrong_type(name: &str, expected: &str, value: &Value) -> ToolError {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) => &number.to_string(),
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    ToolError(format!("`{name}` must be {expected}; got {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_of_a_wrong_type_are_rejected_by_name() {
        let arguments =
            json!({ "limit": "5", "authors": {}, "fields": [1], "repository": {}, "from": "x" });
        let arguments = ToolArguments(arguments.as_object().unwrap());
        assert_eq!(
            error_text(arguments.positive_count("limit")),
            "`limit` must be a whole number of at least 1; got a string"
        );
        assert_eq!(
            error_text(arguments.text_list("authors")),
            "`authors` must be an array of strings; got an object"
        );
        assert_eq!(
            error_text(arguments.text_list("fields")),
            "`fields` must be an array of strings; got 1"
        );
        assert_eq!(
            error_text(arguments.optional_text("repository")),
            "`repository` must be a string; got an object"
        );
        assert!(error_text(arguments.date_span("from", "to")).starts_with("`from`: "));
        assert_eq!(
            error_text(arguments.required_text("query")),
            "the parameter `query` is missing"
        );
    }

    #[test]
    fn date_span_that_ends_before_it_begins_is_rejected() {
        let arguments = json!({ "from": "2026-02-01", "to": "2026-01-31" });
        let arguments = ToolArguments(arguments.as_object().unwrap());
        let expected = "`from` is later than `to`, so the range is empty";
        assert_eq!(error_text(arguments.date_span("from", "to")), expected);
        assert!(arguments.date_span("to", "from").is_ok());
    }

    #[test]
    fn flag_is_false_unless_it_is_true() {
        let arguments = json!({ "on": true, "off": false, "null": null, "text": "true" });
        let arguments = ToolArguments(arguments.as_object().unwrap());
        for (name, expected) in [("on", true), ("off", false), ("null", false), ("absent", false)] {
            assert_eq!(arguments.flag(name), Ok(expected), "{name}");
        }
        assert_eq!(
            error_text(arguments.flag("text")),
            "`text` must be true or false; got a string"
        );
    }

    #[test]
    fn count_that_is_not_positive_and_whole_is_rejected() {
        for value in [json!(0), json!(-1), json!(1.5), json!(-1.0), json!(0.0), json!(1e300)] {
            let arguments = json!({ "limit": value });
            assert!(
                ToolArguments(arguments.as_object().unwrap()).positive_count("limit").is_err(),
                "{value}"
            );
        }
    }

    #[test]
    fn count_may_be_written_with_a_decimal_point() {
        for value in [json!(5), json!(5.0), json!(0.5e1)] {
            let arguments = json!({ "limit": value });
            assert_eq!(
                ToolArguments(arguments.as_object().unwrap()).positive_count("limit"),
                Ok(Some(5))
            );
        }
    }

    #[test]
    fn arguments_that_are_null_or_empty_count_as_absent() {
        let arguments = json!({ "a": null, "b": "", "c": ["", "me", ""] });
        let arguments = ToolArguments(arguments.as_object().unwrap());
        assert_eq!(arguments.optional_text("a"), Ok(None));
        assert_eq!(arguments.optional_text("b"), Ok(None));
        assert_eq!(arguments.text_list("a"), Ok(vec![]));
        assert_eq!(arguments.text_list("c"), Ok(vec!["me".to_owned()]));
        assert_eq!(arguments.positive_count("a"), Ok(None));
        assert_eq!(arguments.required_text("b"), Ok(""));
    }

    #[test]
    fn arguments_accept_a_plain_string_as_a_list() {
        for (value, expected) in [
            (json!("me"), vec!["me"]),
            (json!("me, you ,"), vec!["me", "you"]),
            (json!(""), vec![]),
            (json!(["me"]), vec!["me"]),
        ] {
            let arguments = json!({ "authors": value });
            let texts = ToolArguments(arguments.as_object().unwrap()).text_list("authors").unwrap();
            assert_eq!(texts, expected, "{value}");
        }
    }

    #[test]
    fn arguments_with_an_unknown_name_are_rejected_with_the_nearest_one() {
        let arguments = json!({ "author": "me" });
        let known = [ToolParameter::text("authors", ""), ToolParameter::text("limit", "")];
        let error = error_text(ToolArguments::from_object(arguments.as_object().unwrap(), &known));
        assert_eq!(
            error,
            "unknown parameter `author` (available: authors, limit); did you mean `authors`?"
        );
    }

    fn error_text<T>(result: Result<T, ToolError>) -> String {
        result.err().unwrap().0
    }
}
