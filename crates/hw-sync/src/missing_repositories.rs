//! Rechecks repositories that seem to be gone: looks them up by id, together with siblings that must exist.
//!
//! A repository can also be missing from a listing, or not found, because of a fault, a rename or a token with less
//! access. Only a second lookup decides, and a brake stops the removal of two or more at once.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{ItemObservation, MirrorItem, ObjectKind, Repository};
use hw_rules::lane::Lane;
use hw_rules::removal_brake;
use hw_rules::version::ObservedAt;
use hw_sources::github::repositories::RepositoryLookupQuery;
use hw_sources::page::LookupPage;
use hw_store::{IngestPage, RepositoryList};

use crate::SyncError;
use crate::api_client::FetchError;
use crate::crash_points;
use crate::discover::SkippedRepository;
use crate::lookup::{LOOKUP_BATCH_SIZE, NO_SIBLING_REASON};
use crate::pull::PullSpec;
use crate::retry_policy::RequestOptions;
use crate::turn::{PullContext, into_lane_error};

/// Repositories that seem to be gone, and what a second lookup of them needs.
pub(crate) struct RepositorySuspects<'a> {
    pub(crate) repositories: &'a [Repository],
    /// Those of them that this pull has listed.
    pub(crate) listed_ids: &'a BTreeSet<i64>,
    /// Repositories that must exist.
    pub(crate) siblings: &'a [Repository],
    /// The number of all stored repositories.
    pub(crate) stored_count: usize,
}

/// The result of the second lookup.
#[derive(Default)]
pub(crate) struct RepositoryRecheck {
    /// Suspects that still exist, as they are now.
    pub(crate) present: Vec<Repository>,
    pub(crate) removed: u64,
    /// Suspects without a clear answer.
    pub(crate) undecided: Vec<SkippedRepository>,
}

/// Suspects to remove, each with the time of the lookup that confirms it.
#[derive(Default)]
struct RepositoryAbsences {
    absent: Vec<(i64, ObservedAt)>,
    /// Repositories that exist, but moved to another owner, or are archived or forks.
    out_of_scope: Vec<(i64, ObservedAt)>,
    /// True if no sibling answered in a lookup that reported an absence.
    is_doubtful: bool,
}

impl RepositoryAbsences {
    /// Takes out the absences with these ids, and returns their repositories.
    fn extract_absent(&mut self, suspects: &[Repository], ids: &BTreeSet<i64>) -> Vec<Repository> {
        let taken: BTreeSet<i64> =
            self.absent.extract_if(.., |(id, _)| ids.contains(id)).map(|(id, _)| id).collect();
        suspects.iter().filter(|suspect| taken.contains(&suspect.id)).cloned().collect()
    }

    fn add(&mut self, other: Self) {
        self.absent.extend(other.absent);
        self.out_of_scope.extend(other.out_of_scope);
        self.is_doubtful |= other.is_doubtful;
    }
}

/// Looks up the suspects again and removes those that are gone, unless that would be too large a share of the stored
/// repositories.
pub(crate) async fn recheck_repositories(
    context: &PullContext<'_>,
    pull: &PullSpec,
    RepositorySuspects { repositories, listed_ids, siblings, stored_count }: RepositorySuspects<'_>,
) -> Result<RepositoryRecheck, SyncError> {
    let mut recheck = RepositoryRecheck::default();
    let siblings = node_ids(siblings);
    let mut gone = recheck_batches(context, pull, repositories, &siblings, &mut recheck).await?;
    // two lookups in a row can fail to find what exists, and the list of this pull has it
    let listed = gone.extract_absent(repositories, listed_ids);
    gone.add(recheck_batches(context, pull, &listed, &siblings, &mut recheck).await?);
    context.client.crash_points().pass_point(crash_points::REPOSITORIES_RECHECKED)?;
    recheck.removed = remove_confirmed(context, pull, &gone, stored_count)?;
    Ok(recheck)
}

/// Looks up these suspects, and stores those that exist.
async fn recheck_batches(
    context: &PullContext<'_>,
    pull: &PullSpec,
    mut suspects: &[Repository],
    siblings: &[String],
    recheck: &mut RepositoryRecheck,
) -> Result<RepositoryAbsences, SyncError> {
    let mut gone = RepositoryAbsences::default();
    let mut batch_size = LOOKUP_BATCH_SIZE;
    while !suspects.is_empty() {
        let page = look_up_suspects(context, suspects, siblings, &mut batch_size)
            .await
            .map_err(|error| into_lane_error(error, &pull.listing_lane(&suspects[0].owner)))?;
        let (batch, rest) = suspects.split_at(page.requested_count);
        sort_suspects(pull, batch, &page, recheck, &mut gone);
        store_present(context, pull, page)?;
        suspects = rest;
    }
    Ok(gone)
}

async fn look_up_suspects(
    context: &PullContext<'_>,
    suspects: &[Repository],
    siblings: &[String],
    batch_size: &mut u32,
) -> Result<LookupPage, FetchError> {
    let suspects = suspects.iter().take(LOOKUP_BATCH_SIZE as usize);
    let ids: Vec<String> = suspects.map(|repository| repository.node_id.clone()).collect();
    let query = RepositoryLookupQuery { ids: &ids, siblings };
    context.client.fetch(&query, RequestOptions::PAGE, batch_size).await
}

