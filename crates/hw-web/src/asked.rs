//! What stands behind the question mark of an address.

use std::collections::BTreeMap;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The parameters of a request. Any text has some: of a name that is there twice the last one counts, and what
/// is no text is read as far as it is one.
pub(crate) struct Asked(BTreeMap<String, String>);

impl Asked {
    pub(crate) fn of(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The query; empty when there is none.
    pub(crate) fn query(&self) -> &str {
        self.get("q").unwrap_or_default()
    }

    /// Nobody asked: the page follows the workspace, and wants its changing part alone.
    pub(crate) fn is_live(&self) -> bool {
        self.get("live").is_some()
    }
}

impl<S: Sync> FromRequestParts<S> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(parts.uri.query().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_counts_and_any_text_is_read() {
        let asked = Asked::of("q=a&q=b%20c&x=%ff%zz&live");
        assert_eq!((asked.query(), asked.get("x")), ("b c", Some("\u{fffd}%zz")));
        assert!(asked.is_live() && asked.get("y").is_none());
        assert_eq!(Asked::of("").query(), "");
    }
}
