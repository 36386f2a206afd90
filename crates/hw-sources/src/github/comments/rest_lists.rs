//! The REST lists of a repository's comments: the newest ones, and all since a time.

use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::SinceCommentKind;
use hw_rules::since_walk::{SincePage, SincePosition};
use hw_rules::source_time::SourceInstant;

use super::rest_comment::{self, CommentStub};
use crate::error::SourceError;
use crate::github::rest::{NextLink, RestContent, RestEndpoint, RestRequest, RestResponse};
use crate::github::{duplicate_ids, node};
use crate::page::UnreadableRow;
use crate::query::Query;
use crate::raw_json::RawNode;
use hw_rules::row_subject::RowSubject;

/// Requests one page of a list.
#[derive(Debug, Clone, Copy)]
pub struct CommentListQuery<'a> {
    pub kind: SinceCommentKind,
    pub repository_id: i64,
    pub part: ListPart,
    /// The etag of the last response for the same page.
    pub etag: Option<&'a str>,
}

/// The part of a list that a page shows.
#[derive(Debug, Clone, Copy)]
pub enum ListPart {
    /// The newest changes.
    Newest,
    /// A page of a walk, oldest change first.
    Since(SincePosition),
}

impl Query for CommentListQuery<'_> {
    type Endpoint = RestEndpoint;
    type Page = CommentListResult;

    fn request(&self, size: u32) -> RestRequest {
        let Self { kind, repository_id, part, etag } = *self;
        match part {
            ListPart::Newest => newest_request(kind, repository_id, size, etag),
            ListPart::Since(position) => since_request(kind, repository_id, position, size, etag),
        }
    }

    fn parse(&self, response: &RestResponse, size: u32) -> Result<CommentListResult, SourceError> {
        read_list(response, self.kind, self.repository_id, size)
    }
}

/// Builds the request for the newest changes. Its URL never changes, so an idle list is answered with a 304.
fn newest_request(
    kind: SinceCommentKind,
    repository_id: i64,
    size: u32,
    etag: Option<&str>,
) -> RestRequest {
    let list = list_path(kind, repository_id);
    let path = format!("{list}?sort=updated&direction=desc&per_page={size}");
    RestRequest { path, etag: etag.map(str::to_owned) }
}

/// Builds the request for a page of a walk, oldest change first.
fn since_request(
    kind: SinceCommentKind,
    repository_id: i64,
    position: SincePosition,
    size: u32,
    etag: Option<&str>,
) -> RestRequest {
    let list = list_path(kind, repository_id);
    let mut path = format!("{list}?sort=updated&direction=asc&per_page={size}");
    if let Some(since) = position.since.and_then(to_seconds) {
        path += &format!("&since={since}");
    }
    if position.page > 1 {
        path += &format!("&page={}", position.page);
    }
    RestRequest { path, etag: etag.map(str::to_owned) }
}

fn list_path(kind: SinceCommentKind, repository_id: i64) -> String {
    let threads = match kind {
        SinceCommentKind::Conversation => "issues",
        SinceCommentKind::ReviewComment => "pulls",
    };
    format!("/repositories/{repository_id}/{threads}/comments")
}

/// Returns `None` for a time outside the calendar: then the list is requested from its beginning.
fn to_seconds(mark: SourceInstant) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_second(mark.0.div_euclid(1_000)).ok()
}

/// The response for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentListResult {
    /// Unchanged since the response with the etag, at this `Date`.
    NotModified(SourceInstant),
    Page(CommentListPage),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentListPage {
    pub observations: Vec<ItemObservation>,
    pub since_page: SincePage,
    pub unreadable: Vec<UnreadableRow>,
    pub etag: Option<String>,
    /// The requested page size.
    pub requested_rows: u32,
}

impl CommentListPage {
    /// Returns the ids of its rows, readable or not.
    pub fn row_ids(&self) -> impl Iterator<Item = i64> {
        self.since_page.rows.iter().map(|(id, _)| *id)
    }
}

/// Reads a page of this repository's list that was requested with `size` rows.
fn read_list(
    response: &RestResponse,
    kind: SinceCommentKind,
    repository_id: i64,
    size: u32,
) -> Result<CommentListResult, SourceError> {
    let RestContent::Document(document) = &response.content else {
        return Ok(CommentListResult::NotModified(response.date()));
    };
    let rows = document
        .root()
        .as_elements()
        .ok_or_else(|| SourceError::InvalidResponse("not a list".into()))?;
    let observed_at = response.observed_at();
    let (mut observations, mut unreadable) = (Vec::new(), Vec::new());
    for row in rows.iter().copied() {
        match rest_comment::read_comment(kind.into(), repository_id, row) {
            Ok(comment) => observations
                .push(ItemObservation { item: MirrorItem::Comment(comment), observed_at }),
            Err(reason) => {
                unreadable.push(node::unreadable_row(
                    row_subject(row, &reason)?,
                    Some(row),
                    reason,
                    observed_at,
                ));
            }
        }
    }
    unreadable.extend(duplicate_ids::extract_duplicates(&mut observations));
    let stubs = rows.iter().filter_map(|row| CommentStub::read(*row));
    let page = SincePage {
        date: response.date(),
        rows: stubs.map(|stub| (stub.id, stub.updated_at)).collect(),
        has_next: has_next(response, rows.len(), size),
    };
    let etag = response.etag.clone();
    Ok(CommentListResult::Page(CommentListPage {
        observations,
        since_page: page,
        unreadable,
        etag,
        requested_rows: size,
    }))
}

/// Returns the subject of a row. Without a node id the row could never be requested again, so the page is unusable.
fn row_subject(row: RawNode<'_>, reason: &str) -> Result<RowSubject, SourceError> {
    node::node_subject(row)
        .ok_or_else(|| SourceError::InvalidResponse(format!("a row without a node id: {reason}")))
}

/// Returns true if more pages follow. A proxy may have dropped the links: then a full page counts as one of several.
fn has_next(response: &RestResponse, rows: usize, size: u32) -> bool {
    match response.next_link {
        NextLink::Present => true,
        NextLink::Absent => false,
        NextLink::Unknown => usize::try_from(size).is_ok_and(|size| rows >= size),
    }
}

#[cfg(test)]
#[path = "rest_lists_tests.rs"]
mod tests;
