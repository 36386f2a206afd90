//! The arguments of `highwater search`.

use std::convert::Infallible;
use std::ffi::OsString;

use clap::Args;

use super::{OutputArgs, WorkspaceFlags};
use crate::config::parse_limit;

/// Searches discussions, issues, pull requests with their comments, and posts.
///
/// Works offline. Any text is a valid query. All words must match; the last one
/// may be the beginning of a word.
///   "oil leak"      these words next to each other
///   auth*           words starting with "auth"
///   crash OR panic  either word
///   crash -panic    crash, but not panic; also `crash NOT panic`
/// Filters narrow the results and also work without words. Put `-` before a
/// filter to exclude its matches:
///   repo:pump  author:anchor  label:bug  type:issue|pr|discussion|comment|post
///   state:open|closed|merged  created:>=2026-01-01  updated:<2026-02-01
/// The best match comes first.
///
/// Examples:
///   highwater search tide gauge
///   highwater search crash -panic -label:wontfix
///   highwater search 'repo:pump "last reading" state:open' --limit 3
///   highwater search node.js --json --fields title,url
///   highwater search 'type:post author:alice.bsky.social pump'
///   highwater search --csv -- '"-Werror"'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SearchArgs {
    /// Query; several words need no quotes.
    #[arg(value_name = "QUERY", value_parser = unshield_word)]
    pub(crate) query: Vec<String>,

    /// Maximum number of results.
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) limit: u64,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Prefixes an excluded word, so that clap does not read it as a flag.
const SHIELD: char = '\u{e000}';

/// Shields the words that a search excludes, so that `-panic` is not read as `-p anic`.
///
/// A single letter after the dash is a flag, and so is a letter followed by a path (`-m/home`).
pub(crate) fn shield_excluded_words(
    args: impl IntoIterator<Item = OsString>,
    commands: &[&str],
) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let command = args.iter().skip(1).position(|arg| commands.iter().any(|name| *name == arg));
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

#[expect(clippy::unnecessary_wraps, reason = "clap requires a parser to return a Result")]
fn unshield_word(arg: &str) -> Result<String, Infallible> {
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
            args.iter().filter_map(|arg| arg.to_str()?.strip_prefix(SHIELD)).collect();
        assert_eq!(shielded, ["-panic", "-label:bug"]);
        let other = "highwater pull -oacme search -panic";
        let args = other.split(' ').map(OsString::from);
        assert_eq!(
            shield_excluded_words(args.clone(), &["pull", "search"]),
            args.collect::<Vec<_>>()
        );
    }
}
