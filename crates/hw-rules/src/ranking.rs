//! Scores matches with BM25, from a short profile of each text.
//!
//! The databases' own ranking counts every text that contains a word before it ranks the first one, which takes longer
//! the more common the word is. Instead, each row of the index stores a profile with the counts of its words.

use std::collections::BTreeSet;

/// The word counts of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordProfile {
    /// The length of the text, in words.
    pub length: u32,
    /// Four bytes for each word that counts more than once, in order: three of its hash, and one of its count. Most
    /// words of a text occur once, and need no entry.
    pub words: Vec<u8>,
}

/// The weight of a word in a title.
pub const TITLE_WEIGHT: u32 = 2;

/// The number of words in a profile; the remaining words of a longer text count once.
const MAX_PROFILE_WORDS: usize = 4_000;

impl WordProfile {
    /// Builds the profile of a text from its words and their weights.
    pub fn from_words<'a>(words: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let mut hashes: Vec<WeightedHash> = words
            .into_iter()
            .map(|(word, weight)| WeightedHash { hash: hash_word(word), weight })
            .collect();
        let length = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
        if hashes.len() > MAX_PROFILE_WORDS {
            drop_further_words(&mut hashes);
        }
        // cheaper than a map: most texts have a few hundred words
        hashes.sort_unstable_by_key(|word| word.hash);
        let words = hashes
            .chunk_by(|a, b| a.hash == b.hash)
            .map(|same| (same[0].hash, same.iter().map(|word| word.weight).sum::<u32>()))
            .filter(|(_, count)| *count > 1)
            .flat_map(|(hash, count)| (hash << 8 | count.min(255)).to_be_bytes())
            .collect();
        Self { length, words }
    }

    /// Returns the weighted count of a word; at least 1, because the text was found by it.
    pub fn word_count(&self, word: &str) -> u32 {
        let (entries, _) = self.words.as_chunks::<4>();
        let hash = hash_word(word);
        let found = entries.binary_search_by_key(&hash, |entry| u32::from_be_bytes(*entry) >> 8);
        found.map_or(1, |at| (u32::from_be_bytes(entries[at]) & 255).max(1))
    }
}

/// One occurrence of a word.
struct WeightedHash {
    hash: u32,
    weight: u32,
}

/// Drops the words of a long text that have no space in its profile: all but the first different ones.
fn drop_further_words(hashes: &mut Vec<WeightedHash>) {
    let mut known = BTreeSet::new();
    hashes.retain(|word| {
        let has_space = known.len() < MAX_PROFILE_WORDS;
        known.contains(&word.hash) || (has_space && known.insert(word.hash))
    });
}

/// Hashes a word to three bytes (FNV-1a). Collisions within a text are rare, and only shift a score.
fn hash_word(word: &str) -> u32 {
    let hash = word
        .bytes()
        .fold(2_166_136_261, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    (hash ^ hash >> 24) & 0x00ff_ffff
}

/// Returns the inverse document frequency of a word that occurs in `with_word` of `texts`.
#[expect(clippy::cast_precision_loss, reason = "a score is compared, not counted")]
pub fn idf(texts: u64, with_word: u64) -> f64 {
    let (all, with) = (texts.max(with_word) as f64, with_word as f64);
    ((all - with + 0.5) / (with + 0.5)).ln_1p()
}

/// Computes the BM25 score of a text from the inverse document frequency and the count of each term.
pub fn bm25_score(
    terms: impl IntoIterator<Item = (f64, u32)>,
    length: u32,
    average_length: f64,
) -> f64 {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;
    let relative = f64::from(length) / average_length.max(1.0);
    let normalization = K1 * (1.0 - B + B * relative);
    let scores = terms.into_iter().map(|(idf, count)| {
        let count = f64::from(count);
        idf * count * (K1 + 1.0) / (count + normalization)
    });
    scores.sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn profile_counts_words() {
        let profile = WordProfile::from_words([("oil", 2), ("leaks", 1), ("oil", 1)]);
        assert_eq!(
            (profile.length, profile.word_count("oil"), profile.word_count("leaks")),
            (3, 3, 1)
        );
        assert_eq!(profile.word_count("unknown"), 1);
        assert_eq!(profile.words.len(), 4, "a word that occurs once needs no entry");
    }

    #[test]
    fn profile_of_a_huge_text_is_small() {
        let words: Vec<String> = (0..50_000).map(|n| format!("w{n}")).collect();
        let profile = WordProfile::from_words(words.iter().map(|word| (word.as_str(), 2)));
        assert!(profile.words.len() <= 4 * MAX_PROFILE_WORDS && profile.length == 50_000);
    }

    #[test]
    fn score_rises_with_count_rarity_and_shortness() {
        let (rare, common) = (idf(1_000, 3), idf(1_000, 300));
        assert!(common < rare && idf(10, 10) > 0.0);
        assert!(bm25_score([(rare, 1)], 100, 100.0) < bm25_score([(rare, 2)], 100, 100.0));
        assert!(bm25_score([(common, 1)], 100, 100.0) < bm25_score([(rare, 1)], 100, 100.0));
        assert!(bm25_score([(rare, 1)], 200, 100.0) < bm25_score([(rare, 1)], 100, 100.0));
    }

    proptest! {
        #[test]
        fn profile_never_undercounts_a_word(words in proptest::collection::vec("[a-z]{1,4}", 0..60)) {
            let profile = WordProfile::from_words(words.iter().map(|word| (word.as_str(), 1)));
            for word in &words {
                let count = words.iter().filter(|other| *other == word).count();
                prop_assert!(count <= profile.word_count(word) as usize);
            }
        }

        #[test]
        fn profile_accepts_any_bytes(words in proptest::collection::vec(any::<u8>(), 0..60), word in "[a-z]{1,4}") {
            let profile = WordProfile { length: 3, words };
            prop_assert!(profile.word_count(&word) >= 1);
        }
    }
}
