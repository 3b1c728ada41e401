//! Processor time and memory of this process, and medians.

use std::fs;
use std::time::Duration;

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage};
use nix::time::{ClockId, clock_gettime};

/// User and system time of this process so far.
pub fn cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let (user, system) = (usage.user_time(), usage.system_time());
    Duration::from_micros(
        (1_000_000 * (user.tv_sec() + system.tv_sec()) + user.tv_usec() + system.tv_usec()) as u64,
    )
}

/// Processor time of this thread so far: `getrusage` would tell that of the last tick, which is too coarse for one call.
pub fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .unwrap()
        .into()
}

/// Processor time of `what`, in microseconds for each of `times`.
pub fn cpu_each(times: usize, what: impl FnOnce()) -> f64 {
    let before = cpu();
    what();
    (cpu() - before).as_secs_f64() * 1e6 / times as f64
}

/// Resident memory in KB: `VmRSS` is what is in use now, `VmHWM` the most so far.
pub fn resident(what: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(what)?.strip_prefix(':'))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// How many files, and so connections, this process may have open.
pub fn open_files() -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).unwrap().0
}

/// The value in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
