//! Reads the profiles of all accounts: their names, and the signs that their feeds moved.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::stream::{self, StreamExt as _};
use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::account_schedule::{self, FeedDue, ProfileSign};
use hw_rules::bluesky::did::Did;
use hw_sources::bluesky::profiles::{
    MAX_PROFILES, PROFILES_SIZE, Profile, ProfileQuery, ProfilesQuery,
};
use hw_sources::error::{SourceError, UnavailableAccount};
use hw_store::{AccountRow, CheckedAccount};

use super::client::into_sync_error;
use super::round::Round;
use crate::SyncError;
use crate::api_client::FetchError;

const MAX_CONCURRENT_REQUESTS: usize = 8;

/// What the profiles show.
#[derive(Default)]
pub(super) struct ProfileSigns {
    pub(super) signs: BTreeMap<Did, ProfileSign>,
    /// Accounts whose profile is refused, too.
    pub(super) unavailable: BTreeMap<Did, UnavailableAccount>,
}

/// The profiles of some accounts.
#[derive(Default)]
struct CheckedProfiles {
    profiles: Vec<Profile>,
    unavailable: Vec<(Did, UnavailableAccount)>,
    /// Accounts whose profile could not be read.
    unread: BTreeSet<Did>,
}

/// Reads the profiles of all accounts, and stores the names.
pub(super) async fn check_profiles(
    round: &Round<'_>,
    accounts: &[AccountRow],
) -> Result<ProfileSigns, SyncError> {
    let mut signs = ProfileSigns::default();
    let mut batches = stream::iter(accounts.chunks(MAX_PROFILES))
        .map(|batch| check_batch(round, batch))
        .buffer_unordered(MAX_CONCURRENT_REQUESTS);
    let (mut names, mut all_unread) = (Vec::new(), BTreeSet::new());
    while let Some(checked) = batches.next().await {
        let CheckedProfiles { profiles, unavailable, unread } = checked?;
        all_unread.extend(unread);
        signs.unavailable.extend(unavailable);
        for profile in profiles {
            signs.signs.insert(profile.did.clone(), profile.sign());
            names.push(CheckedAccount { did: profile.did, handle: Some(profile.handle) });
        }
    }
    drop(batches);
    round.count_unread_profiles(all_unread.len() as u64);
    let dids = accounts.iter().map(|account| account.feed.did.clone());
    let polled: Vec<Did> = dids.filter(|did| !all_unread.contains(did)).collect();
    let (host, now_ms) = (round.spec.host.clone(), round.now_ms());
    let record = move |store: &hw_store::LeasedStore| {
        store.record_checked_accounts(&host, &names, &polled, now_ms)
    };
    round.write(record).await?;
    Ok(signs)
}

/// Reads the profiles of up to 25 accounts. One that the answer leaves out is asked for alone, to learn why.
async fn check_batch(
    round: &Round<'_>,
    accounts: &[AccountRow],
) -> Result<CheckedProfiles, SyncError> {
    let refs: Vec<AccountRef> =
        accounts.iter().map(|account| AccountRef::Did(account.feed.did.clone())).collect();
    let (mut checked, mut rest) = (CheckedProfiles::default(), refs.as_slice());
    while !rest.is_empty() {
        let query = ProfilesQuery { accounts: rest };
        let page = match round.client.fetch(&query, PROFILES_SIZE).await {
            Ok(page) => page,
            Err(error) => {
                let error = tolerate(into_sync_error(error, "profiles"))?;
                tracing::warn!(%error, "cannot read profiles");
                let known: BTreeSet<&str> = rest.iter().map(AccountRef::as_str).collect();
                let dids = accounts.iter().map(|row| &row.feed.did);
                checked.unread.extend(dids.filter(|did| known.contains(did.as_str())).cloned());
                return Ok(checked);
            }
        };
        rest = rest.get(page.requested_count.max(1)..).unwrap_or_default();
        checked.profiles.extend(page.profiles);
        for account in &page.missing {
            let row = accounts.iter().find(|row| row.feed.did.as_str() == account.as_str());
            if row.is_some_and(|row| needs_reason(round, row)) {
                check_one(round, account, &mut checked).await?;
            }
        }
    }
    Ok(checked)
}

/// Returns true unless the account is known to be unavailable, and need not be tried again yet.
fn needs_reason(round: &Round<'_>, account: &AccountRow) -> bool {
    let due = account_schedule::judge_feed_due(&account.feed, ProfileSign::Unknown, round.now_ms());
    account.feed.state.is_active() || due != FeedDue::NotDue
}

async fn check_one(
    round: &Round<'_>,
    account: &AccountRef,
    checked: &mut CheckedProfiles,
) -> Result<(), SyncError> {
    match (round.client.fetch(&ProfileQuery { account }, 1).await, account) {
        (Ok(profile), _) => checked.profiles.push(profile),
        (
            Err(FetchError::Source(SourceError::AccountUnavailable(unavailable))),
            AccountRef::Did(did),
        ) => {
            checked.unavailable.push((did.clone(), unavailable));
        }
        (Err(error), _) => {
            let error = tolerate(into_sync_error(error, "profile"))?;
            tracing::warn!(%error, %account, "cannot read a profile");
            if let AccountRef::Did(did) = account {
                checked.unread.insert(did.clone());
            }
        }
    }
    Ok(())
}

/// Returns an error that concerns only what was asked for; any other one ends the round.
fn tolerate(error: SyncError) -> Result<SyncError, SyncError> {
    if error.is_lane_error() { Ok(error) } else { Err(error) }
}
