//! Allow-lists for the markup of a body. They apply last, so a mistake in an earlier step cannot harm a reader.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

const ALLOWED_TAGS: &str = "a abbr b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h2 h3 \
    h4 h5 h6 hr i ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup \
    table tbody td tfoot th thead tr tt u ul var wbr";

/// Classes that comrak writes and the style sheet defines, each as the whole value of its attribute.
const ALLOWED_CLASSES: [&str; 10] = [
    "contains-task-list",
    "footnotes",
    "language-suggestion",
    "markdown-alert markdown-alert-caution",
    "markdown-alert markdown-alert-important",
    "markdown-alert markdown-alert-note",
    "markdown-alert markdown-alert-tip",
    "markdown-alert markdown-alert-warning",
    "markdown-alert-title",
    "task-list-item",
];

/// Prefixes of the local URLs that the rewriter writes.
const LOCAL_PREFIXES: [&str; 2] = ["/threads/", "/?q=author%3A"];

static SANITIZER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut sanitizer = Builder::empty();
    sanitizer
        .tags(ALLOWED_TAGS.split_whitespace().collect())
        .generic_attributes(HashSet::new())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href", "title", "id", "aria-label"])),
            ("code", HashSet::from(["class"])),
            ("details", HashSet::from(["open"])),
            ("div", HashSet::from(["align", "class"])),
            ("li", HashSet::from(["class", "id"])),
            ("ol", HashSet::from(["start"])),
            ("p", HashSet::from(["align", "class"])),
            ("section", HashSet::from(["class"])),
            ("td", HashSet::from(["align", "colspan", "rowspan"])),
            ("th", HashSet::from(["align", "colspan", "rowspan"])),
            ("ul", HashSet::from(["class"])),
        ]))
        .attribute_filter(|_, attribute, value| {
            is_safe_value(attribute, value).then_some(value.into())
        })
        // a wide table scrolls, so the keyboard has to reach it
        .set_tag_attribute_value("table", "tabindex", "0")
        // the bullets of a list go to the side where lines begin in its language
        .set_tag_attribute_value("ul", "dir", "auto")
        .set_tag_attribute_value("ol", "dir", "auto")
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Custom(Box::new(keep_local_address)))
        .link_rel(Some("nofollow noopener noreferrer"));
    sanitizer
});

/// Removes everything from the markup that is not on the lists.
pub(super) fn sanitize_markup(markup: &str) -> String {
    SANITIZER.clean(markup).to_string()
}

/// Keeps the local URLs that the rewriter wrote; it has already removed the authors' relative ones.
fn keep_local_address(address: &str) -> Option<Cow<'_, str>> {
    let is_local = LOCAL_PREFIXES.iter().any(|prefix| address.starts_with(prefix));
    let is_footnote = address.strip_prefix('#').is_some_and(is_footnote_id);
    (is_local || is_footnote).then_some(Cow::Borrowed(address))
}

fn is_safe_value(attribute: &str, value: &str) -> bool {
    match attribute {
        "id" => is_footnote_id(value),
        "class" => ALLOWED_CLASSES.contains(&value),
        "align" => matches!(value, "left" | "center" | "right"),
        "aria-label" => value.starts_with("Back to reference "),
        "start" | "colspan" | "rowspan" => {
            value.len() <= 9 && value.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => true,
    }
}

/// Checks for the id of a footnote. It starts with the name of its body, so it never collides with an id of the page.
fn is_footnote_id(id: &str) -> bool {
    id.contains("-fn-") || id.contains("-fnref-")
}
