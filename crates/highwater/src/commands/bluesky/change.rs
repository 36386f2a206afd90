//! `highwater bluesky remove` and `highwater bluesky reset`

use std::collections::BTreeMap;

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::did::Did;
use hw_rules::format::format_count;
use hw_store::{AccountRow, StoreError, StoreWriter};

use crate::cli::{RemoveAccountsArgs, ResetAccountsArgs};
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::report::ErrorHint;
use crate::terminal::print_result;
use crate::{hints, workspace};

pub(super) fn remove(args: &RemoveAccountsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let removed = change(settings, &args.accounts, StoreWriter::unfollow_accounts)?;
    let removed = format_count(removed, "account");
    Ok(print_result(&format!("no longer following {removed}; stored posts stay"))?)
}

pub(super) fn reset(args: &ResetAccountsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let reset = change(settings, &args.accounts, StoreWriter::reset_accounts)?;
    let reset = format_count(reset, "account");
    Ok(print_result(&format!("the next poll reads {reset} as if for the first time"))?)
}

/// Changes followed accounts, all of them or none. Returns their number.
fn change(
    settings: &AppSettings,
    accounts: &[AccountRef],
    apply: fn(&StoreWriter, &str, &[Did]) -> Result<u64, StoreError>,
) -> anyhow::Result<u64> {
    let location = workspace::resolve_location(settings)?;
    // a mistyped name must not create a workspace
    read_command::open_reader(settings).map_err(hints::add_database_hint)?;
    let opened = workspace::open_for_writing(&location).map_err(hints::add_database_hint)?.store;
    let followed = opened.accounts()?;
    let mut by_host: BTreeMap<String, Vec<Did>> = BTreeMap::new();
    for account in accounts {
        let rows: Vec<_> = followed.iter().filter(|row| is_named(row, account)).collect();
        if rows.is_empty() {
            let hint = "`highwater bluesky list` lists the followed accounts".to_owned();
            return Err(anyhow::anyhow!("{account} is not followed").context(ErrorHint(hint)));
        }
        for row in rows {
            by_host.entry(row.host.clone()).or_default().push(row.feed.did.clone());
        }
    }
    let mut changed = 0;
    for (host, dids) in by_host {
        changed += apply(&opened, &host, &dids)?;
    }
    Ok(changed)
}

fn is_named(row: &AccountRow, account: &AccountRef) -> bool {
    match account {
        AccountRef::Did(did) => *did == row.feed.did,
        AccountRef::Handle(handle) => row.handle.as_deref() == Some(handle.as_str()),
    }
}
