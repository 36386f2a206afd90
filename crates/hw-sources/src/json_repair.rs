//! Parses JSON that contains lone surrogates, which a strict parser rejects.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// A document, and the number of unreadable characters that were replaced in it.
#[derive(Debug, Clone, PartialEq)]
pub struct RepairedJson<T> {
    pub value: T,
    pub replaced_chars: u32,
}

/// Repairs and parses a JSON document.
///
/// Fields that the type does not name are skipped, not stored: a response of many tiny values would take a hundred
/// times its own size as a tree.
pub fn parse_repaired<T: DeserializeOwned>(
    bytes: &[u8],
) -> Result<RepairedJson<T>, serde_json::Error> {
    let repaired = repair_surrogates(bytes);
    let value = serde_json::from_slice(&repaired.value)?;
    Ok(RepairedJson { value, replaced_chars: repaired.replaced_chars })
}

/// Replaces each lone surrogate in a JSON document with U+FFFD.
///
/// Old posts contain them, escaped as a single `\ud83d`. No Unicode string can; a strict parser would reject the whole
/// page of a hundred items because of one.
pub(crate) fn repair_surrogates(bytes: &[u8]) -> RepairedJson<Cow<'_, [u8]>> {
    let mut out: Option<Vec<u8>> = None;
    let mut replaced = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let start = at + found;
        at = start + escape_len(bytes, start);
        if is_lone_surrogate(bytes, start, &mut at) {
            let out = out.get_or_insert_with(|| bytes.to_vec());
            out[start..start + 6].copy_from_slice(br"\ufffd");
            replaced += 1;
        }
        at = at.min(bytes.len());
    }
    RepairedJson { value: out.map_or(Cow::Borrowed(bytes), Cow::Owned), replaced_chars: replaced }
}

fn escape_len(bytes: &[u8], start: usize) -> usize {
    if bytes.get(start + 1) == Some(&b'u') { 6 } else { 2 }
}

/// Returns true if the escape at `start` is half of a surrogate pair; moves `at` past a complete pair.
fn is_lone_surrogate(bytes: &[u8], start: usize, at: &mut usize) -> bool {
    match escaped_code_unit(bytes, start) {
        Some(0xd800..=0xdbff) => match escaped_code_unit(bytes, start + 6) {
            Some(0xdc00..=0xdfff) => {
                *at = start + 12;
                false
            }
            _ => true,
        },
        Some(0xdc00..=0xdfff) => true,
        _ => false,
    }
}

/// Decodes the four-digit escape at `start`, if there is one.
fn escaped_code_unit(bytes: &[u8], start: usize) -> Option<u16> {
    let escape = bytes.get(start..start + 6)?;
    let digits = escape.strip_prefix(br"\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_counted() {
        for (json, value, replaced_chars) in [
            (r#""a\ud800b""#, "a\u{fffd}b", 1),
            (r#""\udc00\ud83d""#, "\u{fffd}\u{fffd}", 2),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀", 1),
            (r#""\ud83d\ude00""#, "😀", 0),
            (r#""\\ud800 \u0000""#, "\\ud800 \0", 0),
        ] {
            let value = value.to_owned();
            let expected = RepairedJson { value, replaced_chars };
            assert_eq!(parse_repaired::<String>(json.as_bytes()).unwrap(), expected, "{json}");
        }
    }

    proptest! {
        #[test]
        fn valid_text_is_left_alone(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let repaired = parse_repaired::<String>(json.as_bytes()).unwrap();
            prop_assert_eq!((repaired.value, repaired.replaced_chars), (text, 0));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            parse_repaired::<serde_json::Value>(&bytes).ok();
        }
    }
}
