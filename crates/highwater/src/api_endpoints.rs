//! GitHub's API endpoints, and which URLs a token may be sent to.

use std::net::{Ipv4Addr, Ipv6Addr};

pub(crate) const DEFAULT_API_URL: &str = "https://api.github.com";

/// The URLs of GitHub's two APIs, and the host's name in the mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiEndpoints {
    /// `github.com`, or the host of an Enterprise Server, with its port unless that is the default.
    pub(crate) host: String,
    /// Without a trailing slash.
    pub(crate) rest_url: String,
    pub(crate) graphql_url: String,
}

impl ApiEndpoints {
    /// Returns the endpoints for these URLs. A missing URL is derived from the other one; without both it is github.com.
    ///
    /// Both URLs must have the same host and port, so that a token of one host is never sent to another.
    pub(crate) fn from_urls(api: Option<&str>, graphql: Option<&str>) -> Result<Self, String> {
        let host = parse_host(api.or(graphql).unwrap_or(DEFAULT_API_URL))?;
        let graphql = match graphql {
            Some(url) => parse_api_url(url)?.to_owned(),
            None => derive_graphql_url(parse_api_url(api.unwrap_or(DEFAULT_API_URL))?),
        };
        let graphql_host = parse_host(&graphql)?;
        if graphql_host != host {
            return Err(format!(
                "the host {graphql_host} differs from that of the REST API ({host}); the token is sent to one host only"
            ));
        }
        let api = match api {
            Some(url) => parse_api_url(url)?.to_owned(),
            None => derive_rest_url(&graphql),
        };
        Ok(Self { host, rest_url: api, graphql_url: graphql })
    }
}

/// Parses a URL that a token may be sent to: HTTPS, or this machine itself.
pub(crate) fn parse_api_url(url: &str) -> Result<&str, String> {
    let UrlParts { scheme, authority } = split_url(url)?;
    if scheme == UrlScheme::Http && !is_loopback(authority) {
        return Err(format!("{url} is not https: the token would be sent in plain text"));
    }
    Ok(url.trim_end_matches('/'))
}

/// Returns the GraphQL URL that goes with a REST URL; an Enterprise Server has both below `/api`.
fn derive_graphql_url(api: &str) -> String {
    let base = api.strip_suffix("/v3").filter(|base| base.ends_with("/api")).unwrap_or(api);
    format!("{base}/graphql")
}

/// Returns the REST URL that goes with a GraphQL URL.
fn derive_rest_url(graphql: &str) -> String {
    let base = graphql.strip_suffix("/graphql").unwrap_or(graphql);
    if base.ends_with("/api") { format!("{base}/v3") } else { base.to_owned() }
}

fn parse_host(url: &str) -> Result<String, String> {
    let UrlParts { scheme, authority } = split_url(url)?;
    let default_port = match scheme {
        UrlScheme::Https => ":443",
        UrlScheme::Http => ":80",
    };
    let host = authority.to_ascii_lowercase();
    let host = host.strip_suffix(default_port).unwrap_or(&host);
    Ok(if host == "api.github.com" { "github.com" } else { host }.to_owned())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum UrlScheme {
    Https,
    Http,
}

struct UrlParts<'a> {
    scheme: UrlScheme,
    authority: &'a str,
}

/// Splits a URL. Refuses every character that two URL parsers could interpret differently.
fn split_url(url: &str) -> Result<UrlParts<'_>, String> {
    let (scheme, rest) = match url.split_once("://") {
        Some(("https", rest)) => (UrlScheme::Https, rest),
        Some(("http", rest)) => (UrlScheme::Http, rest),
        Some(_) | None => return Err(not_a_url_message(url)),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.is_empty() {
        return Err(not_a_url_message(url));
    }
    if authority.contains('@') {
        let problem = "the URL must not contain a user name or password";
        return Err(format!("{problem} (example: {DEFAULT_API_URL})"));
    }
    let is_allowed = authority.chars().all(is_host_char)
        && rest.chars().all(|c| is_host_char(c) || matches!(c, '/' | '_' | '~' | '%'));
    if is_allowed {
        Ok(UrlParts { scheme, authority })
    } else {
        let problem = "contains characters that are not allowed here";
        Err(format!("{url:?} {problem} (example: {DEFAULT_API_URL})"))
    }
}

