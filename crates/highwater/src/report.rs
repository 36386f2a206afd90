//! What people see besides results: errors with hints, exit codes.

use std::fmt;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::terminal::tell_lines;
pub(crate) use crate::terminal::warn;

use crate::console;

/// Why a command ended without its result, as an exit code.
const YOURS_TO_FIX: u8 = 1;
const WRONG_ARGUMENTS: u8 = 2;
const OURS: u8 = 3;
const INTERRUPTED: u8 = 130;

/// How long whoever leaves may take to say so.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// What a person can do about an error: added to it as context.
#[derive(Debug)]
pub(crate) struct Hint(pub String);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Not the user's fault: something that must never happen did.
#[derive(Debug)]
pub(crate) struct Ours(pub String);

impl fmt::Display for Ours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Ours {}

/// Arguments that do not fit together.
#[derive(Debug)]
pub(crate) struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The user pressed Ctrl-C.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted; nothing that was kept is lost")
    }
}

impl std::error::Error for Interrupted {}

/// Ends the process where it stands, told or not: a terminal that takes nothing keeps nobody.
#[expect(clippy::exit, reason = "whoever is asked to leave twice leaves")]
pub(crate) fn leave(why: impl std::error::Error + Send + Sync + 'static) -> ! {
    let error = anyhow::Error::new(why);
    let last_words = told(&error);
    let (done, is_done) = channel();
    std::thread::spawn(move || {
        console::put_away();
        tell_lines(&last_words);
        done.send(()).ok();
    });
    is_done.recv_timeout(LAST_WORDS).ok();
    std::process::exit(i32::from(code(&error)))
}

/// Ends the process after a panic: nothing that it would still do can be trusted.
#[expect(clippy::exit, reason = "a panic in any thread ends all of them")]
pub(crate) fn leave_by_a_bug() -> ! {
    std::process::exit(i32::from(OURS))
}

/// Tells a person what went wrong, and the caller how it ended.
pub(crate) fn exit(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if is_closed_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    tell_lines(&told(&error));
    ExitCode::from(code(&error))
}

/// Arguments that cannot be read, or a page of help.
pub(crate) fn unparsed(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        tell_lines(&error.render().to_string());
        return ExitCode::from(WRONG_ARGUMENTS);
    }
    // help is our own text; clap knows how to set it on a terminal
    exit(error.print().map_err(|error| Unheard(error).into()))
}

/// One sentence on what failed, the causes, and what to do.
fn told(error: &anyhow::Error) -> String {
    let mut lines = Vec::new();
    let hint = error.downcast_ref::<Hint>().map(ToString::to_string);
    for cause in error.chain() {
        let text = without_number(&cause.to_string());
        if hint.as_ref() != Some(&text) && lines.last() != Some(&text) {
            lines.push(text);
        }
    }
    let mut out = format!("Error: {}\n", lines.remove(0));
    lines.iter().for_each(|cause| out.push_str(&format!("  because {cause}\n")));
    hint.iter().for_each(|hint| out.push_str(&format!("hint: {hint}\n")));
    out
}

/// The number that the operating system gives its errors helps nobody.
pub(crate) fn without_number(text: &str) -> String {
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

fn code(error: &anyhow::Error) -> u8 {
    if error.downcast_ref::<Ours>().is_some() {
        OURS
    } else if error.downcast_ref::<Usage>().is_some() {
        WRONG_ARGUMENTS
    } else if error.downcast_ref::<Interrupted>().is_some() {
        INTERRUPTED
    } else {
        YOURS_TO_FIX
    }
}

/// Writing a result failed. Nobody listening any more is a success; anything else is an error.
#[derive(Debug)]
pub(crate) struct Unheard(std::io::Error);

impl fmt::Display for Unheard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot write the result")
    }
}

impl std::error::Error for Unheard {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl From<std::io::Error> for Unheard {
    fn from(error: std::io::Error) -> Self {
        Self(error)
    }
}

/// A pipe that broke elsewhere, to a database say, is no success.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let unheard = error.downcast_ref::<Unheard>();
    unheard.is_some_and(|unheard| unheard.0.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_a_sentence_its_causes_and_a_hint() {
        let error = anyhow::anyhow!("no such file")
            .context("cannot open the workspace")
            .context(Hint("run `highwater demo --once` first".into()));
        let expected = "Error: cannot open the workspace\n  because no such file\n\
                        hint: run `highwater demo --once` first\n";
        assert_eq!(told(&error), expected);
        assert_eq!(code(&error), YOURS_TO_FIX);
    }

    #[test]
    fn only_a_closed_stdout_is_a_success() {
        let broken = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_closed_pipe(&Unheard(broken()).into()));
        assert!(!is_closed_pipe(&anyhow::Error::new(broken()).context("the database failed")));
    }

    #[test]
    fn whose_fault_it_is_shows_in_the_exit_code() {
        assert_eq!(code(&anyhow::Error::new(Ours("x".into()))), OURS);
        assert_eq!(code(&anyhow::Error::new(Usage("x".into()))), WRONG_ARGUMENTS);
        assert_eq!(code(&anyhow::Error::new(Interrupted).context("stopping")), INTERRUPTED);
    }
}
