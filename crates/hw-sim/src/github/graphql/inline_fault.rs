//! Faults inside a response that is otherwise fine.

use crate::faults::ApiFault;

/// A fault inside a response, and the site that it hits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InlineFault {
    fault: Option<ApiFault>,
    /// `None` hits nothing.
    site: Option<usize>,
    pub(super) sites_seen: usize,
    pub(super) random_value: usize,
    pub(super) has_struck: bool,
}

impl InlineFault {
    pub(crate) fn none() -> Self {
        Self { fault: None, site: None, sites_seen: 0, random_value: 0, has_struck: false }
    }

    pub(crate) fn at_site(fault: ApiFault, site: usize, random_value: usize) -> Self {
        Self { fault: Some(fault), site: Some(site), random_value, ..Self::none() }
    }

    /// Hits nothing, but counts the sites that the fault could hit.
    pub(super) fn counting_sites(fault: ApiFault) -> Self {
        Self { fault: Some(fault), ..Self::none() }
    }

    /// Returns true if the fault hits this site; every site calls this once.
    pub(super) fn strikes_here(&mut self, fault: ApiFault) -> bool {
        if self.fault != Some(fault) {
            return false;
        }
        let here = self.site == Some(self.sites_seen);
        self.sites_seen += 1;
        self.has_struck |= here;
        here
    }
}
