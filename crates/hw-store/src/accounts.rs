//! Stores the accounts that are followed, and how far their feeds were read.

use hw_rules::bluesky::account_schedule::{AccountFeed, DAY_MS};
use hw_rules::bluesky::account_state::AccountState;
use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::handle::Handle;
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::coverage::Coverage;
use hw_rules::item::ObjectKind;
use hw_rules::lane::Lane;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_rules::walk::ListingFloor;

use crate::account_names::{self, AccountName};
use crate::error::StoreError;
use crate::ingest::{self, IngestCounts, IngestPage, PreparedPage};
use crate::lanes::{self, StoredLane};
use crate::removals;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::post_list::parse_identifier;
use crate::{LeasedStore, StoreReader, StoreWriter, quarantine};

const FOLLOW: TransactionStep = step!("follow accounts", durable);
const UNFOLLOW: TransactionStep = step!("unfollow accounts", durable);
const REQUEST: TransactionStep = step!("request accounts", durable);
const CHECK: TransactionStep = step!("check accounts");
const RESTART: TransactionStep = step!("restart feed");
const INGEST: TransactionStep = step!("ingest");
const DAILY_READ: TransactionStep = step!("record daily read");
const REMOVE: TransactionStep = step!("remove posts");

/// A followed account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRow {
    pub host: String,
    /// None if its name is unknown, or belongs to another account by now.
    pub handle: Option<String>,
    pub added_ms: i64,
    pub feed: AccountFeed,
    /// Why its posts cannot be read, in the server's words.
    pub state_reason: Option<String>,
    /// Why its last poll failed.
    pub last_error: Option<String>,
    /// The time of the newest item when its feed was last read; none before that, and after a reset.
    pub head_at: Option<String>,
    pub polled_at_ms: Option<i64>,
    pub posts_fetched: u64,
    /// True if its next poll starts over.
    pub is_reset: bool,
    /// The time from which on the stored feed is complete; none before it was read, or while a part is unread.
    pub complete_from: Option<ListingFloor>,
}

impl AccountRow {
    /// Returns its handle, or its DID if it has none.
    pub fn name(&self) -> &str {
        self.handle.as_deref().unwrap_or(self.feed.did.as_str())
    }
}

/// What a page of a feed adds to its account, in the page's own transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedProgress {
    pub names: Vec<AccountName>,
    /// Set by the page that ends a walk.
    pub finished: Option<FinishedFeed>,
}

/// The state of an account once its feed was read to the end of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedFeed {
    pub read_ms: i64,
    pub posts_count: Option<i64>,
    pub interval_ms: i64,
}

/// A profile that was read, as far as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedAccount {
    pub did: Did,
    pub handle: Option<Handle>,
}

/// A stored post that its feed no longer lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspectPost {
    pub id: i64,
    pub uri: RecordUri,
    pub sort_at: SourceInstant,
}

macro_rules! select_accounts {
    ($rest:literal) => {
        Sql::portable(concat!(
            "select accounts.host, accounts.did, handle, added_ms, state, state_reason, failures, failed_ms,
                    posts_count, read_ms, daily_read_ms, interval_ms, head_at, polled_at_ms, posts_fetched,
                    accounts.last_error, is_requested, is_reset, lanes.coverage
               from accounts
               left join account_names on account_names.host = accounts.host
                                      and account_names.did = accounts.did
               left join lanes on lanes.name = accounts.host || '/account/' || accounts.did || '/feed' ",
            $rest
        ))
    };
}

impl StoreReader {
    /// Returns all followed accounts, by name.
    pub fn accounts(&self) -> Result<Vec<AccountRow>, StoreError> {
        const ALL: Sql = select_accounts!("order by coalesce(handle, accounts.did), accounts.host");
        self.read("accounts", |tx| Ok(tx.query_readable(ALL, &[], read_account)?.rows))
    }

    /// Returns true if an account is followed at this host.
    pub fn has_accounts(&self, host: &str) -> Result<bool, StoreError> {
        const COUNT: Sql = Sql::portable(
            "select count(*) as matching
              where exists (select 1 from accounts where accounts.host = $1)",
        );
        self.read("accounts", |tx| Ok(tx.query_count(COUNT, &params![host])? > 0))
    }

    /// Returns a followed account.
    pub fn account(&self, host: &str, did: &Did) -> Result<Option<AccountRow>, StoreError> {
        const ONE: Sql = select_accounts!("where accounts.host = $1 and accounts.did = $2");
        self.read("account", |tx| tx.query_first(ONE, &params![host, did.as_str()], read_account))
    }

