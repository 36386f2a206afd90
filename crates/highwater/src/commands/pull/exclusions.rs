//! Warns of excluded repositories that do not exist: a misspelled name would exclude nothing, unnoticed.

use hw_store::Store;
use hw_sync::Summary;
use hw_sync::run::Pull;

use crate::terminal::warn;

/// Compares the exclusions with the mirror, once the whole listing of repositories has been read into it.
pub(super) fn warn_of_unknown(store: &Store, pull: &Pull, summary: &Summary) -> anyhow::Result<()> {
    let is_whole = pull.only.is_empty() && summary.failures.is_empty();
    if pull.excluded.is_empty() || !is_whole {
        return Ok(());
    }
    let stored = store.readable_repositories(&pull.host)?.rows;
    let known = stored
        .iter()
        .filter(|it| it.owner.eq_ignore_ascii_case(&pull.organization))
        .map(|it| it.name.as_str());
    for name in unknown(pull.excluded.iter().map(String::as_str), &known.collect::<Vec<_>>()) {
        warn(&format!(
            "{name} is excluded, but {} has no such repository, or it is archived or a fork",
            pull.organization
        ));
    }
    Ok(())
}

fn unknown<'a>(excluded: impl Iterator<Item = &'a str>, known: &[&str]) -> Vec<&'a str> {
    excluded.filter(|name| !known.iter().any(|it| it.eq_ignore_ascii_case(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusions_are_known_in_any_case() {
        let excluded = ["Pump", "nosuch", "valve"];
        assert_eq!(unknown(excluded.into_iter(), &["pump", "VALVE"]), ["nosuch"]);
        assert_eq!(unknown(excluded.into_iter(), &[]), excluded);
    }
}
