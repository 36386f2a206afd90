//! Rejects items that no source can have: impossible ids, and names, URLs and texts beyond every limit.
//!
//! If stored, an impossible id would collapse many items into one, and an endless name or a `javascript:` URL would
//! reach every reader. The limits are generous multiples of GitHub's own, so that it may raise a limit.

use crate::item::{AuthorKind, Comment, MirrorItem, Repository, Thread, ThreadDetails};

/// The reason why an item is impossible. Stored reasons are recognized by their text, so it must not change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("impossible: {0}")]
pub struct ImpossibleItem(String);

impl ImpossibleItem {
    /// Creates the reason for an id that several nodes of one response have.
    pub fn from_shared_id(id: i64) -> Self {
        Self(format!("several nodes have its id, {id}"))
    }

    /// Creates the reason for an id under which another node is stored.
    pub fn from_taken_id(id: i64) -> Self {
        Self(format!("another node has its id, {id}"))
    }

    /// Creates the reason for a row that belongs to another account than the listing.
    pub fn from_foreign_account(account: &str) -> Self {
        invalid_field("account", account)
    }

    /// Creates the reason for a text of this many bytes.
    pub fn from_text_length(bytes: usize) -> Self {
        Self(format!("its text has {bytes} bytes"))
    }

    /// Returns the id from a stored reason of [`Self::from_taken_id`].
    pub fn parse_taken_id(reason: &str) -> Option<i64> {
        reason.strip_prefix("impossible: another node has its id, ")?.parse().ok()
    }

    /// Returns true if a stored reason is an [`ImpossibleItem`]: requesting the item again does not help.
    pub fn is_impossible_reason(reason: &str) -> bool {
        reason.starts_with("impossible: ")
    }

    /// Returns true if a stored reason came from [`Self::from_shared_id`].
    pub fn is_shared_id_reason(reason: &str) -> bool {
        reason.starts_with("impossible: several nodes have its id")
    }
}

/// Returns true if two node ids with the same numeric id belong to two nodes. Ids of different formats may name one
/// node, because sources change the format from time to time.
pub fn is_different_node(stored: &str, observed: &str) -> bool {
    let is_uri = observed.starts_with(RECORD_URI_PREFIX);
    stored != observed && (is_uri || is_same_format(stored, observed))
}

/// Beginning of the id of a post: its URI, from which its number is computed.
const RECORD_URI_PREFIX: &str = "at://";

fn is_same_format(stored: &str, observed: &str) -> bool {
    stored.len() == observed.len() && node_id_prefix(stored) == node_id_prefix(observed)
}

fn node_id_prefix(id: &str) -> Option<&str> {
    id.split_once('_').map(|(prefix, _)| prefix)
}

/// GitHub's own limit is some 100 characters.
const MAX_NODE_ID_BYTES: usize = 512;
/// The longest that browsers and proxies accept.
const MAX_URL_BYTES: usize = 2_048;
/// GitHub's own: 100.
const MAX_NAME_CHARS: usize = 100;
/// GitHub's own: 39; those of enterprises and bots are somewhat longer.
const MAX_LOGIN_CHARS: usize = 255;
/// GitHub's own: 256.
const MAX_TITLE_CHARS: usize = 1_024;
/// GitHub's own: 50.
const MAX_LABEL_CHARS: usize = 200;
/// GitHub's own: 255 bytes.
const MAX_REF_CHARS: usize = 1_024;
/// The longest that Git and file systems accept.
const MAX_PATH_CHARS: usize = 4_096;
/// A word in capital letters, or a commit id.
const MAX_STATE_CHARS: usize = 100;
/// GitHub's own: 65,536 characters.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Checks the two ids of an item.
pub fn check_ids(id: i64, node_id: &str) -> Result<(), ImpossibleItem> {
    check_positive("id", id)?;
    let is_visible = node_id.bytes().all(|byte| byte.is_ascii_graphic());
    if node_id.is_empty() || node_id.len() > MAX_NODE_ID_BYTES || !is_visible {
        return Err(invalid_field("node id", node_id));
    }
    Ok(())
}

/// Checks every stored field of a repository.
pub fn check_repository(repository: &Repository) -> Result<(), ImpossibleItem> {
    check_ids(repository.id, &repository.node_id)?;
    check_name("owner", &repository.owner)?;
    check_name("name", &repository.name)?;
    check_url(&repository.url)
}

/// Checks every stored field of a thread.
pub fn check_thread(thread: &Thread) -> Result<(), ImpossibleItem> {
    check_ids(thread.id, &thread.node_id)?;
    check_positive("number", thread.number)?;
    check_positive("repository", thread.repository_id)?;
    check_author(thread.author.as_deref(), thread.author_id)?;
    check_thread_words(thread)?;
    check_url(&thread.url)?;
    check_length("title", &thread.title, MAX_TITLE_CHARS)?;
    check_body(&thread.body)?;
    check_length("state", &thread.state, MAX_STATE_CHARS)?;
    check_length("state", thread.state_reason.as_deref().unwrap_or_default(), MAX_STATE_CHARS)?;
    thread.labels.iter().try_for_each(|label| check_length("label", label, MAX_LABEL_CHARS))?;
    match &thread.details {
        ThreadDetails::Issue => Ok(()),
        ThreadDetails::PullRequest(pull) => check_length("head ref", &pull.head_ref, MAX_REF_CHARS),
        ThreadDetails::Discussion(discussion) => {
            check_length("category", &discussion.category, MAX_LABEL_CHARS)
        }
    }
}

