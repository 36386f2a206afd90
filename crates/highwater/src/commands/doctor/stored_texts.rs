//! Compares every stored text with the digest recorded when it was read.

use hw_rules::format::group_digits;
use hw_store::{DamagedItem, StoreError, StoreReader, VerifiedPage};

use super::finding::DoctorFinding;

/// The number of damaged items that are printed as lines.
const MAX_PRINTED: usize = 20;
/// The number of damaged items that are printed as JSON.
const MAX_COLLECTED: usize = 1_000;
const REPAIR_ADVICE: &str = "`highwater pull --repair` downloads them again";
const REPAIR_ONE_ADVICE: &str = "`highwater pull --repair` downloads it again";

pub(super) fn check_stored_texts(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let (mut checked, mut count, mut damaged, mut next) = (0, 0, Vec::new(), None);
    loop {
        let page: VerifiedPage = store.verify_page(next.as_ref())?;
        checked += page.checked;
        count += page.damaged.len() as u64;
        let remaining = MAX_COLLECTED.saturating_sub(damaged.len());
        damaged.extend(page.damaged.into_iter().take(remaining));
        match page.next {
            Some(cursor) => next = Some(cursor),
            None => break,
        }
    }
    let checked = group_digits(checked);
    if count == 0 {
        let detail = format!("all {checked} stored items match their digests");
        return Ok(vec![DoctorFinding::ok("texts", detail)]);
    }
    let is = if count == 1 { "is" } else { "are" };
    let more = count.saturating_sub(MAX_PRINTED as u64);
    let more = if more == 0 {
        String::new()
    } else {
        format!("; {MAX_PRINTED} are listed below, {} more with --json", group_digits(more))
    };
    let detail = format!("{} of {checked} stored items {is} damaged{more}", group_digits(count));
    let advice = if count == 1 { REPAIR_ONE_ADVICE } else { REPAIR_ADVICE };
    let mut findings = vec![DoctorFinding::fail("texts", detail, advice)];
    findings.extend(
        damaged.into_iter().enumerate().map(|(index, item)| damaged_item_finding(index, item)),
    );
    Ok(findings)
}

fn damaged_item_finding(index: usize, item: DamagedItem) -> DoctorFinding {
    let finding = DoctorFinding::fail("item", describe_damage(&item), REPAIR_ONE_ADVICE);
    DoctorFinding { is_beyond_limit: index >= MAX_PRINTED, item: Some(item), ..finding }
}

/// Describes the item, as far as it can be read, and its damage.
fn describe_damage(item: &DamagedItem) -> String {
    let DamagedItem { kind, id, repository, number, url, reason, .. } = item;
    let kind = kind.name().replace('_', " ");
    let mut parts = Vec::new();
    if let Some(repository) = repository {
        let number = number.map(|number| format!("#{number}")).unwrap_or_default();
        parts.push(format!("{repository}{number}"));
    }
    parts.push(id.map_or_else(|| format!("{kind} without an id"), |id| format!("{kind} {id}")));
    parts.extend(url.clone());
    format!("{}: {reason}", parts.join(", "))
}
