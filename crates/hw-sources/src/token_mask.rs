//! Masks the token or the password of a request wherever the response repeats it.
//!
//! Masking happens before anything else reads the bytes: later the text is in the database, on a page or in a log.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use http::HeaderValue;
use memchr::memmem;
use serde::Deserialize;

use crate::transport::{HttpRequest, HttpResponse};

const MASK_TEXT: &[u8] = b"[masked]";
/// Shorter tokens are not masked: they would match ordinary words.
const MIN_TOKEN_BYTES: usize = 4;
const MIN_ENCODED_BYTES: usize = 8;

/// The ways in which a response may spell the token of its request.
#[derive(Default)]
pub(crate) struct TokenMask {
    /// Plain, and escaped for JSON and URLs.
    plain_forms: Vec<Vec<u8>>,
    /// The middle of its base64, which does not depend on the neighboring text.
    encoded_forms: Vec<Vec<u8>>,
}

impl TokenMask {
    /// Creates the mask for the sensitive headers of a request, and for the password in its body.
    pub(crate) fn from_request(request: &HttpRequest) -> Self {
        let mut mask = Self::default();
        for value in request.headers.values().filter(|value| value.is_sensitive()) {
            let text = String::from_utf8_lossy(value.as_bytes());
            // the scheme before the token is not secret
            mask.add_token(text.rsplit(' ').next().unwrap_or_default());
        }
        if let Some(password) = request.body.as_deref().and_then(find_password) {
            mask.add_token(&password);
        }
        mask
    }

    fn add_token(&mut self, token: &str) {
        if token.len() < MIN_TOKEN_BYTES {
            return;
        }
        let upper = escape_token(token, |byte| format!("%{byte:02X}"));
        let lower = escape_token(token, |byte| format!("%{byte:02x}"));
        let slashes = token.replace('/', r"\/");
        let json = escape_token(token, |byte| format!(r"\u{byte:04x}"));
        for form in [token.to_owned(), upper, lower, slashes, json] {
            push_unique(&mut self.plain_forms, form.into_bytes());
        }
        for before in ["", "a", "aa"] {
            let text = format!("{before}{token}");
            for encoded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                // the first and the last characters depend on the text beside the token
                let middle = encoded.get(4..encoded.len() - 4).unwrap_or_default();
                if middle.len() >= MIN_ENCODED_BYTES {
                    push_unique(&mut self.encoded_forms, middle.as_bytes().to_vec());
                }
            }
        }
    }

    pub(crate) fn mask_response(&self, mut response: HttpResponse) -> HttpResponse {
        for value in response.headers.values_mut() {
            if let Cow::Owned(masked) = self.mask_bytes(value.as_bytes()) {
                *value = HeaderValue::from_bytes(&masked)
                    .expect("parts of a header's value and the mask are valid in a header");
            }
        }
        if let Cow::Owned(body) = self.mask_bytes(&response.body) {
            response.body = body;
        }
        response
    }

    pub(crate) fn mask_text(&self, text: String) -> String {
        match self.mask_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => String::from_utf8_lossy(&masked).into_owned(),
        }
    }

    fn mask_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut masked = Cow::Borrowed(bytes);
        for form in &self.plain_forms {
            if let Some(out) = mask_matches(&masked, form, |_, found| found) {
                masked = Cow::Owned(out);
            }
        }
        for form in &self.encoded_forms {
            if let Some(out) = mask_matches(&masked, form, widen_to_base64) {
                masked = Cow::Owned(out);
            }
        }
        masked
    }
}

