//! The part of a text that shows why it was found.

/// A run of text, marked or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub is_match: bool,
}
