//! Promises: bounds that a measurement must keep.

/// A bound, and whether it is kept.
pub(crate) struct BenchPromise {
    text: String,
    pub(crate) is_kept: bool,
}

impl BenchPromise {
    pub(crate) fn new(text: impl Into<String>, is_kept: bool) -> Self {
        Self { text: text.into(), is_kept }
    }
}

/// Formats the promises of one row.
pub(crate) fn format_promises(promises: &[BenchPromise]) -> String {
    let texts: Vec<String> = promises
        .iter()
        .map(|promise| {
            let mark = if promise.is_kept { "kept" } else { "BROKEN" };
            format!("{}: {mark}", promise.text)
        })
        .collect();
    texts.join(", ")
}

/// Returns true if all of these promises are kept.
pub(crate) fn are_kept(promises: &[BenchPromise]) -> bool {
    promises.iter().all(|promise| promise.is_kept)
}
