//! The secrets of this run, and texts without them.

use crate::config::{passwords_by_keyword, shown_database};

const MASKED: &str = "[masked]";
/// Anything shorter would be found in ordinary words, and tell itself by what is missing.
const SHORTEST: usize = 4;

/// How GitHub's own tokens begin: one that we do not know, in a mistyped argument say, is shown as little.
const BEGINNINGS: [&str; 6] = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"];
/// How much follows at least.
const REST: usize = 16;

/// What must not be shown.
#[derive(Default)]
pub(crate) struct Mask {
    tokens: Vec<String>,
    /// May be ordinary words, so they are not cut out of results that programs read.
    passwords: Vec<String>,
}

impl Mask {
    pub(crate) const fn new() -> Self {
        Self { tokens: Vec::new(), passwords: Vec::new() }
    }

    pub(crate) fn hide_token(&mut self, token: &str) {
        hide(&mut self.tokens, token);
    }

    pub(crate) fn hide_password(&mut self, password: &str) {
        hide(&mut self.passwords, password);
    }

    /// A text for people: messages, logs, lists.
    pub(crate) fn for_people(&self, text: &str) -> String {
        let text = without_likely_passwords(&without_likely_tokens(self.for_programs(text)));
        self.passwords.iter().fold(text, |text, it| text.replace(it, MASKED))
    }

    /// A text for programs.
    pub(crate) fn for_programs(&self, text: &str) -> String {
        self.tokens.iter().fold(text.to_owned(), |text, it| text.replace(it, MASKED))
    }
}

fn without_likely_tokens(mut text: String) -> String {
    for beginning in BEGINNINGS {
        let mut from = 0;
        while let Some(at) = text[from..].find(beginning).map(|at| from + at) {
            let rest = &text[at + beginning.len()..];
            let in_token = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = rest.find(|c| !in_token(c)).unwrap_or(rest.len());
            from = at + beginning.len();
            if REST <= length {
                text.replace_range(at..from + length, MASKED);
                from = at + MASKED.len();
            }
        }
    }
    text
}

/// Whatever stands between a name and a host is a password, in whoever's address.
fn without_likely_passwords(text: &str) -> String {
    let text = passwords_by_keyword(text)
        .into_iter()
        .filter(|password| *password != MASKED)
        .fold(text.to_owned(), |text, it| text.replace(&format!("={it}"), &format!("={MASKED}")));
    if !text.contains("://") {
        return text;
    }
    let words = text.split([' ', '\n', '\t', '\'', '"', '`']).filter(|word| word.contains("://"));
    words.fold(text.clone(), |text, word| text.replace(word, &shown_database(word)))
}

/// Also as it looks when it is quoted. The longest comes first, so that no part of it is left.
fn hide(secrets: &mut Vec<String>, secret: &str) {
    let secret = secret.trim();
    for form in [secret.to_owned(), secret.escape_debug().to_string()] {
        if SHORTEST <= form.len() && !secrets.contains(&form) {
            secrets.push(form);
        }
    }
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_wherever_and_however_it_stands() {
        let mut mask = Mask::new();
        mask.hide_token("t0ken\"x");
        mask.hide_token("t0ken\"x-longer\n");
        mask.hide_password("hunter2");
        assert_eq!(mask.for_people("a t0ken\"x, t0ken\"x!"), "a [masked], [masked]!");
        assert_eq!(mask.for_people(&format!("{:?}", "t0ken\"x-longer")), "\"[masked]\"");
        assert_eq!(mask.for_people("hunter2 t0ken\"x-longer"), "[masked] [masked]");
        assert_eq!(mask.for_programs("hunter2 t0ken\"x"), "hunter2 [masked]");
    }

    #[test]
    fn what_looks_like_a_token_is_one() {
        let mask = Mask::new();
        let told = mask.for_people(
            "argument 'ghp_0123456789abcdefGHI' and ghp_short, github_pat_11ABC_0123456789abc",
        );
        assert_eq!(told, "argument '[masked]' and ghp_short, [masked]");
    }

    #[test]
    fn what_stands_in_an_address_is_a_password() {
        let told = Mask::new().for_people("'postgres://me:hunter2@h/db' and \"https://a:b@c/d\"");
        assert_eq!(told, "'postgres://me:[masked]@h/db' and \"https://a:[masked]@c/d\"");
        let keywords = Mask::new().for_people("'host=h password=hunter2 user=me': it is wrong");
        assert_eq!(keywords, "'host=h password=[masked] user=me': it is wrong");
        let plain = "see https://example.com/a:b, postgres://…";
        assert_eq!(Mask::new().for_people(plain), plain);
    }

    #[test]
    fn what_is_too_short_to_hide_is_left_alone() {
        let mut mask = Mask::new();
        mask.hide_token("");
        mask.hide_password("abc");
        assert_eq!(mask.for_people("abc abc"), "abc abc");
    }
}
