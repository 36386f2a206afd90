//! Suggests the name that a mistyped one was probably meant to be.

/// Returns the nearest of these names, if it is near enough to suggest.
pub(super) fn nearest_name<'a>(
    name: &str,
    names: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let typed = name.to_ascii_lowercase();
    let (distance, nearest) = names
        .map(|name| (strsim::damerau_levenshtein(&typed, &name.to_ascii_lowercase()), name))
        .min()?;
    (distance * 3 <= typed.chars().count().max(nearest.len())).then_some(nearest)
}

/// Returns the suggestion as the end of a sentence, or an empty text.
pub(crate) fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest_name(name, names).map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestion_needs_a_similar_name() {
        let names = ["pull.window_days", "pull.items", "log.level"];
        for (typed, nearest) in [
            ("pull.windw_days", Some("pull.window_days")),
            ("PULL.ITEMS", Some("pull.items")),
            ("log.lvl", Some("log.level")),
            ("something.else.entirely", None),
        ] {
            assert_eq!(nearest_name(typed, names.into_iter()), nearest, "{typed}");
        }
    }
}