    /// Returns the stored items of a feed in this range of time that were not seen since, oldest first.
    ///
    /// Both ends are left out: a list may stop or begin among items of one time.
    pub fn unlisted_posts(
        &self,
        host: &str,
        did: &Did,
        from: SourceInstant,
        to: SourceInstant,
        unseen_since: SourceInstant,
    ) -> Result<Vec<SuspectPost>, StoreError> {
        const UNLISTED: Sql = Sql::portable(
            "select posts.id, uri, sort_ms from posts
               join cells on cells.host = posts.host and cells.kind = 'post' and cells.id = posts.id
              where posts.host = $1 and sharer = $2 and $3 < sort_ms and sort_ms < $4
                and observed_at_ms < $5
              order by sort_ms, posts.id",
        );
        self.read("unlisted posts", |tx| {
            tx.query(
                UNLISTED,
                &params![host, did.as_str(), from.0, to.0, unseen_since.0],
                |mut row| {
                    Ok(SuspectPost {
                        id: row.int("id")?,
                        uri: parse_identifier(&row.text("uri")?)?,
                        sort_at: SourceInstant(row.int("sort_ms")?),
                    })
                },
            )
        })
    }

    /// Returns some stored posts of a feed that were seen since, newest first: they must be there in a lookup, too.
    pub fn listed_posts(
        &self,
        host: &str,
        did: &Did,
        seen_since: SourceInstant,
        limit: u32,
    ) -> Result<Vec<RecordUri>, StoreError> {
        const LISTED: Sql = Sql::portable(
            "select uri from posts
               join cells on cells.host = posts.host and cells.kind = 'post' and cells.id = posts.id
              where posts.host = $1 and sharer = $2 and repost_of is null and observed_at_ms >= $3
              order by sort_ms desc, posts.id desc limit $4",
        );
        self.read("listed posts", |tx| {
            let params = params![host, did.as_str(), seen_since.0, i64::from(limit)];
            tx.query(LISTED, &params, |mut row| parse_identifier(&row.text("uri")?))
        })
    }
}

impl StoreWriter {
    /// Follows accounts. Returns the number of those that were not followed before.
    pub fn follow_accounts(
        &self,
        host: &str,
        accounts: &[CheckedAccount],
        now_ms: i64,
    ) -> Result<u64, StoreError> {
        const ADD: Sql = Sql::portable(
            "insert into accounts (host, did, added_ms) values ($1, $2, $3)
             on conflict (host, did) do nothing",
        );
        self.write(FOLLOW, |tx| {
            let mut added = 0;
            for account in accounts {
                added += tx.execute(ADD, &params![host, account.did.as_str(), now_ms])?;
            }
            account_names::store_names(tx, host, &to_names(accounts))?;
            Ok(added)
        })
    }

    /// Follows these accounts no longer; their posts stay. Returns the number of those that were followed.
    pub fn unfollow_accounts(&self, host: &str, dids: &[Did]) -> Result<u64, StoreError> {
        const REMOVE_ACCOUNT: Sql =
            Sql::portable("delete from accounts where host = $1 and did = $2");
        self.write(UNFOLLOW, |tx| {
            let mut removed = 0;
            for did in dids {
                removed += tx.execute(REMOVE_ACCOUNT, &params![host, did.as_str()])?;
                // followed again, it is read from the beginning
                restart_feed(tx, &Lane::account_feed(host, did.clone()))?;
            }
            Ok(removed)
        })
    }

    /// Has the next poll of these accounts start over. Returns the number of those that are followed.
    pub fn reset_accounts(&self, host: &str, dids: &[Did]) -> Result<u64, StoreError> {
        const RESET: Sql =
            Sql::portable("update accounts set is_reset = $1 where host = $2 and did = $3");
        self.write(REQUEST, |tx| {
            let mut reset = 0;
            for did in dids {
                reset += tx.execute(RESET, &params![true, host, did.as_str()])?;
            }
            Ok(reset)
        })
    }

    /// Has the next poll read the feeds of these accounts, whatever their profiles show.
    pub fn request_accounts(&self, host: &str, dids: &[Did]) -> Result<u64, StoreError> {
        const ASK: Sql =
            Sql::portable("update accounts set is_requested = $1 where host = $2 and did = $3");
        self.write(REQUEST, |tx| {
            let mut requested = 0;
            for did in dids {
                requested += tx.execute(ASK, &params![true, host, did.as_str()])?;
            }
            Ok(requested)
        })
    }
}

