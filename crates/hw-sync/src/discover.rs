//! Lists the repositories of the sources, each with its probes: one pass finds what is new, renamed or gone, and every
//! lane that moved.

mod discovery_record;
mod discovery_result;
mod page_requests;
mod single_repositories;

use std::collections::BTreeMap;

use hw_rules::discovered_page::DiscoveredPage;
use hw_rules::followed_source::{FollowedSource, RepositoryName};
use hw_rules::item::{ItemObservation, MirrorItem, Repository};
use hw_rules::lane::{Lane, Surface};
use hw_rules::login::Login;
use hw_rules::page_guard::{EndlessListing, PageGuard};
use hw_rules::plan::LanePlan;
use hw_rules::principal::Principal;
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::PageCursor;
use hw_sources::github::repositories::RepositoryListPage;
use hw_sources::github::viewer::Viewer;
use hw_sources::page::UnreadableRow;
use hw_store::IngestPage;

use crate::plan_lanes::{LaneProbes, MirrorSnapshot, plan_repository_lanes};
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::sources::{self, FailedSource};
use crate::turn::{PullContext, into_lane_error};
use crate::{SyncError, quarantine};

use discovery_record::{DiscoveryRecord, ProcessedPage};
pub(crate) use discovery_result::{DiscoveryResult, SkippedRepository};

/// As many repositories in a page as can be probed for one point: 1 + 33 × 3 connections.
const PROBED_PAGE_SIZE: u32 = 33;
/// The error of a name that leads nowhere.
pub(crate) const NOT_FOUND_MESSAGE: &str = "not found, or this token has no access";

/// A discovery in progress.
struct RepositoryDiscovery<'a> {
    context: &'a PullContext<'a>,
    pull: &'a mut PullSpec,
    known: &'a MirrorSnapshot,
    /// The list that is being read.
    lane: Lane,
    /// The owner of that list, or the names in it, as printed.
    scope: String,
    page_size: u32,
    pages_requested: u64,
    record: DiscoveryRecord,
    result: DiscoveryResult,
}

/// One page of repositories, listed or requested by name.
struct DiscoveryPage {
    viewer: Option<Viewer>,
    date: SourceInstant,
    observations: Vec<ItemObservation>,
    probes: LaneProbes,
    unreadable: Vec<UnreadableRow>,
    /// The owner whose repositories are listed; none if they were requested by name.
    owner: Option<Login>,
    /// Where the listing goes on.
    next: Option<PageCursor>,
}

/// Reads and stores the repositories of all sources, or those requested by name. Lanes whose probes show no change are
/// marked as checked in the same transaction.
///
/// `read_pages` are those that a worker read which performed the same pull and died: they are not requested again.
pub(crate) async fn discover_repositories(
    context: &PullContext<'_>,
    pull: &mut PullSpec,
    known: &MirrorSnapshot,
    read_pages: Vec<DiscoveredPage>,
) -> Result<DiscoveryResult, SyncError> {
    let mut discovery = RepositoryDiscovery {
        context,
        known,
        lane: Lane::single_repositories(&pull.host),
        scope: pull.source_names(),
        page_size: PROBED_PAGE_SIZE,
        pages_requested: 0,
        record: DiscoveryRecord::default(),
        result: DiscoveryResult::default(),
        pull,
    };
    discovery.replay_pages(read_pages);
    if discovery.pull.only_repositories.is_empty() {
        discovery.read_sources().await?;
    } else {
        let names = discovery.unread_names();
        discovery.read_by_name(&names).await?;
    }
    discovery.emit_listed(true);
    Ok(discovery.result)
}

