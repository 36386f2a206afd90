//! `highwater bluesky list`

use hw_rules::bluesky::account_state::AccountState;
use hw_rules::format::format_count;
use hw_rules::source_time::SourceInstant;
use hw_store::AccountRow;
use serde_json::{Value, json};

use super::NO_ACCOUNTS;
use crate::cli::ListAccountsArgs;
use crate::commands::read_command;
use crate::config::AppSettings;
use crate::terminal::{clean_line, print_json, print_result, print_status};

pub(super) fn run(args: &ListAccountsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    read_command::with_reader(settings, |store| {
        let accounts = store.accounts()?;
        for account in &accounts {
            if args.json {
                print_json(&to_json(account))?;
            } else {
                print_result(&to_line(account))?;
            }
        }
        if accounts.is_empty() && !args.json {
            print_status(NO_ACCOUNTS);
        }
        Ok(())
    })
}

fn to_line(account: &AccountRow) -> String {
    let posts = format_count(account.posts_fetched, "post");
    let state = describe_state(account);
    format!("{}  {posts}, {state}", account.name())
}

/// Describes how far an account was read, or why it cannot be.
fn describe_state(account: &AccountRow) -> String {
    let feed = &account.feed;
    if feed.state != AccountState::Active {
        let since = feed.failed_ms.map_or_else(String::new, |failed_ms| {
            format!("; last tried {}", whole_second(failed_ms))
        });
        return format!("unavailable: {}{since}", feed.state.describe());
    }
    if let Some(error) = &account.last_error {
        return format!("failed: {}; the next poll tries again", clean_line(error));
    }
    if account.is_reset {
        return "reset; the next poll reads it as if for the first time".to_owned();
    }
    match feed.read_ms {
        None => "never read".to_owned(),
        Some(_) if feed.is_unfinished => "read in part; the next poll goes on".to_owned(),
        Some(read_ms) => format!("read {}", whole_second(read_ms)),
    }
}

/// Returns a time for people, who need no milliseconds.
fn whole_second(ms: i64) -> SourceInstant {
    SourceInstant(ms - ms.rem_euclid(1_000))
}

/// Returns the account as JSON; `docs/json.md` is the contract.
fn to_json(account: &AccountRow) -> Value {
    let feed = &account.feed;
    let time = |ms: Option<i64>| ms.map(|ms| SourceInstant(ms).to_string());
    json!({
        "host": account.host,
        "did": feed.did.as_str(),
        "handle": account.handle,
        "added_at": time(Some(account.added_ms)),
        "state": feed.state.name(),
        "state_reason": account.state_reason,
        "last_error": account.last_error,
        "cursor": account.head_at,
        "polled_at": time(account.polled_at_ms),
        "read_at": time(feed.read_ms),
        "is_complete": account.complete_from.is_some(),
        "posts_fetched": account.posts_fetched,
    })
}
