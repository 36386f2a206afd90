//! JSON as the world sends it.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// A document, and how many unreadable characters in it were replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Mended<T> {
    pub value: T,
    pub replaced: u32,
}

/// Reads a JSON document, mended.
///
/// Whatever the type does not name is skipped, not stored: an answer of many tiny values would take a hundred times
/// its own size as a tree.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<Mended<T>, serde_json::Error> {
    let (mended, replaced) = mend(bytes);
    Ok(Mended { value: serde_json::from_slice(&mended)?, replaced })
}

/// Returns a JSON document in which half a surrogate pair is U+FFFD, and how many there were.
///
/// Old posts hold them, escaped as `\ud83d` alone. No Unicode string can; a strict reader would refuse
/// the page of a hundred items around it.
pub(crate) fn mend(bytes: &[u8]) -> (Cow<'_, [u8]>, u32) {
    let mut out: Option<Vec<u8>> = None;
    let mut replaced = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        let start = at + found;
        at = start + escape_len(bytes, start);
        if is_lone_half(bytes, start, &mut at) {
            let out = out.get_or_insert_with(|| bytes.to_vec());
            out[start..start + 6].copy_from_slice(br"\ufffd");
            replaced += 1;
        }
        at = at.min(bytes.len());
    }
    (out.map_or(Cow::Borrowed(bytes), Cow::Owned), replaced)
}

fn escape_len(bytes: &[u8], start: usize) -> usize {
    if bytes.get(start + 1) == Some(&b'u') { 6 } else { 2 }
}

/// Whether half a pair stands alone here; a whole pair is stepped over.
fn is_lone_half(bytes: &[u8], start: usize, at: &mut usize) -> bool {
    match unit(bytes, start) {
        Some(0xd800..=0xdbff) => match unit(bytes, start + 6) {
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

/// The code unit that a four-digit escape at this place stands for.
fn unit(bytes: &[u8], start: usize) -> Option<u16> {
    let escape = bytes.get(start..start + 6)?;
    let digits = escape.strip_prefix(br"\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_a_pair_is_replaced_and_counted() {
        let text = |json: &str| {
            let mended = read::<String>(json.as_bytes()).unwrap();
            (mended.value, mended.replaced)
        };
        assert_eq!(text(r#""a\ud800b""#), ("a\u{fffd}b".into(), 1));
        assert_eq!(text(r#""\udc00\ud83d""#), ("\u{fffd}\u{fffd}".into(), 2));
        assert_eq!(text(r#""\ud83d\ud83d\ude00""#), ("\u{fffd}😀".into(), 1));
        assert_eq!(text(r#""\ud83d\ude00""#), ("😀".into(), 0));
        assert_eq!(text(r#""\\ud800 \u0000""#), ("\\ud800 \0".into(), 0));
    }

    proptest! {
        #[test]
        fn whole_text_is_left_alone(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let mended = read::<String>(json.as_bytes()).unwrap();
            prop_assert_eq!((mended.value, mended.replaced), (text, 0));
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read::<serde_json::Value>(&bytes).ok();
        }
    }
}
