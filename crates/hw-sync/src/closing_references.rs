//! Reads the closing references of open pull requests by id, a hundred in a request.
//!
//! One request serves all repositories of a pull. It comes last: everything that stores pull requests has run by then.

use futures_util::stream::{self, StreamExt as _};
use hw_rules::item::{Repository, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_sources::error::SourceError;
use hw_sources::github::closing_references::{ClosingReferencesQuery, ReferencesAnswer};
use hw_store::{OpenPullRequest, ReadReferences, ReferencesSelection};

use crate::SyncError;
use crate::api_client::FetchError;
use crate::lookup::LOOKUP_BATCH_SIZE;
use crate::pull::PullSpec;
use crate::retry_policy::RequestOptions;
use crate::summary::PullSummary;
use crate::turn::PullContext;

/// Requests in progress at once. The rate limiter decides how many of them are sent.
const MAX_CONCURRENT_BATCHES: u32 = 20;
/// Pull requests that are loaded from the store at once: as many as all batches in progress need.
const ROUND_SIZE: u32 = LOOKUP_BATCH_SIZE * MAX_CONCURRENT_BATCHES;

/// Reads the closing references that are due. A pull that reconciles reads those of all open pull requests: an issue that
/// is linked by hand may leave the update time of the pull request as it was. So does a repair: no digest covers them.
///
/// Whatever cannot be read stays due.
pub(crate) async fn read_closing_references(
    context: &PullContext<'_>,
    pull: &PullSpec,
    repositories: &[Repository],
    summary: &mut PullSummary,
) -> Result<(), SyncError> {
    if !pull.thread_surfaces().any(|surface| surface == Surface::Threads(ThreadKind::PullRequest)) {
        return Ok(());
    }
    let reads_all = pull.reconcile || pull.repair;
    let selection = if reads_all { ReferencesSelection::AllOpen } else { ReferencesSelection::Due };
    let reader = ReferencesReader { context, host: &pull.host };
    let followed = repositories.iter().filter(|repository| pull.is_followed(repository));
    let followed: Vec<i64> = followed.map(|repository| repository.id).collect();
    let mut unread = UnreadReferences::default();
    let mut after = i64::MIN;
    loop {
        let due = context.store.pull_requests_to_read_references_of(
            selection, &pull.host, &followed, after, ROUND_SIZE,
        )?;
        let Some(last) = due.last() else { break };
        after = last.id;
        if let Err(error) = reader.read_round(&due, &mut unread).await {
            if !error.is_lane_error() {
                return Err(error);
            }
            summary.add_error(
                context,
                Surface::Threads(ThreadKind::PullRequest),
                pull.source_names(),
                &error,
            );
            return Ok(());
        }
    }
    if let Some(message) = unread.describe() {
        summary.add_failure(
            context,
            Surface::Threads(ThreadKind::PullRequest),
            pull.source_names(),
            &message,
        );
    }
    Ok(())
}

/// Pull requests whose closing references could not be read.
#[derive(Debug, Default)]
struct UnreadReferences {
    count: u64,
    last_reason: String,
}

impl UnreadReferences {
    fn add_one(&mut self, reason: String) {
        self.count += 1;
        self.last_reason = reason;
    }

    fn add(&mut self, other: Self) {
        self.count += other.count;
        if other.count > 0 {
            self.last_reason = other.last_reason;
        }
    }

    /// Returns the message for the summary; none if everything was read.
    fn describe(&self) -> Option<String> {
        let Self { count, last_reason } = self;
        let subject = match count {
            0 => return None,
            1 => "1 pull request".to_owned(),
            _ => format!("{count} pull requests"),
        };
        Some(format!("the issues closed by {subject} could not be read: {last_reason}"))
    }
}

struct ReferencesReader<'a> {
    context: &'a PullContext<'a>,
    host: &'a str,
}

impl ReferencesReader<'_> {
    /// Reads several batches at once. A batch that fails does not stop those in progress.
    async fn read_round(
        &self,
        due: &[OpenPullRequest],
        unread: &mut UnreadReferences,
    ) -> Result<(), SyncError> {
        let batches = stream::iter(due.chunks(LOOKUP_BATCH_SIZE as usize));
        let mut running = batches
            .map(|batch| self.read_batch(batch))
            .buffer_unordered(MAX_CONCURRENT_BATCHES as usize);
        let mut outcome = Ok(());
        while let Some(result) = running.next().await {
            match result {
                Ok(more) => unread.add(more),
                Err(error) if error.is_lane_error() => outcome = Err(error),
                Err(error) => return Err(error),
            }
        }
        outcome
    }

    /// Reads a batch in as few requests as the server can serve.
    async fn read_batch(&self, mut due: &[OpenPullRequest]) -> Result<UnreadReferences, SyncError> {
        let mut size = LOOKUP_BATCH_SIZE;
        let mut unread = UnreadReferences::default();
        while !due.is_empty() {
            match self.fetch(due, &mut size).await {
                Ok(answers) => {
                    let count = answers.len();
                    self.store_answers(due, answers, &mut unread).await?;
                    due = &due[count..];
                }
                // one pull request that the server cannot serve must not block all that follow it
                Err(FetchError::Source(SourceError::TooExpensive(reason))) if size == 1 => {
                    unread.add_one(reason);
                    due = &due[1..];
                }
                Err(FetchError::Source(error)) => {
                    return Err(SyncError::Source { lane: "closing references".into(), error });
                }
                Err(FetchError::Sync(error)) => return Err(error),
            }
        }
        Ok(unread)
    }

    async fn fetch(
        &self,
        due: &[OpenPullRequest],
        size: &mut u32,
    ) -> Result<Vec<ReferencesAnswer>, FetchError> {
        let ids = node_ids(due, LOOKUP_BATCH_SIZE);
        let query = ClosingReferencesQuery { ids: &ids };
        self.context.client.fetch(&query, RequestOptions::PAGE, size).await
    }

    /// Stores what was found. A pull request that is not found may be gone: a sweep of its listing decides.
    async fn store_answers(
        &self,
        due: &[OpenPullRequest],
        answers: Vec<ReferencesAnswer>,
        unread: &mut UnreadReferences,
    ) -> Result<(), SyncError> {
        let mut read = Vec::new();
        for (pull_request, answer) in due.iter().cloned().zip(answers) {
            match answer {
                ReferencesAnswer::Found(references) => {
                    read.push(ReadReferences { pull_request, references });
                }
                ReferencesAnswer::Absent => self.request_sweep(&pull_request)?,
                ReferencesAnswer::Unreadable(reason) => unread.add_one(reason),
            }
        }
        if read.is_empty() {
            return Ok(());
        }
        let host = self.host.to_owned();
        self.context.ask_store(move |store| store.store_closing_references(&host, &read)).await
    }

    fn request_sweep(&self, absent: &OpenPullRequest) -> Result<(), SyncError> {
        tracing::info!(node = absent.node_id, "pull request not found; requesting a sweep");
        let lane = Lane::for_repository(
            RepositoryKey::new(self.host, absent.repository_id),
            Surface::Threads(ThreadKind::PullRequest),
        );
        let now_ms = self.context.client.clock().now_ms();
        Ok(self.context.store.request_sweep(&lane, now_ms)?)
    }
}

fn node_ids(due: &[OpenPullRequest], limit: u32) -> Vec<String> {
    due.iter().take(limit as usize).map(|pull_request| pull_request.node_id.clone()).collect()
}
