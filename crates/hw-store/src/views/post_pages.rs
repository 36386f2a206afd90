//! Paged iteration over posts, the positions that pages continue from, and the reposts of one post.

use std::fmt;
use std::str::FromStr;

use hw_rules::bluesky::record_uri::RecordUri;

use super::cursor::InvalidListCursor;
use super::paging::{PagedFilter, read_in_pages};
use super::post_conditions::{PostQuery, count_query, find_sharers};
use super::post_list::{
    POST_COLUMNS, POST_TABLES, PostCursor, PostFilter, PostRow, RepostSelection, read_post,
};
use super::skipped_rows::{ReadableRows, SkippedRows};
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};

/// Lists replies, or leaves them out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplySelection {
    #[default]
    Included,
    Excluded,
}

impl ReplySelection {
    /// Returns true if a condition has to leave replies out.
    pub(super) fn excludes(self) -> bool {
        self == Self::Excluded
    }
}

impl StoreReader {
    /// Like [`StoreReader::each_post`], page by page.
    pub fn each_post_in_pages<E: From<StoreError>>(
        &self,
        filter: &PostFilter,
        size: u64,
        each: &mut dyn FnMut(PostRow) -> Result<(), E>,
    ) -> Result<SkippedRows, E> {
        read_in_pages(filter, size, |filter, sink| self.each_post_or_gap(filter, sink), each)
    }

    /// Counts the posts that a filter selects, whatever its limit.
    pub fn count_posts(&self, filter: &PostFilter) -> Result<u64, StoreError> {
        self.read("posts", |tx| {
            let sharers = find_sharers(tx, filter)?;
            let PostQuery { text, params } = count_query(tx, filter, sharers.as_deref());
            tx.query_count(Sql::portable(&text), &params)
        })
    }

    /// Returns the stored reposts of a post, newest first.
    pub fn reposts_of(&self, post: &RecordUri) -> Result<ReadableRows<PostRow>, StoreError> {
        let text = reposts_text();
        self.read("reposts", |tx| {
            tx.query_readable(Sql::portable(&text), &params![post.as_str()], read_post)
        })
    }
}

fn reposts_text() -> String {
    format!(
        "select {POST_COLUMNS} from {POST_TABLES} where repost_of = $1
          order by sort_ms desc, posts.id desc"
    )
}

impl PostFilter {
    /// Returns true if the filter selects all posts, whatever its limit.
    pub fn is_unfiltered(&self) -> bool {
        self.accounts.is_empty()
            && self.created.is_unbounded()
            && self.reposts == RepostSelection::Included
            && self.replies == ReplySelection::Included
    }
}

impl PagedFilter for PostFilter {
    type Row = PostRow;

    fn limit_mut(&mut self) -> &mut Option<u64> {
        &mut self.limit
    }

    fn continue_after(&mut self, row: &PostRow) {
        self.after = Some(PostCursor::from_row(row));
    }
}

impl fmt::Display for PostCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}_{}", self.sort_ms, self.id, self.host)
    }
}

impl FromStr for PostCursor {
    type Err = InvalidListCursor;

    fn from_str(text: &str) -> Result<Self, InvalidListCursor> {
        parse_post_cursor(text).ok_or_else(|| InvalidListCursor(text.to_owned()))
    }
}

fn parse_post_cursor(text: &str) -> Option<PostCursor> {
    let mut parts = text.splitn(3, '_');
    let (sort_ms, id) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let host = parts.next().filter(|host| is_host(host))?.to_owned();
    Some(PostCursor { sort_ms, host, id })
}

/// PostgreSQL rejects a text with U+0000, so other characters than those of a host are no cursor.
fn is_host(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::super::post_list::post_by_uri_text;
    use super::*;
    use crate::{DatabaseLocation, StoreWriter};

    #[test]
    fn post_and_its_reposts_are_found_in_an_index() {
        let uri = "at://did:plc:alice/app.bsky.feed.post/a1";
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        for (text, index) in
            [(post_by_uri_text(), "(uri=?)"), (reposts_text(), "posts_repost_of (repost_of=?)")]
        {
            let text = format!("explain query plan {text}");
            let plan = store.read("plan", |tx| {
                tx.query(Sql::portable(&text), &params![uri], |mut row| row.text("detail"))
            });
            let plan = plan.unwrap().join("; ");
            assert!(plan.contains(index), "{plan}");
        }
    }

    #[test]
    fn post_cursor_survives_a_round_trip() {
        for sort_ms in [i64::MIN, -1, 1_767_323_045_123] {
            let cursor = PostCursor { sort_ms, host: "bsky.app".into(), id: 12 };
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
    }

    #[test]
    fn post_cursor_rejects_other_texts() {
        for text in ["", "_", "__", "1_2", "1_2_", "x_2_bsky.app", "1_x_bsky.app", "1_2_a\0b"] {
            assert!(text.parse::<PostCursor>().is_err(), "{text:?}");
        }
    }
}
