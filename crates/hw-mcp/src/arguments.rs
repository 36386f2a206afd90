//! What a caller asks for, looked at before anything is read.

use hw_rules::clean::shorten_echo;
use hw_rules::dates::{self, Span};
use serde_json::{Map, Value};

/// Why a call is not answered; the caller can do something about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refusal(pub(crate) String);

/// One parameter of a tool.
#[derive(Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) shape: Shape,
    pub(crate) is_required: bool,
    /// Values to learn from, where the description is prescribed and cannot say more.
    pub(crate) examples: &'static [&'static str],
}

/// What a parameter's value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Text,
    Texts,
    Count,
}

impl Parameter {
    pub(crate) const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, Shape::Text)
    }

    pub(crate) const fn texts(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, Shape::Texts)
    }

    pub(crate) const fn count(name: &'static str, about: &'static str) -> Self {
        Self::new(name, about, Shape::Count)
    }

    const fn new(name: &'static str, about: &'static str, shape: Shape) -> Self {
        Self { name, about, shape, is_required: false, examples: &[] }
    }

    pub(crate) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(crate) const fn with_examples(self, examples: &'static [&'static str]) -> Self {
        Self { examples, ..self }
    }
}

/// The arguments of one call; all of their names are known. Null and an empty text are as good as nothing.
pub(crate) struct Arguments<'a>(&'a Map<String, Value>);

impl<'a> Arguments<'a> {
    pub(crate) fn checked(
        given: &'a Map<String, Value>,
        known: &[Parameter],
    ) -> Result<Self, Refusal> {
        let names = || known.iter().map(|parameter| parameter.name);
        match given.keys().find(|name| !names().any(|known| known == *name)) {
            Some(name) => Err(Refusal(unknown(name, &names().collect::<Vec<_>>()))),
            None => Ok(Self(given)),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(other) => Err(wrong(name, "a string", other)),
        }
    }

    /// A text that must be there, though it may be empty.
    pub(crate) fn required_text(&self, name: &str) -> Result<&'a str, Refusal> {
        match self.0.get(name) {
            Some(Value::String(text)) => Ok(text),
            None | Some(Value::Null) => Err(Refusal(format!("the parameter `{name}` is missing"))),
            Some(other) => Err(wrong(name, "a string", other)),
        }
    }

    /// The entries of a list. A plain string, which models like to send, is a list with commas.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, Refusal> {
        let wanted = "an array of strings";
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(values)) => {
                let texts = values.iter().map(|it| it.as_str().map(str::to_owned).ok_or(it));
                let mut texts: Vec<String> =
                    texts.collect::<Result<_, _>>().map_err(|it| wrong(name, wanted, it))?;
                texts.retain(|text| !text.is_empty());
                Ok(texts)
            }
            Some(Value::String(text)) => {
                let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
                Ok(texts.map(str::to_owned).collect())
            }
            Some(other) => Err(wrong(name, wanted, other)),
        }
    }

    /// A whole number of at least one.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match whole(value) {
                Some(count) if 0 < count => Ok(Some(count)),
                _ => Err(wrong(name, "a whole number of at least 1", value)),
            },
        }
    }

    /// The time between two parameters, `…_from` and `…_to`.
    pub(crate) fn span(&self, from: &str, to: &str) -> Result<Span, Refusal> {
        let refuse = |name: &str, why: dates::NotADate| Refusal(format!("`{name}`: {why}"));
        let start = self.text(from)?.map(dates::parse_from).transpose();
        let end = self.text(to)?.map(dates::parse_to).transpose();
        let start = start.map_err(|why| refuse(from, why))?;
        let span = Span { from: start, to: end.map_err(|why| refuse(to, why))? };
        if span.is_backwards() {
            return Err(Refusal(format!("`{from}` is later than `{to}`: nothing is in between")));
        }
        Ok(span)
    }
}

/// JSON knows one sort of number: 5.0 is a whole one.
fn whole(value: &Value) -> Option<u64> {
    let text = value.as_f64().filter(|it| it.fract() == 0.0).map(|it| format!("{it:.0}"));
    value.as_u64().or_else(|| text?.parse().ok())
}

