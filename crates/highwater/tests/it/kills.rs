//! A pull that is killed at any point of its work is finished by the next one, which reads little twice.
//!
//! `HIGHWATER_KILLS` says how many kills each database sees; the seed of each is its number.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::time::Duration;

use hw_sim::{Limits, RequestEntry, ServedPage, ThreadKind, WorldSpec};

use crate::house::{House, postgres, seeded, succeeded};
use crate::judge::{comments_equal_the_world, equals_the_world};

/// How many kills are looked at at once.
const AT_ONCE: usize = 5;

const EVERYTHING: [&str; 2] = ["-i", "repositories,discussions,issues,pull-requests,comments"];

/// A listing: repository and kind.
type List = (i64, ThreadKind);

#[test]
fn a_pull_into_a_file_survives_every_kill() {
    survive_kills(|seed, folder| {
        vec!["--database".to_owned(), format!("{folder}/killed-{seed}.db")]
    });
}

#[test]
fn a_pull_into_postgres_survives_every_kill() {
    let url = postgres();
    survive_kills(|seed, _| {
        let workspace = format!("killed_{}_{seed}", std::process::id());
        ["--database", &url, "--workspace", &workspace].map(str::to_owned).to_vec()
    });
}

/// Kills cold pulls at seeded points, some at once: a dead owner's lease has to be waited for.
fn survive_kills(workspace: impl Fn(u64, &str) -> Vec<String> + Sync) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let houses: Vec<House> = (0..AT_ONCE).map(|_| House::open(world(), 1)).collect();
    houses.iter().for_each(|house| house.look(|github| github.keep_pages(true)));
    let whole = pull_whole(&houses[0], &workspace(0, folder));
    let killed = seeded("kills", &houses, kills(), |house, seed| {
        survive_a_kill(house, &workspace(seed, folder), whole, seed)
    });
    assert!(0 < killed, "every pull had ended before it was killed, so nothing was proven");
}

/// Kills a pull, lets another one finish it, and looks at what it did; whether it was killed at work.
fn survive_a_kill(house: &House, workspace: &[String], whole: usize, seed: u64) -> bool {
    let began = house.requests();
    let after = fastrand::Rng::with_seed(seed).usize(1..=whole);
    let was_killed = kill_after(house, workspace, began + after);
    let middle = house.requests();
    let left = pull_whole(house, workspace);
    println!("seed {seed}: killed after {after} of {whole} requests; the rest took {left}");
    equals_the_world(house, &texts(workspace));
    comments_equal_the_world(house, &texts(workspace));
    let entries = house.look(|github| github.requests().entries.clone());
    little_is_read_twice(&entries[began..middle], &entries[middle..], seed);
    was_killed
}

fn world() -> WorldSpec {
    let limits = Limits {
        graphql_points_per_hour: 10_000_000,
        graphql_per_minute: 1_000_000,
        ..Limits::default()
    };
    WorldSpec {
        repositories: 6,
        issues: 230,
        pull_requests: 120,
        discussions: 20,
        plain: true,
        comments_per_thread: 1,
        latency_ms: 1..=5,
        limits,
        ..WorldSpec::small()
    }
}

fn kills() -> u64 {
    let text = std::env::var("HIGHWATER_KILLS").unwrap_or_else(|_| "10".to_owned());
    text.parse().expect("HIGHWATER_KILLS is a number")
}

/// A pull that is left alone; how many requests it made.
fn pull_whole(house: &House, workspace: &[String]) -> usize {
    let began = house.requests();
    let mut command = house.pull(&texts(workspace));
    succeeded(&command.args(EVERYTHING).arg("--json").output().unwrap());
    house.requests() - began
}

/// Starts a pull and kills it when the world has answered so many requests; whether it was still at work.
fn kill_after(house: &House, workspace: &[String], requests: usize) -> bool {
    let mut command = house.pull(&texts(workspace));
    let mut child =
        command.args(EVERYTHING).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while house.requests() < requests && !has_ended(&mut child) {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    let was_killed = child.wait().unwrap().code().is_none();
    wait_until_quiet(house);
    was_killed
}

/// What the dead process had sent is still on its way to the world, and belongs to the first run.
fn wait_until_quiet(house: &House) {
    loop {
        let before = house.requests();
        std::thread::sleep(Duration::from_millis(100));
        if house.requests() == before {
            return;
        }
    }
}

fn has_ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// Of each listing: at most the page that was on its way, and the head once more.
fn little_is_read_twice(first: &[RequestEntry], second: &[RequestEntry], seed: u64) {
    let served: BTreeMap<List, BTreeSet<i64>> = ids_below_the_head(first);
    let mut heads: BTreeMap<List, u32> = BTreeMap::new();
    let mut again: BTreeMap<List, u32> = BTreeMap::new();
    for page in walked(second) {
        let list = (page.repository_id, page.kind);
        if page.after.is_none() {
            *heads.entry(list).or_default() += 1;
        } else if page.ids.iter().any(|id| served.get(&list).is_some_and(|ids| ids.contains(id))) {
            *again.entry(list).or_default() += 1;
        }
    }
    for (list, count) in heads {
        assert!(count <= 1, "seed {seed}: the head of {list:?} was read {count} times");
    }
    for (list, count) in again {
        assert!(count <= 1, "seed {seed}: {count} pages of {list:?} were read a second time");
    }
}

fn ids_below_the_head(entries: &[RequestEntry]) -> BTreeMap<List, BTreeSet<i64>> {
    let mut served: BTreeMap<List, BTreeSet<i64>> = BTreeMap::new();
    for page in walked(entries).filter(|page| page.after.is_some()) {
        served.entry((page.repository_id, page.kind)).or_default().extend(&page.ids);
    }
    served
}

/// The pages of walks; the probes that come with the listing of repositories are none.
fn walked(entries: &[RequestEntry]) -> impl Iterator<Item = &ServedPage> {
    let is_listing = |entry: &&RequestEntry| entry.what.contains("organization");
    entries.iter().filter(move |entry| !is_listing(entry)).flat_map(|entry| &entry.pages)
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
