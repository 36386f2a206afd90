//! Many items as one text that is never too long.

use crate::form::RULE;

/// What an answer may hold: 990 kB, a kB being 1,000 bytes.
pub(crate) const MOST_BYTES: usize = 990_000;

/// Between two blocks of a text.
const BLANK: &str = "\n\n";

/// What is said about all items of a list.
pub(crate) struct Words {
    /// As in `No issues found.`
    pub(crate) plural: &'static str,
    /// Whether the text begins with how many there are.
    pub(crate) tells_total: bool,
    /// What is added to the sentence on those that are not shown.
    pub(crate) advice: &'static str,
}

/// Items one below the other, as many as fit.
#[derive(Default)]
pub(crate) struct Sheet {
    text: String,
    /// Where each item ends.
    ends: Vec<usize>,
    is_full: bool,
}

/// A finished text, and how many items it shows.
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) shown: usize,
    /// Whether items were left out because the text would have become too long.
    pub(crate) is_cut: bool,
}

impl Sheet {
    /// Adds an item; false when there is no room for it.
    pub(crate) fn add(&mut self, entry: &str) -> bool {
        let gap = if self.ends.is_empty() { 0 } else { BLANK.len() };
        self.is_full |= MOST_BYTES < self.text.len() + gap + entry.len();
        if self.is_full {
            return false;
        }
        if 0 < gap {
            self.text.push_str(BLANK);
        }
        self.text.push_str(entry);
        self.ends.push(self.text.len());
        true
    }

    /// The text of a list: `found` match, from the first one here on; `total` in all.
    pub(crate) fn page(mut self, words: &Words, found: u64, total: u64) -> Page {
        if found == 0 {
            let text = format!("No {} found.", words.plural);
            return Page { text, shown: 0, is_cut: false };
        }
        loop {
            let head = self.head(words, found, total);
            if head.len() + self.text.len() <= MOST_BYTES || self.ends.is_empty() {
                return self.under(&head);
            }
            self.drop_last();
        }
    }

    /// The items alone.
    pub(crate) fn plain(self) -> Page {
        self.under("")
    }

    fn under(self, head: &str) -> Page {
        let text = format!("{head}{}", self.text).trim_end_matches('\n').to_owned();
        Page { text, shown: self.ends.len(), is_cut: self.is_full }
    }

    /// What stands above the items.
    fn head(&self, words: &Words, found: u64, total: u64) -> String {
        let (plural, shown) = (words.plural, self.ends.len() as u64);
        let mut head = String::new();
        if self.is_full {
            let more = found.saturating_sub(shown);
            head.push_str(&format!(
                "Showing only the first {shown} {plural}. There's {more} more, please refine your search.{}\
                 {BLANK}{RULE}{BLANK}",
                words.advice
            ));
        }
        if words.tells_total {
            head.push_str(&format!("Total {total} {plural} found.{BLANK}"));
        }
        head
    }

    fn drop_last(&mut self) {
        self.ends.pop();
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
        self.is_full = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Words = Words { plural: "issues", tells_total: false, advice: "" };
    const TOTAL: Words = Words { plural: "pull requests", tells_total: true, advice: "" };

    #[test]
    fn nothing_found_is_a_sentence() {
        let page = Sheet::default().page(&TOTAL, 0, 0);
        assert_eq!(page.text, "No pull requests found.");
    }

    #[test]
    fn items_stand_with_a_blank_line_between_them_and_the_total_on_top() {
        assert_eq!(of(&["a", "b"]).page(&PLAIN, 2, 2).text, "a\n\nb");
        assert_eq!(
            of(&["a", "b"]).page(&TOTAL, 2, 7).text,
            "Total 7 pull requests found.\n\na\n\nb"
        );
    }

    #[test]
    fn a_text_of_exactly_the_limit_is_shown_whole() {
        let (big, rest) = ("x".repeat(600_000), "y".repeat(MOST_BYTES - 600_000 - BLANK.len()));
        let page = of(&[&big, &rest]).page(&PLAIN, 2, 2);
        assert_eq!((page.text.len(), page.shown, page.is_cut), (MOST_BYTES, 2, false));
    }

    #[test]
    fn one_byte_more_is_cut_and_told() {
        let (big, rest) = ("x".repeat(600_000), "y".repeat(MOST_BYTES - 600_000 - 1));
        let page = of(&[&big, &rest]).page(&PLAIN, 12, 12);
        let told = "Showing only the first 1 issues. There's 11 more, please refine your search.\n\n---\n\n";
        assert!(page.text == format!("{told}{big}"), "{}", &page.text[..100]);
        assert_eq!((page.shown, page.is_cut), (1, true));
    }

    #[test]
    fn what_is_told_above_never_makes_it_too_long() {
        let entry = "z".repeat(98_998);
        for (words, shown) in [(PLAIN, 9), (TOTAL, 9)] {
            // ten of them are exactly the limit, and an eleventh waits
            let entries = vec![entry.as_str(); 11];
            let page = of(&entries).page(&words, 11, 11);
            assert!(page.text.len() <= MOST_BYTES, "{}", page.text.len());
            assert_eq!(page.shown, shown);
        }
        let page = of(&[entry.as_str(); 10]).page(&TOTAL, 10, 10);
        let told = "Showing only the first 9 pull requests. There's 1 more, please refine your search.\
                    \n\n---\n\nTotal 10 pull requests found.\n\nzzz";
        assert!(page.text.starts_with(told), "{}", &page.text[..150]);
    }

    #[test]
    fn an_item_that_fits_nowhere_is_counted_and_not_shown() {
        let page = of(&[&"x".repeat(MOST_BYTES + 1)]).page(&PLAIN, 1, 1);
        let told =
            "Showing only the first 0 issues. There's 1 more, please refine your search.\n\n---";
        assert_eq!(page.text, told);
    }

    fn of(entries: &[&str]) -> Sheet {
        let mut sheet = Sheet::default();
        let _fits = entries.iter().all(|entry| sheet.add(entry));
        sheet
    }
}
