//! A simulated GitHub with a process that polls watched threads.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::event::EventChange;
use hw_rules::item::ObjectKey;
use hw_rules::runtime_settings::RuntimeSettings;
use hw_rules::watch::{WatchId, WatchMode, WatchStart, WatchState};
use hw_sim::{CommentKind, ThreadKind, TrueComment, TrueThread, WorldSpec};
use hw_store::{EventFilter, EventRow, NewWatch, StoreWriter};
use hw_sync::SyncError;
use hw_sync::api_client::GithubClient;
use hw_sync::crash_points::CrashTrigger;
use hw_sync::watch_poll::{WatchPollSpec, WatchPollSummary, poll_watches};

use crate::harness::{HOST, SimFixture};

/// The time between two polls.
pub(crate) const INTERVAL_MS: u64 = 60_000;

/// One process that polls, as long as it lives.
pub(crate) struct WatchFixture {
    pub(crate) sim: SimFixture,
    pub(crate) settings: RuntimeSettings,
    store: StoreWriter,
    client: GithubClient,
}

/// Requests and points of the world's own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorldCost {
    pub(crate) requests: u64,
    /// Of the GraphQL quota.
    pub(crate) points: u64,
    /// Answers that cost a request of the REST quota.
    pub(crate) rest_documents: u64,
}

impl WatchFixture {
    pub(crate) fn new(spec: &WorldSpec, seed: u64) -> Self {
        Self::over(SimFixture::new(spec, seed))
    }

    pub(crate) fn over(sim: SimFixture) -> Self {
        let (store, client) = sim.open_process(None);
        Self { sim, settings: RuntimeSettings::default(), store, client }
    }

    /// Replaces the process by a new one, which crashes where the trigger says.
    pub(crate) fn restart(&mut self, crash_hook: Option<CrashTrigger>) {
        (self.store, self.client) = self.sim.open_process(crash_hook);
    }

    /// Adds a watch of `owner/repo` or `owner/repo#N`.
    pub(crate) fn watch(&self, subject: &str, start: Option<WatchStart>) -> WatchId {
        self.add_watch(&NewWatch {
            host: HOST.into(),
            subject: subject.parse().unwrap(),
            mode: WatchMode::Feedback,
            start,
            source_issue: None,
        })
    }

    pub(crate) fn add_watch(&self, watch: &NewWatch) -> WatchId {
        self.sim.store.add_watch(watch, self.sim.clock.virtual_now_ms()).unwrap().watch.id
    }

    pub(crate) async fn poll(&self) -> WatchPollSummary {
        let summary = self.try_poll().await.unwrap();
        assert_eq!(summary.failures, Vec::<String>::new());
        summary
    }

    pub(crate) async fn try_poll(&self) -> Result<WatchPollSummary, SyncError> {
        let spec = WatchPollSpec {
            host: HOST.to_owned(),
            settings: self.settings,
            worker: self.sim.next_worker("poll"),
            allow_mass_removal: false,
        };
        poll_watches(&self.store, &self.client, &spec).await
    }

    /// Polls so many times, an interval apart.
    pub(crate) async fn poll_times(&self, polls: u32) {
        for _ in 0..polls {
            self.sim.clock.advance_by(INTERVAL_MS).await;
            self.poll().await;
        }
    }

    /// Returns what so many polls cost, an interval apart.
    pub(crate) async fn cost_of(&self, polls: u32) -> WorldCost {
        let before = self.world_cost();
        self.poll_times(polls).await;
        let after = self.world_cost();
        WorldCost {
            requests: after.requests - before.requests,
            points: after.points - before.points,
            rest_documents: after.rest_documents - before.rest_documents,
        }
    }

    fn world_cost(&self) -> WorldCost {
        self.sim.with_github(|github| {
            let log = github.request_log();
            WorldCost {
                requests: log.total,
                points: log.points,
                rest_documents: log.rest - log.not_modified,
            }
        })
    }

