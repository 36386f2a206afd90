//! Checks proxy URLs, and finds and masks the credentials in them.

use std::borrow::Cow;

use hw_sources::http_transport::HttpProxy;

use crate::api_endpoints;

const EXPECTED_FORM: &str = "expected a proxy such as http://proxy.example:3128";

/// Checks a proxy URL. The error does not repeat it, because it may contain a password.
pub(crate) fn check_proxy_url(text: &str) -> Result<(), String> {
    if text.starts_with("socks") {
        return Err("SOCKS proxies are not supported; use http:// or https://".to_owned());
    }
    let (scheme, rest) = text.split_once("://").ok_or(EXPECTED_FORM)?;
    let ProxyAuthority { credentials, host } = split_credentials(rest);
    let host = host.strip_suffix('/').unwrap_or(host);
    let is_valid = matches!(scheme, "http" | "https")
        && !host.is_empty()
        && host.chars().all(api_endpoints::is_host_char)
        && credentials.is_none_or(are_valid_credentials);
    if is_valid && parse_proxy_url(text).is_some() { Ok(()) } else { Err(EXPECTED_FORM.to_owned()) }
}

fn are_valid_credentials(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() && !"/?#\\".contains(c))
}

/// Parses a URL that was checked.
pub(crate) fn parse_proxy_url(text: &str) -> Option<HttpProxy> {
    HttpProxy::new(text, mask_secret(text).into_owned()).ok()
}

/// Returns true if the proxy is on this machine, so that plain text sent to it crosses no network.
pub(crate) fn is_local(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    api_endpoints::is_loopback(split_credentials(rest).host.trim_end_matches('/'))
}

/// Returns the secret in a URL: the password, or a user name without a password, which is then a token.
pub(crate) fn find_secret(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let credentials = split_credentials(rest).credentials?;
    let secret = credentials.split_once(':').map_or(credentials, |(_, password)| password);
    Some(secret).filter(|secret| !secret.is_empty())
}

/// Returns the URL with its secret masked.
pub(crate) fn mask_secret(text: &str) -> Cow<'_, str> {
    match find_secret(text) {
        Some(secret) => {
            let end = text.rfind('@').unwrap_or(text.len());
            Cow::Owned(format!("{}[masked]{}", &text[..end - secret.len()], &text[end..]))
        }
        None => Cow::Borrowed(text),
    }
}

struct ProxyAuthority<'a> {
    credentials: Option<&'a str>,
    host: &'a str,
}

/// Splits a URL without its scheme into credentials and host.
fn split_credentials(rest: &str) -> ProxyAuthority<'_> {
    match rest.rsplit_once('@') {
        Some((credentials, host)) => ProxyAuthority { credentials: Some(credentials), host },
        None => ProxyAuthority { credentials: None, host: rest },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_is_a_host_with_or_without_credentials() {
        for fine in [
            "http://proxy.example:3128",
            "https://proxy.example/",
            "http://me:s3cret@[::1]:3128",
            "http://t0ken@127.0.0.1:1",
            "http://me:p@ss%2Fword@proxy.example",
        ] {
            assert_eq!(check_proxy_url(fine), Ok(()), "{fine}");
        }
        for wrong in [
            "",
            "proxy.example:3128",
            "ftp://proxy.example",
            "http://",
            "http://@proxy.example",
            "http://me:s3cret@",
            "http://proxy.example/path",
            "http://proxy.example:99999",
            "http://a b",
            "http://me:s3/cret@proxy.example",
        ] {
            assert_eq!(check_proxy_url(wrong), Err(EXPECTED_FORM.to_owned()), "{wrong}");
        }
        assert!(check_proxy_url("socks5://proxy.example").unwrap_err().starts_with("SOCKS"));
    }

    #[test]
    fn proxy_secret_is_masked() {
        for (text, masked, secret) in [
            ("http://me:s3@h:1", "http://me:[masked]@h:1", Some("s3")),
            ("http://me:p@s3@h", "http://me:[masked]@h", Some("p@s3")),
            ("http://t0ken@h/", "http://[masked]@h/", Some("t0ken")),
            ("http://me:@h", "http://me:@h", None),
            ("http://h:1", "http://h:1", None),
        ] {
            assert_eq!((mask_secret(text).as_ref(), find_secret(text)), (masked, secret), "{text}");
        }
    }

    #[test]
    fn proxy_is_local_by_its_host_not_by_its_credentials() {
        assert!(is_local("http://127.0.0.1:3128/") && is_local("http://me:x@[::1]:1"));
        assert!(!is_local("http://localhost:1@proxy.example") && !is_local("http://10.0.0.1"));
    }
}
