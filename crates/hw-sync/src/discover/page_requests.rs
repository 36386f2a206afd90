//! Requests pages of repositories, again while rows are unreadable, and without probes that are denied.

use std::collections::BTreeSet;

use hw_rules::followed_source::RepositoryName;
use hw_rules::lane::Surface;
use hw_rules::walk::PageCursor;
use hw_sources::github::repositories::{
    NamedRepositories, NamedRepositoriesQuery, RepositoryListPage, RepositoryListQuery,
};
use hw_sources::page::UnreadableRow;

use super::{PROBED_PAGE_SIZE, RepositoryDiscovery};
use crate::api_client::FetchError;
use crate::retry_policy::RequestOptions;

/// Attempts at a page with unreadable rows before it is accepted as it is.
const MAX_PAGE_TRIES: u32 = 3;

impl RepositoryDiscovery<'_> {
    /// Reads one page, and requests it again while rows are unreadable for what may be a passing fault.
    pub(super) async fn read_page(
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

    pub(super) async fn fetch_named_page(
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

    fn probed_surfaces(&self) -> Vec<Surface> {
        self.pull
            .thread_surfaces()
            .filter(|surface| !self.result.is_listing_denied(&self.scope, *surface))
            .collect()
    }
}
