//! Lists the repositories of the sources, each with its probes: one pass finds what is new, renamed or gone, and every
//! lane that moved.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::followed_source::{FollowedSource, RepositoryName};
use hw_rules::item::{ItemObservation, MirrorItem, Repository};
use hw_rules::lane::{Lane, Surface};
use hw_rules::page_guard::{EndlessListing, PageGuard};
use hw_rules::plan::LanePlan;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::PageCursor;
use hw_sources::error::SourceError;
use hw_sources::github::repositories::{
    FoundName, NamedRepositories, NamedRepositoriesQuery, RepositoryListPage, RepositoryListQuery,
};
use hw_sources::github::viewer::Viewer;
use hw_sources::page::UnreadableRow;
use hw_store::IngestPage;

use crate::api_client::FetchError;
use crate::plan_lanes::{LaneProbes, MirrorSnapshot, PlannedLane, plan_repository_lanes};
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::retry_policy::RequestOptions;
use crate::sources::{self, FailedSource, SingleRepository};
use crate::turn::{PullContext, PullTally, into_lane_error};
use crate::{SyncError, quarantine};

/// As many repositories in a page as can be probed for one point: 1 + 33 × 3 connections.
const PROBED_PAGE_SIZE: u32 = 33;
/// The error of a name that leads nowhere.
pub(crate) const NOT_FOUND_MESSAGE: &str = "not found, or this token has no access";
/// Attempts at a page with unreadable rows before it is accepted as it is.
const MAX_PAGE_TRIES: u32 = 3;

/// The repositories and lanes that a discovery found.
#[derive(Default)]
pub(crate) struct DiscoveryResult {
    pub(crate) viewer: String,
    pub(crate) repositories: Vec<Repository>,
    pub(crate) lanes: Vec<PlannedLane>,
    /// Rows that could not be read. Their repositories are unknown, or known from an earlier pull.
    pub(crate) unreadable: Vec<String>,
    /// Rows that no repository can have. They wait in quarantine and do not fail the pull, because repeating it
    /// would not help.
    pub(crate) impossible: Vec<String>,
    /// Requested names that were not found.
    pub(crate) missing: Vec<RepositoryName>,
    /// Requested repositories that are not followed.
    pub(crate) skipped: Vec<SkippedRepository>,
    /// Sources that could not be read, while others could.
    pub(crate) failed_sources: Vec<FailedSource>,
    /// Surfaces that the token cannot read in any repository of an owner.
    pub(crate) denied_listings: BTreeSet<(String, Surface)>,
    /// Surfaces that the token cannot read in one repository.
    pub(crate) denied_lanes: BTreeSet<(i64, Surface)>,
    pub(crate) tally: PullTally,
}

/// A repository that was left out, and why.
pub(crate) struct SkippedRepository {
    pub(crate) name: RepositoryName,
    pub(crate) reason: String,
}

impl SkippedRepository {
    pub(crate) fn new(repository: &Repository, reason: &str) -> Self {
        let name = RepositoryName::new(&repository.owner, &repository.name);
        Self { name, reason: reason.to_owned() }
    }
}

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
    result: DiscoveryResult,
}

/// One page of repositories, listed or requested by name.
struct DiscoveryPage {
    viewer: Option<Viewer>,
    date: SourceInstant,
    observations: Vec<ItemObservation>,
    probes: LaneProbes,
    unreadable: Vec<UnreadableRow>,
}

/// Reads and stores the repositories of all sources, or those requested by name. Lanes whose probes show no change are
/// marked as checked in the same transaction.
pub(crate) async fn discover_repositories(
    context: &PullContext<'_>,
    pull: &mut PullSpec,
    known: &MirrorSnapshot,
) -> Result<DiscoveryResult, SyncError> {
    let mut discovery = RepositoryDiscovery {
        context,
        known,
        lane: Lane::single_repositories(&pull.host),
        scope: pull.source_names(),
        page_size: PROBED_PAGE_SIZE,
        pages_requested: 0,
        result: DiscoveryResult::default(),
        pull,
    };
    if discovery.pull.only_repositories.is_empty() {
        discovery.read_sources().await?;
    } else {
        let names = discovery.pull.only_repositories.clone();
        discovery.read_by_name(&names).await?;
    }
    discovery.emit_listed(true);
    Ok(discovery.result)
}

