//! The last word on the markup of a body, whatever went in.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

const TAGS: &str = "a abbr b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h2 h3 \
    h4 h5 h6 hr i ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup \
    table tbody td tfoot th thead tr tt u ul var wbr";

/// The classes that comrak writes and the style sheet knows, each as the whole value of its attribute.
const CLASSES: [&str; 10] = [
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

/// The beginnings of the addresses that the rewriter makes.
const LOCAL: [&str; 2] = ["/threads/", "/?q=author%3A"];

static SANITIZER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut sanitizer = Builder::empty();
    sanitizer
        .tags(TAGS.split_whitespace().collect())
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
        .attribute_filter(|_, attribute, value| is_plain(attribute, value).then_some(value.into()))
        // a wide one scrolls, and has to be reached with the keys for that
        .set_tag_attribute_value("table", "tabindex", "0")
        // the bullets of a list stand where its language begins a line
        .set_tag_attribute_value("ul", "dir", "auto")
        .set_tag_attribute_value("ol", "dir", "auto")
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Custom(Box::new(local_address)))
        .link_rel(Some("nofollow noopener noreferrer"));
    sanitizer
});

/// Returns the markup without anything that is not on the lists.
pub(super) fn sanitize(markup: &str) -> String {
    SANITIZER.clean(markup).to_string()
}

/// Keeps the addresses that the rewriter made; authors' relative ones do not get this far.
fn local_address(address: &str) -> Option<Cow<'_, str>> {
    let is_local = LOCAL.iter().any(|beginning| address.starts_with(beginning));
    let is_footnote = address.strip_prefix('#').is_some_and(is_footnote_id);
    (is_local || is_footnote).then_some(Cow::Borrowed(address))
}

fn is_plain(attribute: &str, value: &str) -> bool {
    match attribute {
        "id" => is_footnote_id(value),
        "class" => CLASSES.contains(&value),
        "align" => matches!(value, "left" | "center" | "right"),
        "aria-label" => value.starts_with("Back to reference "),
        "start" | "colspan" | "rowspan" => {
            value.len() <= 9 && value.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => true,
    }
}

/// Footnotes carry the name of their body, so that no id of the page itself can be taken.
fn is_footnote_id(id: &str) -> bool {
    id.contains("-fn-") || id.contains("-fnref-")
}
