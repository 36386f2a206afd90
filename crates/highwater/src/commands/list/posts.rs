//! `highwater list posts`

use hw_store::{PostFilter, PostRow, ReplySelection, RepostSelection, StoreReader};

use super::{ROWS_PER_PAGE, read_command, report_no_matches};
use crate::cli::ListPostsArgs;
use crate::columns::post_columns;
use crate::commands::bluesky;
use crate::post_text::{minute_text, post_excerpt, post_mark};
use crate::row_writer::RowWriter;
use crate::terminal::{clean_line, print_status};

pub(super) fn run(args: &ListPostsArgs, store: &StoreReader) -> anyhow::Result<()> {
    let mut writer = RowWriter::open(&args.output, post_columns())?;
    let (filter, mut count) = (post_filter(args)?, 0);
    let skipped = store.each_post_in_pages(
        &filter,
        ROWS_PER_PAGE,
        &mut |row: PostRow| -> anyhow::Result<()> {
            count += 1;
            Ok(writer.write_row(&row, |out, row| out.write_line(&post_line(row)))?)
        },
    )?;
    writer.finish()?;
    if count == 0 {
        report_no_posts(&filter, store)?;
    }
    read_command::warn_incomplete(&store.post_completeness(&filter.accounts)?);
    read_command::check_none_skipped(skipped)
}

fn post_filter(args: &ListPostsArgs) -> anyhow::Result<PostFilter> {
    Ok(PostFilter {
        accounts: args.accounts.iter().map(|account| account.as_str().to_owned()).collect(),
        created: args.posted_range()?,
        reposts: if args.no_reposts {
            RepostSelection::Excluded
        } else {
            RepostSelection::Included
        },
        replies: if args.no_replies { ReplySelection::Excluded } else { ReplySelection::Included },
        limit: args.limit,
        ..PostFilter::default()
    })
}

/// Explains on stderr why no posts are listed.
fn report_no_posts(filter: &PostFilter, store: &StoreReader) -> anyhow::Result<()> {
    if store.accounts()?.is_empty() {
        print_status(bluesky::NO_ACCOUNTS);
    } else if filter.is_unfiltered() {
        print_status("no posts are stored yet; `highwater bluesky poll` reads them");
    } else {
        report_no_matches();
    }
    Ok(())
}

/// Formats one post. Texts are cleaned before they are padded, so that the columns line up.
fn post_line(row: &PostRow) -> String {
    let (time, name) = (minute_text(&row.post.sort_at), clean_line(row.sharer_name()));
    let (mark, excerpt) = (post_mark(&row.post), post_excerpt(&row.post.text));
    // the account that reposts did not write the text
    let author =
        if row.post.repost.is_some() { format!("{}: ", row.author_name()) } else { String::new() };
    format!("{time}  {name:<28} {mark:<6}  {author}{excerpt}  {}", row.post.web_url())
}
