//! What programs see of each thing that is held, field by field; `docs/json.md` is its contract.

mod comments;
mod hits;
mod removed_items;
mod repositories;
mod threads;

pub(crate) use comments::of_comments;
pub(crate) use hits::of_hits;
pub(crate) use removed_items::of_removed_items;
pub(crate) use repositories::of_repositories;
pub(crate) use threads::of_threads;

/// A stored text, and the login of the owner of its repository.
pub(crate) struct WithOwner<R> {
    pub(crate) owner: String,
    pub(crate) text: R,
}
