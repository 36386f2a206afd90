//! A pull that is killed at any point is finished by the next one, which reads little twice.
//!
//! `HIGHWATER_KILLS` is the number of kills for each database; the seed of each is its number.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::time::Duration;

use hw_sim::{RateLimitSpec, RequestEntry, ServedPage, ThreadKind, WorldSpec};

use crate::fixture::{GitHubFixture, postgres_url, run_seeded, success_stdout};
use crate::mirror_assertions::{assert_comments_match, assert_threads_match};

/// The number of pulls that are killed in parallel.
const PARALLEL_KILLS: usize = 5;

const ALL_ITEMS: [&str; 2] = ["-i", "repositories,discussions,issues,pull-requests,comments"];

/// A listing: repository and kind.
type ListingKey = (i64, ThreadKind);

#[test]
fn killed_pull_into_a_file_is_finished_by_the_next_one() {
    survive_kills(|seed, folder| {
        vec!["--database".to_owned(), format!("{folder}/killed-{seed}.db")]
    });
}

#[test]
fn killed_pull_into_postgres_is_finished_by_the_next_one() {
    let url = postgres_url();
    survive_kills(|seed, _| {
        let workspace = format!("killed_{}_{seed}", std::process::id());
        ["--database", &url, "--workspace", &workspace].map(str::to_owned).to_vec()
    });
}

/// Kills first pulls at seeded points, several in parallel: each trial waits for the lease of a dead owner.
fn survive_kills(workspace: impl Fn(u64, &str) -> Vec<String> + Sync) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let fixtures: Vec<GitHubFixture> =
        (0..PARALLEL_KILLS).map(|_| GitHubFixture::start(large_world(), 1)).collect();
    fixtures.iter().for_each(|fixture| fixture.with_github(|github| github.set_page_logging(true)));
    let whole = pull_whole(&fixtures[0], &workspace(0, folder));
    let killed = run_seeded("kills", &fixtures, kill_count(), |fixture, seed| {
        survive_a_kill(fixture, &workspace(seed, folder), whole, seed)
    });
    assert!(killed > 0, "every pull had ended before it was killed, so nothing was proven");
}

/// Kills a pull, lets another one finish it, and checks the result; returns whether the kill came before the end.
fn survive_a_kill(fixture: &GitHubFixture, workspace: &[String], whole: usize, seed: u64) -> bool {
    let began = fixture.request_count();
    let after = fastrand::Rng::with_seed(seed).usize(1..=whole);
    let was_killed = kill_after(fixture, workspace, began + after);
    let middle = fixture.request_count();
    let left = pull_whole(fixture, workspace);
    println!("seed {seed}: killed after {after} of {whole} requests; the rest took {left}");
    assert_threads_match(fixture, &as_strs(workspace));
    assert_comments_match(fixture, &as_strs(workspace));
    let entries = fixture.with_github(|github| github.request_log().entries.clone());
    assert_little_read_twice(&entries[began..middle], &entries[middle..], seed);
    was_killed
}

fn large_world() -> WorldSpec {
    let limits = RateLimitSpec {
        graphql_points_per_hour: 10_000_000,
        graphql_per_minute: 1_000_000,
        ..RateLimitSpec::default()
    };
    WorldSpec {
        repositories: 6,
        issues: 230,
        pull_requests: 120,
        discussions: 20,
        no_archives_or_forks: true,
        comments_per_thread: 1,
        latency_ms: 1..=5,
        limits,
        ..WorldSpec::small()
    }
}

fn kill_count() -> u64 {
    let text = std::env::var("HIGHWATER_KILLS").unwrap_or_else(|_| "10".to_owned());
    text.parse().expect("HIGHWATER_KILLS is not a number")
}

/// Runs a pull to its end, and returns its number of requests.
fn pull_whole(fixture: &GitHubFixture, workspace: &[String]) -> usize {
    let began = fixture.request_count();
    let mut command = fixture.pull_command(&as_strs(workspace));
    success_stdout(&command.args(ALL_ITEMS).arg("--json").output().unwrap());
    fixture.request_count() - began
}

/// Starts a pull and kills it once the world has answered this many requests; returns whether it was still running.
fn kill_after(fixture: &GitHubFixture, workspace: &[String], requests: usize) -> bool {
    let mut command = fixture.pull_command(&as_strs(workspace));
    let mut child =
        command.args(ALL_ITEMS).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while fixture.request_count() < requests && !has_ended(&mut child) {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    let was_killed = child.wait().unwrap().code().is_none();
    wait_until_quiet(fixture);
    was_killed
}

/// Waits for requests of the killed process that are still in flight: they belong to the first run.
fn wait_until_quiet(fixture: &GitHubFixture) {
    loop {
        let before = fixture.request_count();
        std::thread::sleep(Duration::from_millis(100));
        if fixture.request_count() == before {
            return;
        }
    }
}

fn has_ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// Checks that of each listing at most the page in flight and the head are read again.
fn assert_little_read_twice(first: &[RequestEntry], second: &[RequestEntry], seed: u64) {
    let served: BTreeMap<ListingKey, BTreeSet<i64>> = ids_below_the_head(first);
    let mut heads: BTreeMap<ListingKey, u32> = BTreeMap::new();
    let mut again: BTreeMap<ListingKey, u32> = BTreeMap::new();
    for page in walked_pages(second) {
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

fn ids_below_the_head(entries: &[RequestEntry]) -> BTreeMap<ListingKey, BTreeSet<i64>> {
    let mut served: BTreeMap<ListingKey, BTreeSet<i64>> = BTreeMap::new();
    for page in walked_pages(entries).filter(|page| page.after.is_some()) {
        served.entry((page.repository_id, page.kind)).or_default().extend(&page.ids);
    }
    served
}

/// Returns the pages of walks, without the probes in the listing of repositories.
fn walked_pages(entries: &[RequestEntry]) -> impl Iterator<Item = &ServedPage> {
    let walks = entries.iter().filter(|entry| !entry.summary.contains("repositoryOwner"));
    walks.flat_map(|entry| &entry.pages)
}

fn as_strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
