//! `highwater removed list`

use hw_store::RemovedItem;

use super::{item_name, others_suffix};
use crate::cli::ListRemoved;
use crate::columns::of_removed_items;
use crate::commands::reading;
use crate::config::Settings;
use crate::sheet::Sheet;
use crate::terminal::tell;

pub(super) fn run(args: &ListRemoved, settings: &Settings) -> anyhow::Result<()> {
    reading::answer(settings, |store| {
        let mut sheet = Sheet::open(&args.output, of_removed_items())?;
        let items = store.removed_items(args.limit.unwrap_or(u64::MAX))?;
        for item in &items {
            sheet.put(item, |page, item| page.line(&line(item)))?;
        }
        sheet.end()?;
        if items.is_empty() {
            tell("nothing was removed in the last 30 days");
        }
        Ok(())
    })
}

fn line(item: &RemovedItem) -> String {
    let day = |time: String| time.get(..10).map(str::to_owned).unwrap_or(time);
    let removed = day(item.removed_at.to_string());
    let until = day(item.kept_until().to_string());
    format!("{removed}  until {until}  {}{}", item_name(item), others_suffix(item.with_it))
}
