//! Whether a failure is followed by another attempt, and after which wait.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::failure::Failure;
use crate::ledger::AttemptKind;
use crate::model::Retry;
use crate::settings::Resolved;
use crate::validate::Attempt;

/// How often a call may ask again because the model's handle learned what the provider refuses. A handle
/// learns each refusal once; the bound holds even if it does not.
const ADAPTIONS: u32 = 8;

/// What is left of a call's retries.
pub(super) struct Budget {
    retries: u32,
    corrections: u32,
    transport_retries: u32,
    transport_tries: u32,
    adaptions: u32,
    max_wait: Duration,
}

/// What follows a failure.
pub(super) enum Next {
    Again {
        kind: AttemptKind,
        wait: Duration,
    },
    Stop,
    /// The server asks for a longer wait than allowed.
    WaitTooLong(Duration),
}

impl Budget {
    pub(super) fn new(plan: &Resolved) -> Self {
        Budget {
            retries: plan.retries,
            corrections: 0,
            transport_retries: plan.transport_retries,
            transport_tries: 0,
            adaptions: 0,
            max_wait: plan.max_wait,
        }
    }

    /// The attempt as validators see it.
    pub(super) fn attempt(&self) -> Attempt {
        Attempt::new(self.corrections, self.retries)
    }

    /// Takes one try from the budget that the failure calls for, if there is one left.
    pub(super) fn after(&mut self, failure: &Failure) -> Next {
        let (kind, wait) = match failure.retry {
            Retry::No => return Next::Stop,
            Retry::Feedback if self.corrections < self.retries => {
                self.corrections += 1;
                (AttemptKind::Correction, Duration::ZERO)
            }
            Retry::Transport if self.transport_tries < self.transport_retries => {
                if let Some(asked) = failure.retry_after.filter(|asked| *asked > self.max_wait) {
                    return Next::WaitTooLong(asked);
                }
                let wait = wait(self.transport_tries, failure.retry_after).min(self.max_wait);
                self.transport_tries += 1;
                (AttemptKind::Retry, wait)
            }
            Retry::Adapted if self.adaptions < ADAPTIONS => {
                self.adaptions += 1;
                (AttemptKind::Adapted, Duration::ZERO)
            }
            Retry::Feedback | Retry::Transport | Retry::Adapted => return Next::Stop,
        };
        Next::Again { kind, wait }
    }
}

/// The server's wait plus a random part of 0.5 s · 2ⁿ, at most of 8 s ("full jitter", as in AWS's
/// Architecture Blog), so that clients which failed together do not come back together.
fn wait(tries: u32, server: Option<Duration>) -> Duration {
    let cap = Duration::from_millis(500).saturating_mul(1 << tries.min(4));
    server.unwrap_or_default().saturating_add(cap.mul_f64(random()))
}

/// A random number from 0 to 1, from the seeds of the standard library's hash maps.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0_u8) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_eight_seconds_above_the_servers() {
        let server = Duration::from_secs(20);
        for tries in 0..100 {
            let cap = Duration::from_secs_f64((0.5 * f64::powi(2.0, tries)).min(8.0));
            let wait = wait(tries.unsigned_abs(), Some(server));
            assert!(wait >= server && wait <= server + cap, "{wait:?} after {tries} tries");
        }
    }

    #[test]
    fn absurd_waits_do_not_overflow() {
        assert_eq!(wait(u32::MAX, Some(Duration::MAX)), Duration::MAX);
    }

    #[test]
    fn waits_differ() {
        assert!((0..8).map(|_| wait(4, None)).collect::<std::collections::BTreeSet<_>>().len() > 1);
    }
}
