//! The content of a thread's page: the body and a hundred comments, or one of them alone.

use std::collections::BTreeMap;

use hw_rules::item::ObjectId;
use hw_store::{CommentExcerpt, SkippedRows, StoreError, StoreReader, ThreadOutline};

use super::body_view::BodyView;
use super::comment_order::{CommentPager, OrderedComment, order_comments};
use super::comment_view::CommentView;
use crate::excerpt::{MAX_SOURCE_BYTES, PageBody, fit_bodies};
use crate::format;
use crate::markdown::BodyContext;
use crate::query_params::QueryParams;
use crate::thread_links::{HomeRepository, ThreadLinks};

/// The item name of a thread's own body.
const BODY_ITEM: &str = "body";
/// Slightly more than a page shows, so that a longer body is detected.
#[expect(clippy::cast_possible_truncation, reason = "it is small")]
const EXCERPT_BYTES: u32 = MAX_SOURCE_BYTES as u32 + 4;
/// The greatest length that a database accepts.
const ALL_BYTES: u32 = i32::MAX as u32;

pub(super) struct ThreadContent {
    /// Present on the first page only.
    pub(super) body: Option<BodyView>,
    pub(super) comments: Vec<CommentView>,
    pub(super) pages: CommentPager,
    /// The item that has the page for itself.
    pub(super) alone: Option<String>,
    /// Query parameters that request the same content again.
    pub(super) query: String,
    /// Comments that cannot be read.
    pub(super) skipped: SkippedRows,
}

impl ThreadContent {
    pub(super) fn read(
        store: &StoreReader,
        outline: &ThreadOutline,
        params: &QueryParams,
    ) -> Result<Self, StoreError> {
        let mut comments = order_comments(&outline.comments);
        let pages = CommentPager::new(&comments, params);
        let from = params.get("from").and_then(|from| from.parse().ok()).unwrap_or(0);
        let item = params.get("item").unwrap_or_default();
        if item == BODY_ITEM {
            return Self::read_body(store, outline, pages, from);
        }
        match comments.iter().position(|comment| comment.anchor == item) {
            Some(index) => {
                let comment = comments.swap_remove(index);
                Self::read_comment(store, outline, comment, pages, from)
            }
            None => Self::read_page(store, outline, comments, pages),
        }
    }

    fn read_body(
        store: &StoreReader,
        outline: &ThreadOutline,
        pages: CommentPager,
        from: usize,
    ) -> Result<Self, StoreError> {
        let body = outline.row.thread.body.as_str();
        let links = ThreadLinks::read(store, home_repository(outline), [body])?;
        let body = BodyView::from_part(body, from, body_context(&links));
        Ok(Self { body: Some(body), ..Self::with_single_item(BODY_ITEM, pages, from) })
    }

    fn read_comment(
        store: &StoreReader,
        outline: &ThreadOutline,
        comment: OrderedComment,
        pages: CommentPager,
        from: usize,
    ) -> Result<Self, StoreError> {
        let mut content = Self::with_single_item(&comment.anchor, pages, from);
        let CommentExcerpts { mut by_key, skipped } =
            read_excerpts(store, outline, &[comment.id], ALL_BYTES)?;
        if let Some(CommentExcerpt { row, .. }) = by_key.remove(&comment.key()) {
            let links =
                ThreadLinks::read(store, home_repository(outline), [row.comment.body.as_str()])?;
            let context = comment_context(&links, &comment.anchor);
            let body = BodyView::from_part(&row.comment.body, from, context);
            content.comments.push(CommentView::new(&row.comment, comment, body));
        }
        Ok(Self { skipped, ..content })
    }

    fn with_single_item(item: &str, pages: CommentPager, from: usize) -> Self {
        Self {
            body: None,
            comments: Vec::new(),
            pages,
            alone: Some(item.to_owned()),
            query: format!("&item={item}&from={from}"),
            skipped: SkippedRows::default(),
        }
    }

    fn read_page(
        store: &StoreReader,
        outline: &ThreadOutline,
        comments: Vec<OrderedComment>,
        pages: CommentPager,
    ) -> Result<Self, StoreError> {
        let comments = pages.select_page(comments);
        let ids: Vec<i64> = comments.iter().map(|comment| comment.id).collect();
        let CommentExcerpts { by_key, skipped } =
            read_excerpts(store, outline, &ids, EXCERPT_BYTES)?;
        let stored: Vec<_> = comments
            .into_iter()
            .filter_map(|comment| Some((by_key.get(&comment.key())?, comment)))
            .collect();

        let body = outline.row.thread.body.as_str();
        let own = (pages.page == 1).then_some(body);
        let comment_texts = stored.iter().map(|(excerpt, _)| excerpt.row.comment.body.as_str());
        let links = ThreadLinks::read(
            store,
            home_repository(outline),
            own.into_iter().chain(comment_texts),
        )?;
        let own = own.map(|body| PageBody::new(body, body_context(&links)));
        let comment_bodies = stored.iter().map(|(excerpt, comment)| {
            let context = comment_context(&links, &comment.anchor);
            PageBody::new(&excerpt.row.comment.body, context)
        });
        let mut bodies: Vec<_> = own.into_iter().chain(comment_bodies).collect();
        fit_bodies(&mut bodies);

        let excerpts: Vec<_> = bodies.into_iter().map(|body| body.excerpt).collect();
        let mut excerpts = excerpts.into_iter();
        let body_view = (pages.page == 1).then(|| excerpts.next()).flatten();
        let body_view =
            body_view.map(|excerpt| BodyView::from_excerpt(excerpt, body.len() as u64, BODY_ITEM));
        let comments = stored.into_iter().zip(excerpts).map(|((stored, comment), excerpt)| {
            let body = BodyView::from_excerpt(excerpt, stored.body_bytes, &comment.anchor);
            CommentView::new(&stored.row.comment, comment, body)
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

fn home_repository(outline: &ThreadOutline) -> HomeRepository {
    let row = &outline.row;
    HomeRepository {
        source: row.host.clone(),
        web_host: format::url_host(&row.thread.url).unwrap_or_else(|| row.host.clone()),
        owner: outline.owner.clone(),
        name: row.repository.clone(),
    }
}

/// Returns the context of a thread's own body, which is below the title.
fn body_context(links: &ThreadLinks) -> BodyContext<'_> {
    BodyContext { links, anchor: BODY_ITEM, top_heading: 2 }
}

/// Returns the context of a comment, which is below the heading that counts the comments.
fn comment_context<'a>(links: &'a ThreadLinks, anchor: &'a str) -> BodyContext<'a> {
    BodyContext { links, anchor, top_heading: 3 }
}

struct CommentExcerpts {
    by_key: BTreeMap<ObjectId, CommentExcerpt>,
    skipped: SkippedRows,
}

fn read_excerpts(
    store: &StoreReader,
    outline: &ThreadOutline,
    ids: &[i64],
    max_body: u32,
) -> Result<CommentExcerpts, StoreError> {
    let excerpts = store.comment_excerpts(&outline.row, ids, max_body)?;
    let by_key =
        excerpts.rows.into_iter().map(|excerpt| (excerpt.row.comment.key(), excerpt)).collect();
    Ok(CommentExcerpts { by_key, skipped: excerpts.skipped })
}
