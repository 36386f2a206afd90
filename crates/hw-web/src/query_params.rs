//! The query string of a URL.

use std::collections::BTreeMap;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// The parameters of a request. Parsing never fails: the last value of a repeated name counts, and invalid UTF-8 is
/// replaced.
pub(crate) struct QueryParams(BTreeMap<String, String>);

impl QueryParams {
    pub(crate) fn parse(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the search query; empty when there is none.
    pub(crate) fn search_query(&self) -> &str {
        self.get("q").unwrap_or_default()
    }

    /// Checks whether the page itself sent the request to update its content, so that only the content is needed.
    pub(crate) fn is_live(&self) -> bool {
        self.get("live").is_some()
    }
}

impl<S: Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_params_take_the_last_value_and_any_bytes() {
        let params = QueryParams::parse("q=a&q=b%20c&x=%ff%zz&live");
        assert_eq!((params.search_query(), params.get("x")), ("b c", Some("\u{fffd}%zz")));
        assert!(params.is_live() && params.get("y").is_none());
        assert_eq!(QueryParams::parse("").search_query(), "");
    }
}
