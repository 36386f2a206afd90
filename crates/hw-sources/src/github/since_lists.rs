//! The REST lists of a repository that take `since`: comments, and the activity of its threads. Each is read by its
//! newest page, and by walks through all rows since a time.

use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::{SinceCommentKind, SinceList};
use hw_rules::moved_thread::MovedThread;
use hw_rules::row_subject::RowSubject;
use hw_rules::since_walk::{SincePage, SincePosition};
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use serde::Deserialize;

use super::activity_row;
use super::comments::read_rest_comment;
use super::rest::{NextLink, RestEndpoint, RestRequest, RestResponse};
use super::{duplicate_ids, node};
use crate::error::SourceError;
use crate::page::UnreadableRow;
use crate::query::Query;
use crate::raw_json::RawNode;

/// Requests one page of a list.
#[derive(Debug, Clone, Copy)]
pub struct SinceListQuery<'a> {
    pub list: SinceList,
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

impl Query for SinceListQuery<'_> {
    type Endpoint = RestEndpoint;
    type Page = SinceListResult;

    fn request(&self, size: u32) -> RestRequest {
        let Self { list, repository_id, part, etag } = *self;
        match part {
            ListPart::Newest => newest_request(list, repository_id, size, etag),
            ListPart::Since(position) => since_request(list, repository_id, position, size, etag),
        }
    }

    fn parse(&self, response: &RestResponse, size: u32) -> Result<SinceListResult, SourceError> {
        read_list(response, self.list, self.repository_id, size)
    }
}

/// Builds the request for the newest changes. Its URL never changes, so an idle list is answered with a 304.
fn newest_request(
    list: SinceList,
    repository_id: i64,
    size: u32,
    etag: Option<&str>,
) -> RestRequest {
    let list = list_path(list, repository_id);
    let path = format!("{list}sort=updated&direction=desc&per_page={size}");
    RestRequest { path, etag: etag.map(str::to_owned) }
}

/// Builds the request for a page of a walk, oldest change first.
fn since_request(
    list: SinceList,
    repository_id: i64,
    position: SincePosition,
    size: u32,
    etag: Option<&str>,
) -> RestRequest {
    let list = list_path(list, repository_id);
    let mut path = format!("{list}sort=updated&direction=asc&per_page={size}");
    if let Some(since) = position.since.and_then(to_seconds) {
        path += &format!("&since={since}");
    }
    if position.page > 1 {
        path += &format!("&page={}", position.page);
    }
    RestRequest { path, etag: etag.map(str::to_owned) }
}

/// Returns the path of a list, up to the parameters that are the same for all lists.
fn list_path(list: SinceList, repository_id: i64) -> String {
    let list = match list {
        SinceList::Activity => "issues?state=all&",
        SinceList::Comments(SinceCommentKind::Conversation) => "issues/comments?",
        SinceList::Comments(SinceCommentKind::ReviewComment) => "pulls/comments?",
    };
    format!("/repositories/{repository_id}/{list}")
}

/// Returns `None` for a time outside the calendar: then the list is requested from its beginning.
fn to_seconds(mark: SourceInstant) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_second(mark.0.div_euclid(1_000)).ok()
}

/// The response for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SinceListResult {
    /// Unchanged since the response with the etag, at this `Date`.
    NotModified(SourceInstant),
    Page(SinceListPage),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinceListPage {
    /// The items that are listed; none in the list of activity.
    pub observations: Vec<ItemObservation>,
    /// The threads that are listed, in the list of activity.
    pub moved_threads: Vec<MovedThread>,
    pub since_page: SincePage,
    pub unreadable: Vec<UnreadableRow>,
    pub etag: Option<String>,
    /// The requested page size.
    pub requested_rows: u32,
}

impl SinceListPage {
    /// Returns the ids of its rows, readable or not.
    pub fn row_ids(&self) -> impl Iterator<Item = i64> {
        self.since_page.rows.iter().map(|(id, _)| *id)
    }

    /// Returns the page of a list without rows.
    fn new(date: SourceInstant, has_next: bool, requested_rows: u32) -> Self {
        Self {
            observations: Vec::new(),
            moved_threads: Vec::new(),
            since_page: SincePage { date, rows: Vec::new(), has_next },
            unreadable: Vec::new(),
            etag: None,
            requested_rows,
        }
    }

    /// Returns the page that stands for a single row which the source cannot serve.
    pub fn oversized_row(row: UnreadableRow, date: SourceInstant) -> Self {
        Self { unreadable: vec![row], ..Self::new(date, true, 1) }
    }

    /// Adds a row of this repository's list.
    fn read_row(
        &mut self,
        list: SinceList,
        repository_id: i64,
        row: RawNode<'_>,
        observed_at: ObservedAt,
    ) -> Result<(), SourceError> {
        let read = match list {
            // a row is so little that one without it is no row of this list
            SinceList::Activity => {
                let moved = activity_row::read_moved_thread(row);
                self.moved_threads.push(moved.map_err(SourceError::InvalidResponse)?);
                return Ok(());
            }
            SinceList::Comments(kind) => read_rest_comment(kind.into(), repository_id, row),
        };
        match read {
            Ok(comment) => self
                .observations
                .push(ItemObservation { item: MirrorItem::Comment(comment), observed_at }),
            Err(reason) => {
                let subject = row_subject(row, &reason)?;
                let unreadable = node::unreadable_row(subject, Some(row), reason, observed_at);
                self.unreadable.push(unreadable);
            }
        }
        Ok(())
    }
}

/// A row's id and time, which determine its position in the list.
#[derive(Deserialize)]
struct ListedRowStub {
    id: i64,
    updated_at: SourceTime,
}

/// Reads a page of this repository's list that was requested with `size` rows.
fn read_list(
    response: &RestResponse,
    list: SinceList,
    repository_id: i64,
    size: u32,
) -> Result<SinceListResult, SourceError> {
    let Some(document) = response.content.document()? else {
        return Ok(SinceListResult::NotModified(response.date()));
    };
    let rows = document
        .root()
        .as_elements()
        .ok_or_else(|| SourceError::InvalidResponse("not a list".into()))?;
    let mut page = SinceListPage::new(response.date(), has_next(response, rows.len(), size), size);
    page.etag.clone_from(&response.etag);
    for row in rows.iter().copied() {
        page.read_row(list, repository_id, row, response.observed_at())?;
    }
    page.unreadable.extend(duplicate_ids::extract_duplicates(&mut page.observations));
    let stubs = rows.iter().filter_map(|row| row.parse_as::<ListedRowStub>().ok());
    page.since_page.rows = stubs.map(|stub| (stub.id, stub.updated_at)).collect();
    Ok(SinceListResult::Page(page))
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
#[path = "since_lists_tests.rs"]
mod tests;
