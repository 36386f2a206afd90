//! Stops a removal of too many items at once, until the user allows it.

/// The number of removals that always pass the brake.
pub const BRAKE_ITEMS: usize = 20;
/// The share of a scope, in percent, above which the brake stops removals.
const BRAKE_PERCENT: usize = 20;

/// A removal that was stopped, because it would remove too many items at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{removals} of {stored} items would be removed at once")]
pub struct RemovalBrake {
    pub removals: usize,
    pub stored: usize,
}

/// Stops a removal of more than a fifth, and more than twenty, of a scope's items at once.
pub fn check_removals(
    removals: usize,
    stored: usize,
    allow_mass_removal: bool,
) -> Result<(), RemovalBrake> {
    let too_many = removals > BRAKE_ITEMS && removals * 100 > stored * BRAKE_PERCENT;
    if too_many && !allow_mass_removal { Err(RemovalBrake { removals, stored }) } else { Ok(()) }
}

/// Stops a removal of two or more repositories at once: each takes all of its items with it.
pub fn check_repository_removals(
    removals: usize,
    stored: usize,
    allow_mass_removal: bool,
) -> Result<(), RemovalBrake> {
    let too_many = removals > 1;
    if too_many && !allow_mass_removal { Err(RemovalBrake { removals, stored }) } else { Ok(()) }
}

/// The share of items that a run would remove, over all its lanes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemovalShare {
    /// The number of removals, including those that the run has already made.
    pub removals: usize,
    /// The number of items before the first removal.
    pub stored: usize,
}

/// The removals of a whole run that were stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of {} {items} would be removed in one run", .brake.removals, .brake.stored)]
pub struct RunRemovalBrake {
    /// The items counted: `threads`, `comments`, or `items` for both.
    pub items: &'static str,
    pub brake: RemovalBrake,
}

/// Stops a removal of more than a fifth, and more than twenty, of the threads, of the comments, or of both
/// together, over all lanes of one run.
///
/// Threads and comments are also counted separately: a mirror has so many comments that all of its threads could
/// be less than a fifth of everything. Comments that go with their thread are not counted: one deleted thread is
/// one removal, however many comments it has.
pub fn check_run_removals(
    threads: RemovalShare,
    comments: RemovalShare,
    allow_mass_removal: bool,
) -> Result<(), RunRemovalBrake> {
    let all = RemovalShare {
        removals: threads.removals + comments.removals,
        stored: threads.stored + comments.stored,
    };
    for (items, share) in [("threads", threads), ("comments", comments), ("items", all)] {
        check_removals(share.removals, share.stored, allow_mass_removal)
            .map_err(|brake| RunRemovalBrake { items, brake })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brake_stops_the_removal_of_two_repositories() {
        assert!(check_repository_removals(1, 1, false).is_ok());
        assert_eq!(
            check_repository_removals(2, 900, false),
            Err(RemovalBrake { removals: 2, stored: 900 })
        );
        assert!(check_repository_removals(2, 900, true).is_ok());
    }

    #[test]
    fn brake_stops_removals_above_a_fifth_and_twenty() {
        assert!(check_removals(20, 20, false).is_ok(), "twenty may always go");
        assert!(check_removals(21, 105, false).is_ok(), "exactly a fifth may go");
        assert_eq!(check_removals(21, 104, false), Err(RemovalBrake { removals: 21, stored: 104 }));
        assert!(check_removals(21, 104, true).is_ok(), "the user allowed it");
    }

    #[test]
    fn brake_of_a_run_counts_threads_and_comments_apart_and_together() {
        let none = RemovalShare::default();
        assert_eq!(stopped_run(share(20, 20), share(0, 9_000)), None, "twenty may always go");
        assert_eq!(
            stopped_run(share(107, 125), share(0, 9_000)).as_deref(),
            Some("107 of 125 threads would be removed in one run")
        );
        assert_eq!(
            stopped_run(share(0, 9_000), share(21, 100)).as_deref(),
            Some("21 of 100 comments would be removed in one run")
        );
        assert_eq!(
            stopped_run(share(15, 50), share(15, 50)).as_deref(),
            Some("30 of 100 items would be removed in one run")
        );
        assert_eq!(stopped_run(share(21, 105), none), None, "exactly a fifth may go");
        assert_eq!(check_run_removals(share(107, 125), none, true), Ok(()), "the user allowed it");
    }

    fn share(removals: usize, stored: usize) -> RemovalShare {
        RemovalShare { removals, stored }
    }

    fn stopped_run(threads: RemovalShare, comments: RemovalShare) -> Option<String> {
        check_run_removals(threads, comments, false).err().map(|brake| brake.to_string())
    }
}
