//! Warns of excluded repositories that do not exist, because a misspelled name would silently exclude nothing.

use hw_store::StoreReader;
use hw_sync::PullSummary;
use hw_sync::pull::PullSpec;

use crate::terminal::print_warning;

/// Compares the exclusions with the stored repositories, if the pull has read the whole listing.
pub(super) fn warn_unknown_exclusions(
    store: &StoreReader,
    pull: &PullSpec,
    summary: &PullSummary,
) -> anyhow::Result<()> {
    let is_listing_complete = pull.only_repositories.is_empty() && summary.failures.is_empty();
    if pull.excluded_repositories.is_empty() || !is_listing_complete {
        return Ok(());
    }
    let stored = store.readable_repositories(&pull.host)?.rows;
    for excluded in &pull.excluded_repositories {
        let mut stored = stored.iter();
        if !stored.any(|stored| excluded.selects(&stored.owner, &stored.name)) {
            let sources = summary.sources.join(", ");
            print_warning(&format!(
                "the excluded repository {excluded} does not exist in {sources}, or is archived or a fork"
            ));
        }
    }
    Ok(())
}
