//! JSON that is parsed only where somebody asks: a document stays text, and its values are found in it.
//!
//! Answers come from outside and are up to [`LARGEST_BODY`](crate::transport::LARGEST_BODY) long. Parsed into a tree,
//! one of many tiny values takes more than a hundred times its own size; as text it takes its own.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// How many elements of one array are read: pages have a hundred rows.
const MOST_ELEMENTS: usize = 1_000;
/// How much of an error about a value is stored and shown: it may quote the value.
const REASON_BYTES: usize = 1_000;

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

    /// The field of that name, if this is an object that has it.
    pub fn get(self, name: &str) -> Option<Self> {
        let mut found = None;
        let mut document = serde_json::Deserializer::from_str(self.0);
        // the search ends at the field, which is an error for the deserializer: the rest was checked when it came
        document.deserialize_map(FieldSearch { name, found: &mut found }).ok();
        found
    }

    /// The value at the end of these names.
    pub fn find(self, names: &[&str]) -> Option<Self> {
        names.iter().try_fold(self, |node, name| node.get(name))
    }

    /// The elements, if this is an array that a page can have.
    pub fn elements(self) -> Option<Vec<Self>> {
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

    /// Reads it as a type; whatever the type does not name is skipped.
    pub fn read<T: Deserialize<'a>>(self) -> Result<T, String> {
        serde_json::from_str(self.0).map_err(|error| reason_of(&error))
    }

    /// The text of the value, or as much of it as fits.
    pub fn clip(self, bytes: usize) -> String {
        self.0[..self.0.floor_char_boundary(bytes)].to_owned()
    }
}

/// What is wrong, without the place in a text that nobody sees.
fn reason_of(error: &serde_json::Error) -> String {
    let mut reason = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    reason.truncate(reason.strip_suffix(&place).unwrap_or(&reason).len());
    reason.truncate(reason.floor_char_boundary(REASON_BYTES));
    reason
}

/// Goes through an object up to one of its fields.
struct FieldSearch<'s, 'a> {
    name: &'s str,
    found: &'s mut Option<RawNode<'a>>,
}

impl<'de> Visitor<'de> for FieldSearch<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(is_it) = map.next_key_seed(KeyMatch(self.name))? {
            if is_it {
                *self.found = Some(map.next_value()?);
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Compares a key without taking it out of the text.
struct KeyMatch<'s>(&'s str);

impl<'de> DeserializeSeed<'de> for KeyMatch<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyMatch<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// An array that is refused once it is longer than any page.
pub(crate) struct BoundedVec<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for BoundedVec<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(BoundedVisitor(std::marker::PhantomData)).map(Self)
    }
}

struct BoundedVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for BoundedVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of at most {MOST_ELEMENTS}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        let mut read = Vec::new();
        while let Some(element) = elements.next_element()? {
            if read.len() == MOST_ELEMENTS {
                return Err(serde::de::Error::invalid_length(MOST_ELEMENTS + 1, &self));
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
        let document = document(r#"{"a": {"x": [1, "two\n", null]}, "b\"c": true}"#);
        let root = document.root();
        let elements = root.find(&["a", "x"]).unwrap().elements().unwrap();
        assert_eq!(elements[0].as_i64(), Some(1));
        assert_eq!(elements[1].as_text().as_deref(), Some("two\n"));
        assert!(elements[2].is_null());
        assert_eq!(root.get("b\"c").unwrap().as_bool(), Some(true));
        assert_eq!((root.get("x"), elements[0].get("x")), (None, None));
        assert_eq!((root.as_text(), root.as_i64(), root.elements()), (None, None, None));
    }

    #[test]
    fn array_longer_than_any_page_is_refused() {
        let of = |count: usize| document(&format!("[{}]", vec!["0"; count].join(",")));
        assert_eq!(of(MOST_ELEMENTS).root().elements().unwrap().len(), MOST_ELEMENTS);
        assert_eq!(of(MOST_ELEMENTS + 1).root().elements(), None);
    }

    #[test]
    fn reason_names_what_is_wrong_and_is_short() {
        let long = document(&format!("{:?}", "a".repeat(100_000)));
        let reason = long.root().read::<i64>().unwrap_err();
        assert!(reason.starts_with("invalid type: string") && reason.len() <= REASON_BYTES);
        let missing = document("{}").root().read::<Named>().err();
        assert_eq!(missing.as_deref(), Some("missing field `name`"));
    }

    #[derive(Debug, Deserialize)]
    struct Named {
        #[expect(dead_code, reason = "only its absence is looked at")]
        name: String,
    }

    fn document(text: &str) -> RawDocument {
        serde_json::from_str(text).unwrap()
    }
}