    /// Returns the state of a watch.
    pub(crate) fn state(&self, watch: WatchId) -> WatchState {
        self.sim.store.watch(watch).unwrap().unwrap().state
    }

    /// Returns all events, the oldest first.
    pub(crate) fn events(&self) -> Vec<EventRow> {
        let filter = EventFilter { limit: 1_000_000, ..EventFilter::default() };
        let mut events = self.sim.store.list_events(&filter).unwrap();
        events.reverse();
        events
    }

    /// Returns what was emitted about comments, as `change:body`.
    pub(crate) fn said(&self) -> Vec<String> {
        self.events()
            .iter()
            .filter(|row| !matches!(row.event.change, EventChange::State(_)))
            .map(|row| format!("{}:{}", row.event.change.name(), row.event.body))
            .collect()
    }

    /// Fails if something was emitted twice.
    pub(crate) fn check_no_doubles(&self) {
        let mut seen = BTreeSet::new();
        for row in self.events() {
            assert!(seen.insert(row.event.id.clone()), "an event was stored twice: {row:?}");
        }
        let mut last: BTreeMap<ObjectKey, (EventChange, String)> = BTreeMap::new();
        for row in self.events() {
            let EventRow { event, .. } = row;
            if matches!(event.change, EventChange::State(_)) {
                continue;
            }
            let now = (event.change, event.body.clone());
            let before = last.insert(event.object.clone(), now.clone());
            if let Some(before) = before {
                let is_repeated = before == now && event.state.is_none();
                assert!(!is_repeated, "{} was emitted twice in a row: {now:?}", event.key);
            }
        }
    }

    /// Returns the threads of the world, by their number.
    pub(crate) fn threads(&self) -> Vec<TrueThread> {
        let truth = self.sim.with_github(|github| github.world().truth());
        let mut threads: Vec<TrueThread> = truth.threads.into_values().collect();
        threads.retain(|thread| thread.kind != ThreadKind::Discussion);
        threads.sort_by_key(|thread| (thread.repository_id, thread.number));
        threads
    }

    pub(crate) fn thread(&self, kind: ThreadKind) -> TrueThread {
        self.threads().into_iter().find(|thread| thread.kind == kind).unwrap()
    }

    /// Returns the subject of a watch of this thread.
    pub(crate) fn subject(&self, thread: &TrueThread) -> String {
        let truth = self.sim.with_github(|github| github.world().truth());
        let repository = &truth.repositories[&thread.repository_id];
        format!("{}/{}#{}", repository.owner, repository.name, thread.number)
    }

    /// Has somebody say something in a thread.
    pub(crate) fn say(&self, thread: &TrueThread, body: &str) -> i64 {
        let now_ms = self.sim.world_now_ms();
        self.sim.with_github(|github| {
            // bots are ignored
            let login = github.world().viewer().to_owned();
            github.world_mut().add_comment_by(&login, thread.kind, thread.id, body, now_ms)
        })
    }

    pub(crate) fn edit(&self, comment: i64, body: &str) {
        let now_ms = self.sim.world_now_ms();
        self.sim.with_github(|github| {
            github.world_mut().edit_comment(CommentKind::Conversation, comment, body, now_ms);
        });
    }

    pub(crate) fn delete(&self, comment: i64) {
        let now_ms = self.sim.world_now_ms();
        self.sim.with_github(|github| {
            github.world_mut().delete_comment(CommentKind::Conversation, comment, now_ms);
        });
    }

    /// Returns the comments on a thread, as they are.
    pub(crate) fn true_comments(&self, thread: &TrueThread) -> Vec<TrueComment> {
        let truth = self.sim.with_github(|github| github.world().truth());
        let comments = truth.comments.into_values();
        comments
            .filter(|comment| comment.thread_kind == thread.kind && comment.thread_id == thread.id)
            .collect()
    }
}
