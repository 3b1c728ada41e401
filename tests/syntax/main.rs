//! The ways to write a node, an output or a validator, a file for each topic. The lints of strict crates are errors here:
//! generated code must not trip them in a user's crate.

#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    unused,
    unused_qualifications,
    unused_lifetimes,
    unused_results,
    single_use_lifetimes,
    unreachable_pub,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    let_underscore_drop,
    trivial_casts,
    trivial_numeric_casts,
    non_ascii_idents,
    variant_size_differences,
    future_incompatible,
    nonstandard_style,
    rust_2018_idioms,
    rust_2024_compatibility
)]
#![forbid(unsafe_code)]
#![allow(
    clippy::double_must_use,
    clippy::needless_arbitrary_self_type,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "a test of ways to write things"
)]

mod attributes;
mod cfg;
mod fragments;
mod generics;
mod names;
mod outputs;
mod places;
mod support;
mod taken;
mod validators;
