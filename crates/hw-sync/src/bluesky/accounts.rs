//! Finds accounts by the names that people write.

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::account_state::AccountState;
use hw_rules::walk::PageCursor;
use hw_sources::bluesky::follows::{FollowsQuery, MAX_FOLLOWS};
use hw_sources::bluesky::profiles::{PROFILES_SIZE, ProfileQuery, ProfilesQuery};
use hw_sources::error::SourceError;
use hw_store::CheckedAccount;

use super::client::{BlueskyClient, into_sync_error};
use crate::SyncError;
use crate::api_client::FetchError;

/// The most pages of follows to read. No account follows ten thousand times a hundred others.
const MAX_FOLLOW_PAGES: u32 = 10_000;

/// The accounts that some names lead to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundAccounts {
    pub found: Vec<CheckedAccount>,
    /// Names that lead to no account, with the reason.
    pub not_found: Vec<(AccountRef, String)>,
}

/// Looks accounts up, 25 at a time.
pub async fn find_accounts(
    client: &BlueskyClient,
    accounts: &[AccountRef],
) -> Result<FoundAccounts, SyncError> {
    let (mut result, mut rest) = (FoundAccounts::default(), accounts);
    while !rest.is_empty() {
        let query = ProfilesQuery { accounts: rest };
        let page = client.fetch(&query, PROFILES_SIZE).await;
        let page = page.map_err(|error| into_sync_error(error, "profiles"))?;
        result.found.extend(
            page.profiles
                .into_iter()
                .map(|profile| CheckedAccount { did: profile.did, handle: Some(profile.handle) }),
        );
        for account in &page.missing {
            find_alone(client, account, &mut result).await?;
        }
        rest = rest.get(page.requested_count.max(1)..).unwrap_or_default();
    }
    Ok(result)
}

/// Looks up an account that the others' answer has left out.
async fn find_alone(
    client: &BlueskyClient,
    account: &AccountRef,
    result: &mut FoundAccounts,
) -> Result<(), SyncError> {
    match (client.fetch(&ProfileQuery { account }, 1).await, account) {
        (Ok(profile), _) => {
            let handle = Some(profile.handle);
            result.found.push(CheckedAccount { did: profile.did, handle });
        }
        // it exists, and may come back
        (
            Err(FetchError::Source(SourceError::AccountUnavailable(unavailable))),
            AccountRef::Did(did),
        ) if unavailable.state != AccountState::Gone => {
            result.found.push(CheckedAccount { did: did.clone(), handle: None });
        }
        (Err(FetchError::Source(SourceError::AccountUnavailable(unavailable))), _) => {
            result.not_found.push((account.clone(), unavailable.to_string()));
        }
        (Err(FetchError::Source(error @ SourceError::InvalidRequest(_))), _) => {
            result.not_found.push((account.clone(), error.to_string()));
        }
        (Err(error), _) => return Err(into_sync_error(error, "profile")),
    }
    Ok(())
}

/// Returns the accounts that an account follows.
pub async fn list_follows(
    client: &BlueskyClient,
    account: &AccountRef,
) -> Result<Vec<CheckedAccount>, SyncError> {
    let (mut follows, mut after) = (Vec::new(), None::<PageCursor>);
    for _ in 0..MAX_FOLLOW_PAGES {
        let query = FollowsQuery { account, after: after.as_ref() };
        let page = client.fetch(&query, MAX_FOLLOWS).await;
        let page = page.map_err(|error| into_sync_error(error, account.as_str()))?;
        follows.extend(
            page.accounts
                .into_iter()
                .map(|account| CheckedAccount { did: account.did, handle: Some(account.handle) }),
        );
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    Ok(follows)
}
