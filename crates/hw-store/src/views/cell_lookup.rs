//! Looks up the cell of one object.

use hw_rules::cells::ItemCell;
use hw_rules::item::ObjectId;

use crate::error::StoreError;
use crate::{StoreReader, cells};

impl StoreReader {
    /// Returns the cell of an object; an empty one if the object was never seen.
    pub fn cell(&self, host: &str, key: ObjectId) -> Result<ItemCell, StoreError> {
        self.read("cell", |tx| {
            let mut stored = cells::read_cells(tx, host, [key])?;
            Ok(stored.cells.remove(&key).unwrap_or_default())
        })
    }
}
