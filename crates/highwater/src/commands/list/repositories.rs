//! `highwater list repos`

use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_store::Store;

use super::reading;
use crate::cli::ListRepositories;
use crate::columns::of_repositories;
use crate::sheet::Sheet;
use crate::terminal::shown_line;

pub(super) fn run(args: &ListRepositories, store: &Store) -> anyhow::Result<()> {
    let mut sheet = Sheet::open(&args.output, of_repositories())?;
    let held = reading::repositories(store)?;
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok());
    for (_, repository) in held.rows.iter().take(limit.unwrap_or(usize::MAX)) {
        sheet.put(repository, |page, repository| page.line(&line(repository)))?;
    }
    sheet.end()?;
    reading::warn_of(&store.behind(&[Surface::Repositories], None)?);
    reading::whole(held.skipped)
}

fn line(repository: &Repository) -> String {
    let Repository { owner, name, url, updated_at, .. } = repository;
    let name = shown_line(&format!("{owner}/{name}"));
    let date = updated_at.as_str().get(..10).unwrap_or(updated_at.as_str());
    format!("{name:<40} {date}  {url}")
}
