//! Computes everything about a page that needs no database: the versions of its items, and the search rows of its texts.
//!
//! That is half of the work of an ingest. Done before the transaction, it keeps no other writer waiting, and it can be
//! done on another thread while an earlier page is written.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hw_rules::cells::{CellWrite, ObservedVersion};
use hw_rules::item::{ItemObservation, ObjectId};

use super::IngestPage;
use crate::mirror;
use crate::search::IndexText;
use crate::sql::Dialect;

/// Prepares pages for one database.
#[derive(Debug, Clone, Copy)]
pub struct PagePreparer {
    pub(super) dialect: Dialect,
}

/// A page, ready to be written.
pub struct PreparedPage<'a> {
    pub(super) page: Cow<'a, IngestPage>,
    /// The version of each observation.
    pub(super) versions: Vec<ObservedVersion>,
    /// The search row of each observation that is a text, as far as they were prepared.
    texts: Vec<Option<IndexText>>,
}

/// The prepared search rows of texts.
pub(crate) type PreparedTexts<'a> = BTreeMap<ObjectId, &'a IndexText>;

impl PagePreparer {
    /// Prepares a page whose items are probably new. The result depends on nothing but the page.
    pub fn prepare_page(self, page: IngestPage) -> PreparedPage<'static> {
        let host = page.lane.host.as_str();
        let items = page.observations.iter().map(|observation| &observation.item);
        let texts = items.map(|item| mirror::prepare_text(host, item, self.dialect)).collect();
        PreparedPage { versions: observed_versions(&page), texts, page: Cow::Owned(page) }
    }
}

fn observed_versions(page: &IngestPage) -> Vec<ObservedVersion> {
    page.observations.iter().map(ItemObservation::observed_version).collect()
}

impl<'a> PreparedPage<'a> {
    /// Prepares a page of items most of which did not change: search rows are computed for those that did, when they are
    /// written.
    pub(crate) fn without_texts(page: &'a IngestPage) -> Self {
        let versions = observed_versions(page);
        PreparedPage { page: Cow::Borrowed(page), versions, texts: Vec::new() }
    }

    pub fn page(&self) -> &IngestPage {
        &self.page
    }

    /// Returns the prepared search rows of the texts that are written.
    pub(super) fn written_texts(&self, writes: &[CellWrite]) -> PreparedTexts<'_> {
        let written = writes.iter().filter(|write| write.change.writes_text());
        let texts = written.filter_map(|write| {
            let text = self.texts.get(write.text_index?)?.as_ref()?;
            Some((write.key, text))
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    use hw_rules::duty::DutyName;
    use hw_rules::lane::Lane;
    use hw_rules::repository_key::RepositoryKey;
    use hw_rules::version::ObservedAt;

    use super::*;
    use crate::{DatabaseLocation, SearchEngine, SearchRequest, StoreWriter, Workspace};

    #[test]
    fn prepared_texts_are_written_and_not_computed_again() {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let store = store.claim_duty(&DutyName::pull("github.com"), "me", 0).unwrap().unwrap();
        let preparer = store.page_preparer();
        let other = preparer.prepare_page(issue_page("drips"));
        let page =
            PreparedPage { texts: other.texts, ..preparer.prepare_page(issue_page("leaks")) };
        store.ingest_prepared(&[page]).unwrap();
        let engine = SearchEngine::new(Workspace::from_store(store.reader()));
        let hits = ["leaks", "drips"]
            .map(|word| engine.search(&SearchRequest::new(word)).unwrap().hits.len());
        assert_eq!(hits, [0, 1], "the search row is the one that was prepared");
    }

    fn issue_page(body: &str) -> IngestPage {
        let item = serde_json::json!({"Thread": {
            "id": 5, "node_id": "I_5", "number": 5, "repository_id": 1, "title": "a title", "body": body,
            "url": "https://github.com/acme/pump/issues/5", "state": "OPEN", "labels": [],
            "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z", "sort": "Issue",
        }});
        let item = serde_json::from_value(item).unwrap();
        let observed_at = ObservedAt::new(1_600_000_000_000, 1);
        let page =
            IngestPage::new(Lane::repository_issues(RepositoryKey::new("github.com", 1)), 10);
        IngestPage { observations: vec![ItemObservation { item, observed_at }], ..page }
    }
}
