//! Warns of excluded repositories that do not exist, because a misspelled name would silently exclude nothing.

use hw_store::Store;
use hw_sync::PullSummary;
use hw_sync::pull::PullSpec;

use crate::terminal::print_warning;

/// Compares the exclusions with the stored repositories, if the pull has read the whole listing.
pub(super) fn warn_unknown_exclusions(
    store: &Store,
    pull: &PullSpec,
    summary: &PullSummary,
) -> anyhow::Result<()> {
    let is_listing_complete = pull.only_repositories.is_empty() && summary.failures.is_empty();
    if pull.excluded_repositories.is_empty() || !is_listing_complete {
        return Ok(());
    }
    let stored = store.readable_repositories(&pull.host)?.rows;
    let known = stored
        .iter()
        .filter(|repository| repository.owner.eq_ignore_ascii_case(&pull.organization))
        .map(|repository| repository.name.as_str());
    for name in find_unknown(
        pull.excluded_repositories.iter().map(String::as_str),
        &known.collect::<Vec<_>>(),
    ) {
        print_warning(&format!(
            "{name} is excluded, but {} has no such repository, or it is archived or a fork",
            pull.organization
        ));
    }
    Ok(())
}

fn find_unknown<'a>(excluded: impl Iterator<Item = &'a str>, known: &[&str]) -> Vec<&'a str> {
    excluded.filter(|name| !known.iter().any(|known| known.eq_ignore_ascii_case(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusions_ignore_letter_case() {
        let excluded = ["Pump", "nosuch", "valve"];
        assert_eq!(find_unknown(excluded.into_iter(), &["pump", "VALVE"]), ["nosuch"]);
        assert_eq!(find_unknown(excluded.into_iter(), &[]), excluded);
    }
}
