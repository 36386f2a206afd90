//! `highwater list`

mod comments;
mod owners;
mod posts;
mod repositories;
mod threads;

use hw_rules::item::ThreadKind;
use hw_store::StoreReader;

use super::read_command;
use crate::cli::ListCommand;
use crate::config::AppSettings;
use crate::terminal::print_status;

#[expect(clippy::needless_pass_by_value, reason = "every command takes its arguments by value")]
pub(crate) fn run(command: ListCommand, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| run_list(&command, store))
}

fn run_list(command: &ListCommand, store: &StoreReader) -> anyhow::Result<()> {
    match command {
        ListCommand::Issues(args) => threads::run(args, ThreadKind::Issue, store),
        ListCommand::Prs(args) => threads::run_pull_requests(args, store),
        ListCommand::Discussions(args) => threads::run(args, ThreadKind::Discussion, store),
        ListCommand::Comments(args) => comments::run(args, store),
        ListCommand::Posts(args) => posts::run(args, store),
        ListCommand::Repos(args) => repositories::run(args, store),
    }
}

/// The number of rows read per transaction, so that a slow consumer of the output never blocks the WAL.
const ROWS_PER_PAGE: u64 = 1_000;

/// Reports on stderr that the filters match nothing.
fn report_no_matches() {
    print_status("no matches");
}
