//! Learns what became of a watched thread that is not found by its id any more.

use hw_rules::follow_reason::FollowReason;
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::lane::Surface;
use hw_rules::version::ObservedAt;
use hw_rules::watch::{Watch, WatchState};
use hw_sources::error::SourceError;
use hw_sources::github::thread_by_number::{ThreadAnswer, ThreadByNumberQuery};

use super::repository_poll::RepositoryPoll;
use crate::SyncError;
use crate::api_client::FetchError;
use crate::retry_policy::RequestOptions;
use crate::watch_resolution::{DELETED, NOT_FOUND, WatchResolver};

impl RepositoryPoll<'_> {
    /// Asks for a thread by its number: a redirect means that it was transferred, and its watch goes with it; 410, that it
    /// was deleted; 404, that it is gone or hidden, which only a person can tell. Returns false if it is still there.
    pub(super) async fn resolve_absent(&mut self, number: i64) -> Result<bool, SyncError> {
        let query = ThreadByNumberQuery { repository_id: self.repository.id, number };
        let options = self.repository.request_options(RequestOptions::PAGE);
        let answer = self.context.client.fetch(&query, options, &mut 1).await;
        let watches: Vec<Watch> = self
            .watches
            .iter()
            .filter(|watch| watch.subject.number == Some(number))
            .cloned()
            .collect();
        match answer {
            Ok(ThreadAnswer::Found(_)) => return Ok(false),
            Ok(ThreadAnswer::Transferred { .. }) => {
                for watch in &watches {
                    self.follow_transfer(watch, number).await?;
                }
            }
            Ok(ThreadAnswer::Deleted) => {
                for watch in &watches {
                    let store = self.context.store;
                    store.set_watch_state(watch.id, WatchState::Gone, Some(DELETED))?;
                }
            }
            Err(FetchError::Source(SourceError::Hidden(_))) => {
                for watch in &watches {
                    self.context.store.set_watch_problem(watch.id, Some(NOT_FOUND))?;
                }
            }
            Err(error) => {
                self.note_fetch_error(error, Surface::Activity)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Has a watch follow its thread to another repository.
    async fn follow_transfer(&mut self, watch: &Watch, number: i64) -> Result<(), SyncError> {
        let store = self.context.store;
        let stored = store.followed_repositories(self.key.host.as_str(), FollowReason::Watch)?;
        let home = stored.into_iter().find(|repository| repository.id == self.repository.id);
        let Some(home) = home else { return Ok(()) };
        let observed_at = ObservedAt::new(self.date().0, 0);
        let home = ItemObservation { item: MirrorItem::Repository(home), observed_at };
        let resolver = WatchResolver { context: self.context, host: self.key.host.as_str() };
        match resolver.follow_transfer(watch, home, number).await {
            Ok(None) => Ok(()),
            Ok(Some(problem)) => {
                Ok(self.context.store.set_watch_problem(watch.id, Some(&problem))?)
            }
            Err(error) => self.note_error(error),
        }
    }
}
