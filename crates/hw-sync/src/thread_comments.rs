//! Reads comments thread by thread, for threads that moved.

use std::collections::VecDeque;

use hw_rules::lane::PerThreadCommentKind;
use hw_rules::page_guard::PageGuard;
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_sources::error::SourceError;
use hw_sources::github::comments::{
    self, Continuation, ContinuationIdQuery, ContinuationQuery, IncompleteReason, ThreadComments,
    ThreadCommentsPage, ThreadCommentsQuery,
};
use hw_sources::page::InventoryRow;
use hw_store::{DueThread, IngestPage};

use crate::SyncError;
use crate::api_client::FetchError;
use crate::lane_turn::LaneTurn;
use crate::quarantine;
use crate::retry_policy::RequestOptions;

/// Comments that are being read.
pub(crate) struct ThreadCommentReader<'t, 'a> {
    turn: &'t mut LaneTurn<'a>,
    kind: PerThreadCommentKind,
    /// Threads in a request.
    batch_size: u32,
    /// Rows in a page, for a thread whose comments do not fit into one response.
    page_size: u32,
    /// Threads that could not be read completely; `last_failure` is the reason of the last one.
    unread_threads: u64,
    last_failure: String,
}

/// Comments of several threads.
pub(crate) struct CommentBatch {
    pub(crate) seen: ObservedAt,
    pub(crate) rows: Vec<InventoryRow>,
    /// Number of threads requested.
    pub(crate) thread_count: usize,
}

/// A thread whose comments did not fit into one response.
struct LongThread {
    id: i64,
    continuations: Vec<Continuation>,
}

/// Reads the comments of all due threads.
pub(crate) async fn scan_thread_comments(
    turn: &mut LaneTurn<'_>,
    kind: PerThreadCommentKind,
) -> Result<(), FetchError> {
    let LaneTurn { context, target, .. } = *turn;
    let lane = target.lane.clone();
    context.ask_store(move |store| store.follow_thread_comments(&lane)).await?;
    let checked_at = context.threads_checked_at(target).await?;
    let mut reader = ThreadCommentReader::new(turn, kind);
    let mut after = i64::MIN;
    loop {
        let (lane, limit) = (target.lane.clone(), reader.batch_limit());
        let due = context.ask_store(move |store| store.due_threads(&lane, after, limit)).await?;
        let Some(last) = due.last() else { break };
        after = last.id;
        reader.read_all(&due).await?;
    }
    reader.close_lane(checked_at).await?;
    quarantine::retry_quarantined(turn).await
}

impl<'t, 'a> ThreadCommentReader<'t, 'a> {
    pub(crate) fn new(turn: &'t mut LaneTurn<'a>, kind: PerThreadCommentKind) -> Self {
        let page_size = turn.page_size;
        Self {
            turn,
            kind,
            batch_size: page_size.min(max_threads_per_request(kind)),
            page_size,
            unread_threads: 0,
            last_failure: String::new(),
        }
    }

    pub(crate) fn batch_limit(&self) -> u32 {
        max_threads_per_request(self.kind)
    }

    async fn read_all(&mut self, mut due: &[DueThread]) -> Result<(), FetchError> {
        while !due.is_empty() {
            let batch = self.read_batch(due).await?;
            due = &due[batch.thread_count..];
        }
        Ok(())
    }

    /// Reads and stores the comments of as many of these threads as the server can serve at once.
    pub(crate) async fn read_batch(
        &mut self,
        due: &[DueThread],
    ) -> Result<CommentBatch, FetchError> {
        let target = self.turn.target;
        let (kind, repository_id) = (self.kind, target.repository.id);
        let ids = node_ids(due, self.batch_limit());
        let query = ThreadCommentsQuery { kind, repository_id, ids: &ids };
        let options = target.request_options(RequestOptions::PAGE);
        let result = self.turn.client().fetch(&query, options, &mut self.batch_size).await;
        let ThreadCommentsPage { threads, observed_at: seen } = match result {
            // one thread that the server cannot serve must not block all that follow it
            Err(FetchError::Source(SourceError::TooExpensive(_))) if self.batch_size == 1 => {
                return self.read_in_pages(&due[0]).await;
            }
            other => other?,
        };
        let mut batch = CommentBatch { seen, rows: Vec::new(), thread_count: threads.len() };
        self.store_batch(due, threads, &mut batch).await?;
        Ok(batch)
    }

