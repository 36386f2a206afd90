//! Threads and comments for whoever takes his time.
//!
//! So many are read at a time, and nothing is being read while somebody has them: he may wait for as long as he likes,
//! and call the store. What is written meanwhile may be among them.

use std::ops::ControlFlow;

use hw_rules::item::Kind;

use super::after::{After, AfterComment};
use super::comments::{CommentFilter, CommentRow};
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
    ) -> Result<(), E> {
        let page = |filter: &ThreadFilter, keep: &mut Keep<'_, ThreadRow>| {
            self.each_thread(kind, filter, keep)
        };
        in_pages(filter, size, page, each)
    }

    /// Like `each_comment`, page by page.
    pub fn each_comment_in_pages<E: From<Error>>(
        &self,
        filter: &CommentFilter,
        size: u64,
        each: &mut dyn FnMut(CommentRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let page = |filter: &CommentFilter, keep: &mut Keep<'_, CommentRow>| {
            self.each_comment(filter, keep)
        };
        in_pages(filter, size, page, each)
    }
}

/// Takes a row of a page.
type Keep<'a, R> = dyn FnMut(R) -> ControlFlow<()> + 'a;

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

fn in_pages<F: Paged, E: From<Error>>(
    filter: &F,
    size: u64,
    page: impl Fn(&F, &mut Keep<'_, F::Row>) -> Result<(), Error>,
    each: &mut dyn FnMut(F::Row) -> Result<(), E>,
) -> Result<(), E> {
    let mut filter = filter.clone();
    let mut left = filter.limit().unwrap_or(u64::MAX);
    while 0 < left {
        *filter.limit() = Some(left.min(size));
        let mut rows = Vec::new();
        page(&filter, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        let Some(last) = rows.last() else { break };
        filter.go_on_after(last);
        left -= rows.len() as u64;
        rows.into_iter().try_for_each(&mut *each)?;
    }
    Ok(())
}
