//! What a provider says of its limits, and the pace that follows.

use std::time::Duration;

/// One limit, as the headers of an answer say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// How many there are in all.
    pub limit: Option<u64>,
    /// How many are left.
    pub remaining: u64,
    /// When there are all of them again, or a new window begins.
    pub reset: Duration,
}

/// The limits in the headers of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Of requests.
    pub requests: Option<RateLimit>,
    /// Of tokens.
    pub tokens: Option<RateLimit>,
    /// Whether the host is one of the provider that defines these headers.
    pub is_providers: bool,
}

/// Of a provider's bucket that is nearly empty, at least so much of what flows in is used.
const LEAST_SHARE: f64 = 0.1;

impl RateLimit {
    /// The time between two that keeps the limit. `None`: it does not bind. A
    /// bucket is used up to its half; below, the slower the emptier it is.
    pub(super) fn step(self, is_providers: bool) -> Option<f64> {
        let seconds = self.reset.as_secs_f64();
        if self.remaining == 0 && seconds > 0.0 && !is_providers {
            return Some(seconds);
        }
        let limit = self.limit.filter(|limit| {
            is_providers && *limit > 0 && self.remaining.saturating_mul(2) < *limit
        })?;
        let missing = limit.saturating_sub(self.remaining) as f64;
        let share = (2.0 * self.remaining as f64 / limit as f64).max(LEAST_SHARE);
        (seconds > 0.0).then(|| seconds / (missing * share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_that_is_less_than_half_full_slows_down() {
        let step = |limit, remaining, seconds, is_providers| {
            let reset = Duration::from_secs(seconds);
            RateLimit {
                limit,
                remaining,
                reset,
            }
            .step(is_providers)
        };
        // 100 a minute flow in.
        assert_eq!(step(Some(100), 60, 24, true), None);
        assert_eq!(
            step(Some(100), 49, 51, true).map(|step| (step * 100.0).round()),
            Some(102.0),
            "about one a second"
        );
        assert_eq!(step(Some(100), 0, 60, true).map(f64::round), Some(6.0));
        assert_eq!(step(None, 1, 60, true), None);
        // Of hosts that nobody knows, only an empty one is believed.
        assert_eq!(step(Some(100), 1, 60, false), None);
        assert_eq!(step(Some(100), 0, 60, false), Some(60.0));
    }
}
