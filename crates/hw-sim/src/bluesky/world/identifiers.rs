//! Identifiers as the AT Protocol forms them: DIDs, CIDs and record keys.

use std::sync::Arc;

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// The same 32 digits in the order of their bytes, so that texts sort as the numbers do.
const SORTABLE_BASE32: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

/// Generates an identifier of the PLC directory.
pub(super) fn generate_did(rng: &mut fastrand::Rng) -> Arc<str> {
    format!("did:plc:{}", random_base32(rng, 24)).into()
}

/// Generates the content id of a record: it changes with every edit, and its order says nothing.
pub(super) fn generate_cid(rng: &mut fastrand::Rng) -> Arc<str> {
    format!("bafyrei{}", random_base32(rng, 52)).into()
}

/// Returns the record key of a time: microseconds, and a clock id that makes it unique.
pub(super) fn record_key(at_ms: i64, clock_id: u64) -> String {
    let micros = u64::try_from(at_ms).unwrap_or(0) * 1000 + clock_id / 1024 % 1000;
    let number = ((micros << 10) | (clock_id % 1024)) & (u64::MAX >> 1);
    (0..13).rev().map(|digit| base32_digit(SORTABLE_BASE32, number >> (5 * digit))).collect()
}

fn random_base32(rng: &mut fastrand::Rng, length: usize) -> String {
    (0..length).map(|_| base32_digit(BASE32, rng.u64(..))).collect()
}

fn base32_digit(alphabet: &[u8; 32], number: u64) -> char {
    let index = usize::try_from(number % 32).expect("a number below 32 fits");
    char::from(alphabet[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_the_lengths_of_the_protocol() {
        let mut rng = fastrand::Rng::with_seed(1);
        assert_eq!(generate_did(&mut rng).len(), "did:plc:".len() + 24);
        assert_eq!(generate_cid(&mut rng).len(), 59);
        assert_eq!(record_key(1_767_323_045_000, 7).len(), 13);
    }

    #[test]
    fn record_keys_sort_by_time() {
        let keys: Vec<String> =
            [(1, 5), (2, 0), (2, 1), (1_767_323_045_000, 0), (1_767_323_045_001, 0)]
                .map(|(ms, clock_id)| record_key(ms, clock_id))
                .to_vec();
        assert!(keys.is_sorted_by(|left, right| left < right), "{keys:?}");
    }
}
