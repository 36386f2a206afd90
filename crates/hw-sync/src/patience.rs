//! How long one question is asked before it is given up.

use std::sync::atomic::{AtomicI64, Ordering};

use hw_rules::backoff::{self, Jitter};
use hw_rules::page_size;
use hw_sources::trouble::{Trouble, Verdict};

/// How often, and for how much active time. Waits for limits do not count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience<'a> {
    pub(crate) tries: u32,
    pub(crate) active_ms: i64,
    /// Whose patience it takes besides, where it belongs to one repository.
    pub(crate) endurance: Option<&'a Endurance>,
}

/// A repository's patience, shared by all that is asked about it: so much active time without one usable
/// answer. One that answers is never given up for being large.
#[derive(Debug, Default)]
pub(crate) struct Endurance(AtomicI64);

impl Endurance {
    const LONGEST_MS: i64 = 3 * 60_000;

    fn spend(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        Self::LONGEST_MS < self.0.load(Ordering::Relaxed)
    }

    fn refresh(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Patience<'_> {
    /// A page of a listing.
    pub(crate) const PAGE: Self =
        Self { tries: backoff::SERVER_TRIES, active_ms: 5 * 60_000, endurance: None };
    /// A host that cannot be connected to, before anything was reached in this run: a wrong address or certificate
    /// stays wrong, and two more tries over three seconds bear with a network that is just coming up.
    pub(crate) const FIRST_CONTACT: Self = Self { tries: 3, active_ms: 8_000, endurance: None };
    /// One row among others: the lane does not wait for it.
    pub(crate) const ROW: Self = Self { tries: 2, active_ms: 30_000, endurance: None };

    /// The same, for something of one repository.
    pub(crate) fn with(self, endurance: &Endurance) -> Patience<'_> {
        Patience { tries: self.tries, active_ms: self.active_ms, endurance: Some(endurance) }
    }

    /// After a usable answer.
    pub(crate) fn refresh(self) {
        self.endurance.inspect(|endurance| endurance.refresh());
    }
}

/// What asking one thing has taken so far.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    server: u32,
    network: u32,
    refused: u32,
    active_ms: i64,
}

impl Spent {
    pub(crate) fn on_a_request(&mut self, ms: i64, patience: Patience<'_>) {
        self.active_ms += ms;
        patience.endurance.inspect(|endurance| endurance.spend(ms));
    }

    /// How long to wait before the same is asked again, for as much as `size` says by then; none gives up.
    pub(crate) fn bear(
        &mut self,
        trouble: &Trouble,
        patience: Patience<'_>,
        size: &mut u32,
        jitter: Jitter,
    ) -> Option<i64> {
        let wait = match trouble.verdict() {
            // a limit is nobody's fault, and waited for however long it lasts
            Verdict::Pause => return Some(0),
            Verdict::GiveUp => return None,
            Verdict::AskForLess => {
                *size = page_size::shrink(*size);
                self.server += 1;
                backoff::before_asking_for_less(jitter)
            }
            Verdict::RetryServer => {
                self.server += 1;
                // some time-outs look like any other failure
                if self.server.is_multiple_of(2) {
                    *size = page_size::shrink(*size);
                }
                backoff::after_server_error(self.server, jitter)
            }
            Verdict::RetryNetwork => {
                self.network += 1;
                // an answer that breaks off every time may be too large for the line
                if self.network.is_multiple_of(2) {
                    *size = page_size::shrink(*size);
                }
                backoff::after_network_error(self.network, jitter)
            }
            Verdict::RetryOnce => {
                self.refused += 1;
                if self.refused > 1 {
                    return None;
                }
                backoff::after_refusal(jitter)
            }
        };
        self.on_a_request(wait, patience);
        let is_over = patience.tries <= self.server + self.network
            || patience.active_ms < self.active_ms
            || patience.endurance.is_some_and(Endurance::is_over);
        (!is_over).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use hw_sources::trouble::{Limit, LimitKind, Wait};

    use super::*;

    #[test]
    fn a_page_is_halved_down_to_one_row_and_given_up_at_the_tenth_try() {
        let mut size = 100;
        let asked = tries(&Trouble::TooMuch(String::new()), Patience::PAGE, &mut size);
        assert_eq!((asked, size), (10, 1));
    }

    #[test]
    fn a_failing_server_is_given_up_after_five_minutes() {
        let asked = tries(&Trouble::Server(String::new()), Patience::PAGE, &mut 1);
        assert_eq!(asked, 6, "5 + 10 + 20 + 40 + 80 s, and 160 more would be too long");
    }

    #[test]
    fn refusal_is_asked_about_once_more_after_five_seconds() {
        let (forbidden, mut spent) = (Trouble::Forbidden(String::new()), Spent::default());
        let waits: Vec<_> =
            (0..2).map(|_| spent.bear(&forbidden, Patience::PAGE, &mut 100, Jitter(0.0))).collect();
        assert_eq!(waits, [Some(5_000), None]);
    }

    #[test]
    fn unreachable_host_is_given_up_after_three_seconds() {
        let (refused, mut spent) = (Trouble::Unreachable(String::new()), Spent::default());
        let waits: Vec<_> = (0..3)
            .map(|_| spent.bear(&refused, Patience::FIRST_CONTACT, &mut 100, Jitter(1.0)))
            .collect();
        assert_eq!(waits, [Some(1_000), Some(2_000), None]);
    }

    #[test]
    fn a_lone_row_is_asked_for_twice() {
        assert_eq!(tries(&Trouble::Network(String::new()), Patience::ROW, &mut 1), 2);
    }

    #[test]
    fn a_limit_is_waited_for_however_often_it_comes() {
        let limit = Limit { kind: LimitKind::Primary, wait: Wait::Unsaid };
        let mut spent = Spent::default();
        for _ in 0..1_000 {
            let limited = Trouble::Limited(limit.clone());
            assert_eq!(spent.bear(&limited, Patience::PAGE, &mut 1, Jitter(0.5)), Some(0));
        }
    }

    #[test]
    fn a_limit_is_waited_for_even_when_a_repositorys_patience_is_used_up() {
        let endurance = Endurance::default();
        let patience = Patience::PAGE.with(&endurance);
        Spent::default().on_a_request(10 * 60_000, patience);
        let limited = Trouble::Limited(Limit { kind: LimitKind::Primary, wait: Wait::Unsaid });
        assert_eq!(Spent::default().bear(&limited, patience, &mut 1, Jitter(0.5)), Some(0));
    }

    #[test]
    fn a_repository_is_given_up_after_three_minutes_without_an_answer_not_for_being_large() {
        let endurance = Endurance::default();
        let patience = Patience::PAGE.with(&endurance);
        for _ in 0..1_000 {
            Spent::default().on_a_request(10_000, patience);
            patience.refresh();
        }
        let server = Trouble::Server(String::new());
        assert_eq!(tries(&server, patience, &mut 1), 6, "one lane: 5 + 10 + 20 + 40 + 80 s");
        assert_eq!(tries(&server, patience, &mut 1), 1, "and its other lanes at once");
    }

    /// How often a question is asked that always meets the same trouble.
    fn tries(trouble: &Trouble, patience: Patience<'_>, size: &mut u32) -> u32 {
        let mut spent = Spent::default();
        let borne =
            (1..).take_while(|_| spent.bear(trouble, patience, size, Jitter(0.0)).is_some());
        u32::try_from(borne.count()).unwrap() + 1
    }
}
