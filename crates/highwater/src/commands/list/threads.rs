//! `highwater list issues`, `prs` and `discussions`

use hw_rules::item::ThreadKind;
use hw_rules::lane::Surface;
use hw_rules::login::Login;
use hw_store::{StoreReader, ThreadFilter, ThreadRow};

use super::owners::RepositoryOwners;
use super::{ROWS_PER_PAGE, read_command, report_no_matches};
use crate::cli::{ListPullRequestsArgs, ListThreadsArgs};
use crate::columns::{RowWithOwner, thread_columns};
use crate::row_writer::RowWriter;
use crate::terminal::clean_line;

pub(super) fn run(
    args: &ListThreadsArgs,
    kind: ThreadKind,
    store: &StoreReader,
) -> anyhow::Result<()> {
    print_threads(args, &thread_filter(args)?, kind, store)
}

pub(super) fn run_pull_requests(
    args: &ListPullRequestsArgs,
    store: &StoreReader,
) -> anyhow::Result<()> {
    let filter = ThreadFilter { merged: args.merged_range()?, ..thread_filter(&args.threads)? };
    print_threads(&args.threads, &filter, ThreadKind::PullRequest, store)
}

fn thread_filter(args: &ListThreadsArgs) -> anyhow::Result<ThreadFilter> {
    let listing = &args.listing;
    Ok(ThreadFilter {
        repository: listing.repository.clone(),
        owner: listing.workspace.organization.as_ref().map(Login::to_string),
        authors: listing.authors.clone(),
        created: listing.created_range()?,
        closed: args.closed_range()?,
        limit: listing.limit,
        ..ThreadFilter::default()
    })
}

fn print_threads(
    args: &ListThreadsArgs,
    filter: &ThreadFilter,
    kind: ThreadKind,
    store: &StoreReader,
) -> anyhow::Result<()> {
    let mut writer = RowWriter::open(&args.listing.output, thread_columns(kind))?;
    let mut count = 0;
    let owners = RepositoryOwners::load(store)?;
    let skipped = store.each_thread_in_pages(
        kind,
        filter,
        ROWS_PER_PAGE,
        &mut |row: ThreadRow| -> anyhow::Result<()> {
            count += 1;
            let owner = owners.find_owner(&row.repository_key());
            let row = RowWithOwner { owner, row };
            Ok(writer.write_row(&row, |out, row| out.write_line(&thread_line(row)))?)
        },
    )?;
    writer.finish()?;
    let unfiltered = ThreadFilter { limit: filter.limit, ..ThreadFilter::default() };
    if count == 0 && *filter != unfiltered {
        report_no_matches();
    }
    let surfaces = [Surface::Threads(kind)];
    read_command::warn_incomplete(&store.completeness(&surfaces, filter.repository.as_deref())?);
    read_command::check_none_skipped(skipped)
}

/// Formats one thread. Texts are cleaned before they are padded, so that the columns line up.
fn thread_line(row: &RowWithOwner<ThreadRow>) -> String {
    let RowWithOwner { owner, row: ThreadRow { repository, thread, .. } } = row;
    let name = clean_line(&format!("{owner}/{repository}#{}", thread.number));
    let state = clean_line(&thread.state.to_lowercase());
    // lists are ordered by creation
    let created_at = thread.created_at.as_str();
    let date = created_at.get(..10).unwrap_or(created_at);
    format!("{name:<36} {state:<7} {date}  {}", thread.title)
}
