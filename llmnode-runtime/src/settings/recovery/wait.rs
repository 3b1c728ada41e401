//! The wait before a further try.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::recovery::Backoff;
use super::stacks::Stacks;
use crate::limits::TimeLeft;
use crate::settings::Settings;

/// A random part of 0.5 s · 2ⁿ, at most 8 s ("full jitter", AWS Architecture Blog),
/// so that clients that failed together do not return together.
pub(super) fn jitter(tries: u32) -> Duration {
    Duration::from_millis(500)
        .saturating_mul(1 << tries.min(4))
        .mul_f64(random())
}

/// `max_wait`: a server that asks for more is not waited for.
#[derive(Clone, Copy)]
pub(super) struct WaitLimit {
    pub(super) longest: Duration,
}

impl WaitLimit {
    pub(super) fn new(stacks: &Stacks<'_>) -> Self {
        let max_wait = stacks.nearest(|level| level.max_wait);
        WaitLimit {
            longest: max_wait.unwrap_or(Settings::MAX_WAIT),
        }
    }

    /// The server's wait plus ours, at most `longest`. `Err`: why there is no further try.
    ///
    /// Ours may be longer than `max_wait`, where the program sets it; the server's may not.
    pub(super) fn wait_before_retry(
        self,
        ours: Duration,
        longest: Duration,
        server: Option<Duration>,
        time_left: Option<&TimeLeft>,
    ) -> Result<Duration, String> {
        let limit = self.longest;
        let server = server.unwrap_or_default();
        if server > limit {
            return Err(format!(
                "; the server asks for a wait of {server:?}, longer than max_wait ({limit:?})"
            ));
        }
        let wait = server.saturating_add(ours).min(longest);
        match time_left.and_then(|left| left.outlasted_by(wait)) {
            Some(why) => Err(format!("; {why}")),
            None => Ok(wait),
        }
    }
}

impl Backoff {
    /// The wait before the try after so many.
    pub(crate) fn wait(self, tries: u32) -> Duration {
        let times = 1_u32.checked_shl(tries.saturating_add(1));
        let doubled = self.from.saturating_mul(times.unwrap_or(u32::MAX));
        let range = doubled.min(self.to).saturating_sub(self.from);
        self.from.saturating_add(range.mul_f64(random()))
    }
}

/// A number from 0 up to 1. The standard library's random keys are enough for a
/// wait, so there is no crate for it.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0_u8) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn jitter_grows_to_eight_seconds() {
        for tries in 0..100 {
            let cap = Duration::from_secs_f64((0.5 * f64::powi(2.0, tries)).min(8.0));
            assert!(jitter(tries.unsigned_abs()) <= cap, "after {tries} tries");
        }
        let longest = (0..200).map(|_| jitter(9)).max().unwrap();
        assert!(longest > SECOND * 7, "{longest:?}");
    }

    #[test]
    fn a_growing_wait_stays_within_its_bounds() {
        let backoff = Backoff::growing(SECOND, SECOND * 60);
        for tries in 0..100 {
            let cap = f64::powi(2.0, tries + 1).min(60.0);
            let wait = backoff.wait(tries.unsigned_abs()).as_secs_f64();
            assert!((1.0..=cap).contains(&wait), "{wait} after {tries} tries");
        }
        let longest = (0..200).map(|_| backoff.wait(50)).max().unwrap();
        assert!(longest > SECOND * 50, "{longest:?}");
    }

    #[test]
    fn a_fixed_wait_is_always_the_same() {
        assert!((0..9).all(|tries| Backoff::fixed(SECOND * 10).wait(tries) == SECOND * 10));
    }

    #[test]
    fn a_wait_is_shown_as_it_is_written() {
        assert_eq!(Backoff::fixed(SECOND * 10).to_string(), "10s");
        assert_eq!(Backoff::growing(SECOND, SECOND * 60).to_string(), "1s..60s");
    }

    #[test]
    fn absurd_waits_do_not_overflow() {
        let most = Backoff::growing(Duration::MAX, Duration::MAX);
        assert_eq!(most.wait(u32::MAX), Duration::MAX);
        let _ = Backoff::growing(Duration::ZERO, Duration::MAX).wait(u32::MAX);
        let _ = Backoff::growing(SECOND, Duration::MAX).wait(u32::MAX);
    }

    #[test]
    fn waits_differ() {
        let waits: std::collections::BTreeSet<_> = (0..8).map(|_| jitter(4)).collect();
        assert!(waits.len() > 1);
    }
}
