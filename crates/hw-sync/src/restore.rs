//! Restores removed items. It writes, so it holds the lease of a pull while it works.

use hw_store::{RemovedItem, Restored, Store};

use crate::Error;
use crate::clock::Clock;
use crate::lease::{EXPIRES_MS, Held};
use crate::run::PULL;

/// Restores items one after the other; returns what came of each.
pub async fn restore(
    store: &Store,
    clock: &dyn Clock,
    owner: &str,
    items: &[RemovedItem],
) -> Result<Vec<Restored>, Error> {
    let mut held = Held::take(store, clock, PULL, owner).await?;
    let lease = held.lease().clone();
    let renew = || store.renew_lease(&lease, clock.now_ms(), EXPIRES_MS);
    let restored = items.iter().map(|item| store.restore_removed(&lease, item, &renew));
    let restored = restored.collect::<Result<Vec<_>, _>>().map_err(Error::from);
    if restored.as_ref().is_err_and(Error::loses_the_lease) {
        held.forget();
    }
    restored
}
