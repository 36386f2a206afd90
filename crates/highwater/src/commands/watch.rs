//! `highwater watch`

mod add;
mod change;
mod list;

use hw_rules::watch::Watch;

use crate::cli::WatchCommand;
use crate::config::AppSettings;

/// Explains an empty list.
pub(crate) const NO_WATCHES: &str =
    "this workspace watches nothing; `highwater watch add OWNER/REPOSITORY#NUMBER` adds a watch";

pub(crate) fn run(command: WatchCommand, settings: &AppSettings) -> anyhow::Result<()> {
    match command {
        WatchCommand::Add(args) => add::run(&args, settings),
        WatchCommand::Remove(args) => change::remove(&args, settings),
        WatchCommand::List(args) => list::run(&args, settings),
        WatchCommand::Pause(args) => change::pause(&args, settings),
        WatchCommand::Resume(args) => change::resume(&args, settings),
    }
}

/// Returns what is watched, as a user names it.
fn watch_name(watch: &Watch) -> String {
    let label = watch.subject.label.as_ref().map(|label| format!(" --label {label:?}"));
    let source = watch
        .source_issue
        .filter(|_| watch.subject.number.is_none())
        .map(|number| format!(" --source-issue {number}"));
    format!("{}{}{}", watch.subject, label.unwrap_or_default(), source.unwrap_or_default())
}
