//! Read-only views of the store: each file answers one question, with its SQL statement and its row type.

mod cell_lookup;
pub(crate) mod change_counter;
pub(crate) mod comment_list;
pub(crate) mod completeness;
pub(crate) mod conditions;
pub(crate) mod counts;
pub(crate) mod cursor;
mod future_items;
pub(crate) mod health;
pub(crate) mod item_names;
pub(crate) mod items;
pub(crate) mod lane_names;
mod paging;
pub(crate) mod pending_chores;
mod post_completeness;
pub(crate) mod post_list;
pub(crate) mod post_pages;
pub(crate) mod pulls;
pub(crate) mod repositories;
pub(crate) mod repository_match;
pub(crate) mod skipped_rows;
mod stored_thread_numbers;
pub(crate) mod thread_list;
pub(crate) mod thread_outline;
pub(crate) mod thread_view;
pub(crate) mod trending;
pub(crate) mod viewers;
