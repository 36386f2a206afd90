//! One thing that was found, as the page shows it.

use hw_rules::snippet::Piece;
use hw_store::{Hit, Said};

use crate::chips;
use crate::texts::{self, When, author, name, pieces, slug, whole_line};
use crate::title::{TitlePart, marked_title_parts};

/// Labels of a hit that are shown.
const MAX_LABELS: usize = 20;

pub(super) struct HitView {
    /// Its name in the page, the same as long as it is found: whoever stands on it stays there.
    pub(super) id: String,
    pub(super) href: String,
    pub(super) kind: &'static str,
    /// `owner/repository#number`
    pub(super) address: String,
    pub(super) state: String,
    pub(super) title: Vec<TitlePart>,
    pub(super) snippet: Vec<Piece>,
    pub(super) labels: Vec<String>,
    pub(super) created: When,
    pub(super) repository: Facet,
    pub(super) author: Facet,
    /// Who said it, when it was said in a comment.
    pub(super) said_by: Option<String>,
}

/// Something to search by.
pub(super) struct Facet {
    pub(super) name: String,
    /// The query with it; none when it is in the query, or cannot be.
    pub(super) query: Option<String>,
}

impl HitView {
    pub(super) fn of(hit: Hit, query: &str) -> Self {
        let kind = kind(hit.type_name());
        let address = format!("{}/{}#{}", name(&hit.owner), name(&hit.repository), hit.number);
        let anchor = hit.said.as_ref().map_or(&hit.url, |said| &said.url);
        let anchor = texts::fragment(anchor);
        let path = format!("/threads/{}/{}/{}", hit.owner, hit.repository, hit.number);
        let behind = anchor.as_deref().map(|it| format!("#{it}")).unwrap_or_default();
        // a thread has pages, and a server does not see what stands behind the `#`
        let at = anchor.as_deref().map(|it| format!("?at={it}")).unwrap_or_default();
        let is_comment = hit.type_name() == "comment";
        let id = if is_comment {
            slug(&format!("hit-{address}{behind}"))
        } else {
            slug(&format!("hit-{address}"))
        };
        Self {
            id,
            href: format!("{path}{at}{behind}"),
            kind,
            state: name(&hit.state),
            title: marked_title_parts(pieces(hit.marked_title)),
            snippet: pieces(hit.snippet),
            labels: hit.labels.iter().take(MAX_LABELS).map(|label| name(label)).collect(),
            created: When::of(hit.created_at.mark()),
            repository: facet(query, "repo", &hit.repository),
            author: hit.author.as_deref().map_or_else(
                || Facet { name: author(None), query: None },
                |login| facet(query, "author", login),
            ),
            said_by: hit.said.map(|Said { author: by, .. }| author(by.as_deref())),
            address,
        }
    }
}

fn facet(query: &str, key: &str, value: &str) -> Facet {
    let shown = name(value);
    let is_new = chips::is_short(query)
        && shown == whole_line(value)
        && chips::is_plain(&shown)
        && !chips::filters(query).contains(&&*format!("{key}:{shown}"));
    let query = is_new.then(|| chips::with(query, key, &shown));
    Facet { name: shown, query }
}

fn kind(name: &str) -> &'static str {
    match name {
        "issue" => "issue",
        "pull_request" => "pull request",
        "discussion" => "discussion",
        _ => "comment",
    }
}
