//! JSON parsed on demand: a document stays text, and values are located in it when they are read.
//!
//! Responses come from outside and are up to [`MAX_BODY_BYTES`](crate::transport::MAX_BODY_BYTES) long. Parsed into a
//! tree, one of many tiny values takes more than a hundred times its own size; as text it takes its own size.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The longest array that is read: pages have a hundred rows.
const MAX_ELEMENTS: usize = 1_000;
/// The part of an error about a value that is stored and printed: it may quote the value.
const MAX_REASON_BYTES: usize = 1_000;

/// A document whose syntax was checked, as text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Box<RawValue>")]
pub struct RawDocument(Box<str>);

impl RawDocument {
    pub fn root(&self) -> RawNode<'_> {
        RawNode(&self.0)
    }
}

impl From<Box<RawValue>> for RawDocument {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

impl From<serde_json::Value> for RawDocument {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

/// One value of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawNode<'a>(&'a str);

impl<'a> From<&'a RawValue> for RawNode<'a> {
    fn from(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawNode<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'a RawValue>::deserialize(deserializer).map(Self::from)
    }
}

impl<'a> RawNode<'a> {
    pub const NULL: RawNode<'static> = RawNode("null");

    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Returns the field of that name, if this is an object that has it.
    pub fn get(self, name: &str) -> Option<Self> {
        let mut found = None;
        let mut document = serde_json::Deserializer::from_str(self.0);
        // stopping at the field is an error for the deserializer; the syntax of the rest was checked on arrival
        document.deserialize_map(FieldVisitor { name, found: &mut found }).ok();
        found
    }

    /// Follows these field names from one object to the next.
    pub fn find_path(self, names: &[&str]) -> Option<Self> {
        names.iter().try_fold(self, |node, name| node.get(name))
    }

    /// Returns the elements, if this is an array no longer than a page can be.
    pub fn as_elements(self) -> Option<Vec<Self>> {
        serde_json::from_str::<BoundedVec<Self>>(self.0).ok().map(|elements| elements.0)
    }

    pub fn as_text(self) -> Option<String> {
        if self.0.starts_with('"') { serde_json::from_str(self.0).ok() } else { None }
    }

    pub fn as_i64(self) -> Option<i64> {
        serde_json::from_str(self.0).ok()
    }

    pub fn as_bool(self) -> Option<bool> {
        serde_json::from_str(self.0).ok()
    }

    /// Parses it as `T`, skipping fields that `T` does not name.
    pub fn parse_as<T: Deserialize<'a>>(self) -> Result<T, String> {
        serde_json::from_str(self.0).map_err(|error| error_reason(&error))
    }

    /// Returns the value's JSON, cut off after this many bytes.
    pub fn clip_text(self, bytes: usize) -> String {
        self.0[..self.0.floor_char_boundary(bytes)].to_owned()
    }
}

/// Returns the error's text without its position, which refers to JSON that is not printed.
fn error_reason(error: &serde_json::Error) -> String {
    let mut reason = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    reason.truncate(reason.strip_suffix(&position).unwrap_or(&reason).len());
    reason.truncate(reason.floor_char_boundary(MAX_REASON_BYTES));
    reason
}

/// Visits an object up to one of its fields.
struct FieldVisitor<'s, 'a> {
    name: &'s str,
    found: &'s mut Option<RawNode<'a>>,
}

impl<'de> Visitor<'de> for FieldVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(is_match) = map.next_key_seed(KeyMatcher(self.name))? {
            if is_match {
                *self.found = Some(map.next_value()?);
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Compares a key without copying it.
struct KeyMatcher<'s>(&'s str);

impl<'de> DeserializeSeed<'de> for KeyMatcher<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyMatcher<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// An array that is rejected if it is longer than any page.
pub(crate) struct BoundedVec<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for BoundedVec<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(BoundedVecVisitor(std::marker::PhantomData)).map(Self)
    }
}

struct BoundedVecVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for BoundedVecVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of at most {MAX_ELEMENTS}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        let mut read = Vec::new();
        while let Some(element) = elements.next_element()? {
            if read.len() == MAX_ELEMENTS {
                return Err(serde::de::Error::invalid_length(MAX_ELEMENTS + 1, &self));
            }
            read.push(element);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_the_text() {
        let document = parse_document(r#"{"a": {"x": [1, "two\n", null]}, "b\"c": true}"#);
        let root = document.root();
        let elements = root.find_path(&["a", "x"]).unwrap().as_elements().unwrap();
        assert_eq!(elements[0].as_i64(), Some(1));
        assert_eq!(elements[1].as_text().as_deref(), Some("two\n"));
        assert!(elements[2].is_null());
        assert_eq!(root.get("b\"c").unwrap().as_bool(), Some(true));
        assert_eq!((root.get("x"), elements[0].get("x")), (None, None));
        assert_eq!((root.as_text(), root.as_i64(), root.as_elements()), (None, None, None));
    }

    #[test]
    fn array_longer_than_any_page_is_rejected() {
        let longest = array_of_zeros(MAX_ELEMENTS);
        assert_eq!(longest.root().as_elements().unwrap().len(), MAX_ELEMENTS);
        assert_eq!(array_of_zeros(MAX_ELEMENTS + 1).root().as_elements(), None);
    }

    #[test]
    fn reason_is_short_and_names_the_mistake() {
        let long = parse_document(&format!("{:?}", "a".repeat(100_000)));
        let reason = long.root().parse_as::<i64>().unwrap_err();
        assert!(reason.starts_with("invalid type: string") && reason.len() <= MAX_REASON_BYTES);
        let missing = parse_document("{}").root().parse_as::<NameSample>().err();
        assert_eq!(missing.as_deref(), Some("missing field `name`"));
    }

    #[derive(Debug, Deserialize)]
    struct NameSample {
        #[expect(dead_code, reason = "only its absence is checked")]
        name: String,
    }

    fn array_of_zeros(count: usize) -> RawDocument {
        parse_document(&format!("[{}]", vec!["0"; count].join(",")))
    }

    fn parse_document(text: &str) -> RawDocument {
        serde_json::from_str(text).unwrap()
    }
}
