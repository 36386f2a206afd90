//! Words the messages in the activity section.

use hw_rules::format::group_digits;
use hw_rules::lane::Surface;

use super::item_progress::item_title;

pub(super) const FULL_PULL_START: &str = "Starting GitHub data synchronization...";
pub(super) const PARTIAL_PULL_START: &str = "Starting selective sync...";

pub(super) fn describe_clearing(surface: Surface) -> String {
    format!("Clearing existing {}...", plural_noun(surface))
}

pub(super) fn describe_start(title: &str) -> String {
    format!("🔄 Starting {} sync...", title.to_lowercase())
}

pub(super) fn describe_completion(title: &str, observed: u64) -> String {
    format!("✅ {title} completed ({} synced)", group_digits(observed))
}

/// Describes a request. The page number appears from the second page on, because most listings have only one.
pub(super) fn describe_request(surface: Surface, scope: &str, page: u64) -> String {
    let items = plural_noun(surface);
    let name = scope.rsplit('/').next().unwrap_or(scope);
    match (surface, page) {
        (_, 0 | 1) => format!("Fetching {items} from {name}"),
        (Surface::Repositories, page) => format!("Fetching page {} of {items}", group_digits(page)),
        (_, page) => format!("Fetching page {} of {items} from {name}", group_digits(page)),
    }
}

/// Describes the pull of another process that this one helps.
pub(super) fn describe_followed_pull(worker: &str) -> String {
    format!("{worker} is already pulling; following it")
}

/// Describes the pull of another process that this one waits for.
pub(super) fn describe_awaited_pull(worker: &str) -> String {
    format!("{worker} is pulling with other options; waiting for it")
}

/// Describes the poll of another process that this one waits for.
pub(super) fn describe_awaited_poll(worker: &str) -> String {
    format!("{worker} is polling; waiting for it")
}

/// Describes the pull of a process that died.
pub(super) fn describe_takeover(worker: &str) -> String {
    format!("{worker} ended unexpectedly; taking over")
}

pub(super) fn describe_save(surface: Surface, stored: u64) -> String {
    format!("Saved {} {} to database", group_digits(stored), plural_noun(surface))
}

pub(super) fn describe_retry(wait_ms: i64) -> String {
    match (wait_ms.max(0) + 999) / 1_000 {
        1 => "🔄 Retrying in 1 second...".to_owned(),
        seconds => format!("🔄 Retrying in {seconds} seconds..."),
    }
}

fn plural_noun(surface: Surface) -> String {
    item_title(surface.pull_item()).to_lowercase()
}
