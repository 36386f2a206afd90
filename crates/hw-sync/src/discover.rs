//! Lists the organization's repositories, each with its probes: one pass finds what is new, renamed or gone, and
//! every lane that moved.

use std::collections::BTreeSet;

use hw_rules::item::{ItemObservation, MirrorItem, Repository};
use hw_rules::lane::{Lane, Surface};
use hw_rules::page_guard::{EndlessListing, PageGuard};
use hw_rules::probe::LaneNeed;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::PageCursor;
use hw_sources::github::repositories::{self, NamedRepositories, RepositoryListPage};
use hw_sources::github::viewer::Viewer;
use hw_sources::page::UnreadableRow;
use hw_store::IngestPage;

use crate::SyncError;
use crate::api_client::FetchError;
use crate::plan_lanes::{LaneProbes, MirrorSnapshot, PlannedLane, plan_repository_lanes};
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::quarantine;
use crate::retry_policy::RetryPolicy;
use crate::turn::{PullContext, PullTally, into_lane_error};

/// As many repositories in a page as can be probed for one point: 1 + 33 × 3 connections.
const PROBED_PAGE_SIZE: u32 = 33;
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
    pub(crate) missing: Vec<String>,
    /// Requested repositories that are not followed.
    pub(crate) skipped: Vec<SkippedRepository>,
    /// Surfaces that the token cannot read in any repository.
    pub(crate) denied_surfaces: BTreeSet<Surface>,
    /// Surfaces that the token cannot read in one repository.
    pub(crate) denied_lanes: BTreeSet<(i64, Surface)>,
    pub(crate) tally: PullTally,
}

