//! `highwater list repos`

use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_store::Store;

use super::{reading, tell_if_empty};
use crate::cli::ListRepositories;
use crate::columns::of_repositories;
use crate::sheet::Sheet;
use crate::terminal::shown_line;

pub(super) fn run(args: &ListRepositories, store: &Store) -> anyhow::Result<()> {
    let mut sheet = Sheet::open(&args.output, of_repositories())?;
    let held = reading::repositories(store)?;
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok());
    let owner = args.workspace.organization.as_deref();
    let listed = held.rows.iter().filter(|(_, repository)| {
        owner.is_none_or(|owner| owner.eq_ignore_ascii_case(&repository.owner))
    });
    let mut count = 0;
    for (_, repository) in listed.take(limit.unwrap_or(usize::MAX)) {
        count += 1;
        sheet.put(repository, |page, repository| page.line(&line(repository)))?;
    }
    sheet.end()?;
    tell_if_empty(count, owner.is_some());
    reading::warn_of(&store.behind(&[Surface::Repositories], None)?);
    reading::whole(held.skipped)
}

fn line(repository: &Repository) -> String {
    let Repository { owner, name, url, updated_at, .. } = repository;
    let name = shown_line(&format!("{owner}/{name}"));
    let date = updated_at.as_str().get(..10).unwrap_or(updated_at.as_str());
    format!("{name:<40} {date}  {url}")
}
