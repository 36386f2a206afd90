//! The texts of the mirror: only present items, under the current name of their repository.

pub(crate) mod comments;
mod name_assignments;
pub(crate) mod posts;
pub(crate) mod repositories;
pub(crate) mod repository_names;
pub(crate) mod threads;
pub(crate) mod tombstones;
pub(crate) mod undigested_columns;
pub(crate) mod url_holders;

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Comment, MirrorItem, ObjectId, Repository, Thread};

use crate::error::StoreError;
use crate::search::{DatedItem, IndexText, PendingRowids, RowidAssigner, SearchRow};
use crate::sql::Dialect;
use crate::transaction::Transaction;
use repository_names::repository_from_url;
use url_holders::{PendingHolders, UrlHolders};

/// The repository of texts that belong to none.
pub(crate) const NO_REPOSITORY: i64 = 0;

/// A text that was written, under the current name of its repository.
pub(crate) struct WrittenText<'a> {
    pub(crate) item: &'a MirrorItem,
    pub(crate) repository: String,
    pub(crate) url: String,
    /// The id of its search row; a repository has none.
    pub(crate) search_rowid: Option<i64>,
    /// What was computed of its search row before the transaction.
    pub(crate) prepared: Option<&'a IndexText>,
}

/// The texts that a transaction wrote.
pub(crate) type WrittenTexts<'a> = BTreeMap<ObjectId, WrittenText<'a>>;

/// The row ids and URLs that may belong to other texts than those that are written.
#[derive(Default)]
pub(crate) struct TextPlaces {
    pub(crate) rowids: RowidAssigner,
    pub(crate) urls: UrlHolders,
}

/// The places that texts may take, requested.
pub(crate) struct PendingPlaces {
    rowids: PendingRowids,
    urls: PendingHolders,
}

impl PendingPlaces {
    /// Looks up the places that these items take if they are new or changed.
    pub(crate) fn send<'a>(
        tx: &mut Transaction<'_>,
        host: &str,
        items: impl Iterator<Item = &'a MirrorItem> + Clone,
    ) -> Result<Self, StoreError> {
        let threads = items.clone().filter_map(|item| match item {
            MirrorItem::Thread(thread) => Some(thread),
            MirrorItem::Repository(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
        });
        let urls = PendingHolders::send(tx, host, threads)?;
        let rowids = PendingRowids::send(tx, items.filter_map(dated_text))?;
        Ok(Self { rowids, urls })
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<TextPlaces, StoreError> {
        Ok(TextPlaces { rowids: self.rowids.read(tx)?, urls: self.urls.read(tx)? })
    }
}

impl WrittenText<'_> {
    /// Returns the searchable parts of a text.
    pub(crate) fn search_row<'a>(&'a self, host: &'a str) -> Option<SearchRow<'a>> {
        let row = search_row(host, self.item, &self.repository)?;
        Some(SearchRow { prepared: self.prepared, ..row })
    }

    /// Returns the item under its current URL.
    pub(crate) fn to_item(&self) -> MirrorItem {
        let mut item = self.item.clone();
        match &mut item {
            MirrorItem::Repository(Repository { url, name, .. }) => {
                name.clone_from(&self.repository);
                url.clone_from(&self.url);
            }
            MirrorItem::Thread(Thread { url, .. }) | MirrorItem::Comment(Comment { url, .. }) => {
                url.clone_from(&self.url);
            }
            MirrorItem::Post(_) => {}
        }
        item
    }
}

/// Returns a text with the time that its search row is sorted by; none for a repository, which has no such row.
pub(crate) fn dated_text(item: &MirrorItem) -> Option<DatedItem> {
    let updated_at = match item {
        MirrorItem::Repository(_) => return None,
        MirrorItem::Thread(thread) => thread.updated_at.instant(),
        MirrorItem::Comment(comment) => comment.updated_at.instant(),
        MirrorItem::Post(post) => post.sort_at.instant(),
    };
    Some(DatedItem { key: item.key(), updated_at })
}

/// Returns the ids of the repositories that the threads and comments among these items belong to.
pub(crate) fn text_repositories<'a>(items: impl IntoIterator<Item = &'a MirrorItem>) -> Vec<i64> {
    let ids: BTreeSet<_> = items
        .into_iter()
        .filter_map(|item| match item {
            MirrorItem::Repository(_) | MirrorItem::Post(_) => None,
            MirrorItem::Thread(thread) => Some(thread.repository_id),
            MirrorItem::Comment(comment) => Some(comment.repository_id),
        })
        .collect();
    ids.into_iter().collect()
}

/// Computes the search row of a text, under the name of its repository that its URL contains.
pub(crate) fn prepare_text(host: &str, item: &MirrorItem, dialect: Dialect) -> Option<IndexText> {
    let repository = match item {
        MirrorItem::Repository(_) => return None,
        MirrorItem::Thread(thread) => repository_from_url(&thread.url),
        MirrorItem::Comment(comment) => repository_from_url(&comment.url),
        MirrorItem::Post(_) => "",
    };
    let row = search_row(host, item, repository)?;
    Some(IndexText::from_search_row(&row, dialect))
}

/// Returns the searchable parts of a text in the repository of this name.
fn search_row<'a>(
    host: &'a str,
    item: &'a MirrorItem,
    repository: &'a str,
) -> Option<SearchRow<'a>> {
    match item {
        MirrorItem::Repository(_) => None,
        MirrorItem::Thread(thread) => Some(threads::search_row(host, thread, repository)),
        MirrorItem::Comment(comment) => Some(comments::search_row(host, comment, repository)),
        MirrorItem::Post(post) => Some(posts::search_row(host, post)),
    }
}
