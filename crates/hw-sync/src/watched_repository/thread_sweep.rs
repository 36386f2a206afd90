//! Finds what is gone from watched threads, once a day: nothing else shows that a comment was deleted.

use hw_rules::daily_slot;
use hw_rules::item::CommentKind;
use hw_rules::lane::{Lane, Surface};
use hw_rules::thread_scan::ThreadPart;
use hw_rules::version::ObservedAt;
use hw_sources::page::LookupPage;
use hw_store::{IngestPage, StoredComment, ThreadScanStep, WatchedThread};

use super::repository_poll::RepositoryPoll;
use super::thread_scan::{ScanCompleteness, ScanPurpose, ScannedThread};
use crate::SyncError;
use crate::api_client::FetchError;
use crate::lookup::{ItemLookupQuery, LOOKUP_BATCH_SIZE, NO_SIBLING_REASON};

/// Comments that must be there, asked for beside those that seem to be gone.
const MAX_SIBLINGS: usize = 3;

/// Comments of one kind that are stored and were not listed.
struct MissingComments {
    kind: CommentKind,
    suspects: Vec<StoredComment>,
    siblings: Vec<String>,
}

impl RepositoryPoll<'_> {
    /// Sweeps the threads whose slot of the day has come, a few in each poll.
    pub(super) async fn sweep_threads(&mut self) -> Result<(), SyncError> {
        let now_ms = self.date().0;
        let interval_ms = self.settings.reconcile_interval_ms();
        let mut threads = self.open_threads()?;
        threads.retain(|thread| thread.is_bootstrapped);
        let (mut threads, new): (Vec<_>, Vec<_>) =
            threads.into_iter().partition(|thread| thread.swept_ms.is_some());
        // the day of a thread that did not have to be read whole begins now
        self.record_sweeps(&new).await?;
        threads.retain(|thread| {
            thread.swept_ms.is_some_and(|swept_ms| {
                let name = format!("{}#{}", self.key, thread.number);
                daily_slot::has_slot_between(&name, interval_ms, swept_ms, now_ms)
            })
        });
        if !threads.is_empty() && self.seeks_closing_pull_requests() {
            self.ask_source_issues().await?;
        }
        for thread in threads.iter().take(self.settings.bootstrap_per_poll as usize) {
            self.sweep_thread(thread).await?;
        }
        Ok(())
    }

    async fn sweep_thread(&mut self, thread: &WatchedThread) -> Result<(), SyncError> {
        let scanned = self.scan_thread(thread, ScanPurpose::Sweep).await?;
        match &scanned.completeness {
            ScanCompleteness::Unfinished => return Ok(()),
            ScanCompleteness::ThreadGone => {
                return self.resolve_absent(thread.number).await.map(drop);
            }
            ScanCompleteness::Failed(reason) => {
                let reason = reason.clone();
                return self.note_scan_failure(thread, &reason);
            }
            ScanCompleteness::Complete { .. } => {}
        }
        for part in ThreadPart::of_thread(thread.kind) {
            let missing = self.find_missing(thread, part.comment_kind(), &scanned)?;
            if let Err(error) = self.remove_missing(thread, missing).await {
                return self.note_error(error);
            }
        }
        self.record_sweeps(std::slice::from_ref(thread)).await
    }

    /// Compares what a thread shows with what is stored of it.
    fn find_missing(
        &self,
        thread: &WatchedThread,
        kind: CommentKind,
        scanned: &ScannedThread,
    ) -> Result<MissingComments, SyncError> {
        let stored = self.context.store.thread_comment_versions(&self.key, kind, thread.number)?;
        let is_listed = |comment: &StoredComment| {
            scanned.comments.contains_key(&(kind, comment.id))
                || scanned.unreadable_nodes.contains(&comment.node_id)
        };
        let (listed, suspects): (Vec<_>, Vec<_>) = stored.into_iter().partition(is_listed);
        let siblings = listed.into_iter().take(MAX_SIBLINGS).map(|comment| comment.node_id);
        Ok(MissingComments { kind, suspects, siblings: siblings.collect() })
    }

    /// Looks the suspects up by id, and removes those that are gone.
    async fn remove_missing(
        &self,
        thread: &WatchedThread,
        missing: MissingComments,
    ) -> Result<(), SyncError> {
        let MissingComments { kind, suspects, siblings } = missing;
        let mut gone: Vec<(i64, ObservedAt)> = Vec::new();
        let mut rest = suspects.as_slice();
        let mut batch_size = LOOKUP_BATCH_SIZE;
        while !rest.is_empty() {
            let page = self.look_up_comments(kind, rest, &siblings, &mut batch_size).await?;
            if !page.is_vouched_for {
                return Err(self.unconfirmed(thread, NO_SIBLING_REASON));
            }
            let (batch, later) = rest.split_at(page.requested_count.min(rest.len()));
            let absent = batch.iter().filter(|comment| page.absent.contains(&comment.node_id));
            gone.extend(absent.map(|comment| (comment.id, page.observed_at)));
            self.store_found(kind, page).await?;
            rest = later;
        }
        if gone.is_empty() {
            return Ok(());
        }
        let lane = Lane::for_repository(self.key.clone(), Surface::Comments(kind));
        self.context.store.remove_gone(&lane, &gone, self.context.allow_mass_removal)?;
        Ok(())
    }

    async fn look_up_comments(
        &self,
        kind: CommentKind,
        suspects: &[StoredComment],
        siblings: &[String],
        batch_size: &mut u32,
    ) -> Result<LookupPage, SyncError> {
        let surface = Surface::Comments(kind);
        let ids: Vec<String> = suspects
            .iter()
            .take(LOOKUP_BATCH_SIZE as usize)
            .map(|comment| comment.node_id.clone())
            .collect();
        let lane = Lane::for_repository(self.key.clone(), surface);
        let Some(target) = self.target(surface) else {
            return Err(SyncError::IncompleteRead {
                lane: lane.to_string(),
                reason: "no such list".to_owned(),
            });
        };
        let query = ItemLookupQuery { target: &target, ids: &ids, siblings };
        let options = self.repository.sweep_options();
        let found = self.context.client.fetch(&query, options, batch_size).await;
        found.map_err(|error| match error {
            FetchError::Source(error) => SyncError::Source { lane: lane.to_string(), error },
            FetchError::Sync(error) => error,
        })
    }

    /// Stores suspects that are there after all: the thread was read from a lagging replica.
    async fn store_found(&self, kind: CommentKind, page: LookupPage) -> Result<(), SyncError> {
        if page.observations.is_empty() {
            return Ok(());
        }
        let lane = Lane::for_repository(self.key.clone(), Surface::Comments(kind));
        let page_size = self.context.lane_state(&lane).await?.page_size;
        let ingest = IngestPage {
            observations: page.observations,
            lane_use: self.context.reading.lane_use(),
            ..IngestPage::new(lane, page_size)
        };
        self.context.ingest_pages(vec![ingest]).await.map(drop)
    }

    /// Records that threads were swept, after everything in them was decided.
    async fn record_sweeps(&self, threads: &[WatchedThread]) -> Result<(), SyncError> {
        if threads.is_empty() {
            return Ok(());
        }
        let lane = Lane::for_repository(self.key.clone(), Surface::Activity);
        let page_size = self.context.lane_state(&lane).await?.page_size;
        let steps = threads.iter().map(|thread| ThreadScanStep {
            number: thread.number,
            cursor: None,
            finished_at: Some(self.date()),
        });
        let page = IngestPage {
            thread_scans: steps.collect(),
            lane_use: self.context.reading.lane_use(),
            ..IngestPage::new(lane, page_size)
        };
        self.context.ingest_pages(vec![page]).await.map(drop)
    }

    fn unconfirmed(&self, thread: &WatchedThread, reason: &str) -> SyncError {
        let lane = format!("{}#{}", self.repository.full_name, thread.number);
        SyncError::SweepStopped { lane, reason: reason.to_owned() }
    }
}
