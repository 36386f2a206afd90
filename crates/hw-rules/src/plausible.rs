//! Tells items apart that no source can have: impossible ids, and names, addresses and texts beyond every limit.
//!
//! Stored, an impossible id collapses many items into one, and an endless name or a `javascript:` address reaches
//! every reader. The limits are generous multiples of GitHub's own, so that a limit it raises stays inside.

use crate::item::{Comment, Repository, Sort, Thread};

/// What is wrong with an item that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("impossible: {0}")]
pub struct Impossible(String);

impl Impossible {
    /// Several nodes of one answer have this id.
    pub fn shared_id(id: i64) -> Self {
        Self(format!("several nodes have its id, {id}"))
    }

    /// Another node is stored under this id.
    pub fn taken_id(id: i64) -> Self {
        Self(format!("another node has its id, {id}"))
    }

    /// The id of a stored reason that another node is stored under it.
    pub fn parse_taken_id(reason: &str) -> Option<i64> {
        reason.strip_prefix("impossible: another node has its id, ")?.parse().ok()
    }

    /// Whether a stored reason is one of these: asking again does not help.
    pub fn is_reason(reason: &str) -> bool {
        reason.starts_with("impossible: ")
    }

    /// Whether a stored reason is an id that several nodes have.
    pub fn is_shared_id(reason: &str) -> bool {
        reason.starts_with("impossible: several nodes have its id")
    }
}

/// Whether two node ids that came with one numeric id are of two nodes. Two forms of id may name one node: sources
/// change the form now and then.
pub fn is_other_node(stored: &str, seen: &str) -> bool {
    let form = |id: &str| (id.split_once('_').map(|(kind, _)| kind.to_owned()), id.len());
    stored != seen && form(stored) == form(seen)
}

/// GitHub's own limit is some 100 characters.
const NODE_ID_BYTES: usize = 512;
/// As browsers and proxies take them.
const URL_BYTES: usize = 2_048;
/// GitHub's own: 100.
const NAME_CHARS: usize = 100;
/// GitHub's own: 39, and those of enterprises and bots are somewhat longer.
const LOGIN_CHARS: usize = 255;
/// GitHub's own: 256.
const TITLE_CHARS: usize = 1_024;
/// GitHub's own: 50.
const LABEL_CHARS: usize = 200;
/// GitHub's own: 255 bytes.
const REF_CHARS: usize = 1_024;
/// What Git and file systems take.
const PATH_CHARS: usize = 4_096;
/// A word in capital letters.
const STATE_CHARS: usize = 100;
/// GitHub's own: 65,536 characters.
const BODY_BYTES: usize = 1 << 20;

/// Checks the two names that an item is known by.
pub fn check_ids(id: i64, node_id: &str) -> Result<(), Impossible> {
    check_positive("id", id)?;
    let is_visible = |byte: u8| byte.is_ascii_graphic();
    if node_id.is_empty() || node_id.len() > NODE_ID_BYTES || !node_id.bytes().all(is_visible) {
        return Err(wrong("node id", node_id));
    }
    Ok(())
}

/// Checks everything that is stored of a repository.
pub fn check_repository(repository: &Repository) -> Result<(), Impossible> {
    check_ids(repository.id, &repository.node_id)?;
    check_name("owner", &repository.owner)?;
    check_name("name", &repository.name)?;
    check_url(&repository.url)
}

/// Checks everything that is stored of a thread.
pub fn check_thread(thread: &Thread) -> Result<(), Impossible> {
    check_ids(thread.id, &thread.node_id)?;
    check_positive("number", thread.number)?;
    check_positive("repository", thread.repository_id)?;
    check_author(thread.author.as_deref(), thread.author_id)?;
    check_url(&thread.url)?;
    check_chars("title", &thread.title, TITLE_CHARS)?;
    check_body(&thread.body)?;
    check_chars("state", &thread.state, STATE_CHARS)?;
    check_chars("state", thread.state_reason.as_deref().unwrap_or_default(), STATE_CHARS)?;
    thread.labels.iter().try_for_each(|label| check_chars("label", label, LABEL_CHARS))?;
    match &thread.sort {
        Sort::Issue => Ok(()),
        Sort::PullRequest(pull) => {
            pull.closes.iter().try_for_each(|number| check_positive("number", *number))?;
            check_chars("head ref", &pull.head_ref, REF_CHARS)
        }
        Sort::Discussion(discussion) => check_chars("category", &discussion.category, LABEL_CHARS),
    }
}

/// Checks everything that is stored of a comment.
pub fn check_comment(comment: &Comment) -> Result<(), Impossible> {
    check_ids(comment.id, &comment.node_id)?;
    check_positive("number", comment.thread)?;
    check_positive("repository", comment.repository_id)?;
    for id in [comment.reply_to, comment.review_id].into_iter().flatten() {
        check_positive("id", id)?;
    }
    check_author(comment.author.as_deref(), comment.author_id)?;
    check_url(&comment.url)?;
    check_chars("state", comment.state.as_deref().unwrap_or_default(), STATE_CHARS)?;
    check_chars("path", comment.path.as_deref().unwrap_or_default(), PATH_CHARS)?;
    check_body(&comment.body)
}

fn check_positive(what: &str, id: i64) -> Result<(), Impossible> {
    if id > 0 { Ok(()) } else { Err(Impossible(format!("its {what} is {id}"))) }
}

/// Bots are `name[bot]`, and users of an enterprise `name_company`: only what no login can hold is refused.
fn check_author(login: Option<&str>, id: Option<i64>) -> Result<(), Impossible> {
    id.map_or(Ok(()), |id| check_positive("author's id", id))?;
    let Some(login) = login else { return Ok(()) };
    let is_wrong = |c: char| c.is_whitespace() || c.is_control();
    if login.is_empty() || login.contains(is_wrong) {
        return Err(wrong("login", login));
    }
    check_chars("login", login, LOGIN_CHARS)
}

/// Owners and repositories: a name is a folder for `export`, so dots alone are none.
fn check_name(what: &str, name: &str) -> Result<(), Impossible> {
    let is_right = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_dots = matches!(name, "." | "..");
    if name.is_empty() || name.len() > NAME_CHARS || is_dots || !name.bytes().all(is_right) {
        return Err(wrong(what, name));
    }
    Ok(())
}

fn check_url(url: &str) -> Result<(), Impossible> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let is_host = |host: &str| !host.is_empty() && !host.contains(['@', '\\']);
    let is_wrong = |c: char| c.is_whitespace() || c.is_control() || "\"<>\\^`{|}".contains(c);
    if url.len() > URL_BYTES || !host.is_some_and(is_host) || url.contains(is_wrong) {
        return Err(wrong("address", url));
    }
    Ok(())
}

fn check_body(body: &str) -> Result<(), Impossible> {
    if body.len() > BODY_BYTES {
        return Err(Impossible(format!("its text has {} bytes", body.len())));
    }
    Ok(())
}

fn check_chars(what: &str, text: &str, most: usize) -> Result<(), Impossible> {
    // a character takes at least a byte, so that most texts need no counting
    if text.len() > most && text.chars().nth(most).is_some() {
        return Err(wrong(what, text));
    }
    Ok(())
}

fn wrong(what: &str, text: &str) -> Impossible {
    const SHOWN: usize = 60;
    let shown: String = text.chars().take(SHOWN).collect();
    let bytes = text.len();
    let length = if shown.len() < bytes { format!(", {bytes} bytes long") } else { String::new() };
    Impossible(format!("its {what} is {shown:?}{length}"))
}

#[cfg(test)]
#[path = "plausible_tests.rs"]
mod tests;
