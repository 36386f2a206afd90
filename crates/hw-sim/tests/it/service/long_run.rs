//! A service for a day (`HIGHWATER_SERVICE_HOURS` for longer): through restarts, crashes, limits and faults, and on a
//! quiet day.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use hw_sim::{ActivitySpec, FaultRates, RateLimitSpec, WorldSpec};
use hw_store::{DatabaseLocation, StoreWriter};

use super::service_fixture::ServiceFixture;
use super::{MINUTE_MS, world_spec};
use crate::harness::shortcuts::FULL_PULL;
use crate::harness::{
    CheckLevel, SimFixture, TestPull, check_comments, check_mirror, env_number, env_variable,
    on_virtual_time,
};

const HOUR_MS: i64 = 60 * MINUTE_MS;
/// The name of the test that measures memory in a process of its own.
const MEMORY_TEST: &str = "service::long_run::service_needs_the_same_memory_after_a_day";
/// Names the file to which the process that is measured writes.
const MEMORY_FILE: &str = "HIGHWATER_TEST_MEMORY_FILE";

fn hours() -> i64 {
    env_number("HIGHWATER_SERVICE_HOURS").map_or(24, |hours| i64::try_from(hours).unwrap())
}

#[test]
fn service_mirrors_the_world_through_a_day_of_restarts_limits_and_faults() {
    let small = WorldSpec::with_clock_jitter();
    let until_ms = small.start_ms + hours() * HOUR_MS;
    let limits = RateLimitSpec {
        core_per_hour: 1_000,
        graphql_points_per_hour: 300,
        ..RateLimitSpec::default()
    };
    let spec = WorldSpec {
        issues: 12,
        activity: ActivitySpec::busy(1, until_ms),
        list_lag_ms: 20_000,
        replica_lag_ms: 20_000,
        faults: FaultRates::all_transient(0.002),
        limits,
        ..small
    };
    let service = ServiceFixture::with_sim(SimFixture::new(&spec, 1));
    let mut rng = fastrand::Rng::with_seed(1);
    on_virtual_time(async {
        let mut restarts = 0;
        while service.sim.world_now_ms() < until_ms {
            let minutes = rng.i64(5..180);
            if rng.bool() {
                service.run_until_crash(minutes * MINUTE_MS).await;
            } else {
                service.run_quietly_for(minutes * MINUTE_MS).await;
            }
            restarts += 1;
            if restarts == 1 {
                service.watch_first_repository();
            }
        }
        assert!(restarts >= hours() / 3, "{restarts} restarts");
        let faults: u64 = service.sim.with_github(|github| github.fired_faults().values().sum());
        assert!(faults > 0, "no fault fired, so nothing was proven");
        service.sim.with_github(|github| github.set_fault_rates(FaultRates::none()));
        service.run_quietly_for(2 * HOUR_MS).await;
        // what nobody touched for a day is swept in its slot
        service.run_quietly_for(25 * HOUR_MS).await;
        // two or more repositories that went at once are a person's decision
        let allowed = TestPull { allow_mass_removal: true, ..FULL_PULL };
        service.sim.pull(&allowed).await.unwrap();
        check_mirror(&service.sim, CheckLevel::Everything).unwrap();
        check_comments(&service.sim, CheckLevel::Everything).unwrap();
    });
}

#[test]
fn service_adds_no_row_to_any_table_on_a_quiet_day() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quiet.db");
    let service = quiet_service(&path);
    on_virtual_time(async {
        service.sim.pull(&TestPull { reconcile: true, ..FULL_PULL }).await.unwrap();
        service.watch_first_repository();
        service.run_quietly_for(2 * HOUR_MS).await;
        let before = row_counts(&path);
        service.run_quietly_for(hours() * HOUR_MS).await;
        assert_eq!(row_counts(&path), before);
    });
}

/// Runs in a process of its own, because other tests need memory, too.
#[cfg(target_os = "linux")]
#[test]
fn service_needs_the_same_memory_after_a_day() {
    if let Some(file) = env_variable(MEMORY_FILE) {
        return measure_memory(Path::new(&file));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sizes");
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    let output = command.args(["--exact", MEMORY_TEST]).env(MEMORY_FILE, &file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let text = std::fs::read_to_string(&file).unwrap();
    let sizes: Vec<f64> = text.split(' ').map(|size| size.parse().unwrap()).collect();
    assert!(
        sizes[1] <= 1.1 * sizes[0],
        "resident pages after two hours and after a day: {sizes:?}"
    );
}

/// Writes the resident pages of this process after two hours, and after a day.
#[cfg(target_os = "linux")]
fn measure_memory(file: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let service = quiet_service(&folder.path().join("memory.db"));
    let sizes = on_virtual_time(async {
        service.sim.pull(&FULL_PULL).await.unwrap();
        service.watch_first_repository();
        service.run_quietly_for(2 * HOUR_MS).await;
        let before = resident_pages();
        service.run_quietly_for(hours() * HOUR_MS).await;
        [before, resident_pages()]
    });
    std::fs::write(file, format!("{} {}", sizes[0], sizes[1])).unwrap();
}

#[cfg(target_os = "linux")]
fn resident_pages() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}

fn quiet_service(path: &Path) -> ServiceFixture {
    let location = DatabaseLocation::File(path.to_owned());
    let store = StoreWriter::open(&location).unwrap();
    ServiceFixture::with_sim(SimFixture::with_store(&world_spec(), 1, store))
}

/// Returns the number of rows of each table.
fn row_counts(path: &Path) -> BTreeMap<String, i64> {
    let database = rusqlite::Connection::open(path).unwrap();
    let tables = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'";
    let mut tables = database.prepare(tables).unwrap();
    let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    names
        .map(|name| {
            let name = name.unwrap();
            let count = format!("select count(*) from \"{name}\"");
            let count = database.query_row(&count, [], |row| row.get(0)).unwrap();
            (name, count)
        })
        .collect()
}
