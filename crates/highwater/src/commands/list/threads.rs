//! `highwater list issues`, `prs` and `discussions`

use hw_rules::lane::Surface;
use hw_store::{Store, ThreadFilter, ThreadRow};

use super::owners::RepositoryOwners;
use super::{PAGE, reading, tell_if_empty};
use crate::cli::{ListPullRequests, ListThreads};
use crate::columns::{WithOwner, of_threads};
use crate::sheet::Sheet;
use crate::terminal::shown_line;

pub(super) fn run(args: &ListThreads, surface: Surface, store: &Store) -> anyhow::Result<()> {
    print(args, &filter(args)?, surface, store)
}

pub(super) fn run_pull_requests(args: &ListPullRequests, store: &Store) -> anyhow::Result<()> {
    let filter = ThreadFilter { merged: args.merged()?, ..filter(&args.threads)? };
    print(&args.threads, &filter, Surface::PullRequests, store)
}

fn filter(args: &ListThreads) -> anyhow::Result<ThreadFilter> {
    let listing = &args.listing;
    Ok(ThreadFilter {
        repository: listing.repository.clone(),
        owner: listing.workspace.organization.clone(),
        authors: listing.authors(),
        created: listing.created()?,
        closed: args.closed()?,
        limit: listing.limit,
        ..ThreadFilter::default()
    })
}

fn print(
    args: &ListThreads,
    filter: &ThreadFilter,
    surface: Surface,
    store: &Store,
) -> anyhow::Result<()> {
    let mut sheet = Sheet::open(&args.listing.output, of_threads(surface.kind()))?;
    let mut count = 0;
    let owners = RepositoryOwners::load(store)?;
    let mut put = |row: ThreadRow| -> anyhow::Result<()> {
        count += 1;
        let owner = owners.find(&row.host, row.thread.repository_id);
        let row = WithOwner { owner, text: row };
        Ok(sheet.put(&row, |page, row| page.line(&line(row)))?)
    };
    let skipped = store.each_thread_in_pages(surface.kind(), filter, PAGE, &mut put)?;
    sheet.end()?;
    tell_if_empty(
        count,
        *filter != ThreadFilter { limit: filter.limit, ..ThreadFilter::default() },
    );
    reading::warn_of(&store.behind(&[surface], filter.repository.as_deref())?);
    reading::whole(skipped)
}

/// The columns are as wide as what will be seen of them.
fn line(row: &WithOwner<ThreadRow>) -> String {
    let WithOwner { owner, text: ThreadRow { repository, thread, .. } } = row;
    let name = shown_line(&format!("{owner}/{repository}#{}", thread.number));
    let state = shown_line(&thread.state.to_lowercase());
    // the one they are in the order of
    let created_at = thread.created_at.as_str();
    let date = created_at.get(..10).unwrap_or(created_at);
    format!("{name:<36} {state:<7} {date}  {}", thread.title)
}
