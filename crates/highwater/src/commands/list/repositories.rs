//! `highwater list repos`

use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_store::StoreReader;

use super::{read_command, report_no_matches};
use crate::cli::ListRepositoriesArgs;
use crate::columns::repository_columns;
use crate::row_writer::RowWriter;
use crate::terminal::clean_line;

pub(super) fn run(args: &ListRepositoriesArgs, store: &StoreReader) -> anyhow::Result<()> {
    let mut writer = RowWriter::open(&args.output, repository_columns())?;
    let stored = read_command::read_repositories(store)?;
    let limit = args.limit.and_then(|limit| usize::try_from(limit).ok());
    let owner = args.workspace.organization.as_ref();
    let listed = stored
        .rows
        .iter()
        .map(|hosted| &hosted.repository)
        .filter(|repository| owner.is_none_or(|owner| owner.is_same(&repository.owner)));
    let mut count = 0;
    for repository in listed.take(limit.unwrap_or(usize::MAX)) {
        count += 1;
        writer.write_row(repository, |out, repository| {
            out.write_line(&repository_line(repository))
        })?;
    }
    writer.finish()?;
    if count == 0 && owner.is_some() {
        report_no_matches();
    }
    read_command::warn_incomplete(&store.completeness(&[Surface::Repositories], None)?);
    read_command::check_none_skipped(stored.skipped)
}

fn repository_line(repository: &Repository) -> String {
    let Repository { owner, name, url, updated_at, .. } = repository;
    let name = clean_line(&format!("{owner}/{name}"));
    let date = updated_at.as_str().get(..10).unwrap_or(updated_at.as_str());
    format!("{name:<40} {date}  {url}")
}
