//! One poll of a watched repository: what is watched there, how far back its lanes are read, and what could not be read.

use std::collections::BTreeSet;
use std::sync::Arc;

use hw_rules::follow_reason::LaneUse;
use hw_rules::item::{CommentKind, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::plan::{self, ChangeSign, LaneRequest, LaneState, SweepRequest, TurnTiming};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::runtime_settings::RuntimeSettings;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::ListingFloor;
use hw_rules::watch::{Watch, WatchMode};
use hw_store::{DERIVE_ROWS, WatchedThread};

use crate::SyncError;
use crate::api_client::FetchError;
use crate::lane_turn::{LaneReading, LaneTurn};
use crate::reading_log;
use crate::turn::{
    LaneTarget, PullContext, ReadingPurpose, TargetRepository, WatchReading, into_lane_error,
};
use crate::watch_context::{PollOutcome, ShadowDifference, WatchContext};

/// A poll in progress.
pub(super) struct RepositoryPoll<'a> {
    pub(super) context: PullContext<'a>,
    pub(super) settings: &'a RuntimeSettings,
    pub(super) key: RepositoryKey,
    pub(super) repository: &'a Arc<TargetRepository>,
    /// The watches of this repository that emit events.
    pub(super) watches: Vec<Watch>,
    outcome: PollOutcome,
}

impl<'a> RepositoryPoll<'a> {
    /// Loads what is watched; none if nothing is.
    pub(super) fn load(
        context: &WatchContext<'a>,
        repository: &'a Arc<TargetRepository>,
    ) -> Result<Option<Self>, SyncError> {
        let key = RepositoryKey::new(context.host, repository.id);
        let mut watches = context.pull.store.watches()?;
        watches.retain(|watch| watch.repository().as_ref() == Some(&key) && watch.state.emits());
        if watches.is_empty() {
            return Ok(None);
        }
        let reading = WatchReading {
            floor: reading_floor(&watches),
            overlap_ms: i64::from(context.settings.comment_fetch_overlap_seconds) * 1_000,
            safe_backfill_ms: i64::from(context.settings.comment_fetch_safe_backfill_seconds)
                * 1_000,
        };
        Ok(Some(Self {
            context: PullContext { reading: ReadingPurpose::Watches(reading), ..context.pull },
            settings: context.settings,
            key,
            repository,
            watches,
            outcome: PollOutcome::default(),
        }))
    }

    pub(super) fn finish(self) -> PollOutcome {
        self.outcome
    }

    /// Returns the target of a lane of this repository.
    pub(super) fn target(&self, surface: Surface) -> Option<LaneTarget> {
        let lane = Lane::for_repository(self.key.clone(), surface);
        LaneTarget::new(lane, Arc::clone(self.repository))
    }

    /// Returns the threads of watches that emit, by number.
    pub(super) fn emitting_threads(&self) -> Result<Vec<WatchedThread>, SyncError> {
        let emitting: BTreeSet<_> = self.watches.iter().map(|watch| watch.id).collect();
        let mut threads = self.context.store.watched_threads_of(&self.key)?;
        threads.retain(|thread| emitting.contains(&thread.watch_id));
        threads.sort_by_key(|thread| thread.number);
        threads.dedup_by_key(|thread| thread.number);
        Ok(threads)
    }

    /// Returns those of them whose reading has not ended. What is said in a pull request after it was closed is not emitted,
    /// so it is not read, either.
    pub(super) fn open_threads(&self) -> Result<Vec<WatchedThread>, SyncError> {
        let mut threads = self.emitting_threads()?;
        threads.retain(|thread| !thread.status.status.is_terminal());
        Ok(threads)
    }

    /// Returns true if some watch covers threads that are not known by their numbers.
    pub(super) fn has_wide_watch(&self) -> bool {
        self.watches
            .iter()
            .any(|watch| watch.subject.number.is_none() && !watch.follows_source_issue())
    }

    /// Returns the source's time of its last response.
    pub(super) fn date(&self) -> SourceInstant {
        self.context.client.last_source_date().unwrap_or(SourceInstant::BEGINNING)
    }

    /// Takes note of something that could not be read; an error that concerns more than this repository ends the poll.
    pub(super) fn note_error(&mut self, error: SyncError) -> Result<(), SyncError> {
        if !error.is_lane_error() {
            return Err(error);
        }
        tracing::warn!(repository = self.repository.full_name, %error, "a part of a poll failed");
        self.outcome.failures.push(error.to_string());
        Ok(())
    }

    /// Takes note of what a full scan found.
    pub(super) fn note_difference(&mut self, difference: ShadowDifference) {
        self.outcome.differences.push(difference);
    }

