//! Memory and sockets of this process, and how memory grows.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

/// Taken with no call running and no connection open.
#[derive(Clone, Copy, Deserialize, Serialize)]
pub(crate) struct Sample {
    /// Calls before it.
    pub(crate) calls: u64,
    /// Bytes since the start.
    pub(crate) heap: i64,
    /// Bytes.
    pub(crate) resident: i64,
}

/// Bytes.
pub(crate) fn resident() -> io::Result<i64> {
    const PAGE: i64 = 4096;
    let pages = fs::read_to_string("/proc/self/statm")?;
    let resident = pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<i64>().ok());
    resident
        .map(|pages| pages * PAGE)
        .ok_or_else(|| io::Error::other("statm has another form"))
}

pub(crate) fn sockets() -> io::Result<usize> {
    let open =
        fs::read_dir("/proc/self/fd")?.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    Ok(open
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count())
}

/// Bytes a call over the last half of the calls: the median of the slopes between any two samples (Theil and Sen),
/// which is robust against buffers in some samples. 0 for fewer than 3.
pub(crate) fn slope(samples: &[Sample], bytes: impl Fn(&Sample) -> i64) -> f64 {
    let half = samples.last().map_or(0, |last| last.calls / 2);
    let late: Vec<_> = samples
        .iter()
        .filter(|sample| sample.calls >= half)
        .collect();
    let mut slopes = Vec::new();
    for (at, one) in late.iter().enumerate() {
        for other in &late[at + 1..] {
            let calls = other.calls - one.calls;
            slopes.push((bytes(other) - bytes(one)) as f64 / calls as f64);
        }
    }
    if late.len() < 3 {
        return 0.0;
    }
    slopes.sort_by(f64::total_cmp);
    slopes[slopes.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The heap grows by 3 bytes a call after 50, and each seventh sample is odd.
    fn sample(calls: i64) -> Sample {
        let heap = if calls < 50 {
            1000 * calls
        } else {
            50_000 + 3 * (calls - 50)
        };
        let odd = if calls % 7 == 0 { 9728 } else { 0 };
        Sample {
            calls: calls as u64,
            heap: heap + odd,
            resident: 7,
        }
    }

    #[test]
    fn the_slope_is_that_of_the_last_half_whatever_single_samples_say() {
        let samples: Vec<_> = (0..=100).map(sample).collect();
        assert!((slope(&samples, |sample| sample.heap) - 3.0).abs() < 0.1);
        assert_eq!(slope(&samples, |sample| sample.resident), 0.0);
        assert_eq!(slope(&samples[..2], |sample| sample.heap), 0.0);
    }
}
