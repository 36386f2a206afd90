//! Threads for whoever takes his time.

use std::ops::ControlFlow;

use hw_rules::item::Kind;

use super::after::After;
use super::threads::{ThreadFilter, ThreadRow};
use crate::Store;
use crate::error::Error;

impl Store {
    /// Like `each_thread`, but so many are read at a time, and nothing is being read while `each` has them: it may
    /// wait for as long as it likes, and call the store. What is written meanwhile may be among them.
    pub fn each_thread_in_pages<E: From<Error>>(
        &self,
        kind: Kind,
        filter: &ThreadFilter,
        size: u64,
        each: &mut dyn FnMut(ThreadRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut filter, mut left) = (filter.clone(), filter.limit.unwrap_or(u64::MAX));
        while 0 < left {
            filter.limit = Some(left.min(size));
            let rows = self.page(kind, &filter)?;
            let Some(last) = rows.last() else { break };
            filter.after = Some(After::of(last));
            left -= rows.len() as u64;
            rows.into_iter().try_for_each(&mut *each)?;
        }
        Ok(())
    }

    fn page(&self, kind: Kind, filter: &ThreadFilter) -> Result<Vec<ThreadRow>, Error> {
        let mut rows = Vec::new();
        self.each_thread(kind, filter, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }
}
