//! A pull that a person stops, at any point of its work: it ends soon, says so once, gives its lease back,
//! and the next one finishes what it began.
//!
//! `HIGHWATER_STOPS` says how many stops each database sees; the seed of each is its number.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use hw_sim::{Fault, WorldSpec};
use hw_store::{Place, Store};
use hw_sync::clock::{Clock as _, MachineClock};
use rusqlite::Connection;

use crate::house::{House, hearing_hangups, postgres, pulled, seeded, succeeded, with_hangups};
use crate::judge::equals_the_world;

/// How many stops are looked at at once.
const AT_ONCE: usize = 5;
/// Two seconds, and as much again and more for a machine that has other things to do.
const DEADLINE_MS: i64 = 6_000;

#[test]
fn a_pull_into_a_file_can_be_stopped_at_any_point() {
    survive_stops(|seed, folder| Place::File(format!("{folder}/stopped-{seed}.db").into()));
}

#[test]
fn a_pull_into_postgres_can_be_stopped_at_any_point() {
    let url = postgres();
    survive_stops(|seed, _| {
        let schema = format!("stopped_{}_{seed}", std::process::id());
        Place::Postgres { url: url.clone(), schema }
    });
}

/// Stops cold pulls at seeded points, some at once.
fn survive_stops(place: impl Fn(u64, &str) -> Place + Sync) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let houses: Vec<House> = (0..AT_ONCE).map(|_| House::open(world(), 1)).collect();
    let whole = finish(&houses[0], &place(0, folder));
    let stopped = seeded("stops", &houses, stops(), |house, seed| {
        survive_a_stop(house, &place(seed, folder), whole, seed)
    });
    assert!(0 < stopped, "every pull had ended before it was stopped, so nothing was proven");
}

/// Stops a pull, looks at how it ended, and lets another one finish it; whether it was stopped at work.
fn survive_a_stop(house: &House, place: &Place, whole: usize, seed: u64) -> bool {
    let mut dice = fastrand::Rng::with_seed(seed);
    let after = dice.usize(1..=whole);
    let signal = if dice.bool() { "-INT" } else { "-TERM" };
    let mut pull = begin(house, &arguments(place));
    wait_for(house, &mut pull, house.requests() + after);
    // somewhere between this request and the next
    std::thread::sleep(Duration::from_micros(dice.u64(0..8_000)));
    println!("seed {seed}: {signal} after {after} of {whole} requests");
    let (output, took_ms) = ended(pull, signal);
    let was_stopped = output.status.code() != Some(0);
    if was_stopped {
        is_an_interruption(&output, took_ms);
        match Store::open_reader(place) {
            // stopped before it had stored anything, it leaves nothing behind
            Err(hw_store::Error::NoDatabase(_)) => {}
            store => {
                let held = store.unwrap().lease_holder("pull").unwrap();
                assert_eq!(held, None, "seed {seed}: the lease was not given back");
            }
        }
    }
    finish(house, place);
    equals_the_world(house, &texts(&arguments(place)));
    was_stopped
}

#[test]
fn a_pull_that_waits_for_a_limit_can_be_stopped() {
    for fault in [Fault::SecondaryWithRetryAfter, Fault::PrimaryExhausted] {
        let (house, home) = pulled();
        house.look(|github| github.arm(fault, 1));
        let mut command = house.pull(&["-f", "-m", home.path().to_str().unwrap()]);
        let mut pull = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(pull.stderr.take().unwrap()).lines();
        let limited = lines.find(|line| line.as_ref().unwrap().contains("rate limit: "));
        assert!(limited.is_some(), "{fault:?}: it waits");
        let (output, took_ms) = ended(pull, "-INT");
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(rest, ["Error: interrupted; nothing that was kept is lost"]);
        assert_eq!(output.status.code(), Some(130));
        assert!(took_ms < DEADLINE_MS, "{took_ms}");
    }
}

#[test]
fn a_pull_that_nobody_answers_can_be_stopped() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let (house, home) = (House::small(), tempfile::tempdir().unwrap());
        house.look(|github| github.arm(Fault::Stall, 100));
        let mut pull = begin(&house, &["-m".to_owned(), home.path().display().to_string()]);
        wait_for(&house, &mut pull, 1);
        let (output, took_ms) = ended(pull, signal);
        is_an_interruption(&output, took_ms);
    }
}

/// `nohup` has a process ignore hangups; it goes on when its terminal is closed.
#[cfg(target_os = "linux")]
#[test]
fn hangup_that_is_ignored_from_the_start_stays_ignored() {
    for (option, is_ignored) in [("--ignore-signal=HUP", true), ("--default-signal=HUP", false)] {
        let (house, home) = (House::small(), tempfile::tempdir().unwrap());
        house.look(|github| github.arm(Fault::Stall, 100));
        let pull = house.pull(&["-m", home.path().to_str().unwrap()]);
        let mut command = with_hangups(&pull, option);
        let mut pull = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for(&house, &mut pull, 1);
        let heard = ["SigIgn", "SigCgt"].map(|name| has_hangup(&pull, name));
        pull.kill().unwrap();
        pull.wait().unwrap();
        assert_eq!(heard, [is_ignored, !is_ignored], "{option}");
    }
}

