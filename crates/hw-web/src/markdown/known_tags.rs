//! Distinguishes HTML from text that only looks like it.
//!
//! An author who writes `Vec<String>` or `<script>` outside of code means text. GitHub's parser escapes dangerous
//! tags and its sanitizer drops unknown ones; readers lose less when both stay visible.

use std::borrow::Cow;

/// Formatting tags: the later steps keep them, rewrite them, or remove them around their content.
const KNOWN_TAGS: &str = " a abbr article aside b bdi bdo big blockquote body br caption center cite code col colgroup dd \
    del details dfn div dl dt em figcaption figure font footer g-emoji h1 h2 h3 h4 h5 h6 head header hr html i img \
    input ins kbd label li main mark nav ol p picture pre q relative-time rp rt ruby s samp section small source \
    span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var video wbr ";

/// Bytes of a tag name that is looked up; no name in the list is longer.
const MAX_NAME: usize = 16;

/// Escapes the `<` of each tag that is not formatting.
pub(super) fn escape_other_tags(markup: &str) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut written = 0;
    for (at, _) in markup.match_indices('<') {
        if is_other_tag(&markup[at + 1..]) {
            escaped.push_str(&markup[written..at]);
            escaped.push_str("&lt;");
            written = at + 1;
        }
    }
    if written == 0 {
        return Cow::Borrowed(markup);
    }
    escaped.push_str(&markup[written..]);
    Cow::Owned(escaped)
}

fn is_other_tag(after: &str) -> bool {
    let name = after.strip_prefix('/').unwrap_or(after);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
    // a name continues until a space, a slash or the end of the tag
    let is_whole =
        name[end..].starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && !(is_whole && is_known_tag(&name[..end]))
}

fn is_known_tag(name: &str) -> bool {
    name.len() <= MAX_NAME && KNOWN_TAGS.contains(&format!(" {} ", name.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tags_stay_and_others_become_text() {
        for (markup, expected) in [
            ("<p>Vec<String></p>", "<p>Vec&lt;String></p>"),
            ("<DETAILS open><Summary>", "<DETAILS open><Summary>"),
            ("<script>x</script>", "&lt;script>x&lt;/script>"),
            ("<br/><br />a < b <3", "<br/><br />a < b <3"),
            ("<p\u{e9}> <p:x> <p", "&lt;p\u{e9}> &lt;p:x> &lt;p"),
            ("<!-- <b> -->", "<!-- <b> -->"),
        ] {
            assert_eq!(escape_other_tags(markup), expected);
        }
    }
}
