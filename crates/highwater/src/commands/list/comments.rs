//! `highwater list comments`

use hw_rules::item::Comment;
use hw_rules::lane::Surface;
use hw_store::{CommentFilter, CommentRow, Store};

use super::owners::RepositoryOwners;
use super::{PAGE, reading, tell_if_empty};
use crate::cli::{ListComments, Listing};
use crate::columns::{WithOwner, of_comments};
use crate::markdown;
use crate::sheet::Sheet;
use crate::terminal::shown_line;

/// How much of a text fits beside its author.
const SHOWN: usize = 80;

pub(super) fn run(args: &ListComments, store: &Store) -> anyhow::Result<()> {
    let Listing { output, repository, .. } = &args.listing;
    let mut sheet = Sheet::open(output, of_comments())?;
    let (filter, mut count) = (filter(args)?, 0);
    let owners = RepositoryOwners::load(store)?;
    let mut put = |row: CommentRow| -> anyhow::Result<()> {
        count += 1;
        let owner = owners.find(&row.host, row.comment.repository_id);
        let row = WithOwner { owner, text: row };
        Ok(sheet.put(&row, |page, row| page.line(&line(row)))?)
    };
    let skipped = store.each_comment_in_pages(&filter, PAGE, &mut put)?;
    sheet.end()?;
    tell_if_empty(
        count,
        filter != CommentFilter { limit: filter.limit, ..CommentFilter::default() },
    );
    reading::warn_of(&store.behind(&Surface::COMMENTS, repository.as_deref())?);
    reading::whole(skipped)
}

fn filter(args: &ListComments) -> anyhow::Result<CommentFilter> {
    let listing = &args.listing;
    Ok(CommentFilter {
        repository: listing.repository.clone(),
        owner: listing.workspace.organization.clone(),
        thread: args.thread,
        authors: listing.authors(),
        created: listing.created()?,
        limit: listing.limit,
        ..CommentFilter::default()
    })
}

fn line(row: &WithOwner<CommentRow>) -> String {
    let WithOwner { owner, text: CommentRow { repository, comment, .. } } = row;
    let Comment { thread, author, body, created_at, .. } = comment;
    let name = shown_line(&format!("{owner}/{repository}#{thread}"));
    let author = shown_line(markdown::author(author.as_deref()));
    let date = created_at.as_str().get(..10).unwrap_or(created_at.as_str());
    let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let first: String = shown_line(first).chars().take(SHOWN).collect();
    format!("{name:<36} {date}  {author:<16} {first}")
}
