//! `highwater removed`

mod list;
mod restore;

use hw_rules::format::group_digits;
use hw_rules::item::ObjectKind;
use hw_rules::item_names::format_thread_name;
use hw_store::RemovedItem;

use crate::cli::RemovedCommand;
use crate::config::AppSettings;
use crate::terminal::clean_line;

pub(crate) fn run(command: RemovedCommand, settings: &AppSettings) -> anyhow::Result<()> {
    match command {
        RemovedCommand::List(args) => list::run(&args, settings),
        RemovedCommand::Restore(args) => restore::run(&args, settings),
    }
}

/// Returns the name of a removed item.
fn removed_item_name(item: &RemovedItem) -> String {
    let name = match (item.key.kind, item.number) {
        (ObjectKind::Thread(_), Some(number)) => {
            format_thread_name(&item.repository, number, &item.title)
        }
        (ObjectKind::Repository, _) => item.repository.clone(),
        _ => item.url.clone(),
    };
    clean_line(&name)
}

/// Returns the number of items that were removed with an item, as a suffix of its name.
fn others_suffix(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => " and 1 more item".to_owned(),
        count => format!(" and {} more items", group_digits(count)),
    }
}
