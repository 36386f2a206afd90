//! Looks at watched threads that moved, and reads the reviews of pull requests among them.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::OVERLAP_MS;
use hw_rules::item::{CommentKind, MirrorItem, ThreadKind};
use hw_rules::lane::{Lane, PerThreadCommentKind, Surface};
use hw_rules::moved_thread::{MovedThreadPlan, MovedThreadReads};
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::Watch;
use hw_sources::error::SourceError;
use hw_sources::page::LookupPage;
use hw_store::{IngestPage, MovedThreadRow, MovedThreadStep, WatchedThread};

use super::repository_poll::RepositoryPoll;
use crate::SyncError;
use crate::api_client::FetchError;
use crate::lane_turn::LaneTurn;
use crate::lookup::{ItemLookupQuery, LOOKUP_BATCH_SIZE};
use crate::quarantine;
use crate::retry_policy::RequestOptions;
use crate::thread_comments::ThreadCommentReader;
use crate::turn::into_lane_error;

/// The kinds of threads that the list of activity shows.
const THREAD_KINDS: [ThreadKind; 2] = [ThreadKind::Issue, ThreadKind::PullRequest];

/// A thread as a look found it.
struct LookedAt {
    updated_at: SourceInstant,
    at: SourceInstant,
}

impl RepositoryPoll<'_> {
    /// Looks at the threads that moved, by their ids. Rows of threads that nobody watches are forgotten.
    pub(super) async fn look_at_moved_threads(&mut self) -> Result<(), SyncError> {
        let rows = self.watched_moves()?;
        for kind in THREAD_KINDS {
            let due: Vec<&MovedThreadRow> = rows
                .iter()
                .filter(|row| row.kind == kind && row.reads.looked_at.is_none())
                .collect();
            self.look_at(kind, &due).await?;
        }
        Ok(())
    }

    /// Returns what moved and is watched, and forgets the rest.
    fn watched_moves(&self) -> Result<Vec<MovedThreadRow>, SyncError> {
        let rows = self.context.store.moved_threads(&self.key)?;
        if rows.is_empty() || self.has_wide_watch() {
            return Ok(rows);
        }
        let threads = self.emitting_threads()?;
        let is_watched = |row: &MovedThreadRow| {
            let is_source = |watch: &Watch| watch.source_issue == Some(row.number);
            threads.iter().any(|thread| thread.number == row.number && is_read(thread, row))
                || self.watches.iter().any(is_source)
                // any pull request may turn out to close a source issue
                || (self.seeks_closing_pull_requests() && row.kind == ThreadKind::PullRequest)
        };
        let (watched, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_watched);
        self.forget(&others)?;
        Ok(watched)
    }

    fn forget(&self, rows: &[MovedThreadRow]) -> Result<(), SyncError> {
        self.record_reads(rows.iter().map(|row| (row, None)))
    }

    fn record_reads<'r>(
        &self,
        reads: impl Iterator<Item = (&'r MovedThreadRow, Option<MovedThreadReads>)>,
    ) -> Result<(), SyncError> {
        let steps: Vec<MovedThreadStep> = reads
            .map(|(row, reads)| MovedThreadStep {
                number: row.number,
                moved_at: row.moved_at,
                before: row.reads,
                reads,
            })
            .collect();
        if steps.is_empty() {
            return Ok(());
        }
        Ok(self.context.store.record_moved_threads(&self.key, &steps)?)
    }

    /// Looks at threads of one kind, a hundred in a request.
    async fn look_at(
        &mut self,
        kind: ThreadKind,
        mut due: &[&MovedThreadRow],
    ) -> Result<(), SyncError> {
        let mut batch_size = LOOKUP_BATCH_SIZE;
        while !due.is_empty() {
            let ids: Vec<String> = due
                .iter()
                .take(LOOKUP_BATCH_SIZE as usize)
                .map(|row| row.node_id.clone())
                .collect();
            let page = match self.look_up_threads(kind, &ids, &mut batch_size).await {
                Ok(page) => page,
                // one thread that the server cannot serve must not block all that follow it
                Err(FetchError::Source(SourceError::TooExpensive(_))) if batch_size == 1 => {
                    due = due.get(1..).unwrap_or_default();
                    continue;
                }
                Err(error) => return self.note_fetch_error(error, Surface::Threads(kind)),
            };
            let (batch, rest) = due.split_at(page.requested_count.min(due.len()));
            self.store_looks(kind, batch, page).await?;
            due = rest;
        }
        Ok(())
    }

    /// Requests threads of one kind by their ids.
    pub(super) async fn look_up_threads(
        &self,
        kind: ThreadKind,
        ids: &[String],
        batch_size: &mut u32,
    ) -> Result<LookupPage, FetchError> {
        let Some(target) = self.target(Surface::Threads(kind)) else {
            return Err(FetchError::Source(SourceError::InvalidRequest("no such list".into())));
        };
        let query = ItemLookupQuery { target: &target, ids, siblings: &[] };
        let options = target.request_options(RequestOptions::PAGE);
        self.context.client.fetch(&query, options, batch_size).await
    }

    async fn store_looks(
        &mut self,
        kind: ThreadKind,
        batch: &[&MovedThreadRow],
        page: LookupPage,
    ) -> Result<(), SyncError> {
        let at = page.date;
        let looked: BTreeMap<i64, LookedAt> = page
            .observations
            .iter()
            .filter_map(|observation| match &observation.item {
                MirrorItem::Thread(thread) => {
                    let updated_at = thread.updated_at.instant();
                    Some((thread.number, LookedAt { updated_at, at }))
                }
                MirrorItem::Repository(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
            })
            .collect();
        for row in &page.unreadable {
            tracing::warn!(thread = ?row.subject, reason = row.reason, "a thread that moved is unreadable");
        }
        let (absent, is_vouched_for) = (page.absent.clone(), page.is_vouched_for);
        self.ingest_threads(kind, page).await?;
        let reads = batch.iter().filter_map(|row| {
            let looked = looked.get(&row.number)?;
            // a lagging replica shows the thread as it was before
            let is_current = looked.updated_at >= row.moved_at;
            let reads = MovedThreadReads { looked_at: Some(looked.at), ..row.reads };
            is_current.then(|| (*row, self.rest_of(row, reads)))
        });
        self.record_reads(reads.collect::<Vec<_>>().into_iter())?;
        for row in batch.iter().filter(|row| absent.contains(&row.node_id)) {
            if is_vouched_for && is_settled(row, at) && self.resolve_absent(row.number).await? {
                self.forget(std::slice::from_ref(*row))?;
            }
        }
        Ok(())
    }

    /// Returns what was read of a moved thread, or none if nothing is left to read.
    fn rest_of(&self, row: &MovedThreadRow, reads: MovedThreadReads) -> Option<MovedThreadReads> {
        let moved_at = row.moved_at;
        let plan = reads.plan(row.kind, moved_at, self.date());
        (plan != MovedThreadPlan::Done).then_some(reads)
    }

    /// Stores threads that were read by their ids.
    pub(super) async fn ingest_threads(
        &self,
        kind: ThreadKind,
        page: LookupPage,
    ) -> Result<(), SyncError> {
        let lane = Lane::for_repository(self.key.clone(), Surface::Threads(kind));
        let page_size = self.context.lane_state(&lane).await?.page_size;
        let lane_use = self.context.reading.lane_use();
        let ingest = IngestPage {
            observations: page.observations,
            lane_use,
            ..IngestPage::new(lane, page_size)
        };
        self.context.ingest_pages(vec![ingest]).await.map(drop)
    }

    /// Reads the reviews of pull requests that moved.
    pub(super) async fn read_reviews(&mut self) -> Result<(), SyncError> {
        let date = self.date();
        let mut rows = self.watched_moves()?;
        rows.retain(|row| {
            row.reads.plan(row.kind, row.moved_at, date) == MovedThreadPlan::ReadReviews
        });
        if rows.is_empty() {
            return Ok(());
        }
        let surface = Surface::Comments(CommentKind::Review);
        let Some(target) = self.target(surface) else { return Ok(()) };
        self.follow_lane(&target.lane)?;
        let numbers: Vec<i64> = rows.iter().map(|row| row.number).collect();
        let due = self.context.store.numbered_threads(&target.lane, &numbers)?;
        let state = self.context.lane_state(&target.lane).await?;
        let context = self.context;
        let mut turn = LaneTurn::new(&context, &target, state);
        let mut reader = ThreadCommentReader::new(&mut turn, PerThreadCommentKind::Review);
        let mut threads = due.as_slice();
        while !threads.is_empty() {
            let batch = match reader.read_batch(threads).await {
                Ok(batch) => batch,
                Err(error) => {
                    return self.note_error(into_lane_error(error, &target.lane));
                }
            };
            let (read, rest) = threads.split_at(batch.thread_count.min(threads.len()));
            threads = rest;
            // which one is incomplete is not known, so all of them are read again
            if let Err(error) = reader.ensure_complete() {
                self.note_error(error)?;
                continue;
            }
            let at = SourceInstant(batch.seen.at_ms);
            let read: BTreeSet<&str> = read.iter().map(|thread| thread.node_id.as_str()).collect();
            let rows = rows.iter().filter(|row| read.contains(row.node_id.as_str()));
            let reads = rows.map(|row| {
                let reads = MovedThreadReads { reviews_read_at: Some(at), ..row.reads };
                (row, self.rest_of(row, reads))
            });
            self.record_reads(reads.collect::<Vec<_>>().into_iter())?;
        }
        match quarantine::retry_quarantined(&mut turn).await {
            Ok(()) => Ok(()),
            Err(error) => self.note_error(into_lane_error(error, &target.lane)),
        }
    }
}

/// Returns true if a move of a thread is read: after the end of a pull request, only what may have led to it.
fn is_read(thread: &WatchedThread, row: &MovedThreadRow) -> bool {
    let is_before_the_end =
        thread.status.at.is_none_or(|ended_at| row.moved_at <= ended_at.plus_ms(OVERLAP_MS));
    !thread.status.status.is_terminal() || is_before_the_end || row.reads.looked_at.is_some()
}

/// Returns true if nothing of this move can appear late any more.
fn is_settled(row: &MovedThreadRow, date: SourceInstant) -> bool {
    date > row.moved_at.plus_ms(OVERLAP_MS)
}
