//! The texts of the mirror: only present items, under the current name of their repository.

pub(crate) mod comments;
pub(crate) mod repositories;
pub(crate) mod repository_names;
pub(crate) mod threads;
pub(crate) mod tombstones;
pub(crate) mod undigested_columns;

use std::collections::BTreeSet;

use hw_rules::item::MirrorItem;

use crate::search::IndexText;
use crate::sql::Dialect;
use repository_names::repository_from_url;

/// Returns the ids of the repositories that the threads and comments among these items belong to.
pub(crate) fn text_repositories<'a>(items: impl IntoIterator<Item = &'a MirrorItem>) -> Vec<i64> {
    let ids: BTreeSet<_> = items
        .into_iter()
        .filter_map(|item| match item {
            MirrorItem::Repository(_) => None,
            MirrorItem::Thread(thread) => Some(thread.repository_id),
            MirrorItem::Comment(comment) => Some(comment.repository_id),
        })
        .collect();
    ids.into_iter().collect()
}

/// Computes the search row of a thread or a comment, under the name of its repository that its URL contains.
pub(crate) fn prepare_text(host: &str, item: &MirrorItem, dialect: Dialect) -> Option<IndexText> {
    let row = match item {
        MirrorItem::Repository(_) => return None,
        MirrorItem::Thread(thread) => {
            threads::search_row(host, thread, repository_from_url(&thread.url))
        }
        MirrorItem::Comment(comment) => {
            comments::search_row(host, comment, repository_from_url(&comment.url))
        }
    };
    Some(IndexText::from_search_row(&row, dialect))
}