/// Whether SIGHUP is in one of the sets of signals that the system shows of a process.
#[cfg(target_os = "linux")]
fn has_hangup(process: &Child, set: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
    let mask = u64::from_str_radix(line.trim_start_matches([':', '\t']), 16).unwrap();
    mask & 1 == 1
}

#[test]
fn a_pull_that_waits_for_the_database_can_be_stopped_and_its_next_one_finishes() {
    let (house, folder) = (House::open(world(), 1), tempfile::tempdir().unwrap());
    let file = folder.path().join("locked.db");
    let (pull, lock) = locked_out(&house, &file);
    let (output, took_ms) = ended(pull, "-INT");
    is_an_interruption(&output, took_ms);
    drop(lock);
    let place = Place::File(file);
    finish(&house, &place);
    equals_the_world(&house, &texts(&arguments(&place)));
}

/// The first Ctrl-C waits for what is under way, here in vain; the second one does not. A machine that is
/// busy elsewhere may be late once, or twice.
#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let times: Vec<i64> = (0..3).map(|_| time_to_end_by_two()).collect();
    assert!(times.iter().any(|ms| *ms < 1_000), "{times:?}: no sooner than by one");
}

/// How long a pull that cannot go on takes to end after the second of two Ctrl-Cs.
fn time_to_end_by_two() -> i64 {
    let (house, folder) = (House::open(world(), 1), tempfile::tempdir().unwrap());
    let (mut pull, _lock) = locked_out(&house, &folder.path().join("locked.db"));
    send("-INT", &pull);
    std::thread::sleep(Duration::from_millis(100));
    assert!(pull.try_wait().unwrap().is_none(), "the first one leaves it a moment");
    let (output, took_ms) = ended(pull, "-INT");
    is_an_interruption(&output, took_ms);
    took_ms
}

fn is_an_interruption(output: &Output, took_ms: i64) {
    let told = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert_eq!(told.matches("interrupted; ").count(), 1, "{told}");
    assert!(told.ends_with("Error: interrupted; nothing that was kept is lost\n"), "{told}");
    assert!(took_ms < DEADLINE_MS, "it took {took_ms} ms: {told}");
}

/// A pull whose database is locked by somebody else half-way, and that lock.
fn locked_out(house: &House, file: &std::path::Path) -> (Child, Connection) {
    let mut pull = begin(house, &arguments(&Place::File(file.to_owned())));
    wait_for(house, &mut pull, house.requests() + 3);
    let lock = Connection::open(file).unwrap();
    lock.busy_timeout(Duration::from_secs(10)).unwrap();
    lock.execute_batch("begin immediate").unwrap();
    let mut asked = 0;
    while asked < house.requests() {
        asked = house.requests();
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(pull.try_wait().unwrap().is_none(), "it waits for the database");
    (pull, lock)
}

fn world() -> WorldSpec {
    WorldSpec {
        repositories: 6,
        issues: 230,
        pull_requests: 120,
        discussions: 20,
        plain: true,
        comments_per_thread: 0,
        latency_ms: 1..=5,
        ..WorldSpec::small()
    }
}

fn stops() -> u64 {
    let text = std::env::var("HIGHWATER_STOPS").unwrap_or_else(|_| "10".to_owned());
    text.parse().expect("HIGHWATER_STOPS is a number")
}

/// A pull that is left alone; how many requests it made.
fn finish(house: &House, place: &Place) -> usize {
    let began = house.requests();
    succeeded(&house.pull(&texts(&arguments(place))).arg("--json").output().unwrap());
    house.requests() - began
}

fn begin(house: &House, args: &[String]) -> Child {
    let mut command = hearing_hangups(&house.pull(&texts(args)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the world has seen so many requests, or the pull has ended.
fn wait_for(house: &House, pull: &mut Child, requests: usize) {
    while house.requests() < requests && pull.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}

/// Sends a signal; what came of it, and how long it took.
fn ended(pull: Child, signal: &str) -> (Output, i64) {
    let start_ms = MachineClock.now_ms();
    send(signal, &pull);
    let output = pull.wait_with_output().unwrap();
    (output, MachineClock.now_ms() - start_ms)
}

/// One that has ended meanwhile hears nothing, and need not.
fn send(signal: &str, pull: &Child) {
    Command::new("kill").args([signal, &pull.id().to_string()]).output().unwrap();
}

fn arguments(place: &Place) -> Vec<String> {
    let words: Vec<&str> = match place {
        Place::Memory => vec![],
        Place::File(path) => vec!["--database", path.to_str().unwrap()],
        Place::Postgres { url, schema } => vec!["--database", url, "--workspace", schema],
    };
    words.into_iter().map(str::to_owned).collect()
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
