//! `highwater removed list`

use hw_rules::source_time::SourceInstant;
use hw_store::RemovedItem;

use super::{others_suffix, removed_item_name};
use crate::cli::ListRemovedArgs;
use crate::columns::removed_item_columns;
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::row_writer::RowWriter;
use crate::terminal::print_status;

pub(super) fn run(args: &ListRemovedArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| {
        let mut writer = RowWriter::open(&args.output, removed_item_columns())?;
        let items = store.removed_items(args.limit.unwrap_or(u64::MAX))?;
        for item in &items {
            writer.write_row(item, |out, item| out.write_line(&removed_item_line(item)))?;
        }
        writer.finish()?;
        if items.is_empty() {
            print_status("nothing was removed in the last 30 days");
        }
        Ok(())
    })
}

fn removed_item_line(item: &RemovedItem) -> String {
    let removed = format_day(item.removed_at);
    let until = format_day(item.restorable_until());
    let (name, others) = (removed_item_name(item), others_suffix(item.dependents));
    format!("removed {removed}, kept until {until}  {name}{others}")
}

fn format_day(time: SourceInstant) -> String {
    let time = time.to_string();
    time.get(..10).unwrap_or(&time).to_owned()
}
