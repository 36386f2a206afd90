//! Renders one thread with its comments as Markdown, for `show` and `export`.
//!
//! Bodies are copied byte for byte; `show` then removes control characters, while an export keeps them. Everything that
//! highwater adds is on lines of its own.

pub(crate) mod front_matter;
mod yaml;

use hw_rules::item::{Comment, CommentKind, ThreadDetails};
use hw_rules::safe_text::sanitize_terminal_line;
use hw_rules::thread_order::{self, CommentLinks, NestedComment};
use hw_store::{CommentRow, ThreadRow, ThreadView};

/// The deepest heading that Markdown has.
const MAX_HEADING_LEVEL: usize = 6;

/// Returns the page that `show` prints: title, facts, body and comments.
pub(crate) fn thread_page(view: &ThreadView) -> String {
    format!("{}{}{}", title_heading(&view.row), fact_list(view), body_and_comments(view))
}

/// Returns the file that `export` writes: the facts as front matter, then title, body and comments.
pub(crate) fn thread_file(view: &ThreadView) -> String {
    front_matter::add_seal(&format!(
        "{}{}{}",
        front_matter::thread_facts(view),
        title_heading(&view.row),
        body_and_comments(view)
    ))
}

fn title_heading(row: &ThreadRow) -> String {
    format!("# {}\n\n", sanitize_terminal_line(&row.thread.title))
}

fn fact_list(view: &ThreadView) -> String {
    let ThreadRow { repository, thread, .. } = &view.row;
    let kind = thread.kind().name().replace('_', " ");
    let name = format!("{}/{repository}#{}", view.owner, thread.number);
    let mut facts = vec![
        format!("{kind} {name}: {}", describe_state(&view.row)),
        format!("by {}, {}", author_name(thread.author.as_deref()), thread.created_at),
        format!("updated {}", thread.updated_at),
    ];
    facts.extend(thread.closed_at.iter().map(|at| format!("closed {at}")));
    if !thread.labels.is_empty() {
        facts.push(format!("labels: {}", thread.labels.join(", ")));
    }
    facts.push(format!("<{}>", thread.url));
    let facts = facts.iter().map(|fact| format!("- {}\n", sanitize_terminal_line(fact)));
    format!("{}\n", facts.collect::<String>())
}

/// Returns the thread's state, with its reason and kind-specific details.
fn describe_state(row: &ThreadRow) -> String {
    let thread = &row.thread;
    let state = [thread.state.as_str()].into_iter().chain(thread.state_reason.as_deref());
    let mut state: Vec<String> = state.map(|word| word.to_lowercase().replace('_', " ")).collect();
    match &thread.details {
        ThreadDetails::Issue => {}
        ThreadDetails::PullRequest(details) => {
            state.extend(details.is_draft.then(|| "draft".to_owned()));
        }
        ThreadDetails::Discussion(details) => {
            state.push(details.category.clone());
            state.extend(details.is_answered.unwrap_or(false).then(|| "answered".to_owned()));
        }
    }
    state.join(", ")
}

/// Returns the body, and every comment with its replies below it.
fn body_and_comments(view: &ThreadView) -> String {
    let mut text = text_block(&view.row.thread.body);
    let ordered =
        thread_order::order_thread(&view.comments, |row| CommentLinks::from(&row.comment));
    for NestedComment { depth, comment: CommentRow { comment, .. } } in ordered {
        let level = "#".repeat((depth + 2).min(MAX_HEADING_LEVEL));
        let title = sanitize_terminal_line(&comment_heading(comment, depth));
        text.push_str(&format!(
            "{level} {title}\n\n<{}>\n\n",
            sanitize_terminal_line(&comment.url)
        ));
        text.push_str(&text_block(&comment.body));
    }
    text
}

fn comment_heading(comment: &Comment, depth: usize) -> String {
    let (author, at) = (author_name(comment.author.as_deref()), &comment.created_at);
    let review_state = comment.state.as_deref().unwrap_or_default();
    let action = match comment.kind {
        CommentKind::Review if review_state == "APPROVED" => "approved",
        CommentKind::Review if review_state == "CHANGES_REQUESTED" => "requested changes",
        CommentKind::Review => "reviewed",
        CommentKind::ReviewComment | CommentKind::DiscussionComment
            if comment.reply_to.is_some() =>
        {
            "replied"
        }
        CommentKind::Conversation | CommentKind::ReviewComment | CommentKind::DiscussionComment => {
            "commented"
        }
    };
    match &comment.path {
        Some(path) if depth < 2 => {
            format!("{author} {action} on {}, {at}", file_position(path, comment.line))
        }
        Some(_) | None => format!("{author} {action}, {at}"),
    }
}

/// Returns the file and the line; GitHub drops the line once it is no longer in the diff.
fn file_position(path: &str, line: Option<i64>) -> String {
    line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}

/// Returns the login, or GitHub's name for a deleted account.
pub(crate) fn author_name(login: Option<&str>) -> &str {
    login.unwrap_or("ghost")
}

/// Returns the text followed by a blank line.
fn text_block(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{text}\n\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_position_has_a_line_if_the_comment_has_one() {
        assert_eq!(file_position("src/pump.rs", Some(12)), "src/pump.rs:12");
        assert_eq!(file_position("src/pump.rs", None), "src/pump.rs");
    }
}