fn unknown(name: &str, known: &[&str]) -> String {
    let near = known.iter().map(|it| (strsim::jaro_winkler(it, name), it));
    let nearest = near.filter(|(likeness, _)| 0.8 < *likeness).max_by(|a, b| a.0.total_cmp(&b.0));
    let meant = nearest.map_or(String::new(), |(_, it)| format!("; did you mean `{it}`?"));
    let name = shorten_echo(name);
    format!("there is no parameter `{name}` (there are {}){meant}", known.join(", "))
}

fn wrong(name: &str, wanted: &str, value: &Value) -> Refusal {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) => {
            return Refusal(format!("`{name}` must be {wanted}; it is {number}"));
        }
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Refusal(format!("`{name}` must be {wanted}; it is, or holds, {is}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wrong_type_is_told_with_the_name_of_the_parameter() {
        let given =
            json!({ "limit": "5", "authors": {}, "fields": [1], "repository": {}, "from": "x" });
        let given = given.as_object().unwrap();
        let arguments = Arguments(given);
        assert_eq!(
            told(arguments.count("limit")),
            "`limit` must be a whole number of at least 1; it is, or holds, a string"
        );
        assert_eq!(
            told(arguments.texts("authors")),
            "`authors` must be an array of strings; it is, or holds, an object"
        );
        assert_eq!(
            told(arguments.texts("fields")),
            "`fields` must be an array of strings; it is 1"
        );
        assert_eq!(
            told(arguments.text("repository")),
            "`repository` must be a string; it is, or holds, an object"
        );
        assert!(told(arguments.span("from", "to")).starts_with("`from`: "));
        assert_eq!(told(arguments.required_text("query")), "the parameter `query` is missing");
    }

    #[test]
    fn a_time_that_ends_before_it_begins_is_refused() {
        let given = json!({ "from": "2026-02-01", "to": "2026-01-31" });
        let arguments = Arguments(given.as_object().unwrap());
        let expected = "`from` is later than `to`: nothing is in between";
        assert_eq!(told(arguments.span("from", "to")), expected);
        assert!(arguments.span("to", "from").is_ok());
    }

    #[test]
    fn no_count_is_zero_or_less_or_a_part() {
        for value in [json!(0), json!(-1), json!(1.5), json!(-1.0), json!(0.0), json!(1e300)] {
            let given = json!({ "limit": value });
            assert!(Arguments(given.as_object().unwrap()).count("limit").is_err(), "{value}");
        }
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        for value in [json!(5), json!(5.0), json!(0.5e1)] {
            let given = json!({ "limit": value });
            assert_eq!(Arguments(given.as_object().unwrap()).count("limit"), Ok(Some(5)));
        }
    }

    #[test]
    fn null_and_an_empty_text_are_as_good_as_nothing() {
        let given = json!({ "a": null, "b": "", "c": ["", "me", ""] });
        let arguments = Arguments(given.as_object().unwrap());
        assert_eq!(arguments.text("a"), Ok(None));
        assert_eq!(arguments.text("b"), Ok(None));
        assert_eq!(arguments.texts("a"), Ok(vec![]));
        assert_eq!(arguments.texts("c"), Ok(vec!["me".to_owned()]));
        assert_eq!(arguments.count("a"), Ok(None));
        assert_eq!(arguments.required_text("b"), Ok(""));
    }

    #[test]
    fn arguments_take_a_plain_string_for_a_list() {
        for (value, expected) in [
            (json!("me"), vec!["me"]),
            (json!("me, you ,"), vec!["me", "you"]),
            (json!(""), vec![]),
            (json!(["me"]), vec!["me"]),
        ] {
            let given = json!({ "authors": value });
            let texts = Arguments(given.as_object().unwrap()).texts("authors").unwrap();
            assert_eq!(texts, expected, "{value}");
        }
    }

    #[test]
    fn an_unknown_parameter_is_answered_with_the_nearest_name() {
        let given = json!({ "author": "me" });
        let known = [Parameter::text("authors", ""), Parameter::text("limit", "")];
        let told = told(Arguments::checked(given.as_object().unwrap(), &known));
        assert_eq!(
            told,
            "there is no parameter `author` (there are authors, limit); did you mean `authors`?"
        );
    }

    fn told<T>(result: Result<T, Refusal>) -> String {
        result.err().unwrap().0
    }
}
