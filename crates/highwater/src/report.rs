//! Reports errors with their hints, and turns them into exit codes.

use std::fmt;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

pub(crate) use crate::terminal::print_warning;
use crate::terminal::{print_result, print_status_lines};

use crate::{cli, pull_screen};

const EXIT_FAILURE: u8 = 1;
const EXIT_USAGE: u8 = 2;
const EXIT_INTERNAL: u8 = 3;
const EXIT_INTERRUPTED: u8 = 130;

/// The time that printing the last message may take.
const EXIT_MESSAGE_TIMEOUT: Duration = Duration::from_millis(300);

/// A suggestion for the user, added to an error as context.
#[derive(Debug)]
pub(crate) struct ErrorHint(pub String);

impl fmt::Display for ErrorHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A bug in highwater.
#[derive(Debug)]
pub(crate) struct InternalError(pub String);

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InternalError {}

/// Arguments that do not fit together.
#[derive(Debug)]
pub(crate) struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Text that the user requested in place of the command's result. It is not an error.
#[derive(Debug)]
pub(crate) struct RequestedHelp(pub String);

impl fmt::Display for RequestedHelp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RequestedHelp {}

/// The user pressed Ctrl-C.
#[derive(Debug)]
pub(crate) struct InterruptedError;

impl fmt::Display for InterruptedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopped. Everything done so far is saved.")
    }
}

impl std::error::Error for InterruptedError {}

/// Prints the error and ends the process. Does not wait for a terminal that accepts no output.
#[expect(clippy::exit, reason = "the work did not stop in time, or was stopped twice")]
pub(crate) fn exit_now(error: impl std::error::Error + Send + Sync + 'static) -> ! {
    let error = anyhow::Error::new(error);
    let message = format_error(&error);
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        pull_screen::release_terminal();
        print_status_lines(&message);
        sender.send(()).ok();
    });
    receiver.recv_timeout(EXIT_MESSAGE_TIMEOUT).ok();
    std::process::exit(i32::from(exit_code(&error)))
}

/// Ends the process after a panic, because its state can no longer be trusted.
#[expect(clippy::exit, reason = "a panic in any thread ends all of them")]
pub(crate) fn exit_after_panic() -> ! {
    std::process::exit(i32::from(EXIT_INTERNAL))
}

/// Prints the error of a command, if it failed, and returns the exit code.
pub(crate) fn report_result(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if let Some(RequestedHelp(text)) = error.downcast_ref() {
        return report_result(print_result(text).map_err(Into::into));
    }
    if is_closed_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    print_status_lines(&format_error(&error));
    ExitCode::from(exit_code(&error))
}

/// Prints an error of the argument parser, or the requested help.
pub(crate) fn report_parse_error(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let message = error.render().to_string();
        // as the program's own errors begin
        let message = message
            .strip_prefix("error: ")
            .map_or_else(|| message.clone(), |rest| format!("Error: {rest}"));
        let hint = cli::suggest_option_order(error).map_or_else(String::new, |order| {
            format!("hint: put options after the subcommand: {order}\n")
        });
        print_status_lines(&format!("{message}{hint}"));
        return ExitCode::from(EXIT_USAGE);
    }
    // help contains nothing that needs cleaning, and clap styles it for the terminal
    report_result(error.print().map_err(|error| OutputError(error).into()))
}

/// Formats an error: what failed, the causes, and the hint. Being stopped by the user is not an error.
fn format_error(error: &anyhow::Error) -> String {
    if let Some(interrupted) = error.downcast_ref::<InterruptedError>() {
        return format!("{interrupted}\n");
    }
    let hint = error.downcast_ref::<ErrorHint>().map(ToString::to_string);
    let mut lines = causes_without_hint(error);
    let mut out = format!("Error: {}\n", lines.remove(0));
    lines.iter().for_each(|cause| out.push_str(&format!("  caused by: {cause}\n")));
    hint.iter().for_each(|hint| out.push_str(&format!("hint: {hint}\n")));
    out
}

/// Formats an error and its causes in one line, without the hint: for logs and pages.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    causes_without_hint(error).join(": ")
}

fn causes_without_hint(error: &anyhow::Error) -> Vec<String> {
    let hint = error.downcast_ref::<ErrorHint>().map(ToString::to_string);
    let mut causes = Vec::new();
    for cause in error.chain() {
        let text = strip_os_error_number(&cause.to_string());
        if hint.as_ref() != Some(&text) && causes.last() != Some(&text) {
            causes.push(text);
        }
    }
    causes
}

/// Removes every error number of the operating system, which helps no user.
pub(crate) fn strip_os_error_number(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once(')').map_or(part, |(_number, after)| after));
    std::iter::once(first).chain(rest).collect()
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if error.downcast_ref::<InternalError>().is_some() {
        EXIT_INTERNAL
    } else if error.downcast_ref::<UsageError>().is_some() {
        EXIT_USAGE
    } else if error.downcast_ref::<InterruptedError>().is_some() {
        EXIT_INTERRUPTED
    } else {
        EXIT_FAILURE
    }
}

/// A result could not be written. A closed pipe counts as success, anything else as an error.
#[derive(Debug)]
pub(crate) struct OutputError(std::io::Error);

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot write the result")
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl From<std::io::Error> for OutputError {
    fn from(error: std::io::Error) -> Self {
        Self(error)
    }
}

/// Returns true if the reader of stdout is gone. Other broken pipes, such as one to a database, are errors.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let output_error = error.downcast_ref::<OutputError>();
    output_error.is_some_and(|error| error.0.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_message_has_a_sentence_its_causes_and_a_hint() {
        let error = anyhow::anyhow!("no such file")
            .context("cannot open the workspace")
            .context(ErrorHint("run `highwater demo --once` first".into()));
        let expected = "Error: cannot open the workspace\n  caused by: no such file\n\
                        hint: run `highwater demo --once` first\n";
        assert_eq!(format_error(&error), expected);
        assert_eq!(one_line(&error), "cannot open the workspace: no such file");
        assert_eq!(exit_code(&error), EXIT_FAILURE);
    }

    #[test]
    fn error_message_has_no_numbers_of_the_operating_system() {
        let text = "2 problems:\n  a: Permission denied (os error 13)\n  b: is gone (os error 2)!";
        let expected = "2 problems:\n  a: Permission denied\n  b: is gone!";
        assert_eq!(strip_os_error_number(text), expected);
    }

    #[test]
    fn closed_pipe_is_a_success_only_on_stdout() {
        let stdout = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(is_closed_pipe(&OutputError(stdout).into()));
        let database = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        assert!(!is_closed_pipe(&anyhow::Error::new(database).context("the database failed")));
    }

    #[test]
    fn exit_code_depends_on_the_kind_of_error() {
        assert_eq!(exit_code(&anyhow::Error::new(InternalError("x".into()))), EXIT_INTERNAL);
        assert_eq!(exit_code(&anyhow::Error::new(UsageError("x".into()))), EXIT_USAGE);
        assert_eq!(
            exit_code(&anyhow::Error::new(InterruptedError).context("stopping")),
            EXIT_INTERRUPTED
        );
    }
}
