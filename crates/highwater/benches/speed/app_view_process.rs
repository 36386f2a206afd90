//! The simulated AppView of Bluesky in a process of its own.

use hw_sim::bluesky::{BlueskySpec, PostDraft, SimulatedAppView, XrpcEndpoint};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};

use crate::sim_process::{SimProcess, requested_numbers, serve_service};

/// The first argument of the bench when it runs as the AppView.
const SERVE_FLAG: &str = "--serve-app-view";

/// A world of accounts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BenchAccounts {
    pub(crate) accounts: usize,
    /// The posts of the account with the fewest, and of the one with the most.
    pub(crate) least_posts: usize,
    pub(crate) most_posts: usize,
    /// The hours over which the posts are spread.
    pub(crate) history_hours: usize,
    /// The time that every response takes.
    pub(crate) latency_ms: usize,
}

/// The requests that the AppView has received.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct XrpcCounters {
    pub(crate) total: u64,
    /// For up to 25 profiles each.
    pub(crate) profiles: u64,
    /// For a page of a feed.
    pub(crate) feeds: u64,
    /// Those among them for another page than the first one.
    pub(crate) later_pages: u64,
}

/// A running AppView, which ends when it is dropped.
pub(crate) struct AppViewProcess(SimProcess);

impl AppViewProcess {
    pub(crate) fn start(world: &BenchAccounts) -> Self {
        Self(SimProcess::spawn(SERVE_FLAG, &world.to_numbers()))
    }

    pub(crate) fn url(&self) -> &str {
        &self.0.url
    }

    /// Returns the handles of all accounts.
    pub(crate) fn handles(&mut self) -> Vec<String> {
        serde_json::from_value(self.0.send_line("handles")).unwrap()
    }

    /// Makes this many accounts write one post each.
    pub(crate) fn publish_posts(&mut self, accounts: usize) {
        self.0.send_line(&format!("publish {accounts}"));
    }

    pub(crate) fn counters(&mut self) -> XrpcCounters {
        let counters = self.0.send_line("count");
        let read = |name: &str| counters[name].as_u64().unwrap();
        XrpcCounters {
            total: read("total"),
            profiles: read("profiles"),
            feeds: read("feeds"),
            later_pages: read("later_pages"),
        }
    }
}

impl XrpcCounters {
    /// Returns the requests that were received after earlier ones.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            total: self.total - earlier.total,
            profiles: self.profiles - earlier.profiles,
            feeds: self.feeds - earlier.feeds,
            later_pages: self.later_pages - earlier.later_pages,
        }
    }
}

impl BenchAccounts {
    fn to_numbers(self) -> [usize; 5] {
        let Self { accounts, least_posts, most_posts, history_hours, latency_ms } = self;
        [accounts, least_posts, most_posts, history_hours, latency_ms]
    }

    fn from_numbers(numbers: [usize; 5]) -> Self {
        let [accounts, least_posts, most_posts, history_hours, latency_ms] = numbers;
        Self { accounts, least_posts, most_posts, history_hours, latency_ms }
    }

    fn to_spec(self) -> BlueskySpec {
        let latency_ms = self.latency_ms as u64;
        BlueskySpec {
            accounts: self.accounts,
            posts_per_account: self.least_posts..=self.most_posts,
            history_hours: u32::try_from(self.history_hours).unwrap(),
            start_ms: MachineClock.now_ms(),
            latency_ms: latency_ms..=latency_ms,
            ..BlueskySpec::small()
        }
    }
}

/// Runs as the AppView, if the arguments say so; returns false otherwise.
pub(crate) fn serve_if_requested() -> bool {
    let Some(numbers) = requested_numbers(SERVE_FLAG) else { return false };
    let spec = BenchAccounts::from_numbers(numbers.try_into().unwrap()).to_spec();
    serve_service(SimulatedAppView::new(&spec, 1), run_command);
    true
}

fn run_command(app_view: &mut SimulatedAppView, command: &str) -> Value {
    match command.split_once(' ') {
        Some(("publish", accounts)) => publish_posts(app_view, accounts.parse().unwrap()),
        None if command == "handles" => list_handles(app_view),
        _ => count_requests(app_view),
    }
}

fn list_handles(app_view: &SimulatedAppView) -> Value {
    let world = app_view.world();
    world.dids().iter().map(|did| world.handle_of(did)).collect()
}

fn publish_posts(app_view: &mut SimulatedAppView, accounts: usize) -> Value {
    let now_ms = MachineClock.now_ms();
    app_view.advance_to(now_ms);
    for did in app_view.world().dids().iter().take(accounts) {
        let draft = PostDraft::from_text("the tide turns").with_link("https://tides.example/now");
        app_view.world_mut().post(did, draft, now_ms);
    }
    json!({})
}

fn count_requests(app_view: &SimulatedAppView) -> Value {
    let log = app_view.request_log();
    let later_pages = log.entries.iter().filter(|entry| entry.has_cursor);
    json!({
        "total": log.total,
        "profiles": log.count(XrpcEndpoint::Profiles),
        "feeds": log.count(XrpcEndpoint::AuthorFeed),
        "later_pages": later_pages.count(),
    })
}