impl LeasedStore {
    /// Stores the current names of accounts whose profiles were read, and that a poll asked about all of these.
    pub fn record_checked_accounts(
        &self,
        host: &str,
        checked: &[CheckedAccount],
        polled: &[Did],
        now_ms: i64,
    ) -> Result<(), StoreError> {
        const POLLED: Sql = Sql::per_dialect(
            "update accounts set polled_at_ms = $1
              where host = $2 and did in (select value from json_each($3))",
            "update accounts set polled_at_ms = $1
              where host = $2 and did in (select json_array_elements_text(cast($3::text as json)))",
        );
        self.write_with_lease(CHECK, |tx| {
            account_names::store_names(tx, host, &to_names(checked))?;
            let dids: Vec<&str> = polled.iter().map(Did::as_str).collect();
            let dids = serde_json::to_string(&dids).expect("texts are always JSON");
            tx.send_statement(POLLED, &params![now_ms, host, &dids])
        })
    }

    /// Records that the posts of an account cannot be read.
    pub fn record_unavailable_account(
        &self,
        host: &str,
        did: &Did,
        state: AccountState,
        reason: &str,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        const UNAVAILABLE: Sql = Sql::portable(
            "update accounts set state = $1, state_reason = $2, failures = failures + 1, failed_ms = $3,
                                 is_requested = $4, last_error = null
              where host = $5 and did = $6",
        );
        self.write_with_lease(CHECK, |tx| {
            let params = params![state.name(), reason, now_ms, false, host, did.as_str()];
            tx.send_statement(UNAVAILABLE, &params)
        })
    }

    /// Records why the poll of an account failed; its feed is due in the next one.
    pub fn record_failed_account(
        &self,
        host: &str,
        did: &Did,
        error: &str,
    ) -> Result<(), StoreError> {
        const FAILED: Sql = Sql::portable(
            "update accounts set last_error = $1, is_requested = $2 where host = $3 and did = $4",
        );
        self.write_with_lease(CHECK, |tx| {
            tx.send_statement(FAILED, &params![error, true, host, did.as_str()])
        })
    }

    /// Forgets how far the feed of an account was read, if a user requested it. Returns true if it was.
    pub fn restart_reset_account(&self, host: &str, did: &Did) -> Result<bool, StoreError> {
        const IS_RESET: Sql =
            Sql::portable("select is_reset from accounts where host = $1 and did = $2");
        const RESTARTED: Sql = Sql::portable(
            "update accounts set is_reset = $1, head_at = null, read_ms = null
              where host = $2 and did = $3",
        );
        self.write_with_lease(RESTART, |tx| {
            let is_reset = tx.query_first(IS_RESET, &params![host, did.as_str()], |mut row| {
                row.flag("is_reset")
            })?;
            if is_reset != Some(true) {
                return Ok(false);
            }
            restart_feed(tx, &Lane::account_feed(host, did.clone()))?;
            tx.send_statement(RESTARTED, &params![false, host, did.as_str()])?;
            Ok(true)
        })
    }

    /// Stores a page of a feed, the names on it, and what its account gained, in one transaction.
    pub fn ingest_feed_page(
        &self,
        page: &PreparedPage<'_>,
        progress: &FeedProgress,
    ) -> Result<IngestCounts, StoreError> {
        self.write_with_lease(INGEST, |tx| {
            let counts = ingest::write_page(tx, page)?;
            let IngestPage { lane, coverage, .. } = page.page();
            let Some(did) = lane.account() else { return Ok(counts) };
            account_names::store_names(tx, &lane.host, &progress.names)?;
            add_fetched(tx, &lane.host, did, counts.created + counts.revived)?;
            if let Some(finished) = &progress.finished {
                finish_feed(tx, &lane.host, did, coverage.as_ref(), finished)?;
            }
            Ok(counts)
        })
    }

    /// Records that a feed was read down to the look-back, and that what it no longer lists was looked up.
    pub fn record_daily_read(&self, host: &str, did: &Did, read_ms: i64) -> Result<(), StoreError> {
        const DAILY: Sql =
            Sql::portable("update accounts set daily_read_ms = $1 where host = $2 and did = $3");
        self.write_with_lease(DAILY_READ, |tx| {
            tx.send_statement(DAILY, &params![read_ms, host, did.as_str()])
        })
    }

