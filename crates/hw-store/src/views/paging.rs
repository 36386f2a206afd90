//! Paged iteration over threads and comments.
//!
//! No transaction stays open between pages, so a slow consumer never blocks the write-ahead log, and may call the
//! store. Later pages include rows that were written in between.

use std::ops::ControlFlow;

use hw_rules::item::ThreadKind;

use super::comment_list::{CommentFilter, CommentRow};
use super::cursor::{CommentCursor, ThreadCursor};
use super::skipped_rows::SkippedRows;
use super::thread_list::{ThreadFilter, ThreadRow};
use crate::StoreReader;
use crate::error::StoreError;

impl StoreReader {
    /// Like [`StoreReader::each_thread`], page by page.
    pub fn each_thread_in_pages<E: From<StoreError>>(
        &self,
        kind: ThreadKind,
        filter: &ThreadFilter,
        size: u64,
        each: &mut dyn FnMut(ThreadRow) -> Result<(), E>,
    ) -> Result<SkippedRows, E> {
        read_in_pages(
            filter,
            size,
            |filter, sink| self.each_thread_or_gap(kind, filter, sink),
            each,
        )
    }

    /// Like [`StoreReader::each_comment`], page by page.
    pub fn each_comment_in_pages<E: From<StoreError>>(
        &self,
        filter: &CommentFilter,
        size: u64,
        each: &mut dyn FnMut(CommentRow) -> Result<(), E>,
    ) -> Result<SkippedRows, E> {
        read_in_pages(filter, size, |filter, sink| self.each_comment_or_gap(filter, sink), each)
    }
}

/// Receives the rows of a page, with `None` for each row that cannot be read.
pub(super) type RowSink<'a, R> = dyn FnMut(Option<R>) -> ControlFlow<()> + 'a;

/// A filter whose rows can be read in pages.
pub(super) trait PagedFilter: Clone {
    type Row;

    fn limit_mut(&mut self) -> &mut Option<u64>;
    fn continue_after(&mut self, row: &Self::Row);
}

impl PagedFilter for ThreadFilter {
    type Row = ThreadRow;

    fn limit_mut(&mut self) -> &mut Option<u64> {
        &mut self.limit
    }

    fn continue_after(&mut self, row: &ThreadRow) {
        self.after = Some(ThreadCursor::from_row(row));
    }
}

impl PagedFilter for CommentFilter {
    type Row = CommentRow;

    fn limit_mut(&mut self) -> &mut Option<u64> {
        &mut self.limit
    }

    fn continue_after(&mut self, row: &CommentRow) {
        self.after = Some(CommentCursor::from_row(row));
    }
}

/// Calls `each` with the rows of one page after the other.
///
/// Each page continues after the last readable row of the previous one. An unreadable row has no known position, so a
/// page of unreadable rows only is read again with twice the size.
pub(super) fn read_in_pages<F: PagedFilter, E: From<StoreError>>(
    filter: &F,
    size: u64,
    read_page: impl Fn(&F, &mut RowSink<'_, F::Row>) -> Result<(), StoreError>,
    each: &mut dyn FnMut(F::Row) -> Result<(), E>,
) -> Result<SkippedRows, E> {
    let mut filter = filter.clone();
    let mut remaining = filter.limit_mut().unwrap_or(u64::MAX);
    let (mut skipped, mut page_size) = (SkippedRows::default(), remaining.min(size));
    while remaining > 0 {
        *filter.limit_mut() = Some(page_size);
        let mut rows = Vec::new();
        read_page(&filter, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        let is_last = (rows.len() as u64) < page_size;
        let Some(last) = rows.iter().rposition(Option::is_some) else {
            if is_last {
                skipped.0 += rows.len() as u64;
                break;
            }
            page_size = page_size.saturating_mul(2);
            continue;
        };
        // the next page repeats the rows after the last readable one
        let end = if is_last { rows.len() } else { last + 1 };
        skipped.0 += rows[..end].iter().filter(|row| row.is_none()).count() as u64;
        rows[last].iter().for_each(|row| filter.continue_after(row));
        for row in rows.into_iter().flatten() {
            if remaining == 0 {
                break;
            }
            remaining -= 1;
            each(row)?;
        }
        if is_last {
            break;
        }
        page_size = remaining.min(size);
    }
    Ok(skipped)
}
