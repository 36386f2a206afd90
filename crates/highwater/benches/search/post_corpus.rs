//! Generates the posts of 342 accounts over sixty days.

use std::path::Path;

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::links::{LinkOrigin, PostLink};
use hw_rules::bluesky::post::{Post, PostReply, Repost};
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::duty::DutyName;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Lane;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_store::{
    CheckedAccount, DatabaseLocation, FeedProgress, FinishedFeed, IngestPage, LeasedStore,
    PostFilter, StoreWriter,
};

use crate::corpus::{COMMON_WORDS, random_words};

const HOST: &str = "bsky.app";
pub(crate) const ACCOUNTS: usize = 342;
const DAYS: usize = 60;
const DAY_MS: i64 = 86_400_000;
/// The time of the newest post.
pub(crate) const NOW_MS: i64 = 1_767_323_045_000;
/// The last accounts post once in twenty days.
const QUIET_ACCOUNTS: usize = 3;
const QUIET_DAYS: usize = 20;
/// The pages that accounts can link to each day; the first ones are linked to most.
const STORIES_PER_DAY: usize = 3_000;

/// Opens the workspace, or creates one with this many posts, except for rounding.
pub(crate) fn open_or_create(path: &Path, posts: usize) -> StoreWriter {
    let store = StoreWriter::open(&DatabaseLocation::File(path.to_owned())).unwrap();
    if store.count_posts(&PostFilter::default()).unwrap() > 0 {
        return store;
    }
    let leased = store.claim_duty(&DutyName::accounts(HOST), "bench", 0).unwrap().unwrap();
    let accounts: Vec<CheckedAccount> = (0..ACCOUNTS).map(checked_account).collect();
    leased.follow_accounts(HOST, &accounts, 0).unwrap();
    let rates = daily_rates(posts);
    let mut rng = fastrand::Rng::with_seed(1);
    let mut written = 0;
    for day in 0..DAYS {
        for (account, rate) in rates.iter().enumerate() {
            let count = posts_of_day(account, *rate, day);
            written += count;
            store_feed(&leased, account, day, count, &mut rng);
        }
        eprintln!("made {written} of {posts} posts");
    }
    leased.release_duty().unwrap();
    store
}

pub(crate) fn handle(account: usize) -> String {
    format!("account-{account}.example")
}

/// Returns the posts a day of each account. The first ones post most.
fn daily_rates(posts: usize) -> Vec<f64> {
    let weights: Vec<f64> =
        (0..ACCOUNTS - QUIET_ACCOUNTS).map(|account| 1.0 / (account as f64 + 10.0)).collect();
    let total: f64 = weights.iter().sum();
    let a_day = posts as f64 / DAYS as f64;
    let quiet = std::iter::repeat_n(0.0, QUIET_ACCOUNTS);
    weights.into_iter().map(|weight| a_day * weight / total).chain(quiet).collect()
}

fn posts_of_day(account: usize, rate: f64, day: usize) -> usize {
    if account >= ACCOUNTS - QUIET_ACCOUNTS {
        return usize::from(day.is_multiple_of(QUIET_DAYS));
    }
    (rate * (day as f64 + 1.0)) as usize - (rate * day as f64) as usize
}

/// Stores the posts of an account in one day, as the poll of that day does.
fn store_feed(
    store: &LeasedStore,
    account: usize,
    day: usize,
    count: usize,
    rng: &mut fastrand::Rng,
) {
    let posts = (0..count).map(|number| new_post(account, day, number, rng));
    let observations = posts.map(|post| ItemObservation {
        item: MirrorItem::Post(post),
        observed_at: ObservedAt::new(NOW_MS + 1_000, 1),
    });
    let lane = Lane::account_feed(HOST, did(account));
    let page = IngestPage { observations: observations.collect(), ..IngestPage::new(lane, 50) };
    let finished = FinishedFeed { read_ms: NOW_MS, posts_count: None, interval_ms: DAY_MS };
    let progress = FeedProgress { names: Vec::new(), finished: Some(finished) };
    let page = store.page_preparer().prepare_page(page);
    store.ingest_feed_page(&page, &progress).unwrap();
}

fn new_post(account: usize, day: usize, number: usize, rng: &mut fastrand::Rng) -> Post {
    let days_ago = i64::try_from(DAYS - 1 - day).unwrap();
    let sort_at = source_time(NOW_MS - days_ago * DAY_MS - rng.i64(0..DAY_MS));
    let key = format!("3l{account:03}x{day:02}x{number:04}");
    let is_repost = rng.u32(..100) < 15;
    let author = if is_repost { rng.usize(..ACCOUNTS) } else { account };
    let text_uri = record_uri(author, "post", &key);
    let repost =
        Repost { by: did(account), subject: text_uri.clone(), reposted_at: sort_at.clone() };
    Post {
        uri: if is_repost { record_uri(account, "repost", &key) } else { text_uri },
        cid: format!("bafyrei{:052}", rng.u64(..)).parse().unwrap(),
        did: did(author),
        text: random_text(rng),
        langs: vec!["en".to_owned()],
        created_at: Some(sort_at.clone()),
        indexed_at: sort_at.clone(),
        sort_at,
        reply: (rng.u32(..100) < 20).then(|| random_reply(day, rng)),
        quote: None,
        repost: is_repost.then_some(repost),
        links: (rng.u32(..3) == 0).then(|| random_link(day, rng)).into_iter().collect(),
    }
}

fn random_reply(day: usize, rng: &mut fastrand::Rng) -> PostReply {
    let parent = record_uri(rng.usize(..ACCOUNTS), "post", &format!("3kparent{day:02}"));
    PostReply { root: parent.clone(), parent }
}

fn random_link(day: usize, rng: &mut fastrand::Rng) -> PostLink {
    let story = (rng.f64().powi(3) * STORIES_PER_DAY as f64) as usize;
    let url = format!("https://site-{}.example/{day}/story-{story}", story % 97);
    PostLink { normal: url.clone(), url, origin: LinkOrigin::Embed }
}

/// Returns some 200 characters, in which the words of the queries are as frequent as in the mirror.
fn random_text(rng: &mut fastrand::Rng) -> String {
    let mut text = random_words(20, rng);
    for word in 0..COMMON_WORDS {
        if rng.u32(..100) < 30 {
            text.push_str(&format!(" common{word}"));
        }
    }
    text
}

fn checked_account(account: usize) -> CheckedAccount {
    CheckedAccount { did: did(account), handle: Some(handle(account).parse().unwrap()) }
}

fn did(account: usize) -> Did {
    format!("did:plc:{account:024}").parse().unwrap()
}

/// Returns the URI of a record in the collection `post` or `repost`.
fn record_uri(account: usize, collection: &str, key: &str) -> RecordUri {
    format!("at://{}/app.bsky.feed.{collection}/{key}", did(account)).parse().unwrap()
}

fn source_time(ms: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(ms).to_string()).unwrap()
}
