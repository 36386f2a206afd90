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
    pub(super) fn without_texts(page: &'a IngestPage) -> Self {
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
