//! The comments on the threads of one repository.
//!
//! Comments on issues and on lines of pull requests come as lists of the whole repository, which accept `since`;
//! reviews and comments on discussions come thread by thread. All of them can be looked up by id. Each way yields the
//! same comment.

mod comment_reader;
mod continuation;
mod graphql_comment;
mod lookup;
mod parent;
mod rest_comment;
mod schema;
mod thread_comments;
mod thread_parts;

#[cfg(test)]
pub(super) mod sample_comments;
#[cfg(test)]
#[path = "comments/simulated_tests.rs"]
mod simulated_tests;

pub use continuation::{Continuation, ContinuationIdQuery, ContinuationQuery, continuation_query};
pub use lookup::{CommentLookupQuery, lookup_query};
pub(super) use rest_comment::read_rest_comment;
pub use thread_comments::{
    IncompleteReason, ThreadComments, ThreadCommentsPage, ThreadCommentsQuery,
    thread_comments_query, threads_per_request,
};
pub use thread_parts::{ReviewThreadQuery, ThreadPartPage, ThreadPartQuery, thread_part_query};

/// Parses the thread's number from a URL, in whose path it is the last segment.
fn parse_thread_number(url: &str) -> Result<i64, String> {
    let path = url.split(['#', '?']).next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    last.parse().map_err(|_| format!("no thread number in {url:?}"))
}
