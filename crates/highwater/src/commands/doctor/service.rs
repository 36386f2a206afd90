//! Checks whether a service runs, and how its duties are going.

use hw_rules::duty::DutyName;
use hw_rules::duty_text::{describe_failure, describe_schedule};
use hw_rules::source_time::SourceInstant;
use hw_store::{ServiceRow, StoreError, StoreReader};
use hw_sync::clock::{Clock as _, MachineClock};

use super::finding::DoctorFinding;

const START_ADVICE: &str = "start `highwater service`; docs/operations.md describes how";
const RETRY_ADVICE: &str = "fix the cause; the service tries again by itself";

/// Returns which services run and what they do next, and the duties that fail.
pub(super) fn check_service(store: &StoreReader) -> Result<Vec<DoctorFinding>, StoreError> {
    let (now_ms, services, duties) = (MachineClock.now_ms(), store.services()?, store.duties()?);
    let mut findings: Vec<DoctorFinding> =
        services.iter().map(|service| service_finding(service, now_ms)).collect();
    let is_served = services.iter().any(|service| service.is_alive(now_ms));
    let schedule = describe_schedule(&duties, now_ms);
    if is_served && !schedule.is_empty() {
        findings.push(DoctorFinding::ok("service", format!("next: {}", schedule.join("; "))));
    }
    if !is_served {
        findings.push(idle_finding(store, duties.iter().map(|duty| &duty.name))?);
    }
    let failures = duties.iter().filter_map(|duty| describe_failure(duty, now_ms));
    findings.extend(failures.map(|failure| DoctorFinding::warn("service", failure, RETRY_ADVICE)));
    Ok(findings)
}

fn service_finding(service: &ServiceRow, now_ms: i64) -> DoctorFinding {
    let ServiceRow { worker, version, started_ms, .. } = service;
    let since = SourceInstant(*started_ms);
    if service.is_alive(now_ms) {
        let detail = format!("{worker} (version {version}) has been running since {since}");
        return DoctorFinding::ok("service", detail);
    }
    let detail = format!("{worker} started at {since} and ended unexpectedly");
    DoctorFinding::warn("service", detail, START_ADVICE)
}

/// Reports that no service runs, which matters only if something is watched.
fn idle_finding<'a>(
    store: &StoreReader,
    duties: impl Iterator<Item = &'a DutyName>,
) -> Result<DoctorFinding, StoreError> {
    let mut hosts: Vec<_> = duties
        .filter_map(|duty| match duty {
            DutyName::Repository(key) => Some(&key.host),
            DutyName::Pull(_)
            | DutyName::Accounts(_)
            | DutyName::Watches(_)
            | DutyName::Sweeps(_)
            | DutyName::Chores
            | DutyName::Service => None,
        })
        .collect();
    hosts.dedup();
    for host in hosts {
        if !store.watched_repositories(host.as_str())?.is_empty() {
            let detail = "no service is running, so watched threads are not read";
            return Ok(DoctorFinding::warn("service", detail, START_ADVICE));
        }
    }
    Ok(DoctorFinding::ok("service", "no service is running"))
}
