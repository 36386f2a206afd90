//! The front matter of an exported file, and the seal by which highwater knows its own files.
//!
//! The seal is a digest of everything below it: a file that a person wrote has none, and in one that a
//! person changed it does not fit.

use hw_rules::version::Digest;
use hw_store::ThreadView;

use super::yaml::yaml;
use crate::columns::{WithOwner, of_threads};

/// What stands in front of the digest, and behind it. In quotes: some digests look like numbers.
const SEAL: (&str, &str) = ("---\nhighwater: \"", "\"\n");

/// The facts of a thread as YAML, without the line that opens them: that one comes with the seal.
pub(super) fn matter(view: &ThreadView) -> String {
    let columns = of_threads(view.row.thread.kind()).into_iter();
    let thread = WithOwner { owner: view.owner.clone(), text: view.row.clone() };
    let facts = columns.filter(|(name, _)| *name != "body");
    let mut lines: Vec<String> =
        facts.map(|(name, value)| format!("{name}: {}\n", yaml(&value(&thread)))).collect();
    lines.push(format!("comments: {}\n", view.comments.len()));
    format!("{}---\n\n", lines.concat())
}

/// The text with a seal in front.
pub(super) fn sealed(rest: &str) -> String {
    format!("{}{}{}{rest}", SEAL.0, hex(rest), SEAL.1)
}

/// Whether highwater wrote this, and nobody changed it since.
pub(crate) fn is_ours(file: &[u8]) -> bool {
    let told = std::str::from_utf8(file).ok().and_then(|text| text.strip_prefix(SEAL.0));
    told.and_then(|text| text.split_once(SEAL.1)).is_some_and(|(seal, rest)| seal == hex(rest))
}

fn hex(text: &str) -> String {
    Digest::of([text]).0.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_ours_until_somebody_changes_it() {
        let file = sealed("title: \"x\"\n---\n\n# x\n");
        assert!(is_ours(file.as_bytes()));
        assert!(file.starts_with("---\nhighwater: \"") && file.contains("\ntitle: \"x\"\n"));
        for changed in [format!("{file}note\n"), file.replace('x', "y"), file[1..].to_owned()] {
            assert!(!is_ours(changed.as_bytes()), "{changed}");
        }
        assert!(!is_ours(b"") && !is_ours(b"---\nhighwater: \"\"\n") && !is_ours(&[0xff, 0xfe]));
    }
}
