//! Convergence of feeds: whatever happens, the store ends equal to the simulated world.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::bluesky::polling_settings::PollingSettings;
use hw_sim::bluesky::{
    AppViewFault, BlueskyActivity, BlueskyFaults, BlueskySpec, CursorFormat, FeedEnd,
};
use hw_store::StoreWriter;
use hw_sync::SyncError;
use hw_sync::crash_points::CrashTrigger;

use super::feed_check::{FeedCheck, check_feeds};
use super::poll_fixture::PollFixture;
use crate::harness::{on_virtual_time, postgres_location, postgres_seeds, test_seeds};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// How long accounts are active, and polls are disturbed.
const ACTIVE_HOURS: i64 = 5;

/// The points at which every large run must have crashed. A crash after a second look is too rare to expect.
const CRASH_POINTS: [&str; 12] = [
    "run: duty claimed",
    "fetch: before sending",
    "fetch: answered",
    "ingest: before commit",
    "ingest: after commit",
    "check accounts: before commit",
    "check accounts: after commit",
    "record daily read: before commit",
    "record daily read: after commit",
    "restart feed: before commit",
    "record poll: before commit",
    "record poll: after commit",
];

/// Counts over all seeds, to prove that faults and crashes really happened.
#[derive(Debug, Default)]
struct TroubleTally {
    faults: BTreeMap<AppViewFault, u64>,
    crashes: BTreeMap<&'static str, u64>,
    removed: u64,
    edited: u64,
    skipped: u64,
    failed: u64,
    unfinished: u64,
}

