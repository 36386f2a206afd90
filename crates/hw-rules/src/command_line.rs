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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn command_is_the_first_word_of_a_line_outside_fences_and_quotes() {
        for (body, expected) in [
            ("/highwater help", 1),
            ("Thanks!\n\n  /highwater pause\nand more\n/highwater resume", 2),
            ("please run /highwater help", 0),
            ("/highwaterx help", 0),
            ("/HIGHWATER help", 0),
            ("> /highwater help", 0),
            ("    /highwater help", 0),
            ("\t/highwater help", 0),
            ("- /highwater help", 0),
            ("`/highwater help`", 0),
            ("```\n/highwater help\n```", 0),
            ("```sh\n/highwater help\n````\n/highwater pause", 1),
            ("````\n```\n/highwater help\n````", 0),
            ("~~~\n/highwater help\n```\n~~~\n/highwater pause", 1),
            ("```\n/highwater help", 0),
            ("``` not ` a fence\n/highwater help", 1),
            ("/highwater help\r\n/highwater pause\r\n", 2),
        ] {
            assert_eq!(parse_commands(body).len(), expected, "{body:?}");
            assert_eq!(has_command(body), expected > 0, "{body:?}");
        }
    }

    #[test]
    fn command_has_a_verb_and_arguments() {
        let commands =
            parse_commands("  /highwater  Unblock pr=12 head_sha=a=b now Key=1 \n/highwater");
        let expected = CommandLine {
            text: "/highwater  Unblock pr=12 head_sha=a=b now Key=1".to_owned(),
            verb: "unblock".to_owned(),
            arguments: vec![
                ("pr".to_owned(), "12".to_owned()),
                ("head_sha".to_owned(), "a=b".to_owned()),
            ],
            unknown: vec!["now".to_owned(), "Key=1".to_owned()],
        };
        assert_eq!(commands[0], expected);
        assert_eq!((commands[1].verb.as_str(), commands.len()), ("", 2));
    }

    proptest! {
        #[test]
        fn command_lines_are_lines_of_their_comment(body in "(([ >`~a/\n]{0,6})(/highwater help)?\n){0,5}") {
            for command in parse_commands(&body) {
                prop_assert!(body.lines().any(|line| line.trim() == command.text));
            }
        }
    }
}
