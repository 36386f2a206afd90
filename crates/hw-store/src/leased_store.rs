//! The handle of everything that writes fetched data.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::{Lease, StoreWriter};

/// Reads and writes a workspace's database under one lease. Clones share both.
///
/// A process can hold several leases on one open database, each with a store of its own.
#[derive(Clone)]
pub struct LeasedStore {
    writer: StoreWriter,
    lease: Arc<Lease>,
}

impl LeasedStore {
    pub(crate) fn new(writer: StoreWriter, lease: Lease) -> Self {
        Self { writer, lease: Arc::new(lease) }
    }

    /// Returns the lease that every write checks.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Returns a writer of the same open database, without the lease.
    pub fn writer(&self) -> StoreWriter {
        self.writer.clone()
    }
}

impl Deref for LeasedStore {
    type Target = StoreWriter;

    fn deref(&self) -> &StoreWriter {
        &self.writer
    }
}

/// Shows the lease alone: the database has nothing that helps a reader of an error.
impl fmt::Debug for LeasedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeasedStore").field(&self.lease).finish()
    }
}
