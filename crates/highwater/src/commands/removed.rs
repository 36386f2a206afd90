//! `highwater removed`

mod list;
mod restore;

use hw_rules::item::Kind;
use hw_rules::item_names::thread_name;
use hw_store::RemovedItem;

use crate::cli::RemovedCommand;
use crate::config::Settings;
use crate::terminal::shown_line;

pub(crate) fn run(what: RemovedCommand, settings: &Settings) -> anyhow::Result<()> {
    match what {
        RemovedCommand::List(args) => list::run(&args, settings),
        RemovedCommand::Restore(args) => restore::run(&args, settings),
    }
}

/// Returns the name of a removed item, with how many others went with it.
fn item_name(item: &RemovedItem) -> String {
    let name = match (item.key.kind, item.number) {
        (Kind::Discussion | Kind::Issue | Kind::PullRequest, Some(number)) => {
            thread_name(&item.repository, number, &item.title)
        }
        (Kind::Repository, _) => item.repository.clone(),
        _ => item.url.clone(),
    };
    shown_line(&name)
}

/// Returns how many others went with an item, to stand behind its name.
fn others_suffix(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => " and 1 other".to_owned(),
        count => format!(" and {count} others"),
    }
}
