//! Every stored text, compared with the digest of what was read.

use hw_store::{DamagedItem, Error, Store, VerifiedPage};
use hw_tui::words::grouped;

use super::finding::Finding;

/// How many damaged items are named to people, and to programs.
const NAMED: usize = 20;
const LISTED: usize = 1_000;
const REPAIR: &str = "`highwater pull --repair` reads them again";

pub(super) fn look(store: &Store) -> Result<Vec<Finding>, Error> {
    let (mut checked, mut count, mut damaged, mut next) = (0, 0, Vec::new(), None);
    loop {
        let page: VerifiedPage = store.verify_page(next.as_ref())?;
        checked += page.checked;
        count += page.damaged.len() as u64;
        let room = LISTED.saturating_sub(damaged.len());
        damaged.extend(page.damaged.into_iter().take(room));
        match page.next {
            Some(cursor) => next = Some(cursor),
            None => break,
        }
    }
    let checked = grouped(checked);
    if count == 0 {
        let detail = format!("all {checked} stored items are what was read");
        return Ok(vec![Finding::ok("texts", detail)]);
    }
    let is = if count == 1 { "is" } else { "are" };
    let more = count.saturating_sub(NAMED as u64);
    let more = if more == 0 {
        String::new()
    } else {
        format!("; {NAMED} are named below, and {} more with --json", grouped(more))
    };
    let detail = format!("{} of {checked} stored items {is} damaged{more}", grouped(count));
    let mut findings = vec![Finding::fail("texts", detail, REPAIR)];
    findings.extend(damaged.into_iter().enumerate().map(|(place, item)| named(place, item)));
    Ok(findings)
}

fn named(place: usize, item: DamagedItem) -> Finding {
    let finding = Finding::fail("item", sentence(&item), REPAIR);
    Finding { is_one_of_too_many: place >= NAMED, item: Some(item), ..finding }
}

/// Which item it is, as far as that can be read, and what is wrong with it.
fn sentence(item: &DamagedItem) -> String {
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
