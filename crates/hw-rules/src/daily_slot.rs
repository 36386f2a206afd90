//! Spreads work that is due once an interval over the interval: each name has a slot of its own.

/// Returns the first time after `after_ms` at which the slot of this name begins. The slots of a name are an interval
/// apart, on every machine at the same time.
pub fn next_slot_ms(name: &str, interval_ms: i64, after_ms: i64) -> i64 {
    let interval_ms = interval_ms.max(1);
    let offset_ms = i64::try_from(hash_name(name) % interval_ms.unsigned_abs()).unwrap_or(0);
    let passed_ms = after_ms.saturating_sub(offset_ms).rem_euclid(interval_ms);
    after_ms.saturating_add(interval_ms - passed_ms)
}

/// Returns true if a slot of this name began after `after_ms`, and not later than `until_ms`.
pub fn has_slot_between(name: &str, interval_ms: i64, after_ms: i64, until_ms: i64) -> bool {
    next_slot_ms(name, interval_ms, after_ms) <= until_ms
}

/// Returns the FNV-1a hash of a name, mixed once more: it has to be the same in every version and on every machine.
fn hash_name(name: &str) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY_MS: i64 = 86_400_000;

    #[test]
    fn slots_of_many_names_are_spread_over_the_interval() {
        let mut hours = [0; 24];
        for id in 0..2_400 {
            let slot_ms = next_slot_ms(&format!("github.com/repository/{id}/issues"), DAY_MS, 0);
            hours[usize::try_from((slot_ms - 1) / 3_600_000).unwrap()] += 1;
        }
        assert!(hours.iter().all(|count| (60..=140).contains(count)), "{hours:?}");
    }

    #[test]
    fn slot_of_a_name_never_changes() {
        // a version that computes another one would sweep everything twice, or a day late
        assert_eq!(next_slot_ms("github.com/repository/1/issues", DAY_MS, 0), 50_890_776);
    }

    proptest! {
        #[test]
        fn slot_comes_once_an_interval(
            name in "[a-z/]{1,30}", interval_ms in 1..10 * DAY_MS, after_ms in -DAY_MS..1_000 * DAY_MS,
        ) {
            let first = next_slot_ms(&name, interval_ms, after_ms);
            prop_assert!(after_ms < first && first <= after_ms + interval_ms);
            prop_assert_eq!(next_slot_ms(&name, interval_ms, first), first + interval_ms);
            prop_assert!(has_slot_between(&name, interval_ms, after_ms, first));
            prop_assert!(!has_slot_between(&name, interval_ms, after_ms, first - 1));
        }
    }
}