    /// Removes posts that a lookup confirmed gone, unless the brake stops it. Returns the number of removed ones.
    pub fn remove_posts(
        &self,
        lane: &Lane,
        gone: &[(i64, ObservedAt)],
        allow_mass_removal: bool,
    ) -> Result<u64, StoreError> {
        let gone = removals::absences_of_kind(ObjectKind::Post, gone);
        self.write_with_lease(REMOVE, |tx| {
            let stored = StoredLane { id: lanes::ensure_lane_id(tx, lane)?, lane };
            removals::remove_confirmed(tx, stored, &gone, allow_mass_removal)
        })
    }
}

fn to_names(accounts: &[CheckedAccount]) -> Vec<AccountName> {
    let named = accounts.iter().filter_map(|account| {
        Some(AccountName { did: account.did.clone(), handle: account.handle.clone()? })
    });
    named.collect()
}

/// Makes a feed unread. What was read of it stays.
fn restart_feed(tx: &mut Transaction<'_>, lane: &Lane) -> Result<(), StoreError> {
    if let Some(id) = lanes::find_lane_id(tx, lane)? {
        quarantine::release_lane(tx, id)?;
        lanes::restart::restart_lane(tx, id)?;
    }
    Ok(())
}

fn add_fetched(
    tx: &mut Transaction<'_>,
    host: &str,
    did: &Did,
    count: u64,
) -> Result<(), StoreError> {
    const ADD: Sql = Sql::portable(
        "update accounts set posts_fetched = posts_fetched + $1 where host = $2 and did = $3",
    );
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    tx.send_statement(ADD, &params![count, host, did.as_str()])
}

fn finish_feed(
    tx: &mut Transaction<'_>,
    host: &str,
    did: &Did,
    coverage: Option<&Coverage>,
    finished: &FinishedFeed,
) -> Result<(), StoreError> {
    const FINISH: Sql = Sql::portable(
        "update accounts
            set state = 'active', state_reason = null, failures = 0, failed_ms = null, last_error = null,
                is_requested = $1, read_ms = $2, posts_count = $3, interval_ms = $4,
                head_at = coalesce($5, head_at)
          where host = $6 and did = $7",
    );
    let head = coverage.and_then(|coverage| coverage.through);
    // an empty feed has no newest item
    let head_at =
        head.filter(|head| *head != SourceInstant::BEGINNING).map(|head| head.to_string());
    let FinishedFeed { read_ms, posts_count, interval_ms } = *finished;
    let did = did.as_str();
    let params = params![false, read_ms, posts_count, interval_ms, head_at.as_deref(), host, did];
    tx.send_statement(FINISH, &params)
}

fn read_account(mut row: SqlRow) -> Result<AccountRow, StoreError> {
    let state = row.text("state")?;
    let coverage = row.maybe_text("coverage")?.map(|text| lanes::parse_coverage(&text));
    let complete = coverage.as_ref().filter(|coverage| coverage.is_complete());
    let complete_from = complete.and_then(|coverage| coverage.from);
    let read_ms = row.maybe_int("read_ms")?;
    let is_reset = row.flag("is_reset")?;
    let failures = row.int("failures")?;
    let feed = AccountFeed {
        did: parse_identifier(&row.text("did")?)?,
        state: AccountState::from_name(&state)
            .ok_or_else(|| StoreError::UnreadableRow(format!("unknown state {state:?}")))?,
        failures: u32::try_from(failures).unwrap_or(u32::MAX),
        failed_ms: row.maybe_int("failed_ms")?,
        posts_count: row.maybe_int("posts_count")?,
        read_ms: read_ms.filter(|_| !is_reset),
        // after a reset, the feed is read down to where the last daily read began
        daily_read_ms: row.maybe_int("daily_read_ms")?,
        interval_ms: row.maybe_int("interval_ms")?.unwrap_or(DAY_MS),
        is_unfinished: coverage
            .is_some_and(|coverage| coverage.gap.is_some() || coverage.walk.is_some()),
        is_requested: row.flag("is_requested")?,
    };
    Ok(AccountRow {
        host: row.text("host")?,
        handle: row.maybe_text("handle")?,
        added_ms: row.int("added_ms")?,
        feed,
        state_reason: row.maybe_text("state_reason")?,
        last_error: row.maybe_text("last_error")?,
        head_at: row.maybe_text("head_at")?.filter(|_| !is_reset),
        polled_at_ms: row.maybe_int("polled_at_ms")?,
        posts_fetched: row.int("posts_fetched")?.unsigned_abs(),
        is_reset,
        complete_from: complete_from.filter(|_| !is_reset),
    })
}
