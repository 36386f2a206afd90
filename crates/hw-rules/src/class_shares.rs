//! Divides the hourly rate limit among the classes of requests, so that a large mirror leaves something to watched
//! threads.

use crate::pace;
use crate::rate_limit::RequestClass;

/// The largest share that the user may reserve for other tools, in percent.
const MAX_RESERVE_PERCENT: i64 = 90;
/// The part of the rate limit, beside the reserve, for which the shares are made.
const DIVIDED_PERCENT: i64 = 40;

/// How much of the hourly rate limit a class of requests leaves to more important ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassShares {
    /// Nothing: there is nothing more important than the mirror, so all of it is the mirror's.
    #[default]
    Undivided,
    /// More, the less important the class is.
    Divided,
}

impl ClassShares {
    /// Returns the share of the hourly rate limit that requests of a class do not touch, in percent. It is below 100.
    ///
    /// It includes the reserve for the user's other tools. Where the reserve leaves less than 40 %, the shares shrink
    /// with it: each class keeps something, and more important ones keep more.
    pub fn floor_percent(self, class: RequestClass, reserve_percent: i64) -> i64 {
        let reserve = reserve_percent.clamp(0, MAX_RESERVE_PERCENT);
        let divided = (100 - reserve).min(DIVIDED_PERCENT);
        reserve + self.share_percent(class) * divided / DIVIDED_PERCENT
    }

    fn share_percent(self, class: RequestClass) -> i64 {
        match (self, class) {
            (Self::Undivided, _) => 0,
            (Self::Divided, RequestClass::Replies | RequestClass::WatchedThreads) => 0,
            (Self::Divided, RequestClass::Accounts) => 10,
            (Self::Divided, RequestClass::Mirror) => 20,
            (Self::Divided, RequestClass::Sweeps) => 35,
        }
    }

    /// Returns the most important class that has to stop when this much of the rate limit remains. All less important
    /// ones have to stop as well.
    pub fn first_stopped_class(
        self,
        remaining: i64,
        limit: i64,
        reserve_percent: i64,
    ) -> Option<RequestClass> {
        RequestClass::ALL.into_iter().find(|class| {
            let floor_percent = self.floor_percent(*class, reserve_percent);
            pace::is_floor_reached(remaining, limit, floor_percent)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn class_shares_add_to_the_reserve() {
        for (reserve, floors) in [
            (0, [0, 0, 10, 20, 35]),
            (10, [10, 10, 20, 30, 45]),
            (50, [50, 50, 60, 70, 85]),
            (60, [60, 60, 70, 80, 95]),
            (80, [80, 80, 85, 90, 97]),
            (90, [90, 90, 92, 95, 98]),
            (-5, [0, 0, 10, 20, 35]),
            (100, [90, 90, 92, 95, 98]),
        ] {
            let divided =
                RequestClass::ALL.map(|class| ClassShares::Divided.floor_percent(class, reserve));
            assert_eq!(divided, floors, "reserve {reserve} %");
        }
    }

    #[test]
    fn class_shares_that_are_undivided_leave_only_the_reserve() {
        for reserve in [0, 10, 90] {
            let floors =
                RequestClass::ALL.map(|class| ClassShares::Undivided.floor_percent(class, reserve));
            assert_eq!(floors, [reserve; 5]);
        }
    }

    #[test]
    fn class_shares_stop_the_least_important_class_first() {
        let stopped =
            |shares: ClassShares, remaining| shares.first_stopped_class(remaining, 5_000, 10);
        for (remaining, divided, undivided) in [
            (2_251, None, None),
            (2_250, Some(RequestClass::Sweeps), None),
            (1_500, Some(RequestClass::Mirror), None),
            (1_000, Some(RequestClass::Accounts), None),
            (501, Some(RequestClass::Accounts), None),
            (500, Some(RequestClass::Replies), Some(RequestClass::Replies)),
            (0, Some(RequestClass::Replies), Some(RequestClass::Replies)),
        ] {
            assert_eq!(stopped(ClassShares::Divided, remaining), divided, "{remaining} left");
            assert_eq!(stopped(ClassShares::Undivided, remaining), undivided, "{remaining} left");
        }
        assert_eq!(ClassShares::Divided.first_stopped_class(0, 0, 10), None, "no limit is known");
    }

    proptest! {
        #[test]
        fn class_shares_leave_something_to_each_class(reserve in 0..=90_i64) {
            let floors = RequestClass::ALL
                .map(|class| ClassShares::Divided.floor_percent(class, reserve));
            prop_assert!(floors.is_sorted(), "{floors:?}");
            prop_assert!(floors.iter().all(|floor| (reserve..100).contains(floor)), "{floors:?}");
            prop_assert!(floors[0] < floors[2] && floors[2] < floors[3] && floors[3] < floors[4]);
        }
    }
}
