//! Paged iteration over posts, the positions that pages continue from, and the reposts of one post.

use std::fmt;
use std::str::FromStr;

use hw_rules::bluesky::record_uri::RecordUri;

use super::cursor::InvalidListCursor;
use super::paging::{PagedFilter, read_in_pages};
use super::post_list::{
    POST_COLUMNS, POST_TABLES, PostCursor, PostFilter, PostRow, RepostSelection, find_dids,
    in_json_list, read_post,
};
use super::skipped_rows::{ReadableRows, SkippedRows};
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, SqlParam, params};

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
            let (from, to) = (filter.created.from, filter.created.to);
            let (from, to) = (from.map_or(i64::MIN, |from| from.0), to.map_or(i64::MAX, |to| to.0));
            let mut values = params![from, to].to_vec();
            let mut text =
                "select count(*) as matching from posts where sort_ms between $1 and $2".to_owned();
            if filter.reposts == RepostSelection::Excluded {
                text.push_str(" and repost_of is null");
            }
            if filter.replies.excludes() {
                text.push_str(" and reply_parent is null");
            }
            let list = match filter.accounts.as_slice() {
                [] => None,
                names => Some(find_dids(tx, names)?),
            };
            let list = list.map(|dids| serde_json::to_string(&dids).expect("texts are JSON"));
            if let Some(list) = &list {
                values.push(SqlParam::from(list));
                text.push_str(&format!(" and sharer {}", in_json_list(tx, values.len())));
            }
            if let Some(PostCursor { sort_ms, host, id }) = &filter.after {
                values.extend(params![*sort_ms, host, *id]);
                let last = values.len();
                let [sort, host, id] = [last - 2, last - 1, last];
                text.push_str(&format!(" and (sort_ms, host, id) < (${sort}, ${host}, ${id})"));
            }
            tx.query_count(Sql::portable(&text), &values)
        })
    }

    /// Returns the stored reposts of a post, newest first.
    pub fn reposts_of(&self, post: &RecordUri) -> Result<ReadableRows<PostRow>, StoreError> {
        let text = format!(
            "select {POST_COLUMNS} from {POST_TABLES} where repost_of = $1
              order by sort_ms desc, posts.id desc"
        );
        self.read("reposts", |tx| {
            tx.query_readable(Sql::portable(&text), &params![post.as_str()], read_post)
        })
    }
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
    use super::*;

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
