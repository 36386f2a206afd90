//! Numbered pages over a moving order.

use super::{Finding, Reader};
use crate::github::Circle;
use crate::github::reply::Reply;
use crate::json::Json;
use crate::times;
use crate::world::{Comment, CommentKind, Repository, Thread, ThreadKind};

/// Where GitHub stops turning pages.
const DEEPEST_ISSUE: usize = 10_000;
const DEEPEST_COMMENT: usize = 30_000;

/// An item of a list.
#[derive(Clone, Copy)]
enum Row<'w> {
    Repository(&'w Repository),
    Issue(&'w Thread),
    Pull(&'w Thread),
    Comment(&'w Comment),
}

/// The order a client asked for.
struct Sort {
    by: String,
    descending: bool,
}

impl Sort {
    /// Lists of threads begin at the newest unless told otherwise.
    fn of_threads(reader: Reader<'_>) -> Self {
        let by = reader.request.parameter("sort").unwrap_or_else(|| "created".to_owned());
        let direction = reader.request.parameter("direction");
        Self { by, descending: direction.is_none_or(|it| it == "desc") }
    }

    /// Lists of comments begin at the oldest; without a sort the direction is not looked at.
    fn of_comments(reader: Reader<'_>) -> Self {
        let by = reader.request.parameter("sort");
        let direction = reader.request.parameter("direction");
        let descending = by.is_some() && direction.is_none_or(|it| it == "desc");
        Self { by: by.unwrap_or_default(), descending }
    }

    fn by_id() -> Self {
        Self { by: String::new(), descending: false }
    }
}

/// A whole list, in order, before a page is cut out of it.
pub(super) struct Listing<'w> {
    rows: Vec<Row<'w>>,
    deepest: usize,
}

impl<'w> Listing<'w> {
    pub(super) fn repositories(reader: Reader<'w>) -> Self {
        let mut rows: Vec<_> = reader.view.listed_repositories().collect();
        rows.sort_by_key(|it| (std::cmp::Reverse(it.created_ms), it.id));
        Self { rows: rows.into_iter().map(Row::Repository).collect(), deepest: usize::MAX }
    }

    /// Issues and pull requests alike.
    pub(super) fn issues(reader: Reader<'w>, at: &Repository) -> Self {
        let since = reader.request.parameter("since");
        let since = since.as_deref().and_then(times::parse);
        let state = reader.request.parameter("state");
        let kinds = [ThreadKind::Issue, ThreadKind::PullRequest];
        let listed = kinds.into_iter().flat_map(|kind| reader.view.listed_threads(at, kind));
        let listed = listed.filter(|it| {
            since.is_none_or(|since| 0 < since && since <= times::whole_second(it.updated_ms))
                && in_state(it, state.as_deref())
        });
        let mut rows: Vec<&Thread> = listed.collect();
        sort_threads(reader, &mut rows, &Sort::of_threads(reader), |it| it.issue_id);
        Self { rows: rows.into_iter().map(Row::Issue).collect(), deepest: DEEPEST_ISSUE }
    }

    /// No `since` here.
    pub(super) fn pulls(reader: Reader<'w>, at: &Repository) -> Self {
        let state = reader.request.parameter("state");
        let listed = reader.view.listed_threads(at, ThreadKind::PullRequest);
        let mut rows: Vec<&Thread> = listed.filter(|it| in_state(it, state.as_deref())).collect();
        let mut sort = Sort::of_threads(reader);
        if sort.by != "created" && reader.request.parameter("direction").is_none() {
            sort.descending = false;
        }
        sort_threads(reader, &mut rows, &sort, |it| it.id);
        Self { rows: rows.into_iter().map(Row::Pull).collect(), deepest: DEEPEST_ISSUE }
    }

    pub(super) fn conversation(reader: Reader<'w>, at: &Repository) -> Self {
        Self::of_repository(reader, at, CommentKind::Conversation)
    }

    pub(super) fn review_comments(reader: Reader<'w>, at: &Repository) -> Self {
        Self::of_repository(reader, at, CommentKind::ReviewComment)
    }

    /// Always in the order of ids.
    pub(super) fn thread_comments(reader: Reader<'w>, it: &Thread) -> Self {
        let listed = reader.view.listed_comments(it.index, CommentKind::Conversation);
        Self::comments(reader, listed, &Sort::by_id(), true)
    }

    pub(super) fn pull_comments(reader: Reader<'w>, it: &Thread) -> Self {
        let listed = reader.view.listed_comments(it.index, CommentKind::ReviewComment);
        Self::comments(reader, listed, &Sort::of_comments(reader), true)
    }

    /// In the order of ids, and without `since`.
    pub(super) fn reviews(reader: Reader<'w>, it: &Thread) -> Self {
        let listed = reader.view.listed_comments(it.index, CommentKind::Review);
        Self::comments(reader, listed, &Sort::by_id(), false)
    }

    fn of_repository(reader: Reader<'w>, at: &Repository, kind: CommentKind) -> Self {
        let kinds = [ThreadKind::Issue, ThreadKind::PullRequest];
        let threads = kinds.into_iter().flat_map(|kind| reader.view.listed_threads(at, kind));
        let listed = threads.flat_map(|thread| reader.view.listed_comments(thread.index, kind));
        Self::comments(reader, listed, &Sort::of_comments(reader), true)
    }

    fn comments(
        reader: Reader<'w>,
        listed: impl Iterator<Item = &'w Comment>,
        sort: &Sort,
        has_since: bool,
    ) -> Self {
        let since = reader.request.parameter("since").filter(|_| has_since);
        let since = since.as_deref().and_then(times::parse);
        let kept = |it: &&Comment| {
            let second = times::whole_second(it.updated_ms);
            since.is_none_or(|since| since < second || since == second && !reader.strict_since)
                && reader.view.thread(it.thread).is_some()
        };
        let mut rows: Vec<&Comment> = listed.filter(kept).collect();
        rows.sort_by_key(|it| match &*sort.by {
            "updated" => (times::whole_second(it.updated_ms), it.id),
            "created" => (times::whole_second(it.created_ms), it.id),
            _ => (0, it.id),
        });
        if sort.descending {
            rows.reverse();
        }
        Self { rows: rows.into_iter().map(Row::Comment).collect(), deepest: DEEPEST_COMMENT }
    }

    /// The page asked for, with links to its neighbours.
    pub(super) fn page(self, reader: Reader<'w>) -> Finding {
        let size = reader.request.number("per_page").unwrap_or(30).clamp(1, 100);
        let page = reader.request.number("page").unwrap_or(1).max(1);
        if self.deepest < page.saturating_mul(size) {
            let message = "Pagination with the page parameter is not supported for large datasets, \
                           please use cursor based pagination (after/before)";
            return Finding::Refused(Reply::message(422, message));
        }
        let shown = match reader.view.circle() {
            None => page,
            Some(Circle::Repeating) => 1,
            Some(Circle::Wrapping) => (page - 1) % self.rows.len().div_ceil(size).max(1) + 1,
            Some(Circle::Empty) if page == 1 => 1,
            Some(Circle::Empty) => usize::MAX,
        };
        let from = (shown - 1).saturating_mul(size).min(self.rows.len());
        let to = (from + size).min(self.rows.len());
        let mut json = Json::new();
        json.open_array();
        for row in &self.rows[from..to] {
            row.write(reader, &mut json);
        }
        json.close_array();
        Finding::Page(json.finish(), self.links(reader, page, size))
    }

    /// The last page is not told where counting is dear, as GitHub leaves it out at times.
    fn links(&self, reader: Reader<'w>, page: usize, size: usize) -> Option<String> {
        let last = self.rows.len().div_ceil(size).max(1);
        let mut targets = Vec::new();
        if 1 < page {
            targets.extend([("prev", page - 1), ("first", 1)]);
        }
        if page < last || reader.view.circle().is_some() {
            targets.push(("next", page + 1));
            if last <= 10 {
                targets.push(("last", last));
            }
        }
        let kept = reader.request.parameters_but_page();
        let kept = if kept.is_empty() { kept } else { format!("{kept}&") };
        let base = format!("{}{}", reader.request.base(), reader.request.path);
        let links =
            targets.iter().map(|(rel, page)| format!("<{base}?{kept}page={page}>; rel=\"{rel}\""));
        Some(links.collect::<Vec<_>>().join(", ")).filter(|links| !links.is_empty())
    }
}

impl Row<'_> {
    fn write(self, reader: Reader<'_>, json: &mut Json) {
        match self {
            Self::Repository(it) => reader.repository(json, it),
            Self::Issue(it) => reader.issue(json, it),
            Self::Pull(it) => reader.pull(json, it),
            Self::Comment(it) => reader.comment(json, it),
        }
    }
}

fn in_state(it: &Thread, state: Option<&str>) -> bool {
    match state {
        Some("all") => true,
        Some("closed") => !it.open,
        _ => it.open,
    }
}

fn sort_threads(reader: Reader<'_>, rows: &mut [&Thread], sort: &Sort, id: fn(&Thread) -> i64) {
    rows.sort_by_key(|it| match &*sort.by {
        "updated" => (times::whole_second(it.updated_ms), id(it)),
        "comments" => {
            let comments = reader.view.listed_comments(it.index, CommentKind::Conversation);
            (i64::try_from(comments.count()).unwrap_or(0), id(it))
        }
        _ => (times::whole_second(it.created_ms), id(it)),
    });
    if sort.descending {
        rows.reverse();
    }
}