/// A repository that was left out, and why.
pub(crate) struct SkippedRepository {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// A discovery in progress.
struct RepositoryDiscovery<'a> {
    context: &'a PullContext<'a>,
    pull: &'a PullSpec,
    known: &'a MirrorSnapshot,
    lane: Lane,
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

/// Reads and stores the repositories, all of them or those requested by name. Lanes whose probes show no change
/// are marked as checked in the same transaction.
pub(crate) async fn discover_repositories(
    context: &PullContext<'_>,
    pull: &PullSpec,
    known: &MirrorSnapshot,
) -> Result<DiscoveryResult, SyncError> {
    let lane = pull.repositories_lane();
    let size = context.store.lane_state(&lane)?.page_size.min(PROBED_PAGE_SIZE);
    let mut listing = RepositoryDiscovery {
        context,
        pull,
        known,
        lane,
        page_size: size,
        pages_requested: 0,
        result: DiscoveryResult::default(),
    };
    if pull.only_repositories.is_empty() {
        listing.read_all().await?;
    } else {
        listing.read_by_name().await?;
    }
    Ok(listing.result)
}

impl RepositoryDiscovery<'_> {
    async fn read_all(&mut self) -> Result<(), SyncError> {
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
            self.emit_listed(after.is_none());
            if after.is_none() {
                let unread = self.unread_repositories();
                self.plan_repositories(&unread, &LaneProbes::new());
                return Ok(());
            }
        }
    }

    async fn read_by_name(&mut self) -> Result<(), SyncError> {
        let pull = self.pull;
        let pages = pull.only_repositories.chunks(PROBED_PAGE_SIZE as usize);
        for (index, names) in pages.enumerate() {
            let page = self
                .fetch_named_page(names, index == 0)
                .await
                .map_err(|error| into_lane_error(error, &self.lane))?;
            self.result.missing.extend(page.missing);
            let ingest_page = self.process_page(DiscoveryPage {
                viewer: page.viewer,
                date: page.date,
                observations: page.observations,
                probes: page.probes,
                unreadable: page.unreadable,
            });
            self.store_page(&ingest_page)?;
            self.emit_listed(names.last() == pull.only_repositories.last());
        }
        Ok(())
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
        let organization = &self.pull.organization;
        let page = self
            .context
            .client
            .query_graphql(
                RetryPolicy::PAGE,
                &mut self.page_size,
                |first| repositories::list_query(organization, first, after, surfaces),
                |response, request_id, _| repositories::read_list(response, after, request_id),
            )
            .await?;
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
                self.result.denied_surfaces.insert(surface);
            }
            self.result.denied_lanes.extend(denied_rows.iter().map(|row| (row.id, surface)));
        }
        Ok(page)
    }

    async fn fetch_named_page(
        &mut self,
        names: &[String],
        with_viewer: bool,
    ) -> Result<NamedRepositories, FetchError> {
        let surfaces: Vec<_> = self.pull.thread_surfaces().collect();
        self.emit_page_requested();
        let mut tries = 0;
        loop {
            let organization = &self.pull.organization;
            let page = self
                .context
                .client
                .query_graphql(
                    RetryPolicy::PAGE,
                    &mut 1,
                    |_| repositories::named_query(organization, names, &surfaces, with_viewer),
                    |response, request_id, _| repositories::read_named(response, names, request_id),
                )
                .await?;
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
        let reason = if repository.is_archived {
            Some("archived repositories are not mirrored".to_owned())
        } else if repository.is_fork {
            Some("forks are not mirrored".to_owned())
        } else if !self.pull.is_mirrored(repository) {
            Some(format!("it belongs to {} now", repository.owner))
        } else if self.pull.is_excluded(&repository.name) {
            Some("it is excluded".to_owned())
        } else {
            None
        };
        if let Some(reason) = reason
            && !self.pull.only_repositories.is_empty()
        {
            let name = repository.name.clone();
            self.result.skipped.push(SkippedRepository { name, reason });
        }
        self.pull.is_mirrored(repository)
    }

    fn probed_surfaces(&self) -> Vec<Surface> {
        self.pull
            .thread_surfaces()
            .filter(|surface| !self.result.denied_surfaces.contains(surface))
            .collect()
    }

    /// Adds the lanes of these repositories that need work, and returns those whose listing did not change.
    fn plan_repositories(&mut self, repositories: &[Repository], probes: &LaneProbes) -> Vec<Lane> {
        let mut unchanged = Vec::new();
        for repository in repositories {
            let lanes =
                plan_repository_lanes(self.context, self.pull, self.known, repository, probes);
            for planned in lanes {
                if self.result.is_denied(&planned) {
                    continue;
                }
                if matches!(planned.need, LaneNeed::Nothing | LaneNeed::SweepOnly) {
                    unchanged.push(planned.target.lane.clone());
                }
                if planned.need != LaneNeed::Nothing {
                    self.result.lanes.push(planned);
                }
            }
        }
        unchanged
    }

    fn store_page(&mut self, page: &IngestPage) -> Result<(), SyncError> {
        let ingested = self.context.store.ingest_page(self.context.lease, page)?;
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
            scope: self.pull.organization.clone(),
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
                    && (pull.only_repositories.is_empty() || self.is_missing(&repository.name))
            })
            .cloned()
            .collect()
    }

    fn has_listed(&self, repository: &Repository) -> bool {
        self.repositories.iter().any(|listed| listed.id == repository.id)
            || self.is_unread(&repository.node_id)
    }

    fn is_missing(&self, name: &str) -> bool {
        self.missing.iter().any(|missing| missing.eq_ignore_ascii_case(name))
    }

    /// Returns true if this listing showed the row and it could not be read.
    fn is_unread(&self, subject: &str) -> bool {
        self.unreadable.iter().chain(&self.impossible).any(|unread| unread == subject)
    }

    fn is_denied(&self, planned: &PlannedLane) -> bool {
        let (surface, id) = (planned.target.surface(), planned.target.repository.id);
        self.denied_surfaces.contains(&surface) || self.denied_lanes.contains(&(id, surface))
    }
}
