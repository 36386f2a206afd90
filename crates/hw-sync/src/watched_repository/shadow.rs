//! Compares incremental reading with a full scan of every watched thread, and reports each difference. Nothing is stored.

use std::collections::BTreeMap;

use hw_rules::OVERLAP_MS;
use hw_rules::item::{CommentKind, ItemObservation};
use hw_rules::source_time::SourceInstant;
use hw_rules::thread_scan::ThreadPart;
use hw_store::{StoredComment, WatchedThread};

use super::repository_poll::RepositoryPoll;
use super::thread_scan::{ScanCompleteness, ScanPurpose, ScannedThread};
use crate::SyncError;
use crate::reading_log;
use crate::watch_context::ShadowDifference;

/// The way in which a comment differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    /// The thread shows it, and it is not stored.
    Missing,
    /// The thread shows another version.
    Outdated,
    /// It is stored, and the thread does not show it.
    Gone,
}

impl Difference {
    fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Outdated => "outdated",
            Self::Gone => "gone",
        }
    }
}

impl RepositoryPoll<'_> {
    /// Reads every watched thread whole, and reports what the lists did not bring. What changed so recently that the lists
    /// may lag is left to the next poll.
    pub(super) async fn compare_with_full_scan(&mut self) -> Result<(), SyncError> {
        for thread in self.open_threads()? {
            if !thread.is_bootstrapped {
                continue;
            }
            let scanned = self.scan_thread(&thread, ScanPurpose::Shadow).await?;
            if let ScanCompleteness::Complete { began_at } = scanned.completeness {
                let settled = SourceInstant(began_at.at_ms).minus_ms(OVERLAP_MS);
                self.report_differences(&thread, &scanned, settled)?;
            }
        }
        Ok(())
    }

    fn report_differences(
        &mut self,
        thread: &WatchedThread,
        scanned: &ScannedThread,
        settled: SourceInstant,
    ) -> Result<(), SyncError> {
        for part in ThreadPart::of_thread(thread.kind) {
            let kind = part.comment_kind();
            let stored =
                self.context.store.thread_comment_versions(&self.key, kind, thread.number)?;
            let differences = compare(kind, &stored, scanned, settled);
            for (id, difference) in differences {
                let difference = ShadowDifference {
                    thread: format!("{}#{}", self.repository.full_name, thread.number),
                    kind,
                    id,
                    difference: difference.name(),
                };
                reading_log::shadow_difference(&difference);
                self.note_difference(difference);
            }
        }
        Ok(())
    }
}

/// Returns the comments of a kind that differ, by id.
fn compare(
    kind: CommentKind,
    stored: &[StoredComment],
    scanned: &ScannedThread,
    settled: SourceInstant,
) -> Vec<(i64, Difference)> {
    let stored_ids: BTreeMap<i64, &StoredComment> =
        stored.iter().map(|comment| (comment.id, comment)).collect();
    let shown = scanned.comments.iter().filter(|((shown, _), _)| *shown == kind);
    let mut differences: Vec<(i64, Difference)> = shown
        .filter(|(_, observation)| observation.item.updated_at().instant() < settled)
        .filter_map(|((_, id), observation)| {
            Some((*id, compare_version(stored_ids.get(id).copied(), observation)?))
        })
        .collect();
    let gone = stored.iter().filter(|comment| {
        !scanned.comments.contains_key(&(kind, comment.id))
            && !scanned.unreadable_nodes.contains(&comment.node_id)
    });
    differences.extend(gone.map(|comment| (comment.id, Difference::Gone)));
    differences
}

fn compare_version(stored: Option<&StoredComment>, shown: &ItemObservation) -> Option<Difference> {
    let Some(stored) = stored else { return Some(Difference::Missing) };
    let is_same = stored.version.updated_at == *shown.item.updated_at()
        && stored.version.digest == shown.item.digest();
    (!is_same).then_some(Difference::Outdated)
}