fn node_ids(repositories: &[Repository]) -> Vec<String> {
    repositories.iter().map(|repository| repository.node_id.clone()).collect()
}

/// Sorts each suspect by what the lookup reports of it.
fn sort_suspects(
    pull: &PullSpec,
    suspects: &[Repository],
    page: &LookupPage,
    recheck: &mut RepositoryRecheck,
    gone: &mut RepositoryAbsences,
) {
    for suspect in suspects {
        match find_repository(page, suspect.id) {
            Some(repository) if pull.is_mirrored(repository) => {
                recheck.present.push(repository.clone());
            }
            Some(_) => gone.out_of_scope.push((suspect.id, page.observed_at)),
            // a node has one id, so the suspect was stored under a wrong one
            None if is_renumbered(page, suspect) => {
                gone.out_of_scope.push((suspect.id, page.observed_at));
            }
            None if page.absent.contains(&suspect.node_id) => {
                gone.absent.push((suspect.id, page.observed_at));
                gone.is_doubtful |= !page.is_vouched_for;
            }
            None => {
                let reason = "may be gone, but GitHub gave no answer";
                recheck.undecided.push(SkippedRepository::new(suspect, reason));
            }
        }
    }
}

/// Returns true if the suspect's node exists under another id.
fn is_renumbered(page: &LookupPage, suspect: &Repository) -> bool {
    page.observations.iter().any(|observation| observation.item.node_id() == suspect.node_id)
}

fn find_repository(page: &LookupPage, id: i64) -> Option<&Repository> {
    page.observations.iter().filter_map(as_repository).find(|repository| repository.id == id)
}

fn as_repository(observation: &ItemObservation) -> Option<&Repository> {
    match &observation.item {
        MirrorItem::Repository(repository) => Some(repository),
        MirrorItem::Thread(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
    }
}

/// Stores the repositories that still exist and are mirrored, as they are now.
fn store_present(
    context: &PullContext<'_>,
    pull: &PullSpec,
    lookup: LookupPage,
) -> Result<(), SyncError> {
    let mut by_lane: BTreeMap<Lane, Vec<ItemObservation>> = BTreeMap::new();
    for observation in lookup.observations {
        let mirrored = as_repository(&observation).filter(|found| pull.is_mirrored(found));
        let Some(lane) = mirrored.map(|found| pull.listing_lane(&found.owner)) else { continue };
        by_lane.entry(lane).or_default().push(observation);
    }
    for (lane, observations) in by_lane {
        let page_size = context.store.lane_state(&lane)?.page_size;
        let page = IngestPage { observations, ..IngestPage::new(lane, page_size) };
        context.store.ingest_page(&page)?;
    }
    Ok(())
}

/// Removes the repositories that are confirmed gone.
///
/// Without an answer from a sibling, several absences trip the brake, and a single one is not trusted either, unless
/// the user allows mass removals.
fn remove_confirmed(
    context: &PullContext<'_>,
    pull: &PullSpec,
    gone: &RepositoryAbsences,
    stored_count: usize,
) -> Result<u64, SyncError> {
    let all: Vec<_> = gone.absent.iter().chain(&gone.out_of_scope).copied().collect();
    let allow = context.allow_mass_removal;
    if all.is_empty() {
        return Ok(0);
    }
    if gone.is_doubtful && !allow {
        let (kind, ids) =
            (ObjectKind::Repository, all.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        let items = context.store.item_names(&pull.host, kind, &ids)?;
        if let Err(brake) = removal_brake::check_repository_removals(all.len(), stored_count, allow)
        {
            return Err(hw_store::StoreError::Brake { kind, brake, items }.into());
        }
        let reason = NO_SIBLING_REASON.to_owned();
        return Err(SyncError::Unconfirmed { lane: pull.source_names(), reason, items });
    }
    remove_by_list(context, pull, &all, stored_count)
}

/// Removes repositories from the lists that they were last read through. The brake counts them together.
fn remove_by_list(
    context: &PullContext<'_>,
    pull: &PullSpec,
    gone: &[(i64, ObservedAt)],
    stored_count: usize,
) -> Result<u64, SyncError> {
    let (host, allow) = (&pull.host, context.allow_mass_removal);
    let ids: Vec<i64> = gone.iter().map(|(id, _)| *id).collect();
    let mut by_lane: BTreeMap<Lane, Vec<(i64, ObservedAt)>> = BTreeMap::new();
    for RepositoryList { repository_id, lane } in context.store.repository_lists(host, &ids)? {
        let absences = gone.iter().filter(|(id, _)| *id == repository_id);
        by_lane.entry(lane).or_default().extend(absences);
    }
    if by_lane.len() > 1 {
        let kind = ObjectKind::Repository;
        let items = context.store.item_names(host, kind, &ids)?;
        removal_brake::check_repository_removals(gone.len(), stored_count, allow)
            .map_err(|brake| hw_store::StoreError::Brake { kind, brake, items })?;
    }
    let mut removed = 0;
    for (lane, gone) in by_lane {
        let result = context.store.remove_repositories(&lane, &gone, allow)?;
        removed += result.removed;
    }
    Ok(removed)
}
