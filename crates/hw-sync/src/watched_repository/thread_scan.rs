//! Reads watched threads whole: when their watch begins before now, and at each poll if incremental reading is switched off.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{CommentKind, ItemObservation};
use hw_rules::lane::{Lane, Surface};
use hw_rules::page_guard::PageGuard;
use hw_rules::page_size::MAX_PAGE_SIZE;
use hw_rules::thread_scan::{ThreadPart, ThreadPosition};
use hw_rules::version::ObservedAt;
use hw_sources::github::comments::{
    Continuation, IncompleteReason, ReviewThreadQuery, ThreadComments, ThreadPartPage,
    ThreadPartQuery,
};
use hw_store::{IngestPage, ThreadScanStep, WatchedThread};

use super::repository_poll::RepositoryPoll;
use crate::SyncError;
use crate::api_client::FetchError;
use crate::quarantine;
use crate::reading_log;
use crate::retry_policy::RequestOptions;
use crate::turn::TargetRepository;

/// Pages of one thread that one poll reads. The rest is left to the next poll, because others wait.
const MAX_PAGES_PER_POLL: u32 = 50;

/// What is done with the pages of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanPurpose {
    /// They are stored, and so is the position: an interrupted scan continues there.
    Bootstrap,
    /// They are stored. Interrupted, the scan starts over.
    Sweep,
    /// They are compared with what is stored.
    Shadow,
}

impl ScanPurpose {
    fn request_options(self, repository: &TargetRepository) -> RequestOptions<'_> {
        match self {
            Self::Bootstrap => repository.request_options(RequestOptions::PAGE),
            // nobody waits for what is gone
            Self::Sweep | Self::Shadow => repository.sweep_options(),
        }
    }
}

/// What a scan of a thread has shown.
#[derive(Debug, Default)]
pub(super) struct ScannedThread {
    /// All comments, by kind and id. A scan that was continued has only those of this poll.
    pub(super) comments: BTreeMap<(CommentKind, i64), ItemObservation>,
    /// Comments that are listed and could not be read.
    pub(super) unreadable_nodes: BTreeSet<String>,
    pub(super) completeness: ScanCompleteness,
}

/// How a scan ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum ScanCompleteness {
    /// Not at the end yet: the rest is left to another poll.
    #[default]
    Unfinished,
    /// At the end of the thread, which was read from this time of the source on.
    Complete { began_at: ObservedAt },
    /// The thread is not there.
    ThreadGone,
    /// A part could not be read.
    Failed(String),
}

