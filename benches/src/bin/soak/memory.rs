//! Memory and sockets of processes, and how memory grows.

use std::fs;
use std::io;

/// Resident memory of a process, in bytes; `None` once it has ended.
pub(crate) fn resident(process: u32) -> Option<u64> {
    const PAGE: u64 = 4096;
    let pages = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    pages.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE).filter(|bytes| *bytes > 0)
}

/// The sockets that this process has open.
pub(crate) fn sockets() -> io::Result<usize> {
    let open = fs::read_dir("/proc/self/fd")?.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    Ok(open.filter(|target| target.to_string_lossy().starts_with("socket:")).count())
}

/// By how much the second figure grows with each unit of the first, over the samples beyond the middle of the first
/// (least squares). 0 for fewer than 3 samples.
pub(crate) fn slope_of_last_half(samples: &[(u64, f64)]) -> f64 {
    let half = samples.last().map_or(0, |(last, _)| last / 2);
    let late: Vec<(f64, f64)> =
        samples.iter().filter(|(at, _)| *at >= half).map(|(at, value)| (*at as f64, *value)).collect();
    if late.len() < 3 {
        return 0.0;
    }
    let count = late.len() as f64;
    let mean_x = late.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = late.iter().map(|(_, y)| y).sum::<f64>() / count;
    let over = late.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>();
    over / late.iter().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_last_half() {
        let leak =
            |at: u64| (at, if at < 50 { 1000.0 * at as f64 } else { 50_000.0 + 3.0 * (at - 50) as f64 });
        let samples: Vec<_> = (0..=100).map(leak).collect();
        assert!((slope_of_last_half(&samples) - 3.0).abs() < 1e-9);
        assert_eq!(slope_of_last_half(&[]), 0.0);
    }
}
