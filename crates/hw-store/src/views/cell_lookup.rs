//! Looks up the cell of one object.

use hw_rules::cells::ItemCell;
use hw_rules::item::ObjectKey;

use crate::error::StoreError;
use crate::{StoreReader, cells};

impl StoreReader {
    /// Returns the cell of an object; an empty one if the object was never seen.
    pub fn cell(&self, key: &ObjectKey) -> Result<ItemCell, StoreError> {
        self.read("cell", |tx| {
            let id = key.object_id();
            let mut stored = cells::read_cells(tx, &key.host, [id])?;
            Ok(stored.cells.remove(&id).unwrap_or_default())
        })
    }
}
