//! Checks how polls of accounts on Bluesky are going.

use hw_store::{StoreError, StoreReader};

use super::finding::DoctorFinding;
use crate::commands::bluesky::PollHealth;

/// Returns what is known of the accounts, or what looks wrong; nothing if none is followed.
pub(super) fn check_bluesky(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let health = PollHealth::read(store)?;
    if health.accounts.is_empty() {
        return Ok(Vec::new());
    }
    let advice = "`highwater bluesky status` shows more";
    let warnings = health.warnings();
    if warnings.is_empty() {
        return Ok(vec![DoctorFinding::ok("bluesky", health.accounts_line())]);
    }
    let findings =
        warnings.into_iter().map(|warning| DoctorFinding::warn("bluesky", warning, advice));
    Ok(findings.collect())
}
