//! Names of items in messages: the first few, and how many more there are.

use std::fmt;

/// The most names that are kept for programs; a message shows fewer.
pub const MOST_NAMES: usize = 1_000;
const SHOWN_NAMES: usize = 10;
const SHOWN_TITLE: usize = 60;

/// The items that a message is about, by the names that people know them by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemNames {
    /// At most [`MOST_NAMES`] of them.
    pub names: Vec<String>,
    pub total: usize,
}

impl ItemNames {
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Adds the items of another list.
    pub fn extend(&mut self, other: Self) {
        let room = MOST_NAMES.saturating_sub(self.names.len());
        self.names.extend(other.names.into_iter().take(room));
        self.total += other.total;
    }

    /// Appends the names to a sentence; a list without items leaves it as it is.
    pub fn append_to(&self, sentence: &str) -> String {
        if self.is_empty() { sentence.to_owned() } else { format!("{sentence}: {self}") }
    }
}

impl fmt::Display for ItemNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.names.len().min(SHOWN_NAMES);
        f.write_str(&self.names[..shown].join(", "))?;
        match self.total.saturating_sub(shown) {
            0 => Ok(()),
            more if shown == 0 => write!(f, "{more} items"),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Returns the name of a thread in a message: `acme/pump#12 (It leaks)`.
pub fn thread_name(repository: &str, number: i64, title: &str) -> String {
    let mut short: String = title.chars().take(SHOWN_TITLE).collect();
    if short.len() < title.len() {
        short.push('…');
    }
    format!("{repository}#{number} ({short})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_names_show_ten_and_count_the_rest() {
        let names = |count: usize| ItemNames {
            names: (0..count).map(|n| format!("n{n}")).collect(),
            total: count,
        };
        assert_eq!(names(2).append_to("gone"), "gone: n0, n1");
        assert_eq!(names(0).append_to("gone"), "gone");
        let many = names(12).to_string();
        assert!(many.starts_with("n0, n1,") && many.ends_with(", n9 and 2 more"), "{many}");
    }

    #[test]
    fn item_names_add_up_and_keep_a_bounded_number() {
        let mut all = ItemNames { names: vec!["a".into(); MOST_NAMES - 1], total: MOST_NAMES - 1 };
        all.extend(ItemNames { names: vec!["b".into(), "c".into()], total: 7 });
        assert_eq!((all.names.len(), all.total), (MOST_NAMES, MOST_NAMES + 6));
        assert_eq!(all.names.last().map(String::as_str), Some("b"));
    }

    #[test]
    fn thread_names_are_short() {
        assert_eq!(thread_name("acme/pump", 7, "It leaks"), "acme/pump#7 (It leaks)");
        let long = thread_name("acme/pump", 7, &"é".repeat(99));
        assert!(long.ends_with("é…)") && long.chars().count() < 80, "{long}");
    }
}
