//! Lists the names of items in messages: the first few, and the number of the rest.

use std::fmt;

/// The number of names that programs get; a message shows fewer.
pub const MAX_NAMES: usize = 1_000;
const MAX_PRINTED_NAMES: usize = 10;
const MAX_TITLE_CHARS: usize = 60;

/// The items that a message is about, by the names that users know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemNames {
    /// At most [`MAX_NAMES`] of them.
    pub names: Vec<String>,
    pub total: usize,
}

impl ItemNames {
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Adds the items of another list.
    pub fn extend(&mut self, other: Self) {
        let free = MAX_NAMES.saturating_sub(self.names.len());
        self.names.extend(other.names.into_iter().take(free));
        self.total += other.total;
    }

    /// Appends the names to a sentence; an empty list leaves it unchanged.
    pub fn append_to(&self, sentence: &str) -> String {
        if self.is_empty() { sentence.to_owned() } else { format!("{sentence}: {self}") }
    }
}

impl fmt::Display for ItemNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printed = self.names.len().min(MAX_PRINTED_NAMES);
        f.write_str(&self.names[..printed].join(", "))?;
        match self.total.saturating_sub(printed) {
            0 => Ok(()),
            1 if printed == 0 => write!(f, "1 item"),
            more if printed == 0 => write!(f, "{more} items"),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Returns the name of a thread in a message: `acme/pump#12 (It leaks)`.
pub fn format_thread_name(repository: &str, number: i64, title: &str) -> String {
    let mut short: String = title.chars().take(MAX_TITLE_CHARS).collect();
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
        assert_eq!(numbered_names(2).append_to("gone"), "gone: n0, n1");
        assert_eq!(numbered_names(0).append_to("gone"), "gone");
        let many = numbered_names(12).to_string();
        assert!(many.starts_with("n0, n1,") && many.ends_with(", n9 and 2 more"), "{many}");
    }

    #[test]
    fn item_names_add_up_and_keep_a_bounded_number() {
        let mut all = ItemNames { names: vec!["a".into(); MAX_NAMES - 1], total: MAX_NAMES - 1 };
        all.extend(ItemNames { names: vec!["b".into(), "c".into()], total: 7 });
        assert_eq!((all.names.len(), all.total), (MAX_NAMES, MAX_NAMES + 6));
        assert_eq!(all.names.last().map(String::as_str), Some("b"));
    }

    #[test]
    fn thread_names_are_short() {
        assert_eq!(format_thread_name("acme/pump", 7, "It leaks"), "acme/pump#7 (It leaks)");
        let long = format_thread_name("acme/pump", 7, &"é".repeat(99));
        assert!(long.ends_with("é…)") && long.chars().count() < 80, "{long}");
    }

    fn numbered_names(count: usize) -> ItemNames {
        ItemNames { names: (0..count).map(|n| format!("n{n}")).collect(), total: count }
    }
}
