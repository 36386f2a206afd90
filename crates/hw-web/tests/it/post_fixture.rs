//! A workspace with accounts on Bluesky and their posts.

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::links::{LinkOrigin, PostLink};
use hw_rules::bluesky::post::{Post, Repost};
use hw_rules::duty::DutyName;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Lane;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::ObservedAt;
use hw_store::{CheckedAccount, FeedProgress, FinishedFeed, IngestPage, LeasedStore};

use crate::fixture::WebFixture;

const HOST: &str = "bsky.app";

/// A workspace that follows `alice.test`, and `bob`, whose handle is unknown.
pub(crate) struct PostFixture {
    pub(crate) web: WebFixture,
    pub(crate) store: LeasedStore,
}

impl PostFixture {
    pub(crate) fn new() -> Self {
        let web = WebFixture::new();
        let store = web.store.claim_duty(&DutyName::accounts(HOST), "me", 0).unwrap().unwrap();
        let handle = Some("alice.test".parse().unwrap());
        let accounts = [
            CheckedAccount { did: did("alice"), handle },
            CheckedAccount { did: did("bob"), handle: None },
        ];
        store.follow_accounts(HOST, &accounts, 0).unwrap();
        let fixture = Self { web, store };
        fixture.read_feed("alice", &[]);
        fixture.read_feed("bob", &[]);
        fixture
    }

    /// Stores posts of an account, whose feed is then read to its end.
    pub(crate) fn read_feed(&self, account: &str, posts: &[Post]) {
        let observations = posts.iter().map(|post| ItemObservation {
            item: MirrorItem::Post(post.clone()),
            observed_at: ObservedAt::new(1_000_000, 1),
        });
        let lane = Lane::account_feed(HOST, did(account));
        let page = IngestPage { observations: observations.collect(), ..IngestPage::new(lane, 50) };
        let finished =
            FinishedFeed { read_ms: 1_000_000, posts_count: None, interval_ms: 3_600_000 };
        let progress = FeedProgress { names: Vec::new(), finished: Some(finished) };
        let page = self.store.page_preparer().prepare_page(page);
        self.store.ingest_feed_page(&page, &progress).unwrap();
    }

    pub(crate) fn router(&self) -> axum::Router {
        hw_web::build_router(self.web.site_options())
    }
}

pub(crate) fn did(name: &str) -> Did {
    format!("did:plc:{name}").parse().unwrap()
}

/// Creates a post of this second of 1970. The site's clock shows second 1,000.
pub(crate) fn post_at(account: &str, key: &str, second: i64, text: &str) -> Post {
    let at = time_at(second);
    Post {
        uri: format!("at://did:plc:{account}/app.bsky.feed.post/{key}").parse().unwrap(),
        cid: format!("bafyreig{key}").parse().unwrap(),
        did: did(account),
        text: text.to_owned(),
        langs: Vec::new(),
        created_at: Some(at.clone()),
        indexed_at: at.clone(),
        sort_at: at,
        reply: None,
        quote: None,
        repost: None,
        links: Vec::new(),
    }
}

/// Creates a repost by an account, one minute after the post.
pub(crate) fn repost_of(subject: &Post, account: &str, key: &str) -> Post {
    let reposted_at = time_at(subject.sort_at.instant().0 / 1_000 + 60);
    let repost =
        Repost { by: did(account), subject: subject.uri.clone(), reposted_at: reposted_at.clone() };
    Post {
        uri: format!("at://did:plc:{account}/app.bsky.feed.repost/{key}").parse().unwrap(),
        sort_at: reposted_at,
        repost: Some(repost),
        ..subject.clone()
    }
}

pub(crate) fn with_links(post: Post, urls: &[&str]) -> Post {
    let links = urls.iter().map(|url| PostLink {
        url: (*url).to_owned(),
        normal: (*url).to_owned(),
        origin: LinkOrigin::Facet,
    });
    Post { links: links.collect(), ..post }
}

fn time_at(second: i64) -> SourceTime {
    SourceTime::parse(&SourceInstant(second * 1_000).to_string()).unwrap()
}
