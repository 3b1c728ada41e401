//! Tests of the macros' sources. A macro crate exports nothing but macros, so the sources are modules here; the unit
//! tests beside them run here as well, and only here.

#![allow(
    dead_code,
    reason = "the macros' entry points are in the crate's root, which is not included"
)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

extern crate proc_macro;

mod expansions;
mod invariants;
mod robustness;
mod sources;

use sources::*;