    /// Takes note of a failed request for a lane.
    pub(super) fn note_fetch_error(
        &mut self,
        error: FetchError,
        surface: Surface,
    ) -> Result<(), SyncError> {
        let lane = Lane::for_repository(self.key.clone(), surface);
        self.note_error(into_lane_error(error, &lane))
    }

    /// Turns what is stored already into events, for watches that are new.
    pub(super) fn derive_stored_events(&self) -> Result<(), SyncError> {
        let store = self.context.store;
        for watch in store.watches_to_derive()? {
            let is_here = self.watches.iter().any(|own| own.id == watch);
            while is_here && !store.derive_stored_events(watch, DERIVE_ROWS)? {}
        }
        Ok(())
    }

    pub(super) async fn read_activity(&mut self) -> Result<(), SyncError> {
        self.read_list(Surface::Activity).await
    }

    /// Reads the comment lists: that of comments on lines only where a pull request may be watched.
    pub(super) async fn read_comment_lists(&mut self) -> Result<(), SyncError> {
        self.read_list(Surface::Comments(CommentKind::Conversation)).await?;
        if self.has_pull_requests()? {
            self.read_list(Surface::Comments(CommentKind::ReviewComment)).await?;
        }
        Ok(())
    }

    pub(super) fn has_pull_requests(&self) -> Result<bool, SyncError> {
        // a thread that is watched for its commands has them in its conversation
        let is_feedback = |watch: &Watch| watch.mode == WatchMode::Feedback;
        if self.has_wide_watch() && self.watches.iter().any(is_feedback) {
            return Ok(true);
        }
        let threads = self.context.store.watched_threads_of(&self.key)?;
        Ok(threads.iter().any(|thread| thread.kind == ThreadKind::PullRequest))
    }

    /// Reads what is new in a list. One that failed before waits for its next attempt.
    async fn read_list(&mut self, surface: Surface) -> Result<(), SyncError> {
        let Some(target) = self.target(surface) else { return Ok(()) };
        self.follow_lane(&target.lane)?;
        let state = self.context.lane_state(&target.lane).await?;
        let context = self.context_for(&target, &state);
        let request = LaneRequest {
            timing: TurnTiming::WhenDue,
            ..context.lane_request(&target, SweepRequest::Never)
        };
        let now_ms = context.client.clock().now_ms();
        let plan = plan::plan_lane(&state, ChangeSign::Unknown, &request, now_ms);
        let turn = LaneTurn::new(&context, &target, state);
        match turn.run(plan, LaneReading::Unread).await {
            Ok(_) => Ok(()),
            Err(error) => self.note_error(error),
        }
    }

    /// Returns the context of a lane's turn. A lane whose cursor was lost is read from some time ago: what the watches
    /// missed lies there, and everything older was read before.
    fn context_for(&self, target: &LaneTarget, state: &LaneState) -> PullContext<'a> {
        let (ReadingPurpose::Watches(reading), true) =
            (self.context.reading, state.has_lost_cursor() && target.can_be_swept())
        else {
            return self.context;
        };
        reading_log::cursor_invalid(&target.lane, "its stored state cannot be read");
        let backfill = ListingFloor::At(self.date().minus_ms(reading.safe_backfill_ms));
        let floor = reading.floor.map_or(backfill, |floor| floor.min(backfill));
        let reading = WatchReading { floor: Some(floor), ..reading };
        PullContext { reading: ReadingPurpose::Watches(reading), ..self.context }
    }

    /// Records that a lane is read for watches, before it is read: otherwise it would count as pulled.
    pub(super) fn follow_lane(&self, lane: &Lane) -> Result<(), SyncError> {
        let store = self.context.store;
        let followed = store.lanes_used_by(LaneUse::Watch)?;
        if !followed.iter().any(|(followed, _, _)| followed == lane) {
            store.follow_lanes(&[lane], LaneUse::Watch)?;
        }
        Ok(())
    }
}

/// Returns how far back the lanes are read; none from now on, or as far as they were read before.
///
/// A watch of a whole repository needs everything from its floor on. A thread that is watched from a time before now is
/// read whole by itself, so it needs the lists only from now on.
fn reading_floor(watches: &[Watch]) -> Option<ListingFloor> {
    let floors = watches.iter().filter(|watch| !watch.is_read_whole()).map(|watch| {
        watch
            .floor
            .filter(|floor| *floor > SourceInstant::BEGINNING)
            .map_or(ListingFloor::Beginning, ListingFloor::At)
    });
    floors.min()
}
