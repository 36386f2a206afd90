//! The record of a discovery: what its pages showed, stored with them. A worker that takes over continues after the last one.

use hw_rules::discovered_page::{
    DiscoveredPage, DiscoveredProbe, DiscoveredViewer, DiscoveryPosition, is_read_since,
};
use hw_rules::followed_source::RepositoryName;
use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_store::IngestPage;

use super::{DiscoveryPage, RepositoryDiscovery};
use crate::SyncError;
use crate::lane_turn::LaneReading;
use crate::plan_lanes::LaneProbes;

/// How far a discovery was recorded.
#[derive(Default)]
pub(super) struct DiscoveryRecord {
    pub(super) position: DiscoveryPosition,
    /// The number of pages in the record.
    pages: u32,
    /// A page could not be recorded, so that the record ends before it.
    has_ended: bool,
}

/// A page that is ready to be stored.
pub(super) struct ProcessedPage {
    pub(super) ingest_page: IngestPage,
    /// None if its rows were not all readable: whoever takes over requests it again.
    pub(super) discovered: Option<DiscoveredPage>,
}

impl RepositoryDiscovery<'_> {
    /// Takes over what the pages of a dead worker showed. Lanes that it has read since are not read again.
    pub(super) fn replay_pages(&mut self, pages: Vec<DiscoveredPage>) {
        for page in pages {
            if let Some(viewer) = &page.viewer {
                self.identify_viewer(viewer.id, &viewer.login);
            }
            let mut probes = LaneProbes::new();
            for DiscoveredProbe { repository_id, threads, probe } in &page.probes {
                probes.insert((*repository_id, Surface::Threads(*threads)), probe.clone());
            }
            let planned = self.result.lanes.len();
            self.plan_repositories(&page.repositories, &probes);
            let mut replayed = self.result.lanes.split_off(planned);
            replayed.retain(|lane| {
                lane.state.has_leftovers() || !is_read_since(&lane.state, page.date)
            });
            for lane in &mut replayed {
                let coverage = &lane.state.coverage;
                if !coverage.is_complete() && coverage.is_head_read_since(page.date) {
                    lane.reading = LaneReading::MidWalk(Box::new(coverage.clone()));
                }
            }
            self.result.lanes.extend(replayed);
            self.result.tally.seen += page.repositories.len() as u64;
            self.record.position.add_page(&page);
            self.record.pages += 1;
            self.result.repositories.extend(page.repositories);
        }
    }

    /// Stores a page and what a worker that takes over has to know of it.
    pub(super) fn store_discovered(
        &mut self,
        page: &IngestPage,
        discovered: Option<&DiscoveredPage>,
    ) -> Result<(), SyncError> {
        self.record.has_ended |= discovered.is_none();
        let Some(discovered) = discovered.filter(|_| !self.record.has_ended) else {
            return self.store_page(page);
        };
        let store = self.context.store;
        let ingested = store.ingest_discovered_page(page, self.record.pages, discovered)?;
        self.record.pages += 1;
        self.result.tally.count_page(&ingested, page.observations.len());
        Ok(())
    }

    /// Returns the requested names that no page of the record has shown.
    pub(super) fn unread_names(&self) -> Vec<RepositoryName> {
        let is_read = |name: &RepositoryName| {
            let mut read = self.result.repositories.iter();
            read.any(|repository| name.is_name_of(&repository.owner, &repository.name))
        };
        self.pull.only_repositories.iter().filter(|name| !is_read(name)).cloned().collect()
    }

    /// Describes a page for the record; none if it has to be requested again.
    pub(super) fn describe_page(
        &self,
        page: &DiscoveryPage,
        repositories: &[Repository],
    ) -> Option<DiscoveredPage> {
        let is_denied = |repository: &Repository| {
            self.result.denied_lanes.iter().any(|(id, _)| *id == repository.id)
        };
        let is_whole = page.unreadable.is_empty()
            && self.result.denied_listings.is_empty()
            && !repositories.iter().any(is_denied);
        let viewer = page.viewer.as_ref();
        let probes = page.probes.iter().filter_map(|((id, surface), probe)| match surface {
            Surface::Threads(threads) => Some(DiscoveredProbe {
                repository_id: *id,
                threads: *threads,
                probe: probe.clone(),
            }),
            Surface::Repositories | Surface::Activity | Surface::Comments(_) | Surface::Feed => {
                None
            }
        });
        is_whole.then(|| DiscoveredPage {
            owner: page.owner.as_ref().map(ToString::to_string),
            next: page.next.clone(),
            date: page.date,
            viewer: viewer
                .map(|viewer| DiscoveredViewer { id: viewer.id, login: viewer.login.clone() }),
            repositories: repositories.to_vec(),
            probes: probes.collect(),
        })
    }
}
