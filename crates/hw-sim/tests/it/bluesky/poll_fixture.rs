//! Polls of a simulated AppView into a store.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::polling_settings::PollingSettings;
use hw_rules::pace::{DEFAULT_RESERVE_PERCENT, RequestPace};
use hw_sim::bluesky::BlueskySpec;
use hw_sources::bluesky::source::BlueskySource;
use hw_store::{
    AccountRow, CheckedAccount, DatabaseLocation, PostFilter, PostRow, StoreWriter, WorkerIdentity,
};
use hw_sync::api_client::{ApiClient, ClientConfig};
use hw_sync::bluesky::client::{BlueskyClient, Credentials};
use hw_sync::bluesky::{PollSpec, PollSummary, poll_accounts};
use hw_sync::crash_points::{CrashPoints, CrashTrigger};
use hw_sync::progress::ProgressSink;
use hw_sync::work_threads::WorkThreads;
use hw_sync::{RetryPolicy, SyncError};

use crate::harness::{APP_VIEW_URL, AppViewFixture};

pub(crate) const HOST: &str = "bsky.app";

/// A simulated AppView, and a store that follows all of its accounts.
pub(crate) struct PollFixture {
    pub(crate) world: AppViewFixture,
    pub(crate) store: StoreWriter,
    pub(crate) settings: PollingSettings,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) allow_mass_removal: bool,
    /// The lines that polls have printed since they were last taken.
    lines: Arc<Mutex<Vec<String>>>,
    processes: AtomicU32,
}

impl PollFixture {
    pub(crate) fn new(spec: &BlueskySpec, seed: u64) -> Self {
        Self::with_store(spec, seed, StoreWriter::open(&DatabaseLocation::Memory).unwrap())
    }

    pub(crate) fn with_store(spec: &BlueskySpec, seed: u64, store: StoreWriter) -> Self {
        let fixture = Self {
            world: AppViewFixture::new(spec, seed),
            store,
            settings: PollingSettings::default(),
            credentials: None,
            allow_mass_removal: false,
            lines: Arc::default(),
            processes: AtomicU32::new(0),
        };
        let dids = fixture.world.with_app_view(|app_view| app_view.world().dids());
        fixture.follow(&dids);
        fixture
    }

    /// Logs in as the first account from now on.
    pub(crate) fn with_session(mut self, spec: &BlueskySpec) -> Self {
        let did = self.world.with_app_view(|app_view| app_view.world().dids().remove(0));
        let account: AccountRef = did.parse().unwrap();
        let app_password = spec.app_password.clone().into();
        self.credentials = Some(Credentials { account, app_password });
        self
    }

    pub(crate) fn follow(&self, dids: &[String]) {
        let handle = |did: &str| {
            let handle = self
                .world
                .with_app_view(|app_view| app_view.world().handle_of(did).map(str::to_owned));
            // hostile worlds have accounts without a valid name
            handle.and_then(|handle| handle.parse().ok())
        };
        let accounts: Vec<_> = dids
            .iter()
            .map(|did| CheckedAccount { did: did.parse().unwrap(), handle: handle(did) })
            .collect();
        self.store.follow_accounts(HOST, &accounts, self.now_ms()).unwrap();
    }

    /// Polls once, as a process that ends afterwards.
    pub(crate) async fn poll(&self) -> PollSummary {
        self.try_poll(None).await.unwrap()
    }

    /// Polls once, and may crash at a point that the trigger chooses.
    pub(crate) async fn try_poll(
        &self,
        crash_trigger: Option<CrashTrigger>,
    ) -> Result<PollSummary, SyncError> {
        let store = match &crash_trigger {
            Some(trigger) => self.store.clone().with_crash_hook(Arc::clone(trigger)),
            None => self.store.clone(),
        };
        let client = self.open_client(store.clone(), crash_trigger);
        poll_accounts(&store, &client, &self.poll_spec()).await
    }

    /// Polls twice at the same time, as two processes.
    pub(crate) async fn poll_with_another(&self) -> (PollSummary, PollSummary) {
        let clients = [(); 2].map(|()| self.open_client(self.store.clone(), None));
        let specs = [(); 2].map(|()| self.poll_spec());
        let (first, second) = tokio::join!(
            poll_accounts(&self.store, &clients[0], &specs[0]),
            poll_accounts(&self.store, &clients[1], &specs[1]),
        );
        (first.unwrap(), second.unwrap())
    }

    pub(crate) fn open_client(
        &self,
        store: StoreWriter,
        crash_trigger: Option<CrashTrigger>,
    ) -> BlueskyClient {
        let source = BlueskySource::new(APP_VIEW_URL);
        let config = ClientConfig {
            source: source.clone(),
            retry_policy: RetryPolicy::bluesky(&self.settings),
            transport: Arc::new(self.world.transport()),
            clock: self.world.clock.clone(),
            machine: "here".to_owned(),
            crash_points: crash_trigger.map(CrashPoints::new).unwrap_or_default(),
            progress: ProgressSink::default(),
            pace: RequestPace::Adaptive,
            reserve_percent: DEFAULT_RESERVE_PERCENT,
            largest_page: 100,
            seed: 1,
            work_threads: WorkThreads::Inline,
        };
        let api = ApiClient::new(config, store, "api.bsky.example");
        BlueskyClient::new(api, source, self.credentials.clone())
    }

    fn poll_spec(&self) -> PollSpec {
        let process = self.processes.fetch_add(1, Ordering::SeqCst) + 1;
        let lines = Arc::clone(&self.lines);
        PollSpec {
            host: HOST.to_owned(),
            settings: self.settings,
            worker: WorkerIdentity {
                id: format!("poll-{process}"),
                machine: "here".to_owned(),
                process,
                version: "1".to_owned(),
                role: "poll".to_owned(),
            },
            allow_mass_removal: self.allow_mass_removal,
            print_line: Arc::new(move |line| lines.lock().unwrap().push(line.to_owned())),
        }
    }

    /// Returns the lines printed since the last call.
    pub(crate) fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }

    /// Polls every `minutes` for this many rounds, the first one after the first interval.
    pub(crate) async fn poll_rounds(&self, rounds: u32, minutes: i64) {
        for _ in 0..rounds {
            self.pass_minutes(minutes).await;
            self.poll().await;
        }
    }

    pub(crate) async fn pass_minutes(&self, minutes: i64) {
        self.world.clock.advance_by(minutes.unsigned_abs() * 60_000).await;
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.world.clock.virtual_now_ms()
    }

    pub(crate) fn requests(&self) -> u64 {
        self.world.with_app_view(|app_view| app_view.request_log().total)
    }

    pub(crate) fn accounts(&self) -> Vec<AccountRow> {
        self.store.accounts().unwrap()
    }

    pub(crate) fn account(&self, did: &str) -> AccountRow {
        self.store.account(HOST, &did.parse().unwrap()).unwrap().unwrap()
    }

    /// Returns the stored posts of an account, newest first.
    pub(crate) fn stored_posts(&self, did: &str) -> Vec<PostRow> {
        let filter = PostFilter { accounts: vec![did.to_owned()], ..PostFilter::default() };
        let mut rows = Vec::new();
        let skipped = self.store.each_post(&filter, &mut |row| {
            rows.push(row);
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!(skipped.unwrap().0, 0);
        rows
    }

    pub(crate) fn dids(&self) -> Vec<String> {
        self.world.with_app_view(|app_view| app_view.world().dids())
    }
}
