//! The meter of a server.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::log::lock;
use super::cache_rules::{BilledPrompt, CacheRules};
use super::meter::CacheMeter;

/// The meter of a server, and its clock.
pub(in super::super) struct Billing {
    started: Instant,
    meter: Mutex<CacheMeter>,
}

impl Billing {
    pub(in super::super) fn new(rules: CacheRules) -> Billing {
        Billing {
            started: Instant::now(),
            meter: Mutex::new(CacheMeter::new(rules)),
        }
    }

    /// `after`: the pause before the answer begins.
    pub(in super::super) fn bill(&self, body: &Value, after: Duration) -> BilledPrompt {
        // The time is read under the lock, so that requests are billed in its order.
        let mut meter = lock(&self.meter);
        let at = self.started.elapsed();
        meter.bill(body, at, at + after)
    }

    pub(in super::super) fn cost(&self) -> f64 {
        lock(&self.meter).cost()
    }
}
