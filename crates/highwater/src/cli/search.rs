//! The arguments of `highwater search`.

use std::convert::Infallible;
use std::ffi::OsString;

use clap::{Args, value_parser};

use super::{Output, WorkspaceArgs};

/// Searches discussions, issues and pull requests, including their comments.
///
/// Works offline. Any text is a query. Every word must be there; the last one may
/// be the beginning of a word.
///   "oil leak"      the words side by side
///   auth*           words starting with "auth"
///   crash OR panic  either of them
///   crash -panic    without what `crash panic` finds; so does `NOT panic`
/// These filters narrow what is found, and need no word beside them. A `-` in
/// front of one excludes:
///   repo:pump  author:anchor  label:bug  type:issue|pr|discussion|comment
///   state:open|closed|merged  created:>=2026-01-01  updated:<2026-02-01
/// The best match comes first.
///
/// Examples:
///   highwater search tide gauge
///   highwater search crash -panic -label:wontfix
///   highwater search 'repo:pump "last reading" state:open' --limit 3
///   highwater search node.js --json --fields title,url
///   highwater search --csv -- '"-Werror"'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Search {
    /// The query; several words need no quotes.
    #[arg(value_name = "QUERY", value_parser = unshielded)]
    pub(crate) query: Vec<String>,

    /// At most this many.
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = value_parser!(u64).range(1..))]
    pub(crate) limit: u64,

    #[command(flatten)]
    pub(crate) output: Output,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

/// Stands in front of an excluded word, so that it is not read as a flag.
const SHIELD: char = '\u{e000}';

/// Shields the words that a search excludes: `-panic` is no `-p anic`.
///
/// One letter behind the dash is a flag, and so is one whose value follows it at once as a path does (`-m/home`).
pub(crate) fn shield_excluded_words(
    args: impl IntoIterator<Item = OsString>,
    commands: &[&str],
) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let command = args.iter().skip(1).position(|arg| commands.iter().any(|it| *it == arg));
    let Some(at) = command.map(|at| at + 1).filter(|at| args[*at] == "search") else {
        return args;
    };
    for arg in args.iter_mut().skip(at + 1).take_while(|arg| *arg != "--") {
        if let Some(word) = arg.to_str().filter(|arg| is_excluded_word(arg)) {
            *arg = format!("{SHIELD}{word}").into();
        }
    }
    args
}

fn is_excluded_word(arg: &str) -> bool {
    let mut chars = arg.chars();
    let is_dashed = chars.next() == Some('-') && chars.next().is_some_and(|c| c != '-');
    is_dashed && chars.next().is_some_and(|c| !"/.~=".contains(c))
}

#[expect(clippy::unnecessary_wraps, reason = "what clap asks of a parser")]
fn unshielded(arg: &str) -> Result<String, Infallible> {
    Ok(arg.strip_prefix(SHIELD).unwrap_or(arg).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluded_words_are_shielded_and_flags_are_not() {
        let line = "highwater search crash -panic -m /tmp -m/tmp --json -label:bug -- -x1";
        let args = shield_excluded_words(line.split(' ').map(OsString::from), &["search"]);
        let shielded: Vec<_> =
            args.iter().filter_map(|it| it.to_str()?.strip_prefix(SHIELD)).collect();
        assert_eq!(shielded, ["-panic", "-label:bug"]);
        let other = "highwater pull -oacme search -panic";
        let args = other.split(' ').map(OsString::from);
        assert_eq!(
            shield_excluded_words(args.clone(), &["pull", "search"]),
            args.collect::<Vec<_>>()
        );
    }
}
