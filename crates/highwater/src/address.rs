//! Where GitHub is: the addresses that a token may be sent to.

use std::net::{Ipv4Addr, Ipv6Addr};

pub(crate) const API_URL: &str = "https://api.github.com";

/// A source: its name in the mirror, and where REST and GraphQL are spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// `github.com`, or the host of an Enterprise Server, with its port if it is an unusual one.
    pub(crate) host: String,
    /// The REST API, without a slash at its end.
    pub(crate) api: String,
    pub(crate) graphql: String,
}

impl Address {
    /// The source behind these addresses; what is not given follows from the other, or is github.com.
    ///
    /// Both have one host, port included: a token that one host gave out is not shown to another.
    pub(crate) fn of(api: Option<&str>, graphql: Option<&str>) -> Result<Self, String> {
        let host = host_of(api.or(graphql).unwrap_or(API_URL))?;
        let graphql = match graphql {
            Some(url) => checked(url)?.to_owned(),
            None => derived(checked(api.unwrap_or(API_URL))?),
        };
        let other = host_of(&graphql)?;
        if other != host {
            return Err(format!(
                "it is on {other}, the REST API is on {host}, and the token goes to one host only"
            ));
        }
        let api = match api {
            Some(url) => checked(url)?.to_owned(),
            None => beside(&graphql),
        };
        Ok(Self { host, api, graphql })
    }
}

/// An address that a token may be sent to: HTTPS, or this machine itself.
pub(crate) fn checked(url: &str) -> Result<&str, String> {
    let (scheme, authority) = parts(url)?;
    if scheme == "http" && !is_loopback(authority) {
        return Err(format!("{url} is not https: the token would travel in the clear"));
    }
    Ok(url.trim_end_matches('/'))
}

/// GraphQL's address beside that of the REST API; an Enterprise Server has both below `/api`.
fn derived(api: &str) -> String {
    format!("{}/graphql", api.strip_suffix("/v3").filter(|it| it.ends_with("/api")).unwrap_or(api))
}

/// The REST API's address beside that of GraphQL, likewise.
fn beside(graphql: &str) -> String {
    let base = graphql.strip_suffix("/graphql").unwrap_or(graphql);
    if base.ends_with("/api") { format!("{base}/v3") } else { base.to_owned() }
}

fn host_of(url: &str) -> Result<String, String> {
    let (scheme, authority) = parts(url)?;
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let host = authority.to_ascii_lowercase();
    let host = host.strip_suffix(usual).unwrap_or(&host);
    Ok(if host == "api.github.com" { "github.com" } else { host }.to_owned())
}

/// Scheme and authority. Whatever two readers of an address could read differently is refused.
fn parts(url: &str) -> Result<(&'static str, &str), String> {
    let wrong = || format!("{url:?} is no address such as {API_URL}");
    let (scheme, rest) = match url.split_once("://").ok_or_else(wrong)? {
        ("https", rest) => ("https", rest),
        ("http", rest) => ("http", rest),
        _ => return Err(wrong()),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let in_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    let in_path = |c: char| in_host(c) || matches!(c, '/' | '_' | '~' | '%');
    let is_fine =
        !authority.is_empty() && authority.chars().all(in_host) && rest.chars().all(in_path);
    if is_fine { Ok((scheme, authority)) } else { Err(wrong()) }
}

/// Whether a host, with or without its port, is this machine.
pub(crate) fn is_loopback(authority: &str) -> bool {
    if let Some(rest) = authority.strip_prefix('[') {
        let address = rest.split(']').next().and_then(|it| it.parse::<Ipv6Addr>().ok());
        return address.is_some_and(|it| it.is_loopback());
    }
    let host = authority.split(':').next().unwrap_or_default();
    host == "localhost" || host.parse::<Ipv4Addr>().is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphql_is_found_beside_the_api() {
        let at = |api: Option<&str>| {
            let Address { host, graphql, .. } = Address::of(api, None).unwrap();
            (host, graphql)
        };
        let pair = |host: &str, graphql: &str| (host.to_owned(), graphql.to_owned());
        assert_eq!(at(None), pair("github.com", "https://api.github.com/graphql"));
        let ghes = pair("ghe.example.com", "https://ghe.example.com/api/graphql");
        assert_eq!(at(Some("https://GHE.example.com/api/v3/")).0, ghes.0);
        assert_eq!(at(Some("https://ghe.example.com/api/v3")), ghes);
        let local = pair("127.0.0.1:8080", "http://127.0.0.1:8080/graphql");
        assert_eq!(at(Some("http://127.0.0.1:8080")), local);
    }

    #[test]
    fn the_address_that_is_given_names_the_source() {
        let ghes = "https://ghe.example.com:8443/api/graphql";
        assert_eq!(Address::of(None, Some(ghes)).unwrap().host, "ghe.example.com:8443");
        assert_eq!(
            Address::of(Some("https://api.github.com:443"), None).unwrap().host,
            "github.com"
        );
    }

    #[test]
    fn both_addresses_have_one_host() {
        let of = |api, graphql| Address::of(Some(api), Some(graphql)).is_ok();
        assert!(of("https://api.github.com", "https://API.github.com:443/graphql"));
        assert!(of("https://ghe.example.com/api/v3", "https://ghe.example.com/api/graphql"));
        assert!(!of("https://api.github.com", "https://example.com/graphql"));
        assert!(!of("https://ghe.example.com/api/v3", "https://api.github.com/graphql"));
        assert!(!of("https://ghe.example.com", "https://ghe.example.com:8443/graphql"));
        assert!(!of("http://127.0.0.1:1", "http://127.0.0.1:2/graphql"));
    }

    #[test]
    fn a_token_never_travels_in_the_clear() {
        for url in ["http://localhost:1", "http://127.0.0.1", "http://[::1]:80/x", "https://a.b"] {
            assert!(checked(url).is_ok(), "{url}");
        }
        for url in [
            "http://api.github.com",
            "http://127.0.0.1.example.com",
            "http://localhost.example.com",
            "http://[2001:db8::1]/",
            "http://127.0.0.1@example.com",
            "http://127.0.0.1\\.example.com",
            "https://user:word@example.com",
            "https://example.com/?a=b",
            "ftp://example.com",
            "example.com",
            "https://",
            "https://a b",
        ] {
            assert!(checked(url).is_err(), "{url}");
        }
    }
}
