//! `highwater list comments`

use hw_rules::item::Comment;
use hw_rules::lane::Surface;
use hw_rules::login::Login;
use hw_store::{CommentFilter, CommentRow, StoreReader};

use super::owners::RepositoryOwners;
use super::{ROWS_PER_PAGE, read_command, report_no_matches};
use crate::cli::{CommonListArgs, ListCommentsArgs};
use crate::columns::{RowWithOwner, comment_columns};
use crate::markdown;
use crate::row_writer::RowWriter;
use crate::terminal::clean_line;

/// The number of characters of a comment's first line that are printed.
const MAX_EXCERPT_CHARS: usize = 80;

pub(super) fn run(args: &ListCommentsArgs, store: &StoreReader) -> anyhow::Result<()> {
    let CommonListArgs { output, repository, .. } = &args.listing;
    let mut writer = RowWriter::open(output, comment_columns())?;
    let (filter, mut count) = (comment_filter(args)?, 0);
    let owners = RepositoryOwners::load(store)?;
    let skipped = store.each_comment_in_pages(
        &filter,
        ROWS_PER_PAGE,
        &mut |row: CommentRow| -> anyhow::Result<()> {
            count += 1;
            let owner = owners.find_owner(&row.repository_key());
            let row = RowWithOwner { owner, row };
            Ok(writer.write_row(&row, |out, row| out.write_line(&comment_line(row)))?)
        },
    )?;
    writer.finish()?;
    let unfiltered = CommentFilter { limit: filter.limit, ..CommentFilter::default() };
    if count == 0 && filter != unfiltered {
        report_no_matches();
    }
    read_command::warn_incomplete(&store.completeness(&Surface::COMMENTS, repository.as_deref())?);
    read_command::check_none_skipped(skipped)
}

fn comment_filter(args: &ListCommentsArgs) -> anyhow::Result<CommentFilter> {
    let listing = &args.listing;
    Ok(CommentFilter {
        repository: listing.repository.clone(),
        owner: listing.workspace.organization.as_ref().map(Login::to_string),
        thread: args.thread,
        authors: listing.authors.clone(),
        created: listing.created_range()?,
        limit: listing.limit,
        ..CommentFilter::default()
    })
}

fn comment_line(row: &RowWithOwner<CommentRow>) -> String {
    let RowWithOwner { owner, row: CommentRow { repository, comment, .. } } = row;
    let Comment { thread, author, body, created_at, .. } = comment;
    let name = clean_line(&format!("{owner}/{repository}#{thread}"));
    let author = clean_line(markdown::author_name(author.as_deref()));
    let date = created_at.as_str().get(..10).unwrap_or(created_at.as_str());
    let first_line = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let excerpt: String = clean_line(first_line).chars().take(MAX_EXCERPT_CHARS).collect();
    format!("{name:<36} {date}  {author:<16} {excerpt}")
}
