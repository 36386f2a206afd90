//! Reports how fresh an answer from posts is, and what may be missing from it.

use hw_rules::lane::Surface;
use hw_rules::missing::{Missing, RepositoryLanes};
use hw_rules::source_time::SourceInstant;

use super::completeness::Completeness;
use crate::StoreReader;
use crate::accounts::AccountRow;
use crate::error::StoreError;

impl StoreReader {
    /// Reports how complete an answer from everything that is stored is: of the mirror, and of posts if accounts are
    /// followed. A workspace without a mirror misses nothing of one.
    pub fn overall_completeness(&self) -> Result<Completeness, StoreError> {
        let has_accounts = !self.accounts()?.is_empty();
        let posts = self.post_completeness(&[])?;
        if has_accounts && self.sources()?.is_empty() {
            return Ok(posts);
        }
        let surfaces: Vec<_> = Surface::THREADS.into_iter().chain(Surface::COMMENTS).collect();
        let mut completeness = self.completeness(&surfaces, None)?;
        if has_accounts {
            completeness.add_missing(posts.missing);
            // none is less than every time
            completeness.fresh_through = completeness.fresh_through.min(posts.fresh_through);
        }
        Ok(completeness)
    }

    /// Reports how complete an answer from the posts of accounts with these handles or DIDs is; without names, from all
    /// posts.
    ///
    /// An account whose posts cannot be read, because it is gone or private, is a lasting state. So it is reported only
    /// if it is named. So is a name that no followed account has, unless none is followed at all.
    pub fn post_completeness(&self, names: &[String]) -> Result<Completeness, StoreError> {
        let mut accounts = self.accounts()?;
        if names.is_empty() {
            accounts.retain(|account| account.feed.state.is_active());
            return Ok(describe_accounts(&accounts));
        }
        let unknown = self.find_unknown(names, &accounts)?;
        let dids = self.dids_of(names)?;
        accounts.retain(|account| dids.contains(&account.feed.did));
        let mut completeness = describe_accounts(&accounts);
        if !unknown.is_empty() {
            completeness.fresh_through = None;
            completeness.add_missing(unknown);
        }
        Ok(completeness)
    }

    /// Returns the names that none of these accounts has.
    fn find_unknown(
        &self,
        names: &[String],
        accounts: &[AccountRow],
    ) -> Result<Vec<Missing>, StoreError> {
        let mut unknown = Vec::new();
        for name in names.iter().filter(|_| !accounts.is_empty()) {
            let dids = self.dids_of(std::slice::from_ref(name))?;
            if !accounts.iter().any(|account| dids.contains(&account.feed.did)) {
                unknown.push(Missing::UnknownAccount { name: name.clone() });
            }
        }
        Ok(unknown)
    }
}

fn describe_accounts(accounts: &[AccountRow]) -> Completeness {
    let unread =
        select_feeds(accounts, |account| account.feed.read_ms.is_none() && !has_failed(account));
    let unfinished = select_feeds(accounts, |account| {
        account.feed.read_ms.is_some() && account.feed.is_unfinished
    });
    let failed = select_feeds(accounts, has_failed);
    let missing = unread.map(Missing::NeverPulledLanes).into_iter();
    let missing = missing.chain(unfinished.map(Missing::IncompleteLanes));
    // none is less than every time
    let earliest = accounts.iter().map(|account| account.feed.read_ms).min().flatten();
    Completeness {
        fresh_through: earliest.map(SourceInstant),
        missing: missing.chain(failed.map(Missing::FailedLanes)).collect(),
    }
}

/// Names the feeds of some accounts; `None` if there are none.
fn select_feeds(
    accounts: &[AccountRow],
    is_selected: impl Fn(&AccountRow) -> bool,
) -> Option<RepositoryLanes> {
    let selected = accounts.iter().filter(|account| is_selected(account));
    let names = selected.map(|account| account.name().to_owned()).collect();
    RepositoryLanes::new(Surface::Feed, names)
}

fn has_failed(account: &AccountRow) -> bool {
    account.last_error.is_some() || !account.feed.state.is_active()
}
