//! Checks the addresses of links, and finds the spelling that all links to a page share.

use url::{Host, Url};

/// The longest address that is stored: browsers and proxies accept no longer ones.
pub const MAX_URL_BYTES: usize = 2_048;

/// Parameters that only record how a reader came to a page.
const TRACKING_PARAMETERS: [&str; 26] = [
    "_hsenc",
    "_hsmi",
    "dclid",
    "fb_action_ids",
    "fb_action_types",
    "fb_ref",
    "fb_source",
    "fbclid",
    "gbraid",
    "gclid",
    "gclsrc",
    "igsh",
    "igshid",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "ref_src",
    "ref_url",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "yclid",
];
const TRACKING_PREFIX: &str = "utm_";

/// The address of a page on the web.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkAddress {
    /// As a browser requests it: ASCII, without blanks and control characters.
    pub url: String,
    /// The spelling that all links to the same page share.
    pub normal: String,
}

impl LinkAddress {
    /// Parses the address of a link; none unless it is one of the web's, with a host and of a sensible length.
    ///
    /// Other schemes, such as `javascript:` and `data:`, would run or show something of the author's in place of a page.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_URL_BYTES {
            return None;
        }
        let url = Url::parse(text).ok()?;
        if !matches!(url.scheme(), "http" | "https") || !has_plain_host(&url) {
            return None;
        }
        let normal = normalize_url(url.clone());
        let url = String::from(url);
        (url.len() <= MAX_URL_BYTES && normal.len() <= MAX_URL_BYTES)
            .then_some(Self { url, normal })
    }
}

/// Returns true if the host is an IP address or a domain name. The parser also accepts quotes in names.
fn has_plain_host(url: &Url) -> bool {
    url.host().is_some_and(|host| match host {
        Host::Domain(name) => {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        }
        Host::Ipv4(_) | Host::Ipv6(_) => true,
    })
}

/// Returns the spelling that all links to the same page share.
///
/// The parser already writes scheme and host in lower case and drops the default port. Dropped here: credentials, `www.`,
/// the fragment, tracking parameters and the slash at the end. The other parameters keep their order, because some
/// pages depend on it.
fn normalize_url(mut url: Url) -> String {
    strip_www(&mut url);
    let path = url.path().trim_end_matches('/').to_owned();
    let query = url.query().map(strip_tracking).filter(|query| !query.is_empty());
    let origin = url.origin().ascii_serialization();
    match query {
        None => format!("{origin}{path}"),
        Some(query) => format!("{origin}{path}?{query}"),
    }
}

fn strip_www(url: &mut Url) {
    while let Some(rest) = url.host_str().and_then(|host| host.strip_prefix("www."))
        && rest.contains('.')
    {
        let rest = rest.to_owned();
        if url.set_host(Some(&rest)).is_err() {
            return;
        }
    }
}

/// Returns a query without its tracking parameters.
fn strip_tracking(query: &str) -> String {
    let kept: Vec<&str> = query.split('&').filter(|pair| !is_tracking(pair)).collect();
    kept.join("&")
}

fn is_tracking(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or(pair).to_ascii_lowercase();
    name.is_empty() && !pair.contains('=')
        || name.starts_with(TRACKING_PREFIX)
        || TRACKING_PARAMETERS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_of_one_page_share_a_spelling() {
        for (text, normal) in [
            ("https://example.com", "https://example.com"),
            ("HTTPS://WWW.Example.COM:443/", "https://example.com"),
            ("http://example.com:80/a/", "http://example.com/a"),
            ("https://example.com:8443/a", "https://example.com:8443/a"),
            ("https://example.com/a#part", "https://example.com/a"),
            ("https://example.com/a?utm_source=x&utm_MEDIUM=y", "https://example.com/a"),
            ("https://example.com/a/?b=2&fbclid=x&a=1&", "https://example.com/a?b=2&a=1"),
            ("https://example.com/a?ref_src=x&id=7&gclid&mc_eid=3", "https://example.com/a?id=7"),
            ("https://example.com/A/b", "https://example.com/A/b"),
            ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
            ("https://ann:secret@example.com/", "https://example.com"),
            ("https://www.com/", "https://www.com"),
            ("https://[::1]:443/a", "https://[::1]/a"),
        ] {
            assert_eq!(LinkAddress::parse(text).unwrap().normal, normal, "{text}");
        }
    }

    #[test]
    fn address_of_another_scheme_or_length_is_no_link() {
        let longest = format!("https://e.com/{}", "a".repeat(MAX_URL_BYTES - 14));
        assert!(LinkAddress::parse(&longest).is_some());
        // grows when it is escaped
        let growing = format!("https://e.com/{}", "ü".repeat(1_000));
        for text in [
            "",
            "example.com",
            "/a",
            "javascript:alert(1)",
            " java\nscript:alert(1)",
            "JavaScript://example.com/%0aalert(1)",
            "data:text/html,<script>",
            "ftp://example.com/",
            "file:///etc/passwd",
            "mailto:a@example.com",
            "blob:https://example.com/1",
            "https://",
            "https://a\"b.com/",
            &format!("{longest}a"),
            &growing,
        ] {
            assert_eq!(LinkAddress::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn address_has_no_hidden_characters() {
        let address = LinkAddress::parse("https://example.com/\u{202e}a\0b c?\"<x>").unwrap();
        assert_eq!(address.url, "https://example.com/%E2%80%AEa%00b%20c?%22%3Cx%3E");
    }

    proptest! {
        #[test]
        fn normal_address_stays_the_same(text in "https?://(www\\.){0,3}[a-z]{1,9}\\.com(:[0-9]{1,4})?/[ -~]{0,40}") {
            if let Some(address) = LinkAddress::parse(&text) {
                let again = LinkAddress::parse(&address.normal).unwrap();
                prop_assert_eq!(again.normal, address.normal);
            }
        }

        #[test]
        fn address_is_visible_ascii_of_the_web(text in any::<String>(), scheme in "(https?://|)") {
            if let Some(address) = LinkAddress::parse(&format!("{scheme}{text}")) {
                for url in [address.url, address.normal] {
                    prop_assert!(url.starts_with("http://") || url.starts_with("https://"));
                    prop_assert!(url.bytes().all(|byte| byte.is_ascii_graphic()));
                    prop_assert!(!url.contains(['"', '<', '>']));
                }
            }
        }
    }
}
