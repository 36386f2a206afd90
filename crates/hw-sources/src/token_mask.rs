//! Masks the token of a request in whatever is answered to it.
//!
//! The bytes are masked before anything reads them: later the text is in the database, in a page, in a log.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;

use crate::transport::{Request, Response, Secretive};

const MASKED: &[u8] = b"[masked]";
/// Anything shorter would be found in ordinary words.
const SHORTEST: usize = 4;
const SHORTEST_ENCODED: usize = 8;

/// The ways in which a response may spell the token of its request.
#[derive(Default)]
pub(crate) struct TokenMask {
    /// Plain, and as JSON and addresses escape it.
    plain: Vec<Vec<u8>>,
    /// The middle of its base64, which does not depend on what stands beside it.
    encoded: Vec<Vec<u8>>,
}

impl TokenMask {
    /// The mask for the secret headers of a request.
    pub(crate) fn from_request(request: &Request) -> Self {
        let mut mask = Self::default();
        for (_, value) in &request.headers {
            if let Secretive::Secret(value) = value {
                // the scheme before the token is no secret
                mask.add_token(value.rsplit(' ').next().unwrap_or_default());
            }
        }
        mask
    }

    fn add_token(&mut self, token: &str) {
        if token.len() < SHORTEST {
            return;
        }
        let upper = escape(token, |byte| format!("%{byte:02X}"));
        let lower = escape(token, |byte| format!("%{byte:02x}"));
        let slashes = token.replace('/', r"\/");
        let json = escape(token, |byte| format!(r"\u{byte:04x}"));
        for form in [token.to_owned(), upper, lower, slashes, json] {
            add(&mut self.plain, form.into_bytes());
        }
        for before in ["", "a", "aa"] {
            let text = format!("{before}{token}");
            for encoded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                // the first and the last characters depend on what stands beside the token
                let middle = encoded.get(4..encoded.len() - 4).unwrap_or_default();
                if middle.len() >= SHORTEST_ENCODED {
                    add(&mut self.encoded, middle.as_bytes().to_vec());
                }
            }
        }
    }

    pub(crate) fn mask_response(&self, mut response: Response) -> Response {
        for (_, value) in &mut response.headers {
            *value = self.mask_text(std::mem::take(value));
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
        for form in &self.plain {
            if let Some(out) = replace(&masked, form, |_, found| found) {
                masked = Cow::Owned(out);
            }
        }
        for form in &self.encoded {
            if let Some(out) = replace(&masked, form, whole_encoding) {
                masked = Cow::Owned(out);
            }
        }
        masked
    }
}

fn add(forms: &mut Vec<Vec<u8>>, form: Vec<u8>) {
    if !forms.contains(&form) {
        forms.push(form);
    }
}

/// The token with everything but letters and digits escaped.
fn escape(token: &str, escaped: impl Fn(u8) -> String) -> String {
    let escape = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => escaped(byte),
    };
    token.bytes().map(escape).collect()
}

/// Replaces each place where `form` is found, widened by `widen`; none when it is nowhere.
fn replace(
    bytes: &[u8],
    form: &[u8],
    widen: impl Fn(&[u8], (usize, usize)) -> (usize, usize),
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut kept = 0;
    for found in memmem::find_iter(bytes, form) {
        let (start, end) = widen(bytes, (found, found + form.len()));
        if start >= kept {
            out.extend_from_slice(&bytes[kept..start]);
            out.extend_from_slice(MASKED);
        }
        kept = kept.max(end);
    }
    if kept == 0 {
        return None;
    }
    out.extend_from_slice(&bytes[kept..]);
    Some(out)
}

/// All of the base64 around a part of it: its ends hold the ends of the token.
fn whole_encoding(bytes: &[u8], (start, end): (usize, usize)) -> (usize, usize) {
    let is_encoded = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte);
    let before = bytes[..start].iter().rev().take_while(|byte| is_encoded(byte)).count();
    let after = bytes[end..].iter().take_while(|byte| is_encoded(byte)).count();
    (start - before, end + after)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::transport::Method;

    const TOKEN: &str = "n0where-t0-be-f0und/+Qz7";

    #[test]
    fn token_is_masked_however_it_is_spelled() {
        let encoded = |text: String| STANDARD.encode(text);
        for spelled in [
            TOKEN.to_owned(),
            TOKEN.replace('/', r"\/"),
            TOKEN.replace('-', "%2D").replace('/', "%2F").replace('+', "%2B"),
            TOKEN.replace('-', r"\u002d").replace('/', r"\u002f").replace('+', r"\u002b"),
            encoded(TOKEN.to_owned()),
            encoded(format!("x-access-token:{TOKEN}")),
            encoded(format!("a:{TOKEN}")),
            encoded(format!("me:{TOKEN}\n")),
        ] {
            let answer = masked(&format!("before \"{spelled}\" and {spelled} after"));
            assert_eq!(answer, r#"before "[masked]" and [masked] after"#, "{spelled}");
        }
    }

    #[test]
    fn headers_are_masked_too() {
        let location = ("location".to_owned(), format!("https://elsewhere/?t={TOKEN}"));
        let response = Response { status: 302, headers: vec![location], body: vec![] };
        let response = mask().mask_response(response);
        assert_eq!(response.header("location"), Some("https://elsewhere/?t=[masked]"));
    }

    #[test]
    fn answers_without_the_token_are_left_alone() {
        for text in ["", "Bearer", "n0where", &STANDARD.encode("ordinary text, quite long")] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn short_secret_masks_nothing() {
        let mut mask = TokenMask::default();
        mask.add_token("abc");
        assert_eq!(mask.mask_text("abc".to_owned()), "abc");
    }

    fn masked(text: &str) -> String {
        let body = text.as_bytes().to_vec();
        let response = mask().mask_response(Response { status: 200, headers: vec![], body });
        String::from_utf8(response.body).unwrap()
    }

    fn mask() -> TokenMask {
        let bearer = Secretive::Secret(format!("Bearer {TOKEN}"));
        let headers = vec![("authorization", bearer)];
        let (method, url) = (Method::Get, "https://api.github.com".to_owned());
        TokenMask::from_request(&Request { method, url, headers, body: None })
    }
}
