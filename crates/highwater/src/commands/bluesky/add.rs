//! `highwater bluesky add`

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::format::format_count;
use hw_store::{CheckedAccount, DatabaseLocation, StoreWriter};
use hw_sync::bluesky::accounts::{find_accounts, list_follows};
use hw_sync::bluesky::client::BlueskyClient;
use hw_sync::clock::{Clock as _, MachineClock};
use tokio_util::sync::CancellationToken;

use super::server::{BlueskyServer, sync_error};
use crate::cli::AddAccountsArgs;
use crate::config::{self, AppSettings};
use crate::report::{ErrorHint, UsageError};
use crate::terminal::{clean_line, print_result, print_warning};
use crate::{hints, interrupt, progress, workspace};

const FAILED: &str = "cannot look up accounts";

pub(super) fn run(args: &AddAccountsArgs, settings: &AppSettings) -> anyhow::Result<()> {
    let server = BlueskyServer::from_settings(settings)?;
    let mut accounts = args.accounts.clone();
    if let Some(file) = &args.from_file {
        accounts.extend(read_accounts(file)?);
    }
    let location = workspace::resolve_location(settings)?;
    let opened = workspace::open_for_writing(&location).map_err(hints::add_database_hint)?;
    let stop = CancellationToken::new();
    interrupt::run(&stop, async {
        let sink = progress::line_progress_sink();
        let client = server.open_client(settings, &opened.store, sink, &stop)?;
        let adding = Adding { args, server: &server, client: &client, location: &location };
        adding.run(&opened.store, &accounts).await
    })
}

struct Adding<'a> {
    args: &'a AddAccountsArgs,
    server: &'a BlueskyServer,
    client: &'a BlueskyClient,
    location: &'a DatabaseLocation,
}

impl Adding<'_> {
    async fn run(&self, store: &StoreWriter, accounts: &[AccountRef]) -> anyhow::Result<()> {
        let found = find_accounts(self.client, accounts).await;
        let found = found.map_err(|error| sync_error(error, FAILED, self.location))?;
        let mut followed = found.found;
        if let Some(account) = &self.args.follows_of {
            let follows = list_follows(self.client, account).await;
            followed.extend(follows.map_err(|error| sync_error(error, FAILED, self.location))?);
        }
        let added = self.store_accounts(store, &followed)?;
        for (account, reason) in &found.not_found {
            print_warning(&format!("{account}: {}", clean_line(reason)));
        }
        let known = unique_count(&followed) - added;
        let known = if known > 0 { format!(" ({known} already followed)") } else { String::new() };
        print_result(&format!("added {}{known}", format_count(added, "account")))?;
        match found.not_found.len() as u64 {
            0 => Ok(()),
            missing => {
                let missing = format_count(missing, "account");
                let hint = "check the spelling: a handle has a domain, as in alice.bsky.social";
                Err(anyhow::anyhow!("{missing} could not be found").context(ErrorHint(hint.into())))
            }
        }
    }

    fn store_accounts(
        &self,
        store: &StoreWriter,
        accounts: &[CheckedAccount],
    ) -> anyhow::Result<u64> {
        let host = self.server.content_host();
        let added = store.follow_accounts(host, accounts, MachineClock.now_ms());
        added.map_err(|error| {
            let error = anyhow::Error::new(error);
            hints::add_database_hint(
                error.context(format!("cannot use {}", self.location.display_name())),
            )
        })
    }
}

fn unique_count(accounts: &[CheckedAccount]) -> u64 {
    let dids: std::collections::BTreeSet<_> = accounts.iter().map(|account| &account.did).collect();
    dids.len() as u64
}

/// Reads a file with one account per line.
fn read_accounts(file: &Path) -> anyhow::Result<Vec<AccountRef>> {
    let name = if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() };
    let text = if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    let text = text.with_context(|| format!("cannot read {name}"))?;
    // editors on Windows begin a file with a byte order mark
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut accounts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let account = config::parse_account(line);
        let account = account.map_err(|error| UsageError(format!("{name}:{number}: {error}")))?;
        accounts.push(account);
    }
    Ok(accounts)
}
