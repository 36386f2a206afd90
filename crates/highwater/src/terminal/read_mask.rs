//! Masks the secrets of this run, and texts that look like secrets.

use crate::config::{find_keyword_passwords, mask_passwords};

const MASKED: &str = "[masked]";
/// A shorter secret would match in ordinary words, and the masked places would reveal it.
const MIN_SECRET_BYTES: usize = 4;

/// The prefixes of GitHub's tokens. An unknown token, such as one in a mistyped argument, is masked as well.
const TOKEN_PREFIXES: [&str; 6] = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"];
/// The minimum length of a token after its prefix.
const MIN_TOKEN_REST: usize = 16;

/// The secrets that output must not contain.
#[derive(Default)]
pub(crate) struct SecretMask {
    tokens: Vec<String>,
    /// They may be ordinary words, so they are not masked in results for programs.
    passwords: Vec<String>,
}

impl SecretMask {
    pub(crate) const fn new() -> Self {
        Self { tokens: Vec::new(), passwords: Vec::new() }
    }

    pub(crate) fn hide_token(&mut self, token: &str) {
        add_secret(&mut self.tokens, token);
    }

    pub(crate) fn hide_password(&mut self, password: &str) {
        add_secret(&mut self.passwords, password);
    }

    /// Masks a text for people: messages, logs, lists.
    pub(crate) fn mask_text(&self, text: &str) -> String {
        let text = mask_likely_passwords(&mask_likely_tokens(self.mask_tokens(text)));
        self.passwords.iter().fold(text, |text, password| text.replace(password, MASKED))
    }

    /// Masks a text for programs.
    pub(crate) fn mask_tokens(&self, text: &str) -> String {
        self.tokens.iter().fold(text.to_owned(), |text, token| text.replace(token, MASKED))
    }
}

fn mask_likely_tokens(mut text: String) -> String {
    for prefix in TOKEN_PREFIXES {
        let mut from = 0;
        while let Some(at) = text[from..].find(prefix).map(|at| from + at) {
            let rest = &text[at + prefix.len()..];
            let length =
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            from = at + prefix.len();
            if length >= MIN_TOKEN_REST {
                text.replace_range(at..from + length, MASKED);
                from = at + MASKED.len();
            }
        }
    }
    text
}

/// Masks the passwords in every URL and keyword string in the text, known or not.
fn mask_likely_passwords(text: &str) -> String {
    let text = find_keyword_passwords(text)
        .into_iter()
        .filter(|password| *password != MASKED)
        .fold(text.to_owned(), |text, password| {
            text.replace(&format!("={password}"), &format!("={MASKED}"))
        });
    if !text.contains("://") {
        return text;
    }
    let words = text.split([' ', '\n', '\t', '\'', '"', '`']).filter(|word| word.contains("://"));
    words.fold(text.clone(), |text, word| text.replace(word, &mask_passwords(word)))
}

/// Adds a secret, and its quoted form. The longest secrets come first, so that masking leaves no part of one.
fn add_secret(secrets: &mut Vec<String>, secret: &str) {
    let secret = secret.trim();
    for form in [secret.to_owned(), secret.escape_debug().to_string()] {
        if form.len() >= MIN_SECRET_BYTES && !secrets.contains(&form) {
            secrets.push(form);
        }
    }
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_covers_plain_and_quoted_secrets() {
        let mut mask = SecretMask::new();
        mask.hide_token("t0ken\"x");
        mask.hide_token("t0ken\"x-longer\n");
        mask.hide_password("hunter2");
        assert_eq!(mask.mask_text("a t0ken\"x, t0ken\"x!"), "a [masked], [masked]!");
        assert_eq!(mask.mask_text(&format!("{:?}", "t0ken\"x-longer")), "\"[masked]\"");
        assert_eq!(mask.mask_text("hunter2 t0ken\"x-longer"), "[masked] [masked]");
        assert_eq!(mask.mask_tokens("hunter2 t0ken\"x"), "hunter2 [masked]");
    }

    #[test]
    fn mask_covers_unknown_tokens() {
        let masked = SecretMask::new().mask_text(
            "argument 'ghp_0123456789abcdefGHI' and ghp_short, github_pat_11ABC_0123456789abc",
        );
        assert_eq!(masked, "argument '[masked]' and ghp_short, [masked]");
    }

    #[test]
    fn mask_covers_passwords_in_urls() {
        let masked =
            SecretMask::new().mask_text("'postgres://me:hunter2@h/db' and \"https://a:b@c/d\"");
        assert_eq!(masked, "'postgres://me:[masked]@h/db' and \"https://a:[masked]@c/d\"");
        let keywords =
            SecretMask::new().mask_text("'host=h password=hunter2 user=me': it is wrong");
        assert_eq!(keywords, "'host=h password=[masked] user=me': it is wrong");
        let plain = "see https://example.com/a:b, postgres://…";
        assert_eq!(SecretMask::new().mask_text(plain), plain);
    }

    #[test]
    fn mask_ignores_secrets_that_are_too_short() {
        let mut mask = SecretMask::new();
        mask.hide_token("");
        mask.hide_password("abc");
        assert_eq!(mask.mask_text("abc abc"), "abc abc");
    }
}
