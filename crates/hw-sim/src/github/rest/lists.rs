//! Numbered pages of lists whose order changes.

use super::{RestOutcome, RestReader};
use crate::github::PaginationLoop;
use crate::github::reply::HttpReply;
use crate::json_writer::JsonWriter;
use crate::timestamps;
use crate::world::{CommentKind, SimComment, SimOwner, SimRepository, SimThread, ThreadKind};

/// The depth at which GitHub refuses further pages.
const MAX_ISSUE_DEPTH: usize = 10_000;
const MAX_COMMENT_DEPTH: usize = 30_000;

/// An item of a list.
#[derive(Clone, Copy)]
enum RestRow<'w> {
    Repository(&'w SimRepository),
    Issue(&'w SimThread),
    Pull(&'w SimThread),
    Comment(&'w SimComment),
}

/// The requested order.
struct RestSort {
    sort_field: String,
    is_descending: bool,
}

impl RestSort {
    /// Reads the order of a list of threads, which starts at the newest by default.
    fn for_threads(reader: RestReader<'_>) -> Self {
        let sort_field = reader.request.parameter("sort").unwrap_or_else(|| "created".to_owned());
        let direction = reader.request.parameter("direction");
        Self { sort_field, is_descending: direction.is_none_or(|direction| direction == "desc") }
    }

    /// Reads the order of a list of comments, which starts at the oldest; without a sort the direction is ignored.
    fn for_comments(reader: RestReader<'_>) -> Self {
        let sort_field = reader.request.parameter("sort");
        let direction = reader.request.parameter("direction");
        let is_descending =
            sort_field.is_some() && direction.is_none_or(|direction| direction == "desc");
        Self { sort_field: sort_field.unwrap_or_default(), is_descending }
    }

    fn by_id() -> Self {
        Self { sort_field: String::new(), is_descending: false }
    }
}

/// A complete list, in order, before a page is cut out of it.
pub(super) struct RestListing<'w> {
    rows: Vec<RestRow<'w>>,
    max_depth: usize,
}

impl<'w> RestListing<'w> {
    pub(super) fn for_repositories(reader: RestReader<'w>, owner: &SimOwner) -> Self {
        let mut rows: Vec<_> = reader.view.listed_repositories(owner).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.created_ms), row.id));
        Self { rows: rows.into_iter().map(RestRow::Repository).collect(), max_depth: usize::MAX }
    }

    /// Lists issues and pull requests alike.
    pub(super) fn for_issues(reader: RestReader<'w>, repository: &SimRepository) -> Self {
        let since = reader.request.parameter("since");
        let since = since.as_deref().and_then(timestamps::parse_rfc3339);
        let state = reader.request.parameter("state");
        let listed = listed_issues(reader, repository).filter(|thread| {
            since.is_none_or(|since| since > 0 && reader.is_since(thread.updated_ms, since))
                && is_in_state(thread, state.as_deref())
        });
        let mut rows: Vec<&SimThread> = listed.collect();
        sort_threads(reader, &mut rows, &RestSort::for_threads(reader), |thread| thread.issue_id);
        Self { rows: rows.into_iter().map(RestRow::Issue).collect(), max_depth: MAX_ISSUE_DEPTH }
    }

    /// Lists pull requests; `since` is ignored.
    pub(super) fn for_pull_requests(reader: RestReader<'w>, repository: &SimRepository) -> Self {
        let state = reader.request.parameter("state");
        let listed = reader.view.listed_threads(repository, ThreadKind::PullRequest);
        let mut rows: Vec<&SimThread> =
            listed.filter(|thread| is_in_state(thread, state.as_deref())).collect();
        let mut sort = RestSort::for_threads(reader);
        if sort.sort_field != "created" && reader.request.parameter("direction").is_none() {
            sort.is_descending = false;
        }
        sort_threads(reader, &mut rows, &sort, |thread| thread.id);
        Self { rows: rows.into_iter().map(RestRow::Pull).collect(), max_depth: MAX_ISSUE_DEPTH }
    }

    pub(super) fn for_issue_comments(reader: RestReader<'w>, repository: &SimRepository) -> Self {
        Self::for_repository_comments(reader, repository, CommentKind::Conversation)
    }

    pub(super) fn for_review_comments(reader: RestReader<'w>, repository: &SimRepository) -> Self {
        Self::for_repository_comments(reader, repository, CommentKind::ReviewComment)
    }

    /// Lists the comments of a thread, always in the order of ids.
    pub(super) fn for_thread_comments(reader: RestReader<'w>, thread: &SimThread) -> Self {
        let listed = reader.view.listed_comments(thread.index, CommentKind::Conversation);
        Self::from_comments_since(reader, listed, &RestSort::by_id())
    }

    pub(super) fn for_pull_comments(reader: RestReader<'w>, thread: &SimThread) -> Self {
        let listed = reader.view.listed_comments(thread.index, CommentKind::ReviewComment);
        Self::from_comments_since(reader, listed, &RestSort::for_comments(reader))
    }

    /// Lists the reviews of a pull request in the order of ids; `since` is ignored.
    pub(super) fn for_reviews(reader: RestReader<'w>, thread: &SimThread) -> Self {
        let listed = reader.view.listed_comments(thread.index, CommentKind::Review);
        Self::from_comments(reader, listed, &RestSort::by_id())
    }

    fn for_repository_comments(
        reader: RestReader<'w>,
        repository: &SimRepository,
        kind: CommentKind,
    ) -> Self {
        let listed = listed_issues(reader, repository)
            .flat_map(|thread| reader.view.listed_comments(thread.index, kind));
        Self::from_comments_since(reader, listed, &RestSort::for_comments(reader))
    }

    /// Leaves out the comments before the `since` of the request.
    fn from_comments_since(
        reader: RestReader<'w>,
        listed: impl Iterator<Item = &'w SimComment>,
        sort: &RestSort,
    ) -> Self {
        let since = reader.request.parameter("since");
        let since = since.as_deref().and_then(timestamps::parse_rfc3339);
        let listed = listed
            .filter(|comment| since.is_none_or(|since| reader.is_since(comment.updated_ms, since)));
        Self::from_comments(reader, listed, sort)
    }

    fn from_comments(
        reader: RestReader<'w>,
        listed: impl Iterator<Item = &'w SimComment>,
        sort: &RestSort,
    ) -> Self {
        let mut rows: Vec<&SimComment> =
            listed.filter(|comment| reader.view.thread(comment.thread).is_some()).collect();
        rows.sort_by_key(|comment| match &*sort.sort_field {
            "updated" => (timestamps::floor_to_second(comment.updated_ms), comment.id),
            "created" => (timestamps::floor_to_second(comment.created_ms), comment.id),
            _ => (0, comment.id),
        });
        if sort.is_descending {
            rows.reverse();
        }
        Self {
            rows: rows.into_iter().map(RestRow::Comment).collect(),
            max_depth: MAX_COMMENT_DEPTH,
        }
    }

    /// Cuts out the requested page, with links to its neighbors.
    pub(super) fn cut_page(self, reader: RestReader<'w>) -> RestOutcome {
        let size = reader.request.number_parameter("per_page").unwrap_or(30).clamp(1, 100);
        let page = reader.request.number_parameter("page").unwrap_or(1).max(1);
        if page.saturating_mul(size) > self.max_depth {
            let message = "Pagination with the page parameter is not supported for large datasets, \
                           please use cursor based pagination (after/before)";
            return RestOutcome::Refused(HttpReply::from_message(422, message));
        }
        let served_page = match reader.view.pagination_loop() {
            None => page,
            Some(PaginationLoop::Repeating) => 1,
            Some(PaginationLoop::Wrapping) => {
                (page - 1) % self.rows.len().div_ceil(size).max(1) + 1
            }
            Some(PaginationLoop::Empty) if page == 1 => 1,
            Some(PaginationLoop::Empty) => usize::MAX,
        };
        let from = (served_page - 1).saturating_mul(size).min(self.rows.len());
        let to = (from + size).min(self.rows.len());
        let mut json = JsonWriter::new();
        json.open_array();
        for row in &self.rows[from..to] {
            row.write_json(reader, &mut json);
        }
        json.close_array();
        RestOutcome::Page(json.finish(), self.link_header(reader, page, size))
    }

    /// Builds the `Link` header; a long list has no link to its last page, because GitHub omits it at times.
    fn link_header(&self, reader: RestReader<'w>, page: usize, size: usize) -> Option<String> {
        let last = self.rows.len().div_ceil(size).max(1);
        let mut targets = Vec::new();
        if page > 1 {
            targets.extend([("prev", page - 1), ("first", 1)]);
        }
        if page < last || reader.view.pagination_loop().is_some() {
            targets.push(("next", page + 1));
            if last <= 10 {
                targets.push(("last", last));
            }
        }
        let query = reader.request.query_without_page();
        let query = if query.is_empty() { query } else { format!("{query}&") };
        let base = format!("{}{}", reader.request.base_url(), reader.request.path);
        let links =
            targets.iter().map(|(rel, page)| format!("<{base}?{query}page={page}>; rel=\"{rel}\""));
        Some(links.collect::<Vec<_>>().join(", ")).filter(|links| !links.is_empty())
    }
}

