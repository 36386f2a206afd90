//! Which address a browser shows while somebody searches, and what its back button does.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::asked::Asked;

const CURRENT: &str = "hx-current-url";
const PUSH: HeaderName = HeaderName::from_static("hx-push-url");
const REPLACE: HeaderName = HeaderName::from_static("hx-replace-url");

/// How a query enters the browser's history: the first one, and each that was finished, has an entry of its
/// own; one that is being typed takes the place of the one before it, if that was being typed, too.
pub(super) fn entry(
    headers: &HeaderMap,
    query: &str,
    is_typed_on: bool,
) -> Option<(HeaderName, HeaderValue)> {
    let current = query_of(headers.get(CURRENT)?.to_str().ok()?);
    if current == query {
        return None;
    }
    let name = if is_typed_on && !current.is_empty() { REPLACE } else { PUSH };
    Some((name, HeaderValue::from_str(&address(query)).ok()?))
}

/// Where a query has its page.
fn address(query: &str) -> String {
    if query.is_empty() {
        return "/".to_owned();
    }
    let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
    format!("/?q={query}")
}

fn query_of(url: &str) -> String {
    let pairs = url.split_once('?').map(|(_, rest)| rest.split('#').next().unwrap_or_default());
    Asked::of(pairs.unwrap_or_default()).query().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_replaces_and_the_first_letter_and_enter_add() {
        assert_eq!(told("/", "l", true), told_as(&PUSH, "/?q=l"));
        assert_eq!(told("/?q=l", "le", true), told_as(&REPLACE, "/?q=le"));
        assert_eq!(told("/?q=le", "le", false), None);
        assert_eq!(told("/?q=le", "le type:issue", false), told_as(&PUSH, "/?q=le+type%3Aissue"));
        assert_eq!(told("/?q=c%2B%2B#x", "c++", true), None);
        assert_eq!(told("/?q=l", "", true), told_as(&REPLACE, "/"));
    }

    fn told(current: &str, query: &str, is_unfinished: bool) -> Option<(HeaderName, HeaderValue)> {
        let current = HeaderValue::from_str(&format!("http://localhost:1{current}")).unwrap();
        let headers = HeaderMap::from_iter([(HeaderName::from_static(CURRENT), current)]);
        entry(&headers, query, is_unfinished)
    }

    fn told_as(name: &HeaderName, address: &str) -> Option<(HeaderName, HeaderValue)> {
        Some((name.clone(), HeaderValue::from_str(address).unwrap()))
    }
}
