//! The output fields of each kind of row; `docs/json.md` is the contract.

mod comments;
mod events;
mod hits;
mod posts;
mod removed_items;
mod repositories;
mod threads;
mod trending_links;
mod watches;

pub(crate) use comments::comment_columns;
pub(crate) use events::{
    DeadLetterRow, class_text, consumer_columns, dead_letter_columns, delivered_event_json,
    delivery_state_name, event_columns, shown_event_json,
};
pub(crate) use hits::hit_columns;
pub(crate) use posts::post_columns;
pub(crate) use removed_items::removed_item_columns;
pub(crate) use repositories::repository_columns;
pub(crate) use threads::thread_columns;
pub(crate) use trending_links::trending_link_columns;
pub(crate) use watches::{WatchRow, watch_columns};

/// A stored row, and the login of the owner of its repository.
pub(crate) struct RowWithOwner<R> {
    pub(crate) owner: String,
    pub(crate) row: R,
}
