//! A search hit on the results page.

use hw_rules::item::ObjectKind;
use hw_rules::snippet::SnippetPiece;
use hw_store::{Hit, MatchedComment};

use crate::filter_chips;
use crate::format::{
    self, DisplayTime, element_id, format_author, format_name, kind_label, single_line,
    truncate_pieces,
};
use crate::title::{TitlePart, marked_title_parts};

/// Labels of a hit on the page.
const MAX_LABELS: usize = 20;

pub(super) struct HitView {
    /// The id of its link, which stays the same across updates so that the link keeps the focus.
    pub(super) id: String,
    pub(super) href: String,
    /// The link leads to another site.
    pub(super) is_external: bool,
    pub(super) kind: &'static str,
    /// `owner/repository#number`; the author of a post, and the account that reposted it.
    pub(super) address: String,
    pub(super) state: String,
    pub(super) title: Vec<TitlePart>,
    pub(super) snippet: Vec<SnippetPiece>,
    pub(super) labels: Vec<String>,
    pub(super) created: DisplayTime,
    pub(super) repository: Facet,
    pub(super) author: Facet,
    /// The author of the comment that matched, if a comment did.
    pub(super) comment_author: Option<String>,
}

/// A property of a hit that a user can filter by.
pub(super) struct Facet {
    pub(super) name: String,
    /// The query with this filter; none when the query already has it, or cannot express it.
    pub(super) query: Option<String>,
}

impl HitView {
    pub(super) fn new(hit: Hit, query: &str) -> Self {
        if hit.kind == ObjectKind::Post {
            return Self::from_post(hit, query);
        }
        let address =
            format!("{}/{}#{}", format_name(&hit.owner), format_name(&hit.repository), hit.number);
        let url = hit.matched_comment.as_ref().map_or(&hit.url, |comment| &comment.url);
        let anchor = format::url_fragment(url);
        let path = format!("/threads/{}/{}/{}", hit.owner, hit.repository, hit.number);
        let fragment = anchor.as_deref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
        // a thread has pages, and the server does not receive the fragment
        let at = anchor.as_deref().map(|anchor| format!("?at={anchor}")).unwrap_or_default();
        let id = if hit.kind.is_comment() {
            element_id(&format!("hit-{address}{fragment}"))
        } else {
            element_id(&format!("hit-{address}"))
        };
        Self {
            id,
            href: format!("{path}{at}{fragment}"),
            is_external: false,
            kind: kind_label(hit.kind),
            state: format_name(&hit.state),
            title: marked_title_parts(truncate_pieces(hit.marked_title)),
            snippet: truncate_pieces(hit.snippet),
            labels: hit.labels.iter().take(MAX_LABELS).map(|label| format_name(label)).collect(),
            created: DisplayTime::new(hit.created_at.instant()),
            repository: build_facet(query, "repo", &hit.repository),
            author: hit.author.as_deref().map_or_else(
                || Facet { name: format_author(None), query: None },
                |login| build_facet(query, "author", login),
            ),
            comment_author: hit
                .matched_comment
                .map(|MatchedComment { author, .. }| format_author(author.as_deref())),
            address,
        }
    }
}

impl HitView {
    /// Shows a post, whose page is at its source.
    fn from_post(hit: Hit, query: &str) -> Self {
        let author = hit.author.unwrap_or_default();
        let address = match &hit.reposted_by {
            Some(account) => {
                format!("{}, reposted by {}", format_name(&author), format_name(account))
            }
            None => format_name(&author),
        };
        Self {
            id: format!("hit-post-{}", hit.id),
            href: format::external_url(&hit.url).unwrap_or_else(|| "/posts".to_owned()),
            is_external: true,
            kind: kind_label(hit.kind),
            address,
            state: String::new(),
            title: marked_title_parts(truncate_pieces(hit.marked_title)),
            // the line of a short post is its whole text
            snippet: if hit.title == hit.body.trim() {
                Vec::new()
            } else {
                truncate_pieces(hit.snippet)
            },
            labels: Vec::new(),
            created: DisplayTime::new(hit.created_at.instant()),
            repository: Facet { name: String::new(), query: None },
            author: build_facet(query, "author", &author),
            comment_author: None,
        }
    }
}

fn build_facet(query: &str, key: &str, value: &str) -> Facet {
    let name = format_name(value);
    let is_new = filter_chips::is_short_query(query)
        && name == single_line(value)
        && filter_chips::is_plain_value(&name)
        && !filter_chips::filter_words(query).contains(&&*format!("{key}:{name}"));
    let query = is_new.then(|| filter_chips::replace_filter(query, key, &name));
    Facet { name, query }
}
