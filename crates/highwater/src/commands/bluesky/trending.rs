//! `highwater bluesky trending`

use hw_rules::format::format_count;
use hw_rules::source_time::SourceInstant;
use hw_store::{StoreReader, TrendingLink};
use hw_sync::clock::{Clock as _, MachineClock};

use super::NO_ACCOUNTS;
use crate::cli::TrendingArgs;
use crate::columns::trending_link_columns;
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::post_text::{minute_text, post_excerpt};
use crate::report::OutputError;
use crate::row_writer::RowWriter;
use crate::terminal::{StdoutWriter, print_status};

const HOUR_MS: i64 = 3_600_000;

pub(super) fn run(args: &TrendingArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let hours_ms = i64::from(args.hours) * HOUR_MS;
    let since = SourceInstant(MachineClock.now_ms()).minus_ms(hours_ms);
    read_command::with_reader(settings, |store| print_trending(args, since, store))
}

fn print_trending(
    args: &TrendingArgs,
    since: SourceInstant,
    store: &StoreReader,
) -> anyhow::Result<()> {
    let mut writer = RowWriter::open(&args.output, trending_link_columns())?;
    let links = store.trending_links(since, args.limit)?;
    for (index, link) in links.iter().enumerate() {
        writer.write_row(link, |out, link| {
            if index > 0 {
                out.write_line("")?;
            }
            write_link(out, link)
        })?;
    }
    writer.finish()?;
    if links.is_empty() {
        report_no_links(args.hours, store)?;
    }
    read_command::warn_incomplete(&store.post_completeness(&[])?);
    Ok(())
}

/// Writes a link, the accounts that shared it, and the newest post with it.
fn write_link(out: &mut StdoutWriter, link: &TrendingLink) -> Result<(), OutputError> {
    out.write_line(&format!("{}  {}", format_count(link.sharer_count, "account"), link.url))?;
    out.write_line(&format!("  shared by {}", sharer_names(link)))?;
    let newest = &link.newest;
    let (time, text) = (minute_text(&newest.post.sort_at), post_excerpt(&newest.post.text));
    out.write_line(&format!("  {time}  {}: {text}", newest.author_name()))
}

/// Returns the names of the last accounts that shared a link, and the number of the others.
fn sharer_names(link: &TrendingLink) -> String {
    let names = link.sharers.join(", ");
    match link.sharer_count.saturating_sub(link.sharers.len() as u64) {
        0 => names,
        others => format!("{names} and {others} more"),
    }
}

/// Explains on stderr why no links are listed.
fn report_no_links(hours: u32, store: &StoreReader) -> anyhow::Result<()> {
    if store.accounts()?.is_empty() {
        print_status(NO_ACCOUNTS);
    } else {
        let hours = format_count(u64::from(hours), "hour");
        print_status(&format!("no links were shared in the last {hours}"));
    }
    Ok(())
}