    /// Reads a thread that is too large for one response page by page, in pages as large as the server can serve.
    async fn read_in_pages(&mut self, thread: &DueThread) -> Result<CommentBatch, FetchError> {
        let at_ms = self.turn.client().last_source_date().map_or(0, |date| date.0);
        let mut batch =
            CommentBatch { seen: ObservedAt::new(at_ms, 0), rows: Vec::new(), thread_count: 1 };
        let continuations = vec![Continuation::from_thread(&thread.node_id)];
        self.read_remaining(LongThread { id: thread.id, continuations }, &mut batch).await?;
        Ok(batch)
    }

    /// Stores what is complete at once, and reads the rest of what is not.
    async fn store_batch(
        &mut self,
        due: &[DueThread],
        parts: Vec<ThreadComments>,
        batch: &mut CommentBatch,
    ) -> Result<(), FetchError> {
        let mut page = self.empty_page();
        let mut long_threads = Vec::new();
        for (thread, part) in due.iter().zip(parts) {
            let is_complete = self.note_completeness(&part)?;
            let continuations = part.continuations.clone();
            add_to_page(&mut page, part, batch);
            match (is_complete, continuations.is_empty()) {
                (true, true) => page.read_threads.push((thread.id, batch.seen.at_ms)),
                (true, false) => long_threads.push(LongThread { id: thread.id, continuations }),
                (false, _) => {}
            }
        }
        self.turn.store_page(page).await?;
        for thread in long_threads {
            self.read_remaining(thread, batch).await?;
        }
        Ok(())
    }

    async fn read_remaining(
        &mut self,
        thread: LongThread,
        batch: &mut CommentBatch,
    ) -> Result<(), FetchError> {
        let mut queue = VecDeque::from(thread.continuations);
        let mut is_complete = true;
        let mut guard = PageGuard::default();
        while let Some(continuation) = queue.pop_front() {
            let part = match self.fetch_continuation(&continuation).await {
                Err(FetchError::Source(SourceError::TooExpensive(reason))) => {
                    self.note_unread_thread(&reason);
                    is_complete = false;
                    continue;
                }
                other => other?,
            };
            is_complete &= self.note_completeness(&part)?;
            if !part.continuations.is_empty()
                && let Err(error) =
                    guard.check_page(comment_ids(&part), unreadable_subjects(&part), None)
            {
                self.note_unread_thread(&error.to_string());
                return Ok(());
            }
            queue.extend(part.continuations.iter().cloned());
            let mut page = self.empty_page();
            add_to_page(&mut page, part, batch);
            if queue.is_empty() && is_complete {
                page.read_threads.push((thread.id, batch.seen.at_ms));
            }
            self.turn.store_page(page).await?;
        }
        Ok(())
    }

    async fn fetch_continuation(
        &mut self,
        continuation: &Continuation,
    ) -> Result<ThreadComments, FetchError> {
        let target = self.turn.target;
        let (kind, repository_id) = (self.kind, target.repository.id);
        let query = ContinuationQuery { kind, repository_id, continuation };
        let options = target.request_options(RequestOptions::PAGE);
        match self.turn.client().fetch(&query, options, &mut self.page_size).await {
            // one comment that the server cannot serve must not block all that follow it
            Err(FetchError::Source(SourceError::TooExpensive(reason))) if self.page_size == 1 => {
                self.fetch_id_only(continuation, &reason).await
            }
            other => other,
        }
    }

