//! Writes the front matter of an exported file, and the seal by which highwater recognizes its own files.
//!
//! The seal is a digest of everything below it. A file from elsewhere has no seal, and in an edited file the seal does
//! not match.

use hw_rules::version::ContentDigest;
use hw_store::ThreadView;

use super::yaml::to_yaml;
use crate::columns::{RowWithOwner, thread_columns};

/// The text before and after the digest. The digest is quoted, because some digests look like numbers.
const SEAL_START: &str = "---\nhighwater: \"";
const SEAL_END: &str = "\"\n";

/// Returns the facts of a thread as YAML, without the opening line, which comes with the seal.
pub(super) fn thread_facts(view: &ThreadView) -> String {
    let columns = thread_columns(view.row.thread.kind()).into_iter();
    let thread = RowWithOwner { owner: view.owner.clone(), row: view.row.clone() };
    let mut lines: Vec<String> = columns
        .filter(|column| column.name != "body")
        .map(|column| format!("{}: {}\n", column.name, to_yaml(&(column.value)(&thread))))
        .collect();
    lines.push(format!("comments: {}\n", view.comments.len()));
    format!("{}---\n\n", lines.concat())
}

/// Returns the text with its seal in front.
pub(super) fn add_seal(rest: &str) -> String {
    format!("{SEAL_START}{}{SEAL_END}{rest}", digest_hex(rest))
}

/// Returns true if highwater wrote the file and it was not edited since.
pub(crate) fn has_valid_seal(file: &[u8]) -> bool {
    let sealed = std::str::from_utf8(file).ok().and_then(|text| text.strip_prefix(SEAL_START));
    sealed
        .and_then(|text| text.split_once(SEAL_END))
        .is_some_and(|(seal, rest)| seal == digest_hex(rest))
}

fn digest_hex(text: &str) -> String {
    ContentDigest::from_fields([text]).0.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seal_is_valid_until_the_file_is_edited() {
        let file = add_seal("title: \"x\"\n---\n\n# x\n");
        assert!(has_valid_seal(file.as_bytes()));
        assert!(file.starts_with("---\nhighwater: \"") && file.contains("\ntitle: \"x\"\n"));
        for changed in [format!("{file}note\n"), file.replace('x', "y"), file[1..].to_owned()] {
            assert!(!has_valid_seal(changed.as_bytes()), "{changed}");
        }
        assert!(
            !has_valid_seal(b"")
                && !has_valid_seal(b"---\nhighwater: \"\"\n")
                && !has_valid_seal(&[0xff, 0xfe])
        );
    }
}
