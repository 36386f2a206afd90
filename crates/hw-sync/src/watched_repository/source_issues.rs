//! Finds the pull requests that close the source issues of watches. The store watches them from the moment that their
//! references are stored.

use hw_rules::item::ThreadKind;
use hw_rules::lane::Surface;
use hw_rules::watch::{Watch, WatchState};
use hw_sources::error::SourceError;
use hw_sources::github::closing_pull_requests::ClosingPullRequestsQuery;
use hw_sources::github::closing_references::{ClosingReferencesQuery, ReferencesAnswer};
use hw_store::{OpenPullRequest, ReadReferences, ReferencesSelection};

use super::repository_poll::RepositoryPoll;
use crate::SyncError;
use crate::api_client::FetchError;
use crate::lookup::LOOKUP_BATCH_SIZE;
use crate::retry_policy::RequestOptions;

impl RepositoryPoll<'_> {
    /// Returns true if a watch waits for pull requests that close its source issue.
    pub(super) fn seeks_closing_pull_requests(&self) -> bool {
        self.watches.iter().any(Watch::follows_source_issue)
    }

    /// Reads which issues are closed by the pull requests that moved. A reference appears when a pull request is opened or
    /// edited.
    pub(super) async fn find_closing_pull_requests(&mut self) -> Result<(), SyncError> {
        if !self.seeks_closing_pull_requests() {
            return Ok(());
        }
        let is_new = |watch: &Watch| {
            watch.follows_source_issue() && watch.state == WatchState::Bootstrapping
        };
        if self.watches.iter().any(is_new) {
            self.store_closing_pull_requests().await?;
        }
        self.read_due_references().await
    }

    /// Reads the references that are due.
    async fn read_due_references(&mut self) -> Result<(), SyncError> {
        let (host, repositories) = (self.key.host.clone(), [self.repository.id]);
        let mut after = i64::MIN;
        loop {
            let due = self.context.store.pull_requests_to_read_references_of(
                ReferencesSelection::Due,
                host.as_str(),
                &repositories,
                after,
                LOOKUP_BATCH_SIZE,
            )?;
            let Some(last) = due.last() else { return Ok(()) };
            after = last.id;
            if let Err(error) = self.read_references(&due).await {
                return self.note_fetch_error(error, Surface::Threads(ThreadKind::PullRequest));
            }
        }
    }

    /// Reads the references of some pull requests. What cannot be read stays due.
    async fn read_references(&self, due: &[OpenPullRequest]) -> Result<(), FetchError> {
        let ids: Vec<String> = due.iter().map(|pull| pull.node_id.clone()).collect();
        let query = ClosingReferencesQuery { ids: &ids };
        let options = self.repository.request_options(RequestOptions::PAGE);
        let mut size = LOOKUP_BATCH_SIZE;
        let answers = self.context.client.fetch(&query, options, &mut size).await?;
        let read = due.iter().zip(answers).filter_map(|(pull_request, answer)| match answer {
            ReferencesAnswer::Found(references) => {
                Some(ReadReferences { pull_request: pull_request.clone(), references })
            }
            ReferencesAnswer::Absent | ReferencesAnswer::Unreadable(_) => None,
        });
        let read: Vec<ReadReferences> = read.collect();
        if read.is_empty() {
            return Ok(());
        }
        let host = self.key.host.as_str().to_owned();
        let stored =
            self.context.ask_store(move |store| store.store_closing_references(&host, &read));
        Ok(stored.await?)
    }

    /// Asks the source issues themselves which pull requests close them: one that was linked by hand, or before the watch
    /// was added, has not moved since.
    pub(super) async fn ask_source_issues(&mut self) -> Result<(), SyncError> {
        self.store_closing_pull_requests().await?;
        self.read_due_references().await
    }

    async fn store_closing_pull_requests(&mut self) -> Result<(), SyncError> {
        let issues: Vec<String> = self
            .open_threads()?
            .into_iter()
            .filter(|thread| thread.kind == ThreadKind::Issue)
            .filter(|thread| {
                self.watches.iter().any(|watch| watch.source_issue == Some(thread.number))
            })
            .filter_map(|thread| thread.node_id)
            .collect();
        for ids in issues.chunks(LOOKUP_BATCH_SIZE as usize) {
            let query = ClosingPullRequestsQuery { repository_id: self.repository.id, ids };
            let options = self.repository.request_options(RequestOptions::PAGE);
            let mut size = LOOKUP_BATCH_SIZE;
            let answers = match self.context.client.fetch(&query, options, &mut size).await {
                Ok(answers) => answers,
                Err(error) => {
                    return self.note_fetch_error(error, Surface::Threads(ThreadKind::Issue));
                }
            };
            let closing: Vec<String> = answers
                .into_iter()
                .flatten()
                .flatten()
                .map(|pull_request| pull_request.node_id)
                .collect();
            self.store_pull_requests(&closing).await?;
        }
        Ok(())
    }

    /// Stores pull requests, so that their references become due.
    async fn store_pull_requests(&mut self, mut ids: &[String]) -> Result<(), SyncError> {
        let kind = ThreadKind::PullRequest;
        let mut batch_size = LOOKUP_BATCH_SIZE;
        while !ids.is_empty() {
            match self.look_up_threads(kind, ids, &mut batch_size).await {
                Ok(page) => {
                    ids = ids.get(page.requested_count..).unwrap_or_default();
                    self.ingest_threads(kind, page).await?;
                }
                Err(FetchError::Source(SourceError::TooExpensive(_))) if batch_size == 1 => {
                    ids = &ids[1..];
                }
                Err(error) => return self.note_fetch_error(error, Surface::Threads(kind)),
            }
        }
        Ok(())
    }
}