impl RepositoryPoll<'_> {
    /// Reads threads for the first time, a few in each poll. The lists have to be complete before that: what is said while a
    /// thread is read is theirs to bring.
    pub(super) async fn bootstrap_threads(&mut self) -> Result<(), SyncError> {
        // what was said before a pull request was closed is emitted, whenever that was
        let mut threads = self.emitting_threads()?;
        threads.retain(|thread| !thread.is_bootstrapped);
        if threads.is_empty() || !self.are_lists_complete().await? {
            return Ok(());
        }
        for thread in threads.iter().take(self.settings.bootstrap_per_poll as usize) {
            self.scan_and_note(thread, ScanPurpose::Bootstrap).await?;
        }
        Ok(())
    }

    /// Reads all watched threads whole, in place of the lists.
    pub(super) async fn scan_all_threads(&mut self) -> Result<(), SyncError> {
        for thread in self.open_threads()? {
            self.scan_and_note(&thread, ScanPurpose::Bootstrap).await?;
        }
        self.sweep_threads().await
    }

    async fn scan_and_note(
        &mut self,
        thread: &WatchedThread,
        purpose: ScanPurpose,
    ) -> Result<(), SyncError> {
        let scanned = self.scan_thread(thread, purpose).await?;
        match scanned.completeness {
            ScanCompleteness::Unfinished | ScanCompleteness::Complete { .. } => Ok(()),
            ScanCompleteness::ThreadGone => self.resolve_absent(thread.number).await.map(drop),
            ScanCompleteness::Failed(reason) => self.note_scan_failure(thread, &reason),
        }
    }

    pub(super) fn note_scan_failure(
        &mut self,
        thread: &WatchedThread,
        reason: &str,
    ) -> Result<(), SyncError> {
        let lane = format!("{}#{}", self.repository.full_name, thread.number);
        self.note_error(SyncError::IncompleteRead { lane, reason: reason.to_owned() })
    }

    /// Returns true if the lists are complete up to their last page. Whatever is said from now on is read from them.
    async fn are_lists_complete(&self) -> Result<bool, SyncError> {
        let mut surfaces = vec![Surface::Comments(CommentKind::Conversation)];
        if self.has_pull_requests()? {
            surfaces.push(Surface::Comments(CommentKind::ReviewComment));
        }
        if self.repository.has_issues_enabled {
            surfaces.push(Surface::Activity);
        }
        for surface in surfaces {
            let lane = Lane::for_repository(self.key.clone(), surface);
            let is_optional = surface == Surface::Comments(CommentKind::Conversation)
                && !self.repository.has_issues_enabled;
            let state = self.context.lane_state(&lane).await?;
            if !is_optional && !state.coverage.is_complete() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads a thread page by page, for a bootstrap from where the last poll left it.
    pub(super) async fn scan_thread(
        &mut self,
        thread: &WatchedThread,
        purpose: ScanPurpose,
    ) -> Result<ScannedThread, SyncError> {
        let mut scanned = ScannedThread::default();
        let stored =
            thread.bootstrap_cursor.as_deref().filter(|_| purpose == ScanPurpose::Bootstrap);
        let stored = stored.and_then(ThreadPosition::parse);
        let (Some(node_id), Some(beginning)) =
            (thread.node_id.as_deref(), ThreadPosition::beginning(thread.kind))
        else {
            // it was not looked at yet
            return Ok(scanned);
        };
        if purpose == ScanPurpose::Bootstrap {
            reading_log::scan_backfill_thread(&self.repository.full_name, thread.number);
        }
        let mut reader = ThreadScanReader {
            poll: self,
            thread,
            node_id,
            purpose,
            page_size: MAX_PAGE_SIZE,
            began_at: None,
        };
        let mut position = Some(stored.unwrap_or(beginning));
        let mut pages = 0;
        while let Some(at) = position {
            pages += 1;
            if purpose == ScanPurpose::Bootstrap && pages > MAX_PAGES_PER_POLL {
                return Ok(scanned);
            }
            match reader.read_page(&at, &mut scanned).await? {
                PageResult::Read(next) => position = next,
                PageResult::Stopped(completeness) => {
                    scanned.completeness = completeness;
                    return Ok(scanned);
                }
            }
        }
        let began_at = reader.began_at.unwrap_or(ObservedAt::new(self.date().0, 0));
        scanned.completeness = ScanCompleteness::Complete { began_at };
        Ok(scanned)
    }
}

/// Reads one thread.
struct ThreadScanReader<'p, 'a> {
    poll: &'p RepositoryPoll<'a>,
    thread: &'p WatchedThread,
    node_id: &'p str,
    purpose: ScanPurpose,
    /// Rows per page; adapts to what the source can serve.
    page_size: u32,
    began_at: Option<ObservedAt>,
}

/// A page of a thread, or the reason why there is none.
enum PageResult {
    /// It was read, and this is where the next one begins.
    Read(Option<ThreadPosition>),
    Stopped(ScanCompleteness),
}

impl ThreadScanReader<'_, '_> {
    async fn read_page(
        &mut self,
        position: &ThreadPosition,
        scanned: &mut ScannedThread,
    ) -> Result<PageResult, SyncError> {
        let (kind, repository_id) = (self.thread.kind, self.poll.repository.id);
        let query = ThreadPartQuery { kind, repository_id, node_id: self.node_id, position };
        let options = self.purpose.request_options(self.poll.repository);
        let client = self.poll.context.client;
        let page = match client.fetch(&query, options, &mut self.page_size).await {
            Ok(page) => page,
            Err(FetchError::Source(error)) => {
                return Ok(PageResult::Stopped(ScanCompleteness::Failed(error.to_string())));
            }
            Err(FetchError::Sync(error)) => return Err(error),
        };
        let ThreadPartPage { observed_at, comments } = page;
        let comments = match self.read_review_threads(comments).await? {
            Ok(comments) => comments,
            Err(completeness) => return Ok(PageResult::Stopped(completeness)),
        };
        self.began_at.get_or_insert(observed_at);
        let after = comments.continuations.iter().find(|next| next.comment_node_id.is_none());
        let next = position.advance(kind, after.and_then(|next| next.after.clone()));
        if next.as_ref() == Some(position) {
            let reason = "the thread repeats a page".to_owned();
            return Ok(PageResult::Stopped(ScanCompleteness::Failed(reason)));
        }
        for row in &comments.unreadable {
            scanned.unreadable_nodes.extend(row.subject.node_id().map(str::to_owned));
        }
        for observation in &comments.observations {
            let key = (position.part.comment_kind(), observation.key().id);
            scanned.comments.insert(key, observation.clone());
        }
        if self.purpose != ScanPurpose::Shadow {
            self.store_page(position.part, comments, next.as_ref()).await?;
        }
        Ok(PageResult::Read(next))
    }

    /// Reads the rest of the review threads that did not fit on a page.
    async fn read_review_threads(
        &mut self,
        mut page: ThreadComments,
    ) -> Result<Result<ThreadComments, ScanCompleteness>, SyncError> {
        if let Err(reason) = &page.completeness {
            return Ok(Err(ScanCompleteness::from_reason(reason)));
        }
        let (mut queue, rest): (Vec<Continuation>, Vec<Continuation>) =
            page.continuations.drain(..).partition(|next| next.comment_node_id.is_some());
        page.continuations = rest;
        let mut guard = PageGuard::default();
        while let Some(continuation) = queue.pop() {
            let repository_id = self.poll.repository.id;
            let query = ReviewThreadQuery { repository_id, continuation: &continuation };
            let options = self.purpose.request_options(self.poll.repository);
            let client = self.poll.context.client;
            let more = match client.fetch(&query, options, &mut self.page_size).await {
                Ok(more) => more,
                Err(FetchError::Source(error)) => {
                    return Ok(Err(ScanCompleteness::Failed(error.to_string())));
                }
                Err(FetchError::Sync(error)) => return Err(error),
            };
            if let Err(reason) = &more.completeness {
                return Ok(Err(ScanCompleteness::from_reason(reason)));
            }
            let ids = more.observations.iter().map(|observation| observation.key().id);
            if !more.continuations.is_empty()
                && let Err(error) = guard.check_page(ids, [], None)
            {
                return Ok(Err(ScanCompleteness::Failed(error.to_string())));
            }
            page.observations.extend(more.observations);
            page.unreadable.extend(more.unreadable);
            queue.extend(more.continuations);
        }
        Ok(Ok(page))
    }

    async fn store_page(
        &self,
        part: ThreadPart,
        comments: ThreadComments,
        next: Option<&ThreadPosition>,
    ) -> Result<(), SyncError> {
        let poll = self.poll;
        let surface = Surface::Comments(part.comment_kind());
        let lane = Lane::for_repository(poll.key.clone(), surface);
        poll.follow_lane(&lane)?;
        let page_size = poll.context.lane_state(&lane).await?.page_size;
        let finished_at = next.is_none().then(|| poll.date());
        let step = ThreadScanStep {
            number: self.thread.number,
            cursor: next.map(ToString::to_string),
            finished_at,
        };
        let is_bootstrap = self.purpose == ScanPurpose::Bootstrap;
        let page = IngestPage {
            observations: comments.observations,
            quarantined: comments.unreadable.iter().map(quarantine::quarantine_row).collect(),
            thread_scans: is_bootstrap.then_some(step).into_iter().collect(),
            lane_use: poll.context.reading.lane_use(),
            ..IngestPage::new(lane, page_size)
        };
        poll.context.ingest_pages(vec![page]).await.map(drop)
    }
}

impl ScanCompleteness {
    fn from_reason(reason: &IncompleteReason) -> Self {
        match reason {
            IncompleteReason::ThreadGone(_) => Self::ThreadGone,
            IncompleteReason::UnreadableRows(reason) => Self::Failed(reason.clone()),
        }
    }
}
