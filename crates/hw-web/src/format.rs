//! Formats texts, numbers and times for pages. Untrusted text is sanitized here and escaped by the templates.

use hw_rules::item::{ObjectKind, ThreadKind};
use hw_rules::safe_text::sanitize_for_display;
use hw_rules::snippet::SnippetPiece;
use hw_rules::source_time::SourceInstant;
use url::{Position, Url};

/// A moment in UTC, as `datetime` attribute and as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DisplayTime {
    pub(crate) iso: String,
    pub(crate) text: String,
}

impl DisplayTime {
    pub(crate) fn new(instant: SourceInstant) -> Self {
        let iso = instant.to_string();
        let text = match (iso.get(..10), iso.get(10..11), iso.get(11..19)) {
            (Some(day), Some("T"), Some(time)) => format!("{day} {time} UTC"),
            _ => iso.clone(),
        };
        Self { iso, text }
    }

    /// Returns the date without the time.
    pub(crate) fn day(&self) -> &str {
        self.text.get(..10).unwrap_or(&self.text)
    }
}

/// Characters of a title or a sentence on a page; GitHub's titles have at most 256.
const MAX_LINE: usize = 1_000;
/// Characters of a name or a label; GitHub's have at most 100.
const MAX_NAME: usize = 100;
/// Characters of a file path.
const MAX_PATH: usize = 300;
/// Bytes of a URL that a page links to.
const MAX_URL: usize = 500;

/// Puts a whole text on one line.
pub(crate) fn single_line(text: &str) -> String {
    sanitize_for_display(text).replace(['\n', '\t'], " ")
}

/// Puts a text on one line, and cuts it where it is longer than any sensible one.
pub(crate) fn format_line(text: &str) -> String {
    truncate_line(text, MAX_LINE)
}

/// Formats a name or a label.
pub(crate) fn format_name(text: &str) -> String {
    truncate_line(text, MAX_NAME)
}

/// Formats a file path.
pub(crate) fn format_path(text: &str) -> String {
    truncate_line(text, MAX_PATH)
}

fn truncate_line(text: &str, max_characters: usize) -> String {
    match text.char_indices().nth(max_characters) {
        Some((end, _)) => format!("{}…", single_line(&text[..end])),
        None => single_line(text),
    }
}

/// Puts a text in pieces on one line, and cuts it like [`format_line`].
pub(crate) fn truncate_pieces(pieces: Vec<SnippetPiece>) -> Vec<SnippetPiece> {
    let mut remaining = MAX_LINE;
    let mut truncated = Vec::new();
    for piece in pieces {
        if remaining == 0 {
            break;
        }
        let text = truncate_line(&piece.text, remaining);
        remaining = remaining.saturating_sub(piece.text.chars().count());
        truncated.push(SnippetPiece { text, is_match: piece.is_match });
    }
    truncated
}

/// Returns the name of an item's kind; all kinds of comments are `comment`.
pub(crate) fn kind_label(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Thread(ThreadKind::Issue) => "issue",
        ObjectKind::Thread(ThreadKind::PullRequest) => "pull request",
        ObjectKind::Thread(ThreadKind::Discussion) => "discussion",
        ObjectKind::Repository => "repository",
        ObjectKind::Comment(_) => "comment",
        ObjectKind::Post => "post",
    }
}

/// Formats a login; `ghost` stands for deleted accounts, as on GitHub.
pub(crate) fn format_author(login: Option<&str>) -> String {
    login.map_or_else(|| "ghost".to_owned(), format_name)
}

/// Returns a URL that a page may link to: HTTP(S), and not too long.
pub(crate) fn external_url(url: &str) -> Option<String> {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    (is_web && url.len() <= MAX_URL).then(|| single_line(url))
}

/// Returns the host of a URL, with its port unless that is the default.
pub(crate) fn url_host(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(Url::has_host)?;
    Some(url[Position::BeforeHost..Position::AfterPort].to_owned())
}

/// Returns the fragment of a URL if it can be the id of an element.
pub(crate) fn url_fragment(url: &str) -> Option<String> {
    let (_, fragment) = url.split_once('#')?;
    let is_id = (1..=MAX_NAME).contains(&fragment.len()) && fragment.chars().all(is_id_char);
    is_id.then(|| fragment.to_owned())
}

fn is_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// Turns a text into the id of an element.
pub(crate) fn element_id(text: &str) -> String {
    text.chars().map(|c| if is_id_char(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_time_is_in_utc() {
        let time = DisplayTime::new(SourceInstant(1_767_323_045_000));
        assert_eq!(time.iso, "2026-01-02T03:04:05Z");
        assert_eq!((&*time.text, time.day()), ("2026-01-02 03:04:05 UTC", "2026-01-02"));
        assert_eq!(DisplayTime::new(SourceInstant::BEGINNING).text, "the beginning");
    }

    #[test]
    fn url_fragment_returns_plain_ids_only() {
        let fragment = url_fragment("https://github.com/a/b/issues/1#issuecomment-7");
        assert_eq!(fragment.as_deref(), Some("issuecomment-7"));
        assert_eq!(url_fragment("https://github.com/a/b#x\"y"), None);
        assert_eq!(url_fragment("https://github.com/a/b#"), None);
    }

    #[test]
    fn texts_of_any_length_are_truncated() {
        assert_eq!(format_name(&"é".repeat(200)), format!("{}…", "é".repeat(100)));
        assert_eq!(format_line("a\tb"), "a b");
        let long_piece = SnippetPiece { text: "x".repeat(700), is_match: true };
        let truncated = truncate_pieces(vec![long_piece; 3]);
        let lengths: Vec<_> = truncated.iter().map(|piece| piece.text.chars().count()).collect();
        assert_eq!(lengths, [700, 301]);
        assert_eq!(external_url(&format!("https://github.com/{}", "a".repeat(500))), None);
        assert_eq!(url_fragment(&format!("#{}", "a".repeat(101))), None);
    }

    #[test]
    fn external_url_accepts_http_only() {
        assert!(external_url("https://github.com/a").is_some());
        assert!(external_url("javascript:alert(1)").is_none());
    }

    #[test]
    fn url_host_has_its_port_and_no_user() {
        for (url, host) in [
            ("https://github.com/acme/pump/issues/12", Some("github.com")),
            ("http://127.0.0.1:8080/acme/pump/pull/1#a", Some("127.0.0.1:8080")),
            ("https://me@ghe.example:8443", Some("ghe.example:8443")),
            ("mailto:me@ghe.example", None),
            ("acme/pump/12", None),
            ("", None),
        ] {
            assert_eq!(url_host(url).as_deref(), host, "{url}");
        }
    }
}