impl RepositoryDiscovery<'_> {
    async fn read_sources(&mut self) -> Result<(), SyncError> {
        let owners: Vec<String> = self.pull.followed_owners().map(str::to_owned).collect();
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
        let began = self.read_by_name(&names).await?;
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

    /// Returns the names of the single repositories that an owner's list has shown.
    fn listed_single_names(&self) -> Vec<FoundName> {
        let mut found = Vec::new();
        for SingleRepository { name, .. } in self.pull.single_repositories() {
            let mut listed = self.result.repositories.iter();
            let listed = listed.find(|listed| name.is_name_of(&listed.owner, &listed.name));
            found.extend(
                listed.map(|listed| FoundName { name: name.clone(), repository_id: listed.id }),
            );
        }
        found
    }

    /// Returns the names of the single repositories that no owner's list has shown. A known one has its current name.
    fn unlisted_single_names(&self) -> Vec<RepositoryName> {
        let mut names = Vec::new();
        for SingleRepository { name, repository_id } in self.pull.single_repositories() {
            let stored = self.known.repositories.iter();
            let mut stored = stored.filter(|stored| Some(stored.id) == repository_id);
            let name = stored.next().map_or_else(
                || name.clone(),
                |known| RepositoryName::new(&known.owner, &known.name),
            );
            let is_listed = |repository: &Repository| {
                Some(repository.id) == repository_id
                    || name.is_name_of(&repository.owner, &repository.name)
            };
            if !self.result.repositories.iter().any(is_listed) {
                names.push(name);
            }
        }
        names
    }

    /// Records the single repositories that were not found under the name that the user wrote.
    fn fail_missing_sources(&mut self) {
        for single in self.pull.single_repositories() {
            if single.repository_id.is_none() && self.result.missing.contains(single.name) {
                let error = SourceError::Hidden(NOT_FOUND_MESSAGE.to_owned());
                let error = SyncError::Source { lane: self.lane.to_string(), error };
                let source = FollowedSource::Repository(single.name.clone());
                self.result.failed_sources.push(FailedSource { source, error });
            }
        }
    }

    /// Starts to read another list.
    fn begin_listing(&mut self, lane: Lane) -> Result<(), SyncError> {
        self.page_size = self.context.store.lane_state(&lane)?.page_size.min(PROBED_PAGE_SIZE);
        self.lane = lane;
        Ok(())
    }

    /// Reads all repositories of an owner.
    async fn read_owner(&mut self, login: &str) -> Result<(), SyncError> {
        self.begin_listing(Lane::owner_repositories(&self.pull.host, login))?;
        self.scope = login.to_owned();
        let mut after: Option<PageCursor> = None;
        let mut began = None;
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
            let began = *began.get_or_insert(page.walk_page.date.0);
            sources::store_source(
                self.context,
                self.pull,
                &FollowedSource::Owner(login.to_owned()),
            )?;
            let mut ingest_page = self.process_page(DiscoveryPage {
                viewer,
                date: page.walk_page.date,
                observations: page.observations,
                probes,
                unreadable: page.unreadable,
            });
            if after.is_none() {
                ingest_page.checked_lanes.push((self.lane.clone(), began));
                ingest_page.cleared_subjects = self.resolved_quarantine()?;
            }
            self.store_page(&ingest_page)?;
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
            by_lane.entry(self.pull.listing_lane(&name.owner)).or_default().push(name.clone());
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
        let ingest_page = self.process_page(DiscoveryPage {
            viewer: page.viewer,
            date: page.date,
            observations: page.observations,
            probes: page.probes,
            unreadable: page.unreadable,
        });
        self.store_page(&ingest_page)?;
        self.emit_listed(false);
        Ok(page.date)
    }

    /// Reads one page, and requests it again while rows are unreadable for what may be a passing fault.
    async fn read_page(
        &mut self,
        after: Option<&PageCursor>,
    ) -> Result<RepositoryListPage, FetchError> {
        self.emit_page_requested();
        let surfaces = self.probed_surfaces();
        let mut tries = 0;
        let mut denied_before = BTreeSet::new();
        loop {
            let page = self.fetch_probed_page(after, &surfaces).await?;
            tries += 1;
            // denied twice in a row is not a passing fault
            let denied: BTreeSet<_> =
                page.denied_listings.intersection(&denied_before).cloned().collect();
            if !denied.is_empty() {
                return self.fetch_page_without(after, page, &denied).await;
            }
            // an impossible row stays impossible
            let is_clean = page.denied_listings.is_empty()
                && page.items_page.unreadable.iter().all(UnreadableRow::is_impossible);
            if is_clean || tries >= MAX_PAGE_TRIES {
                return Ok(page);
            }
            denied_before = page.denied_listings;
        }
    }

    async fn fetch_probed_page(
        &mut self,
        after: Option<&PageCursor>,
        surfaces: &[Surface],
    ) -> Result<RepositoryListPage, FetchError> {
        let query = RepositoryListQuery { login: &self.scope, after, surfaces };
        let client = self.context.client;
        let page = client.fetch(&query, RequestOptions::PAGE, &mut self.page_size).await?;
        self.page_size = self.page_size.min(PROBED_PAGE_SIZE);
        Ok(page)
    }

    /// Fetches the same page without the probes that are denied in some of its rows, because those rows are null
    /// with them. The probes of the other rows come from the page that has them.
    async fn fetch_page_without(
        &mut self,
        after: Option<&PageCursor>,
        probed: RepositoryListPage,
        denied: &BTreeSet<(PageCursor, Surface)>,
    ) -> Result<RepositoryListPage, FetchError> {
        let denied_surfaces: BTreeSet<Surface> =
            denied.iter().map(|(_, surface)| *surface).collect();
        let mut surfaces = self.probed_surfaces();
        surfaces.retain(|surface| !denied_surfaces.contains(surface));
        let mut page = self.fetch_probed_page(after, &surfaces).await?;
        page.probes.extend(probed.probes);
        let rows = &page.items_page.walk_page.entries;
        for surface in denied_surfaces {
            let denied_rows: Vec<_> =
                rows.iter().filter(|row| denied.contains(&(row.cursor.clone(), surface))).collect();
            if denied_rows.len() == rows.len() {
                self.result.denied_listings.insert((self.scope.clone(), surface));
            }
            self.result.denied_lanes.extend(denied_rows.iter().map(|row| (row.id, surface)));
        }
        Ok(page)
    }

    async fn fetch_named_page(
        &mut self,
        names: &[RepositoryName],
    ) -> Result<NamedRepositories, FetchError> {
        let with_viewer = self.result.viewer.is_empty();
        let surfaces: Vec<_> = self.pull.thread_surfaces().collect();
        let query = NamedRepositoriesQuery { names, surfaces: &surfaces, with_viewer };
        self.emit_page_requested();
        let mut tries = 0;
        loop {
            let page = self.context.client.fetch(&query, RequestOptions::PAGE, &mut 1).await?;
            tries += 1;
            if page.unreadable.iter().all(UnreadableRow::is_impossible) || tries >= MAX_PAGE_TRIES {
                return Ok(page);
            }
        }
    }

    /// Records the viewer, the repositories and the needs of their lanes, and returns the page to store.
    fn process_page(&mut self, mut page: DiscoveryPage) -> IngestPage {
        let viewer = page.viewer.as_ref().map(|viewer| viewer.login.clone());
        if let Some(viewer) = page.viewer {
            self.context.client.set_principal(format!("{}/{}", self.pull.host, viewer.id));
            self.context
                .client
                .progress()
                .emit(|| ProgressEvent::ViewerIdentified(viewer.login.clone()));
            self.result.viewer = viewer.login;
        }
        page.observations.retain(|observation| {
            observed_repository(observation)
                .is_none_or(|repository| self.check_repository(&repository))
        });
        let repositories: Vec<_> =
            page.observations.iter().filter_map(observed_repository).collect();
        let unchanged_lanes = self.plan_repositories(&repositories, &page.probes);
        self.result.repositories.extend(repositories);
        for row in &page.unreadable {
            let subject = row.subject.to_string();
            if row.is_impossible() {
                tracing::warn!(
                    subject,
                    reason = row.reason,
                    "a repository is listed with impossible values"
                );
                self.result.impossible.push(subject);
            } else {
                self.result.unreadable.push(subject);
            }
        }
        IngestPage {
            quarantined: page.unreadable.iter().map(quarantine::quarantine_row).collect(),
            observations: page.observations,
            checked_lanes: unchanged_lanes.into_iter().map(|lane| (lane, page.date.0)).collect(),
            viewer,
            ..IngestPage::new(self.lane.clone(), self.page_size)
        }
    }

    /// Returns true if the mirror includes this repository, and records why a requested one is skipped.
    fn check_repository(&mut self, repository: &Repository) -> bool {
        let is_mirrored = self.pull.is_mirrored(repository);
        let reason = if is_mirrored && !self.pull.is_excluded(repository) {
            None
        } else if is_mirrored {
            Some("it is excluded".to_owned())
        } else if repository.is_archived {
            Some("archived repositories are not mirrored".to_owned())
        } else if repository.is_fork {
            Some("forks are not mirrored".to_owned())
        } else {
            Some(format!("it belongs to {} now", repository.owner))
        };
        if let Some(reason) = reason
            && !self.pull.only_repositories.is_empty()
        {
            let name = RepositoryName::new(&repository.owner, &repository.name);
            self.result.skipped.push(SkippedRepository { name, reason });
        }
        is_mirrored
    }

    fn probed_surfaces(&self) -> Vec<Surface> {
        self.pull
            .thread_surfaces()
            .filter(|surface| !self.result.is_listing_denied(&self.scope, *surface))
            .collect()
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
    fn resolved_quarantine(&self) -> Result<Vec<String>, SyncError> {
        let quarantined =
            self.context.store.quarantined_in_lane(&self.lane, u64::from(u32::MAX))?;
        let subjects = quarantined.into_iter().map(|row| row.subject);
        Ok(subjects.filter(|subject| !self.result.is_unread(subject)).collect())
    }

    /// Returns the stored repositories that could not be read this time.
    fn unread_repositories(&self) -> Vec<Repository> {
        let stored = self.known.repositories.iter();
        stored.filter(|repository| self.result.is_unread(&repository.node_id)).cloned().collect()
    }
}

fn observed_repository(observation: &ItemObservation) -> Option<Repository> {
    match &observation.item {
        MirrorItem::Repository(repository) => Some(repository.clone()),
        MirrorItem::Thread(_) | MirrorItem::Comment(_) => None,
    }
}

impl DiscoveryResult {
    /// Returns the stored repositories that were not found: by a whole listing, or under a requested name.
    pub(crate) fn missing_suspects(
        &self,
        pull: &PullSpec,
        known: &MirrorSnapshot,
    ) -> Vec<Repository> {
        let stored = known.repositories.iter();
        stored
            .filter(|repository| {
                !self.has_listed(repository)
                    && !self.has_failed(repository)
                    && (pull.only_repositories.is_empty() || self.is_missing(repository))
            })
            .cloned()
            .collect()
    }

    fn has_listed(&self, repository: &Repository) -> bool {
        self.repositories.iter().any(|listed| listed.id == repository.id)
            || self.is_unread(&repository.node_id)
    }

    /// Returns true if the list of the repository's owner could not be read.
    fn has_failed(&self, repository: &Repository) -> bool {
        self.failed_sources.iter().any(|failed| match &failed.source {
            FollowedSource::Owner(login) => login.eq_ignore_ascii_case(&repository.owner),
            FollowedSource::Repository(_) => false,
        })
    }

    fn is_missing(&self, repository: &Repository) -> bool {
        let Repository { owner, name, .. } = repository;
        self.missing.iter().any(|missing| missing.is_name_of(owner, name))
    }

    /// Returns true if this listing showed the row and it could not be read.
    fn is_unread(&self, subject: &str) -> bool {
        self.unreadable.iter().chain(&self.impossible).any(|unread| unread == subject)
    }

    fn is_listing_denied(&self, scope: &str, surface: Surface) -> bool {
        self.denied_listings.iter().any(|(owner, denied)| owner == scope && *denied == surface)
    }

    fn is_denied(&self, scope: &str, planned: &PlannedLane) -> bool {
        let (surface, id) = (planned.target.surface(), planned.target.repository.id);
        self.is_listing_denied(scope, surface) || self.denied_lanes.contains(&(id, surface))
    }
}
