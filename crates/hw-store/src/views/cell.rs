//! What is held of one object?

use hw_rules::cells::Cell;
use hw_rules::item::Key;

use crate::error::Error;
use crate::{Store, cells};

impl Store {
    /// The cell of an object; an empty one when it was never seen.
    pub fn cell(&self, host: &str, key: Key) -> Result<Cell, Error> {
        self.read("cell", |tx| {
            let mut held = cells::held(tx, host, [key])?;
            Ok(held.cells.remove(&key).unwrap_or_default())
        })
    }
}
