//! The processor time and the memory of a process, as the system reports them.

use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// The interval at which memory is sampled.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
/// `/proc` counts processor time in ticks of a hundredth of a second.
const MS_PER_TICK: u64 = 10;

/// The resources that a process has used so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProcessUsage {
    /// Of all threads, in user mode and in the kernel.
    pub(crate) cpu_ms: u64,
    pub(crate) peak_kb: u64,
}

/// A process that has ended.
pub(crate) struct EndedProcess {
    pub(crate) status: ExitStatus,
    pub(crate) usage: ProcessUsage,
}

/// Waits until a child has ended, and returns what it used.
pub(crate) fn wait_for_child(mut child: Child) -> EndedProcess {
    let id = child.id();
    let pid = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    // the process stays until it is waited for, and with it its times
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let mut peak_kb = 0;
    while waitid(WaitId::Pid(pid), options).unwrap().is_none() {
        peak_kb = read_usage(id).map_or(peak_kb, |usage| usage.peak_kb.max(peak_kb));
        thread::sleep(SAMPLE_INTERVAL);
    }
    let cpu_ms = read_cpu_ms(id).unwrap();
    EndedProcess { status: child.wait().unwrap(), usage: ProcessUsage { cpu_ms, peak_kb } }
}

/// Returns what a running process has used so far.
pub(crate) fn read_usage(process: u32) -> Option<ProcessUsage> {
    Some(ProcessUsage { cpu_ms: read_cpu_ms(process)?, peak_kb: read_peak_kb(process)? })
}

/// Returns what all running processes of this name have used so far.
pub(crate) fn read_usage_by_name(name: &str) -> ProcessUsage {
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let comm = std::fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
        (comm.trim() == name).then_some(id)
    });
    ids.filter_map(read_usage).fold(ProcessUsage::default(), |sum, usage| ProcessUsage {
        cpu_ms: sum.cpu_ms + usage.cpu_ms,
        peak_kb: sum.peak_kb + usage.peak_kb,
    })
}

fn read_peak_kb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

fn read_cpu_ms(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // the second field is the name in parentheses, which may contain spaces
    let (_, fields) = stat.rsplit_once(") ")?;
    let times = fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().ok());
    let ticks: Option<u64> = times.sum();
    ticks.map(|ticks| ticks * MS_PER_TICK)
}