fn not_a_url_message(url: &str) -> String {
    format!("{url:?} is not an HTTP or HTTPS URL (example: {DEFAULT_API_URL})")
}

/// Returns true for a character of a host with a port; brackets and colons are those of IPv6 addresses.
pub(crate) fn is_host_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']')
}

/// Returns true if a host, with or without a port, is this machine.
pub(crate) fn is_loopback(authority: &str) -> bool {
    if let Some(rest) = authority.strip_prefix('[') {
        // a name may follow the bracket: `[::1].example.com`
        let Some((address, port)) = rest.split_once(']') else { return false };
        let is_port = port.is_empty() || port.starts_with(':');
        return is_port && address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback());
    }
    let host = authority.split(':').next().unwrap_or_default();
    host == "localhost" || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphql_url_is_derived_from_the_rest_url() {
        for (api, host, graphql) in [
            (None, "github.com", "https://api.github.com/graphql"),
            (
                Some("https://ghe.example.com/api/v3"),
                "ghe.example.com",
                "https://ghe.example.com/api/graphql",
            ),
            (Some("http://127.0.0.1:8080"), "127.0.0.1:8080", "http://127.0.0.1:8080/graphql"),
        ] {
            let endpoints = ApiEndpoints::from_urls(api, None).unwrap();
            assert_eq!((endpoints.host.as_str(), endpoints.graphql_url.as_str()), (host, graphql));
        }
        let endpoints = ApiEndpoints::from_urls(Some("https://GHE.example.com/api/v3/"), None);
        assert_eq!(endpoints.unwrap().host, "ghe.example.com");
    }

    #[test]
    fn api_host_comes_from_the_given_url() {
        let ghes = "https://ghe.example.com:8443/api/graphql";
        assert_eq!(ApiEndpoints::from_urls(None, Some(ghes)).unwrap().host, "ghe.example.com:8443");
        assert_eq!(
            ApiEndpoints::from_urls(Some("https://api.github.com:443"), None).unwrap().host,
            "github.com"
        );
    }

    #[test]
    fn api_urls_must_have_the_same_host() {
        for (api, graphql, is_ok) in [
            ("https://api.github.com", "https://API.github.com:443/graphql", true),
            ("https://ghe.example.com/api/v3", "https://ghe.example.com/api/graphql", true),
            ("https://api.github.com", "https://example.com/graphql", false),
            ("https://ghe.example.com/api/v3", "https://api.github.com/graphql", false),
            ("https://ghe.example.com", "https://ghe.example.com:8443/graphql", false),
            ("http://127.0.0.1:1", "http://127.0.0.1:2/graphql", false),
        ] {
            let endpoints = ApiEndpoints::from_urls(Some(api), Some(graphql));
            assert_eq!(endpoints.is_ok(), is_ok, "{api} {graphql}");
        }
    }

    #[test]
    fn api_url_must_be_https_or_local() {
        for url in ["http://localhost:1", "http://127.0.0.1", "http://[::1]:80/x", "https://a.b"] {
            assert!(parse_api_url(url).is_ok(), "{url}");
        }
        for url in [
            "http://api.github.com",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "http://[2001:db8::1]/",
            "http://[::1].example.com",
            "http://127.0.0.1@example.com",
            "http://127.0.0.1\\.example.com",
            "https://user:word@example.com",
            "https://example.com/?a=b",
            "ftp://example.com",
            "example.com",
            "https://",
            "https://a b",
        ] {
            assert!(parse_api_url(url).is_err(), "{url}");
        }
    }
}