/// The issues and pull requests of a repository: REST calls both issues.
fn listed_issues<'w>(
    reader: RestReader<'w>,
    repository: &SimRepository,
) -> impl Iterator<Item = &'w SimThread> {
    [ThreadKind::Issue, ThreadKind::PullRequest]
        .into_iter()
        .flat_map(move |kind| reader.view.listed_threads(repository, kind))
}

impl RestReader<'_> {
    /// Returns true if a list that is requested with this `since` contains an item that changed then.
    fn is_since(self, updated_ms: i64, since_ms: i64) -> bool {
        let second = timestamps::floor_to_second(updated_ms);
        second > since_ms || second == since_ms && !self.strict_since
    }
}

impl RestRow<'_> {
    fn write_json(self, reader: RestReader<'_>, json: &mut JsonWriter) {
        match self {
            Self::Repository(repository) => reader.write_repository(json, repository),
            Self::Issue(thread) => reader.write_issue(json, thread),
            Self::Pull(thread) => reader.write_pull_request(json, thread),
            Self::Comment(comment) => reader.write_comment(json, comment),
        }
    }
}

fn is_in_state(thread: &SimThread, state: Option<&str>) -> bool {
    match state {
        Some("all") => true,
        Some("closed") => !thread.is_open,
        _ => thread.is_open,
    }
}

fn sort_threads(
    reader: RestReader<'_>,
    rows: &mut [&SimThread],
    sort: &RestSort,
    id: fn(&SimThread) -> i64,
) {
    rows.sort_by_key(|thread| match &*sort.sort_field {
        "updated" => (timestamps::floor_to_second(thread.updated_ms), id(thread)),
        "comments" => {
            let comments = reader.view.listed_comments(thread.index, CommentKind::Conversation);
            (i64::try_from(comments.count()).unwrap_or(0), id(thread))
        }
        _ => (timestamps::floor_to_second(thread.created_ms), id(thread)),
    });
    if sort.is_descending {
        rows.reverse();
    }
}