/// Returns the password in the JSON body of a login.
fn find_password(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct LoginBody {
        password: String,
    }
    // a document that mentions the word has it in a text, where its quotes are escaped
    memmem::find(body, br#""password""#)?;
    serde_json::from_slice(body).ok().map(|login: LoginBody| login.password)
}

fn push_unique(forms: &mut Vec<Vec<u8>>, form: Vec<u8>) {
    if !forms.contains(&form) {
        forms.push(form);
    }
}

/// Escapes everything in the token except letters and digits.
fn escape_token(token: &str, escape_byte: impl Fn(u8) -> String) -> String {
    token
        .bytes()
        .map(|byte| match byte {
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => escape_byte(byte),
        })
        .collect()
}

/// Masks each occurrence of `form`, widened by `widen`; returns `None` if there is none.
fn mask_matches(
    bytes: &[u8],
    form: &[u8],
    widen: impl Fn(&[u8], Range<usize>) -> Range<usize>,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut copied = 0;
    for start in memmem::find_iter(bytes, form) {
        let masked = widen(bytes, start..start + form.len());
        if masked.start >= copied {
            out.extend_from_slice(&bytes[copied..masked.start]);
            out.extend_from_slice(MASK_TEXT);
        }
        copied = copied.max(masked.end);
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(&bytes[copied..]);
    Some(out)
}

/// Widens a match to all of the base64 around it, because its ends contain the ends of the token.
fn widen_to_base64(bytes: &[u8], found: Range<usize>) -> Range<usize> {
    let before = bytes[..found.start].iter().rev().take_while(|byte| is_base64(**byte)).count();
    let after = bytes[found.end..].iter().take_while(|byte| is_base64(**byte)).count();
    found.start - before..found.end + after
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use http::header::AUTHORIZATION;
    use http::{HeaderMap, Method};

    use super::*;
    use crate::transport::test_headers;

    const TOKEN: &str = "n0where-t0-be-f0und/+Qz7";

    #[test]
    fn token_is_masked_in_every_encoding() {
        for spelled in [
            TOKEN.to_owned(),
            TOKEN.replace('/', r"\/"),
            TOKEN.replace('-', "%2D").replace('/', "%2F").replace('+', "%2B"),
            TOKEN.replace('-', r"\u002d").replace('/', r"\u002f").replace('+', r"\u002b"),
            STANDARD.encode(TOKEN),
            STANDARD.encode(format!("x-access-token:{TOKEN}")),
            STANDARD.encode(format!("a:{TOKEN}")),
            STANDARD.encode(format!("me:{TOKEN}\n")),
        ] {
            let masked = mask_body(&format!("before \"{spelled}\" and {spelled} after"));
            assert_eq!(masked, r#"before "[masked]" and [masked] after"#, "{spelled}");
        }
    }

    #[test]
    fn token_is_masked_in_headers() {
        let location = format!("https://elsewhere/?t={TOKEN}");
        let headers = test_headers(&[("location", &location)]);
        let response = HttpResponse { status: 302, headers, body: vec![] };
        let response = bearer_mask().mask_response(response);
        assert_eq!(response.header("location"), Some("https://elsewhere/?t=[masked]"));
    }

    #[test]
    fn token_mask_covers_the_password_of_a_login() {
        let body = Some(br#"{"identifier":"alice.test","password":"abcd-efgh"}"#.to_vec());
        let (method, url) = (Method::POST, "https://bsky.social".to_owned());
        let mask =
            TokenMask::from_request(&HttpRequest { method, url, headers: HeaderMap::new(), body });
        assert_eq!(mask.mask_text("wrong: abcd-efgh".to_owned()), "wrong: [masked]");
        assert_eq!(find_password(br#"{"query":"\"password\": 7"}"#), None);
    }

    #[test]
    fn response_without_the_token_is_left_alone() {
        for text in ["", "Bearer", "n0where", &STANDARD.encode("ordinary text, quite long")] {
            assert_eq!(mask_body(text), text);
        }
    }

    #[test]
    fn token_that_is_too_short_masks_nothing() {
        let mut mask = TokenMask::default();
        mask.add_token("abc");
        assert_eq!(mask.mask_text("abc".to_owned()), "abc");
    }

    fn mask_body(text: &str) -> String {
        let body = text.as_bytes().to_vec();
        let response = HttpResponse { status: 200, headers: HeaderMap::new(), body };
        let response = bearer_mask().mask_response(response);
        String::from_utf8(response.body).unwrap()
    }

    fn bearer_mask() -> TokenMask {
        let mut bearer = HeaderValue::try_from(format!("Bearer {TOKEN}")).unwrap();
        bearer.set_sensitive(true);
        let headers = HeaderMap::from_iter([(AUTHORIZATION, bearer)]);
        let (method, url) = (Method::GET, "https://api.github.com".to_owned());
        TokenMask::from_request(&HttpRequest { method, url, headers, body: None })
    }
}
