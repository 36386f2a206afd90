//! A workspace with accounts on Bluesky and their posts.

use std::path::Path;

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::links::{LinkOrigin, PostLink};
use hw_rules::bluesky::post::{Post, PostReply, Repost};
use hw_rules::duty::DutyName;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Lane;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_store::{
    CheckedAccount, DatabaseLocation, FeedProgress, FinishedFeed, IngestPage, LeasedStore,
    StoreWriter,
};
use hw_sync::clock::{Clock as _, MachineClock};
use tempfile::TempDir;

const HOST: &str = "bsky.app";

/// A workspace that follows `alice.test`, and `bob`, whose handle is unknown.
pub(crate) struct PostFixture {
    pub(crate) store: LeasedStore,
    home: TempDir,
}

impl PostFixture {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let location = DatabaseLocation::File(home.path().join("db").join("acme.db"));
        let store = StoreWriter::open(&location).unwrap();
        let store = store.claim_duty(&DutyName::accounts(HOST), "me", 0).unwrap().unwrap();
        let handle = Some("alice.test".parse().unwrap());
        let accounts = [
            CheckedAccount { did: did("alice"), handle },
            CheckedAccount { did: did("bob"), handle: None },
        ];
        store.follow_accounts(HOST, &accounts, 0).unwrap();
        let fixture = Self { store, home };
        fixture.read_feed("alice", &[]);
        fixture.read_feed("bob", &[]);
        fixture
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Stores posts of an account, whose feed is then read to its end.
    pub(crate) fn read_feed(&self, account: &str, posts: &[Post]) {
        let observations = posts.iter().map(|post| ItemObservation {
            item: MirrorItem::Post(post.clone()),
            observed_at: ObservedAt::new(1_700_000_000_000, 1),
        });
        let lane = Lane::account_feed(HOST, did(account));
        let page = IngestPage { observations: observations.collect(), ..IngestPage::new(lane, 50) };
        let finished =
            FinishedFeed { read_ms: 1_700_000_000_000, posts_count: None, interval_ms: 3_600_000 };
        let progress = FeedProgress { names: Vec::new(), finished: Some(finished) };
        let page = self.store.page_preparer().prepare_page(page);
        self.store.ingest_feed_page(&page, &progress).unwrap();
    }

    /// Records that the posts of an account are gone.
    pub(crate) fn remove_post(&self, account: &str, post: &Post) {
        let lane = Lane::account_feed(HOST, did(account));
        let gone = [(post.id(), ObservedAt::new(1_700_000_100_000, 2))];
        assert_eq!(self.store.remove_posts(&lane, &gone, true).unwrap(), 1);
    }
}

pub(crate) fn did(name: &str) -> Did {
    format!("did:plc:{name}").parse().unwrap()
}

/// Creates a post of this second of 2026.
pub(crate) fn post_at(account: &str, key: &str, second: i64, text: &str) -> Post {
    const START_OF_2026_MS: i64 = 1_767_225_600_000;
    post_at_ms(account, key, START_OF_2026_MS + second * 1_000, text)
}

/// Creates a post that was written this many minutes ago.
pub(crate) fn recent_post(account: &str, key: &str, minutes: i64, text: &str) -> Post {
    post_at_ms(account, key, MachineClock.now_ms() - minutes * 60_000, text)
}

fn post_at_ms(account: &str, key: &str, ms: i64, text: &str) -> Post {
    let at = time_at_ms(ms);
    Post {
        uri: format!("at://did:plc:{account}/app.bsky.feed.post/{key}").parse().unwrap(),
        cid: format!("bafyreig{key}").parse().unwrap(),
        did: did(account),
        text: text.to_owned(),
        langs: vec!["en".to_owned()],
        created_at: Some(at.clone()),
        indexed_at: at.clone(),
        sort_at: at,
        reply: None,
        quote: None,
        repost: None,
        links: Vec::new(),
    }
}

/// Creates a repost by an account, one hour after the post.
pub(crate) fn repost_of(subject: &Post, account: &str, key: &str) -> Post {
    let reposted_at = time_at_ms(subject.sort_at.instant().0 + 3_600_000);
    let repost =
        Repost { by: did(account), subject: subject.uri.clone(), reposted_at: reposted_at.clone() };
    Post {
        uri: format!("at://did:plc:{account}/app.bsky.feed.repost/{key}").parse().unwrap(),
        sort_at: reposted_at,
        repost: Some(repost),
        ..subject.clone()
    }
}

/// Makes a post the answer to another one.
pub(crate) fn reply_to(parent: &Post, reply: Post) -> Post {
    let place = PostReply { parent: parent.uri.clone(), root: parent.uri.clone() };
    Post { reply: Some(place), ..reply }
}

pub(crate) fn with_links(post: Post, urls: &[&str]) -> Post {
    let links = urls.iter().map(|url| PostLink {
        url: (*url).to_owned(),
        normal: (*url).to_owned(),
        origin: LinkOrigin::Facet,
    });
    Post { links: links.collect(), ..post }
}

fn time_at_ms(ms: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(ms).to_string()).unwrap()
}
