//! Joins items to one text of limited length.

use crate::item_template::ITEM_RULE;

/// The limit for an answer: 990 kB, where 1 kB is 1,000 bytes.
pub(crate) const MAX_ANSWER_BYTES: usize = 990_000;

/// Separates two blocks of a text.
const BLANK_LINE: &str = "\n\n";

/// The wording of a list's text.
pub(crate) struct ListWording {
    /// As in `No issues found.`
    pub(crate) plural: &'static str,
    /// The text begins with the number of items.
    pub(crate) prints_total: bool,
    /// Added to the sentence about items that are not shown.
    pub(crate) advice: &'static str,
}

/// Items below each other, as many as fit.
#[derive(Default)]
pub(crate) struct BoundedText {
    text: String,
    /// The end of each item in the text.
    item_ends: Vec<usize>,
    is_full: bool,
}

/// A finished text.
pub(crate) struct AnswerText {
    pub(crate) text: String,
    pub(crate) item_count: usize,
    /// Items were left out because the text would have become too long.
    pub(crate) is_cut: bool,
}

impl BoundedText {
    /// Adds an item; returns false when it does not fit.
    pub(crate) fn push_item(&mut self, item: &str) -> bool {
        let separator = if self.item_ends.is_empty() { "" } else { BLANK_LINE };
        self.is_full |= self.text.len() + separator.len() + item.len() > MAX_ANSWER_BYTES;
        if self.is_full {
            return false;
        }
        self.text.push_str(separator);
        self.text.push_str(item);
        self.item_ends.push(self.text.len());
        true
    }

    /// Returns the text of a list. `found` items match from the first one of this page on, `total` on all pages.
    pub(crate) fn finish_list(
        mut self,
        wording: &ListWording,
        found: u64,
        total: u64,
    ) -> AnswerText {
        if found == 0 {
            let text = format!("No {} found.", wording.plural);
            return AnswerText { text, item_count: 0, is_cut: false };
        }
        loop {
            let head = self.format_head(wording, found, total);
            if head.len() + self.text.len() <= MAX_ANSWER_BYTES || self.item_ends.is_empty() {
                return self.finish_below(&head);
            }
            self.drop_last();
        }
    }

    /// Returns the items without a head.
    pub(crate) fn finish_plain(self) -> AnswerText {
        self.finish_below("")
    }

    fn finish_below(self, head: &str) -> AnswerText {
        let text = format!("{head}{}", self.text).trim_end_matches('\n').to_owned();
        AnswerText { text, item_count: self.item_ends.len(), is_cut: self.is_full }
    }

    /// Returns the sentences above the items.
    fn format_head(&self, wording: &ListWording, found: u64, total: u64) -> String {
        let (plural, shown) = (wording.plural, self.item_ends.len() as u64);
        let mut head = String::new();
        if self.is_full {
            let more = found.saturating_sub(shown);
            head.push_str(&format!(
                "Showing only the first {shown} {plural}. There's {more} more, please refine your search.{}\
                 {BLANK_LINE}{ITEM_RULE}{BLANK_LINE}",
                wording.advice
            ));
        }
        if wording.prints_total {
            head.push_str(&format!("Total {total} {plural} found.{BLANK_LINE}"));
        }
        head
    }

    fn drop_last(&mut self) {
        self.item_ends.pop();
        self.text.truncate(self.item_ends.last().copied().unwrap_or(0));
        self.is_full = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ListWording = ListWording { plural: "issues", prints_total: false, advice: "" };
    const TOTAL: ListWording =
        ListWording { plural: "pull requests", prints_total: true, advice: "" };

    #[test]
    fn list_text_of_no_items_is_a_sentence() {
        let page = BoundedText::default().finish_list(&TOTAL, 0, 0);
        assert_eq!(page.text, "No pull requests found.");
    }

    #[test]
    fn list_text_separates_items_by_blank_lines_below_the_total() {
        assert_eq!(bounded_text(&["a", "b"]).finish_list(&PLAIN, 2, 2).text, "a\n\nb");
        assert_eq!(
            bounded_text(&["a", "b"]).finish_list(&TOTAL, 2, 7).text,
            "Total 7 pull requests found.\n\na\n\nb"
        );
    }

    #[test]
    fn list_text_of_exactly_the_limit_is_not_cut() {
        let (big, rest) =
            ("x".repeat(600_000), "y".repeat(MAX_ANSWER_BYTES - 600_000 - BLANK_LINE.len()));
        let page = bounded_text(&[&big, &rest]).finish_list(&PLAIN, 2, 2);
        assert_eq!((page.text.len(), page.item_count, page.is_cut), (MAX_ANSWER_BYTES, 2, false));
    }

    #[test]
    fn list_text_above_the_limit_is_cut_with_a_note() {
        let (big, rest) = ("x".repeat(600_000), "y".repeat(MAX_ANSWER_BYTES - 600_000 - 1));
        let page = bounded_text(&[&big, &rest]).finish_list(&PLAIN, 12, 12);
        let head = "Showing only the first 1 issues. There's 11 more, please refine your search.\n\n---\n\n";
        assert!(page.text == format!("{head}{big}"), "{}", &page.text[..100]);
        assert_eq!((page.item_count, page.is_cut), (1, true));
    }

    #[test]
    fn list_text_stays_within_the_limit_with_its_head() {
        let item = "z".repeat(98_998);
        for (wording, shown) in [(PLAIN, 9), (TOTAL, 9)] {
            // ten of them are exactly the limit, and the eleventh does not fit
            let items = vec![item.as_str(); 11];
            let page = bounded_text(&items).finish_list(&wording, 11, 11);
            assert!(page.text.len() <= MAX_ANSWER_BYTES, "{}", page.text.len());
            assert_eq!(page.item_count, shown);
        }
        let page = bounded_text(&[item.as_str(); 10]).finish_list(&TOTAL, 10, 10);
        let head = "Showing only the first 9 pull requests. There's 1 more, please refine your search.\
                    \n\n---\n\nTotal 10 pull requests found.\n\nzzz";
        assert!(page.text.starts_with(head), "{}", &page.text[..150]);
    }

    #[test]
    fn list_text_counts_an_item_above_the_limit_without_showing_it() {
        let page = bounded_text(&[&"x".repeat(MAX_ANSWER_BYTES + 1)]).finish_list(&PLAIN, 1, 1);
        let head =
            "Showing only the first 0 issues. There's 1 more, please refine your search.\n\n---";
        assert_eq!(page.text, head);
    }

    fn bounded_text(items: &[&str]) -> BoundedText {
        let mut text = BoundedText::default();
        let _fits = items.iter().all(|item| text.push_item(item));
        text
    }
}