impl RepositoryDiscovery<'_> {
    async fn read_sources(&mut self) -> Result<(), SyncError> {
        let owners: Vec<Login> = self.pull.followed_owners().cloned().collect();
        for login in &owners {
            match self.read_owner(login).await {
                Err(error) if error.is_lane_error() && self.pull.sources.len() > 1 => {
                    let source = FollowedSource::Owner(login.clone());
                    self.result.failed_sources.push(FailedSource { source, error });
                }
                read => read?,
            }
        }
        let listed = self.listed_single_names();
        sources::resolve_names(self.context, self.pull, &listed)?;
        let names = self.unlisted_single_names();
        if names.is_empty() {
            return Ok(());
        }
        let began_before = self.record.position.names_began;
        let began = self.read_by_name(&names).await?;
        let began = began_before.or(began);
        self.begin_listing(Lane::single_repositories(&self.pull.host))?;
        let page = IngestPage {
            checked_lanes: began.map(|began| (self.lane.clone(), began.0)).into_iter().collect(),
            cleared_subjects: self.resolved_quarantine()?,
            ..IngestPage::new(self.lane.clone(), self.page_size)
        };
        self.store_page(&page)?;
        self.fail_missing_sources();
        Ok(())
    }

    /// Starts to read another list.
    fn begin_listing(&mut self, lane: Lane) -> Result<(), SyncError> {
        self.page_size = self.context.store.lane_state(&lane)?.page_size.min(PROBED_PAGE_SIZE);
        self.lane = lane;
        Ok(())
    }

    /// Reads all repositories of an owner.
    async fn read_owner(&mut self, login: &Login) -> Result<(), SyncError> {
        self.begin_listing(Lane::owner_repositories(&self.pull.host, login.clone()))?;
        self.scope = login.to_string();
        let read = self.record.position.of_owner(login.as_str()).cloned();
        if read.as_ref().is_some_and(|read| read.next.is_none()) {
            return Ok(());
        }
        let mut began = read.as_ref().map(|read| read.began);
        let mut after: Option<PageCursor> = read.and_then(|read| read.next);
        let mut guard = PageGuard::default();
        loop {
            let RepositoryListPage { viewer, items_page: page, probes, .. } = self
                .read_page(after.as_ref())
                .await
                .map_err(|error| into_lane_error(error, &self.lane))?;
            after = page.walk_page.next.clone();
            if after.is_some() {
                let checked = guard.check_page(
                    page.row_ids(),
                    page.unreadable_subjects(),
                    page.walk_page.total_count,
                );
                checked.map_err(|error| self.page_error(error))?;
            }
            let began = *began.get_or_insert(page.walk_page.date);
            sources::store_source(self.context, self.pull, &FollowedSource::Owner(login.clone()))?;
            let ProcessedPage { mut ingest_page, discovered } = self.process_page(DiscoveryPage {
                viewer,
                date: page.walk_page.date,
                observations: page.observations,
                probes,
                unreadable: page.unreadable,
                owner: Some(login.clone()),
                next: after.clone(),
            });
            if after.is_none() {
                ingest_page.checked_lanes.push((self.lane.clone(), began.0));
                ingest_page.cleared_subjects = self.resolved_quarantine()?;
            }
            self.store_discovered(&ingest_page, discovered.as_ref())?;
            if after.is_none() {
                let unread = self.unread_repositories();
                self.plan_repositories(&unread, &LaneProbes::new());
                return Ok(());
            }
            self.emit_listed(false);
        }
    }

    /// Reads repositories by name, through the lists that they belong to. Returns the time of the first response.
    async fn read_by_name(
        &mut self,
        names: &[RepositoryName],
    ) -> Result<Option<SourceInstant>, SyncError> {
        let mut by_lane: BTreeMap<Lane, Vec<RepositoryName>> = BTreeMap::new();
        for name in names {
            by_lane
                .entry(self.pull.listing_lane(name.owner.as_str()))
                .or_default()
                .push(name.clone());
        }
        self.scope = self.pull.source_names();
        let mut began = None;
        for (lane, names) in by_lane {
            self.begin_listing(lane)?;
            for names in names.chunks(PROBED_PAGE_SIZE as usize) {
                let date = self.read_named_page(names).await?;
                began.get_or_insert(date);
            }
        }
        Ok(began)
    }

    /// Reads and stores one page of repositories by name. Returns its time.
    async fn read_named_page(
        &mut self,
        names: &[RepositoryName],
    ) -> Result<SourceInstant, SyncError> {
        let page = self
            .fetch_named_page(names)
            .await
            .map_err(|error| into_lane_error(error, &self.lane))?;
        if self.pull.only_repositories.is_empty() {
            sources::resolve_names(self.context, self.pull, &page.found)?;
        }
        self.result.missing.extend(page.missing);
        let ProcessedPage { ingest_page, discovered } = self.process_page(DiscoveryPage {
            viewer: page.viewer,
            date: page.date,
            observations: page.observations,
            probes: page.probes,
            unreadable: page.unreadable,
            owner: None,
            next: None,
        });
        self.store_discovered(&ingest_page, discovered.as_ref())?;
        self.emit_listed(false);
        Ok(page.date)
    }

    /// Records the viewer, the repositories and the needs of their lanes, and returns the page to store.
    fn process_page(&mut self, mut page: DiscoveryPage) -> ProcessedPage {
        let viewer = page.viewer.as_ref().map(|viewer| viewer.login.clone());
        if let Some(viewer) = &page.viewer {
            self.identify_viewer(viewer.id, &viewer.login);
        }
        page.observations.retain(|observation| {
            observed_repository(observation)
                .is_none_or(|repository| self.check_repository(&repository))
        });
        let repositories: Vec<_> =
            page.observations.iter().filter_map(observed_repository).collect();
        let discovered = self.describe_page(&page, &repositories);
        let unchanged_lanes = self.plan_repositories(&repositories, &page.probes);
        self.result.repositories.extend(repositories);
        for row in &page.unreadable {
            let subject = row.subject.clone();
            if row.is_impossible() {
                tracing::warn!(
                    %subject,
                    reason = row.reason,
                    "GitHub lists a repository with invalid values"
                );
                self.result.impossible.push(subject);
            } else {
                self.result.unreadable.push(subject);
            }
        }
        let ingest_page = IngestPage {
            quarantined: page.unreadable.iter().map(quarantine::quarantine_row).collect(),
            observations: page.observations,
            checked_lanes: unchanged_lanes.into_iter().map(|lane| (lane, page.date.0)).collect(),
            viewer,
            ..IngestPage::new(self.lane.clone(), self.page_size)
        };
        ProcessedPage { ingest_page, discovered }
    }

    fn identify_viewer(&mut self, id: i64, login: &str) {
        let client = self.context.client;
        client.set_principal(Principal::from_user(&self.pull.host, id));
        client.progress().emit(|| ProgressEvent::ViewerIdentified(login.to_owned()));
        login.clone_into(&mut self.result.viewer);
    }

    /// Returns true if the mirror includes this repository, and records why a requested one is skipped.
    fn check_repository(&mut self, repository: &Repository) -> bool {
        let is_mirrored = self.pull.is_mirrored(repository);
        let reason = if is_mirrored && !self.pull.is_excluded(repository) {
            None
        } else if is_mirrored {
            Some("excluded by -e or github.excluded_repositories".to_owned())
        } else if repository.is_archived {
            Some("archived repositories are skipped unless they are followed by name".to_owned())
        } else if repository.is_fork {
            Some("forks are skipped unless they are followed by name".to_owned())
        } else {
            Some(format!("now belongs to {}, which is not followed", repository.owner))
        };
        if let Some(reason) = reason
            && !self.pull.only_repositories.is_empty()
        {
            let name = RepositoryName::from_known(&repository.owner, &repository.name);
            self.result.skipped.push(SkippedRepository { name, reason });
        }
        is_mirrored
    }

    /// Adds the lanes of these repositories that need work, and returns those whose listing did not change.
    fn plan_repositories(&mut self, repositories: &[Repository], probes: &LaneProbes) -> Vec<Lane> {
        let mut unchanged = Vec::new();
        for repository in repositories {
            let lanes =
                plan_repository_lanes(self.context, self.pull, self.known, repository, probes);
            for planned in lanes {
                if self.result.is_denied(&self.scope, &planned) {
                    continue;
                }
                if matches!(planned.plan, LanePlan::Skip | LanePlan::Sweep { scan_first: false }) {
                    unchanged.push(planned.target.lane.clone());
                }
                if planned.plan != LanePlan::Skip {
                    self.result.lanes.push(planned);
                }
            }
        }
        unchanged
    }

    fn store_page(&mut self, page: &IngestPage) -> Result<(), SyncError> {
        let ingested = self.context.store.ingest_page(page)?;
        self.result.tally.count_page(&ingested, page.observations.len());
        Ok(())
    }

    fn emit_listed(&self, is_all: bool) {
        let repositories = self.result.tally.seen;
        self.context
            .client
            .progress()
            .emit(|| ProgressEvent::RepositoriesListed { repositories, is_all });
    }

    fn page_error(&self, error: EndlessListing) -> SyncError {
        SyncError::RejectedPage { lane: self.lane.to_string(), error: error.into() }
    }

    fn emit_page_requested(&mut self) {
        self.pages_requested += 1;
        self.context.client.progress().emit(|| ProgressEvent::RequestingPage {
            surface: Surface::Repositories,
            scope: self.scope.clone(),
            page: self.pages_requested,
        });
    }

    /// Returns the quarantined rows that this listing did not show. It was read whole, so they are gone.
    fn resolved_quarantine(&self) -> Result<Vec<RowSubject>, SyncError> {
        let quarantined =
            self.context.store.quarantined_in_lane(&self.lane, u64::from(u32::MAX))?;
        let subjects = quarantined.into_iter().map(|row| row.subject);
        Ok(subjects.filter(|subject| !self.result.is_unread(subject)).collect())
    }

    /// Returns the stored repositories that could not be read this time.
    fn unread_repositories(&self) -> Vec<Repository> {
        let stored = self.known.repositories.iter();
        stored.filter(|repository| self.result.is_repository_unread(repository)).cloned().collect()
    }
}

fn observed_repository(observation: &ItemObservation) -> Option<Repository> {
    match &observation.item {
        MirrorItem::Repository(repository) => Some(repository.clone()),
        MirrorItem::Thread(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
    }
}