/// Checks the numbers of the issues that a pull request closes.
pub fn check_closed_issues(numbers: &[i64]) -> Result<(), ImpossibleItem> {
    numbers.iter().try_for_each(|number| check_positive("number", *number))
}

/// Checks every stored field of a comment.
pub fn check_comment(comment: &Comment) -> Result<(), ImpossibleItem> {
    check_ids(comment.id, &comment.node_id)?;
    check_positive("number", comment.thread)?;
    check_positive("repository", comment.repository_id)?;
    for id in [comment.reply_to, comment.review_id].into_iter().flatten() {
        check_positive("id", id)?;
    }
    check_author(comment.author.as_deref(), comment.author_id)?;
    check_author_words(comment.author_kind.as_ref(), comment.association.as_deref())?;
    check_url(&comment.url)?;
    check_length("state", comment.state.as_deref().unwrap_or_default(), MAX_STATE_CHARS)?;
    check_length("path", comment.path.as_deref().unwrap_or_default(), MAX_PATH_CHARS)?;
    check_body(&comment.body)
}

fn check_positive(field: &str, id: i64) -> Result<(), ImpossibleItem> {
    if id > 0 { Ok(()) } else { Err(ImpossibleItem(format!("its {field} is {id}"))) }
}

/// Checks an author. Bots are `name[bot]`, and users of an enterprise are `name_company`, so only characters that no
/// login can contain are rejected.
fn check_author(login: Option<&str>, id: Option<i64>) -> Result<(), ImpossibleItem> {
    id.map_or(Ok(()), |id| check_positive("author's id", id))?;
    let Some(login) = login else { return Ok(()) };
    if login.is_empty() || login.contains(is_blank_or_control) {
        return Err(invalid_field("login", login));
    }
    check_length("login", login, MAX_LOGIN_CHARS)
}

/// Checks the fields that no digest covers, in an item that was stored.
pub fn check_undigested_fields(item: &MirrorItem) -> Result<(), ImpossibleItem> {
    match item {
        MirrorItem::Repository(_) | MirrorItem::Post(_) => Ok(()),
        MirrorItem::Thread(thread) => check_thread_words(thread),
        MirrorItem::Comment(comment) => {
            check_author_words(comment.author_kind.as_ref(), comment.association.as_deref())
        }
    }
}

fn check_thread_words(thread: &Thread) -> Result<(), ImpossibleItem> {
    check_author_words(thread.author_kind.as_ref(), thread.association.as_deref())?;
    let head_sha = match &thread.details {
        ThreadDetails::PullRequest(pull) => pull.head_sha.as_deref(),
        ThreadDetails::Issue | ThreadDetails::Discussion(_) => None,
    };
    check_word("head commit", head_sha, |byte| byte.is_ascii_hexdigit())
}

/// Checks the words for the kind of an author and for the relation to the repository.
fn check_author_words(
    kind: Option<&AuthorKind>,
    association: Option<&str>,
) -> Result<(), ImpossibleItem> {
    check_word("author's kind", kind.map(AuthorKind::name), |byte| byte.is_ascii_alphanumeric())?;
    check_word("association", association, |byte| byte.is_ascii_uppercase() || byte == b'_')
}

fn check_word(
    field: &str,
    word: Option<&str>,
    is_allowed: fn(u8) -> bool,
) -> Result<(), ImpossibleItem> {
    let word = word.unwrap_or_default();
    check_length(field, word, MAX_STATE_CHARS)?;
    if word.bytes().all(is_allowed) { Ok(()) } else { Err(invalid_field(field, word)) }
}

/// Checks the name of an owner or a repository. `export` makes a folder of it, so it cannot be dots alone.
fn check_name(field: &str, name: &str) -> Result<(), ImpossibleItem> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let is_dots = matches!(name, "." | "..");
    if name.is_empty() || name.len() > MAX_NAME_CHARS || is_dots || !is_plain {
        return Err(invalid_field(field, name));
    }
    Ok(())
}

fn check_url(url: &str) -> Result<(), ImpossibleItem> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let has_host = host.is_some_and(|host| !host.is_empty() && !host.contains(['@', '\\']));
    let is_unsafe = url.contains(|c| is_blank_or_control(c) || "\"<>\\^`{|}".contains(c));
    if url.len() > MAX_URL_BYTES || !has_host || is_unsafe {
        return Err(invalid_field("address", url));
    }
    Ok(())
}

fn is_blank_or_control(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

fn check_body(body: &str) -> Result<(), ImpossibleItem> {
    if body.len() > MAX_BODY_BYTES {
        return Err(ImpossibleItem::from_text_length(body.len()));
    }
    Ok(())
}

fn check_length(field: &str, text: &str, max_chars: usize) -> Result<(), ImpossibleItem> {
    // a character takes at least a byte, so that short texts need no counting
    if text.len() > max_chars && text.chars().nth(max_chars).is_some() {
        return Err(invalid_field(field, text));
    }
    Ok(())
}

fn invalid_field(field: &str, text: &str) -> ImpossibleItem {
    const MAX_QUOTED_CHARS: usize = 60;
    let quoted: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    let bytes = text.len();
    let length = if quoted.len() < bytes { format!(", {bytes} bytes long") } else { String::new() };
    ImpossibleItem(format!("its {field} is {quoted:?}{length}"))
}

#[cfg(test)]
#[path = "item_validation_tests.rs"]
mod tests;
