//! The sentences of the activity lines.

use hw_rules::lane::Surface;

use super::item::title;
use crate::words::grouped;

pub(super) const ALL: &str = "Starting GitHub data synchronization...";
pub(super) const SOME: &str = "Starting selective sync...";

pub(super) fn clearing(surface: Surface) -> String {
    format!("Clearing existing {}...", plural(surface))
}

pub(super) fn starting(title: &str) -> String {
    format!("🔄 Starting {} sync...", title.to_lowercase())
}

pub(super) fn completed(title: &str, seen: u64) -> String {
    format!("✅ {title} completed ({} synced)", grouped(seen))
}

/// Page numbers are told from the second page on: most listings have one.
pub(super) fn asking(surface: Surface, scope: &str, page: u64) -> String {
    let what = plural(surface);
    let name = scope.rsplit('/').next().unwrap_or(scope);
    match (surface, page) {
        (_, 0 | 1) => format!("Fetching {what} from {name}"),
        (Surface::Repositories, page) => format!("Fetching page {} of {what}", grouped(page)),
        (_, page) => format!("Fetching page {} of {what} from {name}", grouped(page)),
    }
}

pub(super) fn saved(surface: Surface, stored: u64) -> String {
    format!("Saved {} {} to database", grouped(stored), plural(surface))
}

pub(super) fn retrying(wait_ms: i64) -> String {
    match (wait_ms.max(0) + 999) / 1_000 {
        1 => "🔄 Retrying in 1 second...".to_owned(),
        seconds => format!("🔄 Retrying in {seconds} seconds..."),
    }
}

fn plural(surface: Surface) -> String {
    title(surface.choice()).to_lowercase()
}
