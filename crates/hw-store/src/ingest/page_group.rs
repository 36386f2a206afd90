//! Groups pages that share a round trip to a server: what they are compared with is read for all of them at once,
//! because none of them writes what another one reads.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{ItemObservation, MirrorItem, ObjectId, Thread, ThreadKind};
use hw_rules::lane::Lane;

use super::page_state::thread_comment_lanes;
use super::{IngestPage, PreparedPage};
use crate::sql::Dialect;

/// Returns the first of these pages and those after it that can be compared with the state before all of them. A file
/// has no round trips to save, so each page is a group of its own.
pub(super) fn leading_group<'p, 'a>(
    pages: &'p [PreparedPage<'a>],
    dialect: Dialect,
) -> &'p [PreparedPage<'a>] {
    let length = match dialect {
        Dialect::Sqlite => 1,
        Dialect::Postgres => count_independent(pages),
    };
    pages.get(..length).unwrap_or(pages)
}

fn count_independent(pages: &[PreparedPage<'_>]) -> usize {
    let mut written = GroupWrites::default();
    let mut length = 0;
    for page in pages.iter().map(PreparedPage::page) {
        if length > 0 && (!writes_own_rows_only(page) || written.are_read_by(page)) {
            break;
        }
        written.add(page);
        length += 1;
        if !writes_own_rows_only(page) {
            break;
        }
    }
    length
}

/// Returns true if a page, as far as it shows itself, writes only its items and the row of its lane. A name of a
/// repository changes its texts, and an item enters or leaves the quarantine of any lane.
pub(super) fn writes_own_rows_only(page: &IngestPage) -> bool {
    let has_repository = page
        .observations
        .iter()
        .any(|observation| matches!(observation.item, MirrorItem::Repository(_)));
    !has_repository
        && page.quarantined.is_empty()
        && page.cleared_subjects.is_empty()
        && page.absent_nodes.is_empty()
}

/// What the pages of a group write.
#[derive(Default)]
struct GroupWrites<'a> {
    lanes: BTreeSet<&'a Lane>,
    items: BTreeSet<ObjectId>,
    urls: BTreeSet<(ThreadKind, &'a str)>,
}

impl<'a> GroupWrites<'a> {
    fn add(&mut self, page: &'a IngestPage) {
        self.lanes.insert(&page.lane);
        self.items.extend(page.observations.iter().map(ItemObservation::key));
        self.urls.extend(thread_urls(page));
    }

    fn are_read_by(&self, page: &IngestPage) -> bool {
        self.lanes.contains(&page.lane)
            || page.observations.iter().any(|observation| self.items.contains(&observation.key()))
            || thread_urls(page).any(|url| self.urls.contains(&url))
            || thread_comment_lanes(page).iter().any(|lane| self.lanes.contains(lane))
    }
}

/// Returns the URLs of a page's threads.
fn thread_urls(page: &IngestPage) -> impl Iterator<Item = (ThreadKind, &str)> {
    page_threads(page).map(|thread| (thread.kind(), thread.url.as_str()))
}

/// Returns the id of the thread that each URL of a page belongs to.
pub(super) fn thread_owners(page: &IngestPage) -> BTreeMap<(ThreadKind, &str), i64> {
    page_threads(page).map(|thread| ((thread.kind(), thread.url.as_str()), thread.id)).collect()
}

fn page_threads(page: &IngestPage) -> impl Iterator<Item = &Thread> {
    page.observations.iter().filter_map(|observation| match &observation.item {
        MirrorItem::Thread(thread) => Some(thread),
        MirrorItem::Repository(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use hw_rules::repository_key::RepositoryKey;
    use hw_rules::row_subject::RowSubject;
    use hw_rules::version::ObservedAt;

    use super::*;

    #[test]
    fn group_contains_the_pages_of_different_lanes_and_items() {
        let pages = [issue_page(1, 1), issue_page(2, 2), issue_page(3, 3)];
        assert_eq!(group_length(&pages), 3);
        let group = pages.map(prepare);
        assert_eq!(leading_group(&group, Dialect::Sqlite).len(), 1);
    }

    #[test]
    fn group_ends_before_a_page_that_reads_what_it_writes() {
        assert_eq!(group_length(&[issue_page(1, 1), issue_page(1, 2)]), 1, "one lane");
        assert_eq!(group_length(&[issue_page(1, 1), issue_page(2, 1)]), 1, "one item");
        let mut transferred = issue_page(2, 2);
        transferred.observations = with_url(transferred.observations, &url(1, 1));
        assert_eq!(group_length(&[issue_page(1, 1), transferred]), 1, "one URL");
        let comments = comment_lane_page(2);
        assert_eq!(group_length(&[comments.clone(), issue_page(1, 1)]), 2, "another repository");
        assert_eq!(group_length(&[comments, issue_page(2, 2)]), 1, "the lane of its comments");
    }

    #[test]
    fn group_ends_with_a_page_that_writes_more_than_its_rows() {
        let mut cleared = issue_page(2, 2);
        cleared.cleared_subjects = vec![RowSubject::Node("I_9".to_owned())];
        let pages = [issue_page(1, 1), cleared.clone(), issue_page(3, 3)];
        assert_eq!(group_length(&pages), 1);
        assert_eq!(group_length(&[cleared, issue_page(3, 3)]), 1);
        assert_eq!(group_length(&[]), 0);
    }

    fn group_length(pages: &[IngestPage]) -> usize {
        let pages: Vec<_> = pages.iter().map(PreparedPage::without_texts).collect();
        leading_group(&pages, Dialect::Postgres).len()
    }

    fn prepare(page: IngestPage) -> PreparedPage<'static> {
        super::super::PagePreparer { dialect: Dialect::Postgres }.prepare_page(page)
    }

    fn url(repository: i64, id: i64) -> String {
        format!("https://github.com/acme/r{repository}/issues/{id}")
    }

    fn issue_page(repository: i64, id: i64) -> IngestPage {
        let item = serde_json::json!({"Thread": {
            "id": id, "node_id": format!("I_{id}"), "number": id, "repository_id": repository,
            "title": "a title", "body": "", "url": url(repository, id), "state": "OPEN", "labels": [],
            "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z", "sort": "Issue",
        }});
        let item = serde_json::from_value(item).unwrap();
        let observed_at = ObservedAt::new(1_600_000_000_000, 1);
        let lane = Lane::repository_issues(RepositoryKey::new("github.com", repository));
        IngestPage {
            observations: vec![ItemObservation { item, observed_at }],
            ..IngestPage::new(lane, 10)
        }
    }

    fn with_url(mut observations: Vec<ItemObservation>, url: &str) -> Vec<ItemObservation> {
        for observation in &mut observations {
            if let MirrorItem::Thread(thread) = &mut observation.item {
                url.clone_into(&mut thread.url);
            }
        }
        observations
    }

    fn comment_lane_page(repository: i64) -> IngestPage {
        let lanes = thread_comment_lanes(&issue_page(repository, 1));
        IngestPage::new(lanes.into_iter().next().unwrap(), 10)
    }
}
