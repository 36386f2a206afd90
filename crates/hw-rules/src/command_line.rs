//! Finds commands in comments: lines that begin with `/highwater`, outside fences and quotes.

/// A command as a line of a comment gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The line without the space around it.
    pub text: String,
    /// In lower case; empty if the line has none.
    pub verb: String,
    /// The `key=value` arguments, in order.
    pub arguments: Vec<(String, String)>,
    /// Words that are no arguments.
    pub unknown: Vec<String>,
}

/// The first word of a command.
pub const COMMAND_WORD: &str = "/highwater";

/// Markdown takes a line with more space in front for code.
const MAX_INDENT: usize = 3;

/// Returns true if a comment has a command line.
pub fn has_command(body: &str) -> bool {
    body.contains(COMMAND_WORD) && !parse_commands(body).is_empty()
}

/// Returns the commands of a comment, in order.
pub fn parse_commands(body: &str) -> Vec<CommandLine> {
    let mut fence: Option<Fence> = None;
    let mut commands = Vec::new();
    for line in body.lines() {
        let Some(text) = strip_indent(line) else { continue };
        match (&fence, Fence::opened_by(text)) {
            (Some(open), _) => {
                if open.is_closed_by(text) {
                    fence = None;
                }
            }
            (None, Some(opened)) => fence = Some(opened),
            (None, None) => commands.extend(parse_line(text)),
        }
    }
    commands
}

/// Returns a line without the space in front; none if Markdown takes it for code.
fn strip_indent(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() <= MAX_INDENT).then_some(text)
}

/// A code fence that is open.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(text: &str) -> Option<Self> {
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        // a fence of backticks has none in its info string: that is a code span
        (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some(Self { mark, length })
    }

    fn is_closed_by(self, text: &str) -> bool {
        let rest = text.trim_start_matches(self.mark);
        text.len() - rest.len() >= self.length && rest.trim().is_empty()
    }
}

fn parse_line(text: &str) -> Option<CommandLine> {
    let mut words = text.split_whitespace();
    if !text.starts_with(COMMAND_WORD) || words.next() != Some(COMMAND_WORD) {
        return None;
    }
    let verb = words.next().unwrap_or_default().to_lowercase();
    let (mut arguments, mut unknown) = (Vec::new(), Vec::new());
    for word in words {
        match word.split_once('=') {
            Some((key, value)) if is_key(key) => {
                arguments.push((key.to_owned(), value.to_owned()));
            }
            _ => unknown.push(word.to_owned()),
        }
    }
    Some(CommandLine { text: text.trim().to_owned(), verb, arguments, unknown })
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