#[test]
fn feeds_always_end_equal_to_the_world() {
    let mut trouble = TroubleTally::default();
    for seed in test_seeds() {
        let spec = random_spec(seed);
        let mut fixture = PollFixture::new(&spec, seed);
        if seed % 6 == 1 {
            // in these worlds no account is switched off
            fixture = fixture.with_session(&spec);
        }
        fixture.settings = random_settings(seed);
        // people delete most of what they said
        fixture.allow_mass_removal = true;
        survive(&fixture, &spec, seed, &mut trouble)
            .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
    trouble.assert_happened();
}

#[test]
fn feeds_always_end_equal_to_the_world_on_postgres() {
    for seed in postgres_seeds() {
        let spec = random_spec(seed);
        let location = postgres_location(&format!("feeds_{}_{seed}", std::process::id()));
        let store = StoreWriter::open(&location).unwrap();
        let mut fixture = PollFixture::with_store(&spec, seed, store);
        fixture.settings = random_settings(seed);
        // people delete most of what they said
        fixture.allow_mass_removal = true;
        survive(&fixture, &spec, seed, &mut TroubleTally::default())
            .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
}

/// Polls while accounts are active, answers fail and processes crash; then polls for a day, and compares.
fn survive(
    fixture: &PollFixture,
    spec: &BlueskySpec,
    seed: u64,
    trouble: &mut TroubleTally,
) -> Result<(), String> {
    let active_until_ms = spec.start_ms + ACTIVE_HOURS * HOUR_MS;
    // an account may have been read for the first time only now
    let since_ms = active_until_ms - fixture.settings.lookback_ms() + HOUR_MS;
    on_virtual_time(async {
        let mut random = fastrand::Rng::with_seed(seed);
        while fixture.now_ms() < active_until_ms {
            disturb_poll(fixture, &mut random, trouble).await?;
            fixture.pass_minutes(random.i64(1..40)).await;
        }
        fixture.world.with_app_view(|app_view| {
            app_view.set_fault_rates(BlueskyFaults::none());
        });
        // what waits for the next poll is there after it, whatever waits for the day
        let check = FeedCheck {
            since_ms,
            is_daily: false,
            cursor_format: spec.cursor_format,
            feed_end: spec.feed_end,
        };
        poll_until_finished(fixture, trouble).await?;
        if !hides_items(spec) {
            check_feeds(fixture, &check)?;
        }
        for _ in 0..26 {
            fixture.pass_minutes(59).await;
            count_poll(&fixture.poll().await, trouble);
        }
        check_feeds(fixture, &FeedCheck { is_daily: true, ..check })
    })?;
    let fired = fixture.world.with_app_view(|app_view| app_view.fired_faults().clone());
    for (fault, count) in fired {
        *trouble.faults.entry(fault).or_default() += count;
    }
    Ok(())
}

/// Polls once; the process may crash at any point, and the next one takes over.
async fn disturb_poll(
    fixture: &PollFixture,
    random: &mut fastrand::Rng,
    trouble: &mut TroubleTally,
) -> Result<(), String> {
    let crashes = random.usize(0..3);
    for _ in 0..crashes {
        let (trigger, crashed_at) = crash_after(random.u64(1..60));
        match fixture.try_poll(Some(trigger)).await {
            Err(SyncError::Crashed(point)) => {
                *trouble.crashes.entry(point).or_default() += 1;
            }
            // the store crashes with an error of its own
            Err(_) if crashed_at.lock().unwrap().is_some() => {
                let point = crashed_at.lock().unwrap().unwrap();
                *trouble.crashes.entry(point).or_default() += 1;
            }
            Err(error) if is_outage(&error) => {}
            Err(error) => return Err(format!("the poll failed: {error}")),
            Ok(summary) => count_poll(&summary, trouble),
        }
    }
    match fixture.try_poll(None).await {
        Ok(summary) => count_poll(&summary, trouble),
        Err(error) if is_outage(&error) => {}
        Err(error) => return Err(format!("the poll failed: {error}")),
    }
    Ok(())
}

/// Polls until no feed has a part left.
async fn poll_until_finished(
    fixture: &PollFixture,
    trouble: &mut TroubleTally,
) -> Result<(), String> {
    for _ in 0..40 {
        fixture.pass_minutes(15).await;
        let summary = fixture.poll().await;
        let is_finished = summary.unfinished == 0;
        count_poll(&summary, trouble);
        if is_finished {
            return Ok(());
        }
    }
    Err("the gaps do not close".to_owned())
}

fn count_poll(summary: &hw_sync::bluesky::PollSummary, trouble: &mut TroubleTally) {
    trouble.removed += summary.round.removed;
    trouble.edited += summary.edited;
    trouble.skipped += summary.round.skipped;
    trouble.failed += summary.round.failed;
    trouble.unfinished += summary.unfinished;
}

/// Returns true if the server could not be reached at all.
fn is_outage(error: &SyncError) -> bool {
    matches!(error, SyncError::Source { error, .. } if error.is_network_error() || error.is_unreachable())
}

/// Returns a trigger that fires once, after passing this many points, and the point at which it did.
fn crash_after(points: u64) -> (CrashTrigger, Arc<Mutex<Option<&'static str>>>) {
    let (passed, crashed_at) = (AtomicU64::new(0), Arc::new(Mutex::new(None)));
    let found = Arc::clone(&crashed_at);
    let trigger = move |point: &'static str| {
        let is_here = passed.fetch_add(1, Ordering::SeqCst) + 1 == points;
        if is_here {
            *found.lock().unwrap() = Some(point);
        }
        is_here
    };
    (Arc::new(trigger), crashed_at)
}

/// A small world, different for each seed.
fn random_spec(seed: u64) -> BlueskySpec {
    let until_ms = BlueskySpec::small().start_ms + ACTIVE_HOURS * HOUR_MS;
    let activity = match seed % 3 {
        0 => BlueskyActivity::disruptive(1, until_ms),
        _ => BlueskyActivity::busy(2, until_ms),
    };
    let faults = match seed % 4 {
        0 => BlueskyFaults::none(),
        1 => BlueskyFaults::all(0.01),
        _ => BlueskyFaults::all_visible(0.02),
    };
    BlueskySpec {
        accounts: 3 + usize::try_from(seed % 4).unwrap(),
        posts_per_account: 0..=40,
        equal_time_percent: if seed.is_multiple_of(5) { 10 } else { 0 },
        hostile_text: seed.is_multiple_of(2),
        index_lag_ms: if seed.is_multiple_of(3) { 0..=20_000 } else { 0..=0 },
        cursor_format: match seed % 2 {
            0 => CursorFormat::IsoTime,
            _ => CursorFormat::MillisecondsCid,
        },
        feed_end: if seed % 7 < 5 { FeedEnd::EmptyPage } else { FeedEnd::MissingCursor },
        activity,
        faults,
        ..BlueskySpec::small()
    }
}

fn hides_items(spec: &BlueskySpec) -> bool {
    spec.feed_end == FeedEnd::MissingCursor || {
        let seed_faults = format!("{:?}", spec.faults);
        seed_faults.contains("CursorToNothing")
    }
}

fn random_settings(seed: u64) -> PollingSettings {
    let posts_per_page = [5, 10, 50][usize::try_from(seed % 3).unwrap()];
    PollingSettings {
        posts_per_page,
        initial_lookback_hours: [24, 72][usize::try_from(seed / 3 % 2).unwrap()],
        // deletions are looked for in what one poll can read
        max_pages_per_user: if seed.is_multiple_of(4) { 300 / posts_per_page } else { 100 },
        ..PollingSettings::default()
    }
}

impl TroubleTally {
    /// Checks that a large run met every kind of trouble.
    fn assert_happened(&self) {
        if test_seeds().count() < 100 {
            return;
        }
        for fault in AppViewFault::ALL {
            assert!(self.faults.get(&fault).is_some_and(|count| *count > 0), "{fault:?}: {self:?}");
        }
        for point in CRASH_POINTS {
            assert!(self.crashes.get(point).is_some_and(|count| *count > 0), "{point}: {self:?}");
        }
        let counts = [self.removed, self.edited, self.skipped, self.failed, self.unfinished];
        assert!(counts.iter().all(|count| *count > 0), "{self:?}");
    }
}
