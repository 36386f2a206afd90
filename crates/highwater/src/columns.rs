//! The output fields of each kind of row; `docs/json.md` is the contract.

mod comments;
mod hits;
mod posts;
mod removed_items;
mod repositories;
mod threads;
mod trending_links;

pub(crate) use comments::comment_columns;
pub(crate) use hits::hit_columns;
pub(crate) use posts::post_columns;
pub(crate) use removed_items::removed_item_columns;
pub(crate) use repositories::repository_columns;
pub(crate) use threads::thread_columns;
pub(crate) use trending_links::trending_link_columns;

/// A stored row, and the login of the owner of its repository.
pub(crate) struct RowWithOwner<R> {
    pub(crate) owner: String,
    pub(crate) row: R,
}
