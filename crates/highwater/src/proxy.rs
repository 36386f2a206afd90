//! A proxy's address, and the credentials in it.

use std::borrow::Cow;

use hw_sources::http::Proxy;

use crate::address;

const EXPECTED: &str = "expected a proxy such as http://proxy.example:3128";

/// Returns what is wrong with a proxy's address, if anything is. It is not repeated: it may hold a password.
pub(crate) fn check(text: &str) -> Result<(), String> {
    if text.starts_with("socks") {
        return Err("SOCKS proxies are not supported: name one with http:// or https://".to_owned());
    }
    let (scheme, rest) = text.split_once("://").ok_or(EXPECTED)?;
    let (credentials, place) = split_credentials(rest);
    let host = place.strip_suffix('/').unwrap_or(place);
    let in_host = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    let in_credentials = |c: char| c.is_ascii_graphic() && !"/?#\\".contains(c);
    let is_fine = matches!(scheme, "http" | "https")
        && !host.is_empty()
        && host.chars().all(in_host)
        && credentials.is_none_or(|it| !it.is_empty() && it.chars().all(in_credentials));
    if is_fine && parse(text).is_some() { Ok(()) } else { Err(EXPECTED.to_owned()) }
}

/// Reads an address that was checked.
pub(crate) fn parse(text: &str) -> Option<Proxy> {
    Proxy::new(text, shown(text).into_owned()).ok()
}

/// Whether it is on this machine, so that what is sent to it in the clear goes over no network.
pub(crate) fn is_local(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    address::is_loopback(split_credentials(rest).1.trim_end_matches('/'))
}

/// Returns the secret in an address: the password, or the name where it stands alone, which then is a token.
pub(crate) fn secret(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let credentials = split_credentials(rest).0?;
    let secret = credentials.split_once(':').map_or(credentials, |(_, password)| password);
    Some(secret).filter(|secret| !secret.is_empty())
}

/// Returns the address for people.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    match secret(text) {
        Some(secret) => {
            let end = text.rfind('@').unwrap_or(text.len());
            Cow::Owned(format!("{}[masked]{}", &text[..end - secret.len()], &text[end..]))
        }
        None => Cow::Borrowed(text),
    }
}

/// Splits what stands behind the scheme into credentials and host.
fn split_credentials(rest: &str) -> (Option<&str>, &str) {
    match rest.rsplit_once('@') {
        Some((credentials, place)) => (Some(credentials), place),
        None => (None, rest),
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
            assert_eq!(check(fine), Ok(()), "{fine}");
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
            assert_eq!(check(wrong), Err(EXPECTED.to_owned()), "{wrong}");
        }
        assert!(check("socks5://proxy.example").unwrap_err().starts_with("SOCKS"));
    }

    #[test]
    fn proxy_is_shown_without_its_secret() {
        for (text, is_shown, is_secret) in [
            ("http://me:s3@h:1", "http://me:[masked]@h:1", Some("s3")),
            ("http://me:p@s3@h", "http://me:[masked]@h", Some("p@s3")),
            ("http://t0ken@h/", "http://[masked]@h/", Some("t0ken")),
            ("http://me:@h", "http://me:@h", None),
            ("http://h:1", "http://h:1", None),
        ] {
            assert_eq!((shown(text).as_ref(), secret(text)), (is_shown, is_secret), "{text}");
        }
    }

    #[test]
    fn proxy_is_local_by_its_host_and_not_by_its_name() {
        assert!(is_local("http://127.0.0.1:3128/") && is_local("http://me:x@[::1]:1"));
        assert!(!is_local("http://localhost:1@proxy.example") && !is_local("http://10.0.0.1"));
    }
}
