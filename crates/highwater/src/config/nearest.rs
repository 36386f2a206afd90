//! The name that was probably meant.

/// The nearest of these names, if it is near enough to be worth saying.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_ascii_lowercase();
    let far = |it: &str| strsim::damerau_levenshtein(&wanted, &it.to_ascii_lowercase());
    let nearest = names.map(|it| (far(it), it)).min()?;
    (nearest.0 * 3 <= wanted.chars().count().max(nearest.1.len())).then_some(nearest.1)
}

/// The same as the end of a sentence.
pub(crate) fn or_nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(name, names).map_or_else(String::new, |it| format!("; did you mean {it}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let names = ["pull.window_days", "pull.items", "log.level"];
        let of = |name| nearest(name, names.into_iter());
        assert_eq!(of("pull.windw_days"), Some("pull.window_days"));
        assert_eq!(of("PULL.ITEMS"), Some("pull.items"));
        assert_eq!(of("log.lvl"), Some("log.level"));
        assert_eq!(of("something.else.entirely"), None);
    }
}
