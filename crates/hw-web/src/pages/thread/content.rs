//! What of a thread a page shows: its body and a hundred comments, or one of these alone.

use std::collections::BTreeMap;

use hw_rules::item::Kind;
use hw_store::{CommentExcerpt, Error, SkippedRows, Store, ThreadOutline};

use super::body_view::BodyView;
use super::comment_order::{CommentPages, OrderedComment, in_order};
use super::said::Said;
use crate::asked::Asked;
use crate::fold::{MAX_SOURCE, PageBody, share_page};
use crate::markdown::BodyContext;
use crate::thread_links::{HomeRepository, ThreadLinks};

/// The name of a thread's own body among its items.
const BODY: &str = "body";
/// A little more than is shown, so that a long body is seen to be one.
#[expect(clippy::cast_possible_truncation, reason = "it is small")]
const EXCERPT_BYTES: u32 = MAX_SOURCE as u32 + 4;
/// The most that a database can be asked for.
const ALL_BYTES: u32 = i32::MAX as u32;

pub(super) struct Content {
    /// Shown on the first page.
    pub(super) body: Option<BodyView>,
    pub(super) comments: Vec<Said>,
    pub(super) pages: CommentPages,
    /// The item that is shown alone.
    pub(super) alone: Option<String>,
    /// Asks for the same once more.
    pub(super) query: String,
    /// Comments that could not be read.
    pub(super) skipped: SkippedRows,
}

impl Content {
    pub(super) fn read(
        store: &Store,
        outline: &ThreadOutline,
        asked: &Asked,
    ) -> Result<Self, Error> {
        let mut comments = in_order(&outline.comments);
        let pages = CommentPages::new(&comments, asked);
        let from = asked.get("from").and_then(|it| it.parse().ok()).unwrap_or(0);
        let item = asked.get("item").unwrap_or_default();
        if item == BODY {
            return Self::body_alone(store, outline, pages, from);
        }
        match comments.iter().position(|it| it.anchor == item) {
            Some(place) => {
                let comment = comments.swap_remove(place);
                Self::comment_alone(store, outline, comment, pages, from)
            }
            None => Self::page(store, outline, comments, pages),
        }
    }

    fn body_alone(
        store: &Store,
        outline: &ThreadOutline,
        pages: CommentPages,
        from: usize,
    ) -> Result<Self, Error> {
        let body = outline.row.thread.body.as_str();
        let links = ThreadLinks::read(store, home(outline), [body])?;
        let body = BodyView::alone(body, from, body_context(&links));
        Ok(Self { body: Some(body), ..Self::alone(BODY, pages, from) })
    }

    fn comment_alone(
        store: &Store,
        outline: &ThreadOutline,
        comment: OrderedComment,
        pages: CommentPages,
        from: usize,
    ) -> Result<Self, Error> {
        let mut content = Self::alone(&comment.anchor, pages, from);
        let (mut bodies, skipped) = read_excerpts(store, outline, &[comment.id], ALL_BYTES)?;
        if let Some(CommentExcerpt { row, .. }) = bodies.remove(&(comment.kind, comment.id)) {
            let links = ThreadLinks::read(store, home(outline), [row.comment.body.as_str()])?;
            let context = comment_context(&links, &comment.anchor);
            let body = BodyView::alone(&row.comment.body, from, context);
            content.comments.push(Said::new(&row.comment, comment, body));
        }
        Ok(Self { skipped, ..content })
    }

    fn alone(item: &str, pages: CommentPages, from: usize) -> Self {
        Self {
            body: None,
            comments: Vec::new(),
            pages,
            alone: Some(item.to_owned()),
            query: format!("&item={item}&from={from}"),
            skipped: SkippedRows::default(),
        }
    }

    fn page(
        store: &Store,
        outline: &ThreadOutline,
        comments: Vec<OrderedComment>,
        pages: CommentPages,
    ) -> Result<Self, Error> {
        let comments = pages.comments(comments);
        let ids: Vec<i64> = comments.iter().map(|it| it.id).collect();
        let (bodies, skipped) = read_excerpts(store, outline, &ids, EXCERPT_BYTES)?;
        let shown: Vec<_> = comments
            .into_iter()
            .filter_map(|comment| Some((bodies.get(&(comment.kind, comment.id))?, comment)))
            .collect();

        let body = outline.row.thread.body.as_str();
        let own = (pages.page == 1).then_some(body);
        let said = shown.iter().map(|(excerpt, _)| excerpt.row.comment.body.as_str());
        let links = ThreadLinks::read(store, home(outline), own.into_iter().chain(said))?;
        let own = own.map(|body| PageBody::new(body, body_context(&links)));
        let said = shown.iter().map(|(excerpt, comment)| {
            let context = comment_context(&links, &comment.anchor);
            PageBody::new(&excerpt.row.comment.body, context)
        });
        let mut bodies: Vec<_> = own.into_iter().chain(said).collect();
        share_page(&mut bodies);

        let excerpts: Vec<_> = bodies.into_iter().map(|body| body.excerpt).collect();
        let mut excerpts = excerpts.into_iter();
        let body_view = (pages.page == 1).then(|| excerpts.next()).flatten();
        let body_view = body_view.map(|it| BodyView::among_others(it, body.len() as u64, BODY));
        let comments = shown.into_iter().zip(excerpts).map(|((stored, comment), excerpt)| {
            let body = BodyView::among_others(excerpt, stored.body_bytes, &comment.anchor);
            Said::new(&stored.row.comment, comment, body)
        });
        Ok(Self {
            body: body_view,
            comments: comments.collect(),
            pages,
            alone: None,
            query: format!("&page={}", pages.page),
            skipped,
        })
    }
}

fn home(outline: &ThreadOutline) -> HomeRepository {
    let row = &outline.row;
    HomeRepository {
        source: row.host.clone(),
        web_host: row.thread.url.split('/').nth(2).unwrap_or(&row.host).to_owned(),
        owner: outline.owner.clone(),
        name: row.repository.clone(),
    }
}

/// A thread's own body stands below its title.
fn body_context(links: &ThreadLinks) -> BodyContext<'_> {
    BodyContext { links, anchor: BODY, top_heading: 2 }
}

/// Comments stand below the heading that counts them.
fn comment_context<'a>(links: &'a ThreadLinks, anchor: &'a str) -> BodyContext<'a> {
    BodyContext { links, anchor, top_heading: 3 }
}

type Excerpts = BTreeMap<(Kind, i64), CommentExcerpt>;

fn read_excerpts(
    store: &Store,
    outline: &ThreadOutline,
    ids: &[i64],
    max_body: u32,
) -> Result<(Excerpts, SkippedRows), Error> {
    let excerpts = store.comment_excerpts(&outline.row, ids, max_body)?;
    let rows = excerpts.rows.into_iter();
    let rows = rows.map(|it| ((it.row.comment.kind, it.row.comment.id), it));
    Ok((rows.collect(), excerpts.skipped))
}
