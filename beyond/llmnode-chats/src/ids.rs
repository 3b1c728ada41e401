//! Ids and versions that no other process makes.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

static MADE: AtomicU64 = AtomicU64::new(0);

/// Hashed with keys that the standard library takes from the system.
fn random() -> u64 {
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    RandomState::new().hash_one((number, std::process::id()))
}

pub(crate) fn unique() -> String {
    format!("{:016x}{:016x}", random(), random())
}

/// Small enough that it can be counted up for ever.
pub(crate) fn first_version() -> i64 {
    i64::try_from(random() >> 2).unwrap_or_default()
}
