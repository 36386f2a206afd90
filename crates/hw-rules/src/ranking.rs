//! How well a text matches: bm25, worked out from a short profile of each text.
//!
//! The databases' own ranking counts every text that has a word before it ranks the first one, which takes longer
//! the more common a word is. A profile lies beside each row of the index: how often each of its words is there.

/// What is known of a text's words: how many there are, and how often each is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// How long the text is, in words.
    pub length: u32,
    /// Four bytes for each word that counts more than once, in order: three that stand for it, and how often it is
    /// there. Most words of a text are there once, and need no entry.
    pub words: Vec<u8>,
}

/// How often a word counts for each time it is in a title.
pub const TITLE_WEIGHT: u32 = 2;

/// How many words a profile holds; of a longer text the rest counts as being there once.
const WORDS_MAX: usize = 4_000;

impl Profile {
    /// The profile of a text, from its words and how much each counts.
    pub fn of<'a>(words: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let mut counted = std::collections::BTreeMap::<u32, u32>::new();
        let mut length = 0_u32;
        for (word, weight) in words {
            length = length.saturating_add(1);
            let is_known = counted.len() < WORDS_MAX;
            let mark = mark(word);
            if is_known || counted.contains_key(&mark) {
                *counted.entry(mark).or_default() += weight;
            }
        }
        let often = counted.into_iter().filter(|(_, count)| 1 < *count);
        let entry = |(mark, count): (u32, u32)| (mark << 8 | count.min(255)).to_be_bytes();
        Self { length, words: often.flat_map(entry).collect() }
    }

    /// How often a word is there, with its weight; at least once, as the text was found by it.
    pub fn count(&self, word: &str) -> u32 {
        let (entries, _) = self.words.as_chunks::<4>();
        let mark = mark(word);
        let found = entries.binary_search_by_key(&mark, |entry| u32::from_be_bytes(*entry) >> 8);
        found.map_or(1, |at| (u32::from_be_bytes(entries[at]) & 255).max(1))
    }
}

/// Three bytes that stand for a word. That two words of a text share them is rare, and no harm.
fn mark(word: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let hash = word.bytes().fold(2_166_136_261, mix);
    (hash ^ hash >> 24) & 0x00ff_ffff
}

/// How telling a word is that is in so many of all texts.
#[expect(clippy::cast_precision_loss, reason = "a score is compared, not counted")]
pub fn telling(texts: u64, with_word: u64) -> f64 {
    let (all, with) = (texts.max(with_word) as f64, with_word as f64);
    ((all - with + 0.5) / (with + 0.5)).ln_1p()
}

/// What a match scores: for each term how telling it is and how often it is there.
pub fn score(terms: impl IntoIterator<Item = (f64, u32)>, length: u32, average_length: f64) -> f64 {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;
    let relative = f64::from(length) / average_length.max(1.0);
    let normal = K1 * (1.0 - B + B * relative);
    let of_term = |(telling, count): (f64, u32)| {
        let count = f64::from(count);
        telling * count * (K1 + 1.0) / (count + normal)
    };
    terms.into_iter().map(of_term).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_profile_tells_how_often_a_word_is_there() {
        let profile = Profile::of([("oil", 2), ("leaks", 1), ("oil", 1)]);
        assert_eq!((profile.length, profile.count("oil"), profile.count("leaks")), (3, 3, 1));
        assert_eq!(profile.count("unknown"), 1);
        assert_eq!(profile.words.len(), 4, "what is there once needs no entry");
    }

    #[test]
    fn a_huge_text_has_a_small_profile() {
        let words: Vec<String> = (0..50_000).map(|n| format!("w{n}")).collect();
        let profile = Profile::of(words.iter().map(|word| (word.as_str(), 2)));
        assert!(profile.words.len() <= 4 * WORDS_MAX && profile.length == 50_000);
    }

    #[test]
    fn more_of_a_word_more_telling_words_and_shorter_texts_score_higher() {
        let (rare, common) = (telling(1_000, 3), telling(1_000, 300));
        assert!(common < rare && 0.0 < telling(10, 10));
        assert!(score([(rare, 1)], 100, 100.0) < score([(rare, 2)], 100, 100.0));
        assert!(score([(common, 1)], 100, 100.0) < score([(rare, 1)], 100, 100.0));
        assert!(score([(rare, 1)], 200, 100.0) < score([(rare, 1)], 100, 100.0));
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_words(words in proptest::collection::vec("[a-z]{1,4}", 0..60)) {
            let profile = Profile::of(words.iter().map(|word| (word.as_str(), 1)));
            for word in &words {
                let count = words.iter().filter(|it| *it == word).count();
                prop_assert!(count <= profile.count(word) as usize);
            }
        }

        #[test]
        fn any_bytes_are_a_profile(words in proptest::collection::vec(any::<u8>(), 0..60), word in "[a-z]{1,4}") {
            let profile = Profile { length: 3, words };
            prop_assert!(1 <= profile.count(&word));
        }
    }
}
