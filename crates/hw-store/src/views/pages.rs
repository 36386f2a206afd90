//! Paged iteration over threads and comments.
//!
//! No transaction stays open between pages, so a slow consumer never blocks the write-ahead log, and may call the
//! store. What is written meanwhile may be among the rows.

use std::ops::ControlFlow;

use hw_rules::item::Kind;

use super::after::{After, AfterComment};
use super::comments::{CommentFilter, CommentRow};
use super::skipped::SkippedRows;
use super::threads::{ThreadFilter, ThreadRow};
use crate::Store;
use crate::error::Error;

impl Store {
    /// Like `each_thread`, page by page.
    pub fn each_thread_in_pages<E: From<Error>>(
        &self,
        kind: Kind,
        filter: &ThreadFilter,
        size: u64,
        each: &mut dyn FnMut(ThreadRow) -> Result<(), E>,
    ) -> Result<SkippedRows, E> {
        let page = |filter: &ThreadFilter, keep: &mut Keep<'_, ThreadRow>| {
            self.each_thread_or_gap(kind, filter, keep)
        };
        in_pages(filter, size, page, each)
    }

    /// Like `each_comment`, page by page.
    pub fn each_comment_in_pages<E: From<Error>>(
        &self,
        filter: &CommentFilter,
        size: u64,
        each: &mut dyn FnMut(CommentRow) -> Result<(), E>,
    ) -> Result<SkippedRows, E> {
        let page = |filter: &CommentFilter, keep: &mut Keep<'_, CommentRow>| {
            self.each_comment_or_gap(filter, keep)
        };
        in_pages(filter, size, page, each)
    }
}

/// Takes a row of a page, or a gap where one cannot be read.
type Keep<'a, R> = dyn FnMut(Option<R>) -> ControlFlow<()> + 'a;

/// What can be asked for in pages.
trait Paged: Clone {
    type Row;

    fn limit(&mut self) -> &mut Option<u64>;
    fn go_on_after(&mut self, row: &Self::Row);
}

impl Paged for ThreadFilter {
    type Row = ThreadRow;

    fn limit(&mut self) -> &mut Option<u64> {
        &mut self.limit
    }

    fn go_on_after(&mut self, row: &ThreadRow) {
        self.after = Some(After::of(row));
    }
}

impl Paged for CommentFilter {
    type Row = CommentRow;

    fn limit(&mut self) -> &mut Option<u64> {
        &mut self.limit
    }

    fn go_on_after(&mut self, row: &CommentRow) {
        self.after = Some(AfterComment::of(row));
    }
}

/// Goes on after the last row of each page that can be read. What cannot be read has no place that is known, so a page
/// of nothing else is asked for again, longer.
fn in_pages<F: Paged, E: From<Error>>(
    filter: &F,
    size: u64,
    page: impl Fn(&F, &mut Keep<'_, F::Row>) -> Result<(), Error>,
    each: &mut dyn FnMut(F::Row) -> Result<(), E>,
) -> Result<SkippedRows, E> {
    let mut filter = filter.clone();
    let mut left = filter.limit().unwrap_or(u64::MAX);
    let (mut skipped, mut asked) = (SkippedRows::default(), left.min(size));
    while left > 0 {
        *filter.limit() = Some(asked);
        let mut rows = Vec::new();
        page(&filter, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        let is_last = (rows.len() as u64) < asked;
        let Some(last) = rows.iter().rposition(Option::is_some) else {
            if is_last {
                skipped.0 += rows.len() as u64;
                break;
            }
            asked = asked.saturating_mul(2);
            continue;
        };
        // what comes after the last one that can be read comes again with the next page
        let end = if is_last { rows.len() } else { last + 1 };
        skipped.0 += rows[..end].iter().filter(|row| row.is_none()).count() as u64;
        rows[last].iter().for_each(|row| filter.go_on_after(row));
        for row in rows.into_iter().flatten() {
            if left == 0 {
                break;
            }
            left -= 1;
            each(row)?;
        }
        if is_last {
            break;
        }
        asked = left.min(size);
    }
    Ok(skipped)
}