    /// Fetches the id of the next comment, without its content, so that it can wait in quarantine.
    async fn fetch_id_only(
        &mut self,
        continuation: &Continuation,
        reason: &str,
    ) -> Result<ThreadComments, FetchError> {
        let target = self.turn.target;
        let (kind, repository_id) = (self.kind, target.repository.id);
        let query = ContinuationIdQuery { kind, repository_id, continuation };
        let options = target.request_options(RequestOptions::PAGE);
        let mut part = self.turn.client().fetch(&query, options, &mut 1).await?;
        part.unreadable.iter_mut().for_each(|row| reason.clone_into(&mut row.reason));
        Ok(part)
    }

    /// Returns true if this part of a thread's comments is complete; otherwise the next turn reads it again.
    ///
    /// A missing thread is not an error of its comments: a sweep of the threads decides whether it is gone.
    fn note_completeness(&mut self, part: &ThreadComments) -> Result<bool, FetchError> {
        match &part.completeness {
            Ok(()) => return Ok(true),
            Err(IncompleteReason::ThreadGone(reason)) => {
                tracing::info!(
                    thread = part.thread_node_id,
                    reason,
                    "thread not found; requesting a sweep"
                );
                if let Some(threads) = self.turn.target.threads_lane() {
                    let now_ms = self.turn.client().clock().now_ms();
                    self.turn.context.store.request_sweep(&threads, now_ms)?;
                }
            }
            Err(IncompleteReason::UnreadableRows(reason)) => self.note_unread_thread(reason),
        }
        Ok(false)
    }

    fn note_unread_thread(&mut self, reason: &str) {
        self.unread_threads += 1;
        reason.clone_into(&mut self.last_failure);
    }

    fn empty_page(&self) -> IngestPage {
        IngestPage { page_size: self.page_size, ..self.turn.empty_page() }
    }

    /// Marks the lane as fresh as the listing of its threads, since everything due is read.
    async fn close_lane(&mut self, checked_at: Option<i64>) -> Result<(), FetchError> {
        self.ensure_complete()?;
        let Some(at) = checked_at else { return Ok(()) };
        let coverage = self.turn.state.coverage.clone().close_per_thread(SourceInstant(at));
        let lane = self.turn.target.lane.clone();
        let page = IngestPage {
            checked_lanes: vec![(lane, at)],
            coverage: Some(coverage),
            ..self.empty_page()
        };
        self.turn.context.ask_store(move |store| store.ingest_page(&page)).await?;
        Ok(())
    }

    /// Returns an error if some threads could not be read.
    pub(crate) fn ensure_complete(&self) -> Result<(), SyncError> {
        if self.unread_threads == 0 {
            return Ok(());
        }
        let reason = format!(
            "{} could not be read completely: {}",
            format_thread_count(self.unread_threads),
            self.last_failure
        );
        Err(self.turn.incomplete_error(&reason))
    }
}

fn format_thread_count(count: u64) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

fn node_ids(threads: &[DueThread], limit: u32) -> Vec<String> {
    threads.iter().take(limit as usize).map(|thread| thread.node_id.clone()).collect()
}

fn max_threads_per_request(kind: PerThreadCommentKind) -> u32 {
    u32::try_from(comments::threads_per_request(kind)).unwrap_or(1)
}

fn comment_ids(part: &ThreadComments) -> impl Iterator<Item = i64> {
    part.observations.iter().map(|observation| observation.key().id)
}

fn unreadable_subjects(part: &ThreadComments) -> impl Iterator<Item = RowSubject> {
    part.unreadable.iter().map(|row| row.subject.clone())
}

fn add_to_page(page: &mut IngestPage, part: ThreadComments, batch: &mut CommentBatch) {
    batch.rows.extend(part.observations.iter().filter_map(InventoryRow::from_observation));
    page.observations.extend(part.observations);
    page.quarantined.extend(part.unreadable.iter().map(quarantine::quarantine_row));
}
