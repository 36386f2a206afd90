//! One thread with its comments as Markdown: what `show` prints and `export` writes.
//!
//! Bodies are as they were written, to the byte; `show` then leaves out what could steer a terminal, while
//! an export keeps it. What stands around them is ours, and on lines of its own.

pub(crate) mod front;
mod talk;
mod yaml;

use hw_rules::clean::for_terminal_line;
use hw_rules::item::{Comment, Kind, Sort};
use hw_store::{ThreadRow, ThreadView};

/// The deepest heading that Markdown has.
const DEEPEST: usize = 6;

/// The thread for people: its title, its facts, and what was said.
pub(crate) fn page(view: &ThreadView) -> String {
    format!("{}{}{}", heading(&view.row), facts(view), said(view))
}

/// The thread as a file: its facts as front matter, its title, and what was said.
pub(crate) fn file(view: &ThreadView) -> String {
    front::sealed(&format!("{}{}{}", front::matter(view), heading(&view.row), said(view)))
}

fn heading(row: &ThreadRow) -> String {
    format!("# {}\n\n", for_terminal_line(&row.thread.title))
}

fn facts(view: &ThreadView) -> String {
    let ThreadRow { repository, thread, .. } = &view.row;
    let kind = thread.kind().name().replace('_', " ");
    let name = format!("{}/{repository}#{}", view.owner, thread.number);
    let mut facts = vec![
        format!("{kind} {name}: {}", state(&view.row)),
        format!("by {}, {}", author(thread.author.as_deref()), thread.created_at),
        format!("updated {}", thread.updated_at),
    ];
    facts.extend(thread.closed_at.iter().map(|at| format!("closed {at}")));
    if !thread.labels.is_empty() {
        facts.push(format!("labels: {}", thread.labels.join(", ")));
    }
    facts.push(format!("<{}>", thread.url));
    let facts = facts.iter().map(|fact| format!("- {}\n", for_terminal_line(fact)));
    format!("{}\n", facts.collect::<String>())
}

/// Its state, with the reason and what else there is to it.
fn state(row: &ThreadRow) -> String {
    let thread = &row.thread;
    let state = [thread.state.as_str()].into_iter().chain(thread.state_reason.as_deref());
    let mut state: Vec<String> = state.map(|word| word.to_lowercase().replace('_', " ")).collect();
    match &thread.sort {
        Sort::Issue => {}
        Sort::PullRequest(it) => state.extend(it.is_draft.then(|| "draft".to_owned())),
        Sort::Discussion(it) => {
            state.push(it.category.clone());
            state.extend(it.is_answered.unwrap_or(false).then(|| "answered".to_owned()));
        }
    }
    state.join(", ")
}

/// The body, and every comment with its replies below it.
fn said(view: &ThreadView) -> String {
    let mut text = block(&view.row.thread.body);
    for (depth, comment) in talk::in_order(&view.comments) {
        let level = "#".repeat((depth + 2).min(DEEPEST));
        let title = for_terminal_line(&title(comment, depth));
        text.push_str(&format!("{level} {title}\n\n<{}>\n\n", for_terminal_line(&comment.url)));
        text.push_str(&block(&comment.body));
    }
    text
}

fn title(comment: &Comment, depth: usize) -> String {
    let (who, at) = (author(comment.author.as_deref()), &comment.created_at);
    let verdict = comment.state.as_deref().unwrap_or_default();
    let did = match comment.kind {
        Kind::Review if verdict == "APPROVED" => "approved",
        Kind::Review if verdict == "CHANGES_REQUESTED" => "requested changes",
        Kind::Review => "reviewed",
        Kind::ReviewComment | Kind::DiscussionComment if comment.reply_to.is_some() => "replied",
        Kind::Repository
        | Kind::Discussion
        | Kind::Issue
        | Kind::PullRequest
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::DiscussionComment => "commented",
    };
    match &comment.path {
        Some(path) if depth < 2 => format!("{who} {did} on {}, {at}", place(path, comment.line)),
        Some(_) | None => format!("{who} {did}, {at}"),
    }
}

/// A file, and the line if it is still there.
fn place(path: &str, line: Option<i64>) -> String {
    line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}

/// A deleted account leaves no name; GitHub calls it so.
pub(crate) fn author(login: Option<&str>) -> &str {
    login.unwrap_or("ghost")
}

/// A text, and a blank line below it.
fn block(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{text}\n\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_and_its_line_as_long_as_there_is_one() {
        assert_eq!(place("src/pump.rs", Some(12)), "src/pump.rs:12");
        assert_eq!(place("src/pump.rs", None), "src/pump.rs");
    }
}
