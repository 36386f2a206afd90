//! Stops following a source, and forgets what only it brought.

use hw_rules::duty::DutyName;
use hw_rules::followed_source::FollowedSource;
use hw_rules::item::Repository;
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_store::{LeasedStore, StoreWriter, WorkerIdentity};

use crate::SyncError;
use crate::chores::run_chores;
use crate::clock::Clock;
use crate::crash_points::CrashPoints;
use crate::pull::PullSource;
use crate::sources;
use crate::worker::Worker;

/// The result of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceRemoval {
    /// The workspace does not follow it.
    NotFollowed,
    Removed {
        repositories: usize,
    },
}

/// Removes a source of a host, unless a pull is running.
///
/// The source goes last: a removal that is interrupted is completed when it is repeated.
pub async fn remove_source(
    store: &StoreWriter,
    clock: &dyn Clock,
    identity: &WorkerIdentity,
    host: &str,
    source: &FollowedSource,
) -> Result<SourceRemoval, SyncError> {
    let worker = Worker::register(store, clock, identity)?;
    let work = async {
        let store = worker.claim_at_once(&DutyName::pull(host)).await?;
        remove_with_lease(&store, clock, host, source).await
    };
    let result = worker.run(|_| (), work).await;
    worker.finish(result)
}

async fn remove_with_lease(
    store: &LeasedStore,
    clock: &dyn Clock,
    host: &str,
    source: &FollowedSource,
) -> Result<SourceRemoval, SyncError> {
    let followed = store.sources()?.into_iter().filter(|followed| followed.host == host);
    let (removed, remaining): (Vec<_>, Vec<_>) = followed
        .map(|followed| PullSource {
            source: followed.source,
            repository_id: followed.repository_id,
            is_new: false,
        })
        .partition(|followed| followed.source.is_same(source));
    if removed.is_empty() {
        return Ok(SourceRemoval::NotFollowed);
    }
    let mut unmirrored = store.repositories(host)?;
    unmirrored.retain(|repository| !sources::is_mirrored(&remaining, repository));
    let mut forgotten: Vec<&Repository> = Vec::new();
    for repository in &unmirrored {
        // one that is followed for another reason keeps its texts
        if !store.release_repository(&RepositoryKey::new(host, repository.id))? {
            forgotten.push(repository);
        }
    }
    for repository in &forgotten {
        for surface in Surface::THREADS.into_iter().chain(Surface::COMMENTS) {
            store.clear_lane(&Lane::for_repository(
                RepositoryKey::new(host, repository.id),
                surface,
            ))?;
        }
    }
    run_chores(store, clock, &CrashPoints::default()).await?;
    for repository in &forgotten {
        store.forget_repository(&RepositoryKey::new(host, repository.id))?;
    }
    store.forget_source(host, source)?;
    Ok(SourceRemoval::Removed { repositories: unmirrored.len() })
}
