//! A page of a listing of repositories, as a worker records it for the one that takes over if it dies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::item::{Repository, ThreadKind};
use crate::plan::LaneState;
use crate::probe::ListingProbe;
use crate::source_time::SourceInstant;
use crate::walk::PageCursor;

/// What one response showed: nothing of it has to be requested again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredPage {
    /// The owner whose repositories are listed; none for repositories that were requested by name.
    pub owner: Option<String>,
    /// Where the listing goes on; none if this page is its last one.
    pub next: Option<PageCursor>,
    /// The time of the response.
    pub date: SourceInstant,
    pub viewer: Option<DiscoveredViewer>,
    pub repositories: Vec<Repository>,
    pub probes: Vec<DiscoveredProbe>,
}

/// The token's user, whose limits apply to the rest of the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredViewer {
    pub id: i64,
    pub login: String,
}

/// The probe of one listing of threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredProbe {
    pub repository_id: i64,
    pub threads: ThreadKind,
    pub probe: ListingProbe,
}

/// How far the listings of a discovery were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoveryPosition {
    owners: BTreeMap<String, ListingPosition>,
    /// The time at which reading repositories by name began.
    pub names_began: Option<SourceInstant>,
}

/// How far the listing of one owner was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingPosition {
    /// The time of its first page.
    pub began: SourceInstant,
    /// Where it goes on; none if it was read whole.
    pub next: Option<PageCursor>,
}

impl DiscoveryPosition {
    /// Adds the next page that was read.
    pub fn add_page(&mut self, page: &DiscoveredPage) {
        let Some(owner) = &page.owner else {
            self.names_began.get_or_insert(page.date);
            return;
        };
        let began = ListingPosition { began: page.date, next: None };
        self.owners.entry(owner.to_lowercase()).or_insert(began).next.clone_from(&page.next);
    }

    /// Returns how far the listing of an owner was read; none if it was not begun.
    pub fn of_owner(&self, owner: &str) -> Option<&ListingPosition> {
        self.owners.get(&owner.to_lowercase())
    }
}

/// Returns true if a lane was read after the response that carries its probe. The second of the response does not
/// count: the lane may have been read before it.
pub fn is_read_since(state: &LaneState, probed_at: SourceInstant) -> bool {
    state.checked_at_ms.is_some_and(|checked_ms| checked_ms > probed_at.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_follows_each_listing_to_its_last_page() {
        let mut position = DiscoveryPosition::default();
        position.add_page(&page(Some("Acme"), Some("a"), 10));
        position.add_page(&page(Some("acme"), Some("b"), 20));
        position.add_page(&page(Some("zed"), None, 30));
        position.add_page(&page(None, None, 40));
        position.add_page(&page(None, None, 50));
        let cursor = Some(PageCursor("b".to_owned()));
        let acme = ListingPosition { began: SourceInstant(10), next: cursor };
        assert_eq!(position.of_owner("ACME"), Some(&acme));
        let zed = ListingPosition { began: SourceInstant(30), next: None };
        assert_eq!(position.of_owner("zed"), Some(&zed));
        assert_eq!(position.of_owner("other"), None);
        assert_eq!(position.names_began, Some(SourceInstant(40)));
    }

    #[test]
    fn lane_checked_in_the_second_of_its_probe_may_have_been_read_before() {
        let checked = |at_ms| LaneState { checked_at_ms: Some(at_ms), ..LaneState::new() };
        assert!(is_read_since(&checked(2_000), SourceInstant(1_000)));
        assert!(!is_read_since(&checked(1_000), SourceInstant(1_000)));
        assert!(!is_read_since(&LaneState::new(), SourceInstant(1_000)));
    }

    fn page(owner: Option<&str>, next: Option<&str>, date: i64) -> DiscoveredPage {
        DiscoveredPage {
            owner: owner.map(str::to_owned),
            next: next.map(|next| PageCursor(next.to_owned())),
            date: SourceInstant(date),
            viewer: None,
            repositories: Vec::new(),
            probes: Vec::new(),
        }
    }
}
