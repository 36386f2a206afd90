//! What is said in the threads of one repository.
//!
//! Comments of the conversation and on lines come as lists of the whole repository, which take `since`;
//! reviews and what is said in discussions come as talks, thread by thread. All of them can be looked at
//! by id. A comment is the same however it was read.

mod form;
mod lists;
mod look;
mod more;
mod node;
mod reader;
mod root;
mod row;
mod talks;

#[cfg(test)]
mod samples;
#[cfg(test)]
#[path = "comments/simulated_tests.rs"]
mod simulated_tests;

pub use lists::{ListPage, Listed, newest, read_list, since};
pub use look::{look_query, read_look};
pub use more::{More, light_query, more_query, read_light, read_more};
pub use talks::{Lack, Talk, read_talks, talks_at_once, talks_query};

/// The number of the thread that an address leads to: whatever stands last in its path.
fn number_in(url: &str) -> Result<i64, String> {
    let path = url.split(['#', '?']).next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    last.parse().map_err(|_| format!("no thread's number in {url:?}"))
}
