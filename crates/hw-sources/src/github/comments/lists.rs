//! The lists of all comments of a repository: the newest of them, and all since a time.

use hw_rules::item::{Item, Observation};
use hw_rules::lane::Surface;
use hw_rules::since::{SincePage, SinceWalk};
use hw_rules::time::Mark;

use super::row::{self, Brief};
use crate::github::rest::{Answer, Content, Get, Next};
use crate::github::{node, twins};
use crate::page::{Subject, Unreadable};
use crate::raw_json::RawNode;
use crate::trouble::Trouble;

/// The newest changes. This address never changes, so that an idle list is answered with a 304.
pub fn newest(surface: Surface, repository_id: i64, size: u32, etag: Option<&str>) -> Get {
    let list = list(surface, repository_id);
    let path = format!("{list}?sort=updated&direction=desc&per_page={size}");
    Get { path, etag: etag.map(str::to_owned) }
}

/// Where a walk is, oldest change first.
pub fn since(
    surface: Surface,
    repository_id: i64,
    walk: &SinceWalk,
    size: u32,
    etag: Option<&str>,
) -> Get {
    let list = list(surface, repository_id);
    let mut path = format!("{list}?sort=updated&direction=asc&per_page={size}");
    if let Some(since) = walk.since.and_then(in_seconds) {
        path += &format!("&since={since}");
    }
    if 1 < walk.page {
        path += &format!("&page={}", walk.page);
    }
    Get { path, etag: etag.map(str::to_owned) }
}

fn list(surface: Surface, repository_id: i64) -> String {
    let of = match surface {
        Surface::IssueComments => "issues",
        Surface::ReviewComments => "pulls",
        Surface::Repositories
        | Surface::Discussions
        | Surface::Issues
        | Surface::PullRequests
        | Surface::Reviews
        | Surface::DiscussionComments => unreachable!("no list takes `since`: {surface:?}"),
    };
    format!("/repositories/{repository_id}/{of}/comments")
}

/// None for a time that no calendar has: then nothing is left out.
fn in_seconds(mark: Mark) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_second(mark.0.div_euclid(1_000)).ok()
}

/// What came of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// The same as under the etag, at this `Date`.
    Unchanged(Mark),
    Page(ListPage),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    pub observations: Vec<Observation>,
    pub page: SincePage,
    pub unreadable: Vec<Unreadable>,
    pub etag: Option<String>,
    /// How many rows were asked for.
    pub size: u32,
}

impl ListPage {
    /// The ids of its rows, readable or not.
    pub fn ids(&self) -> impl Iterator<Item = i64> {
        self.page.rows.iter().map(|(id, _)| *id)
    }
}

/// Reads a page of this repository's list, of which `size` rows were asked for.
pub fn read_list(
    answer: &Answer,
    surface: Surface,
    repository_id: i64,
    size: u32,
    request: i64,
) -> Result<Listed, Trouble> {
    let Content::Document(document) = &answer.content else {
        return Ok(Listed::Unchanged(answer.date()));
    };
    let rows = document.root().elements().ok_or_else(|| Trouble::Garbled("not a list".into()))?;
    let seen = answer.seen(request);
    let (mut observations, mut unreadable) = (Vec::new(), Vec::new());
    for row in rows.iter().copied() {
        match row::read(surface.kind(), repository_id, row) {
            Ok(comment) => observations.push(Observation { item: Item::Comment(comment), seen }),
            Err(reason) => {
                unreadable.push(node::unreadable(subject(row, &reason)?, Some(row), reason, seen));
            }
        }
    }
    unreadable.extend(twins::take_out(&mut observations));
    let places = rows.iter().filter_map(|row| Brief::read(*row));
    let places = places.map(|brief| (brief.id, brief.updated_at)).collect();
    let page = SincePage {
        date: answer.date(),
        rows: places,
        has_next: has_next(answer, rows.len(), size),
    };
    let etag = answer.etag.clone();
    Ok(Listed::Page(ListPage { observations, page, unreadable, etag, size }))
}

/// A row without a node id can never be asked for again: the page is no page.
fn subject(row: RawNode<'_>, reason: &str) -> Result<Subject, Trouble> {
    let garbled = || Trouble::Garbled(format!("a row without a node id: {reason}"));
    node::node_subject(row).ok_or_else(garbled)
}

/// A proxy may have dropped the links: then a full page is taken for one of several.
fn has_next(answer: &Answer, rows: usize, size: u32) -> bool {
    match answer.next {
        Next::Yes => true,
        Next::No => false,
        Next::Unsaid => usize::try_from(size).is_ok_and(|size| size <= rows),
    }
}

#[cfg(test)]
#[path = "lists_tests.rs"]
mod tests;
