//! Updates the browser's address and history while a user searches.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::query_params::QueryParams;

const CURRENT_URL: &str = "hx-current-url";
const PUSH_URL: HeaderName = HeaderName::from_static("hx-push-url");
const REPLACE_URL: HeaderName = HeaderName::from_static("hx-replace-url");

/// The state of a query in the search box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryEntry {
    /// The user is typing, and was typing the query before it.
    Typing,
    Finished,
}

/// Returns the header that makes htmx add the query to the browser's history.
///
/// The first query and each finished one get an entry of their own. A query that is being typed replaces the one
/// before it.
pub(super) fn history_header(
    headers: &HeaderMap,
    query: &str,
    entry: QueryEntry,
) -> Option<(HeaderName, HeaderValue)> {
    let current = query_from_url(headers.get(CURRENT_URL)?.to_str().ok()?);
    if current == query {
        return None;
    }
    let name = match entry {
        QueryEntry::Typing if !current.is_empty() => REPLACE_URL,
        QueryEntry::Typing | QueryEntry::Finished => PUSH_URL,
    };
    Some((name, HeaderValue::from_str(&search_url(query)).ok()?))
}

/// Returns the URL of a query's page.
fn search_url(query: &str) -> String {
    if query.is_empty() {
        return "/".to_owned();
    }
    let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
    format!("/?q={query}")
}

fn query_from_url(url: &str) -> String {
    let pairs = url.split_once('?').map(|(_, rest)| rest.split('#').next().unwrap_or_default());
    QueryParams::parse(pairs.unwrap_or_default()).search_query().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_replaced_by_typing_and_extended_by_the_first_letter_and_enter() {
        assert_eq!(header_after("/", "l", QueryEntry::Typing), expected_header(&PUSH_URL, "/?q=l"));
        assert_eq!(
            header_after("/?q=l", "le", QueryEntry::Typing),
            expected_header(&REPLACE_URL, "/?q=le")
        );
        assert_eq!(header_after("/?q=le", "le", QueryEntry::Finished), None);
        assert_eq!(
            header_after("/?q=le", "le type:issue", QueryEntry::Finished),
            expected_header(&PUSH_URL, "/?q=le+type%3Aissue")
        );
        assert_eq!(header_after("/?q=c%2B%2B#x", "c++", QueryEntry::Typing), None);
        assert_eq!(
            header_after("/?q=l", "", QueryEntry::Typing),
            expected_header(&REPLACE_URL, "/")
        );
    }

    fn header_after(
        current: &str,
        query: &str,
        entry: QueryEntry,
    ) -> Option<(HeaderName, HeaderValue)> {
        let current = HeaderValue::from_str(&format!("http://localhost:1{current}")).unwrap();
        let headers = HeaderMap::from_iter([(HeaderName::from_static(CURRENT_URL), current)]);
        history_header(&headers, query, entry)
    }

    fn expected_header(name: &HeaderName, url: &str) -> Option<(HeaderName, HeaderValue)> {
        Some((name.clone(), HeaderValue::from_str(url).unwrap()))
    }
}
