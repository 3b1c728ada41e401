//! Correct programs that strain the macros, each a module of its own. They are a test of edition 2024 here and a program of edition
//! 2021, which calls the crate by another name, in `tests/examples/renamed.rs`. What is allowed here is in their own code.
#![allow(
    clippy::iter_not_returning_iterator,
    clippy::needless_pass_by_value,
    clippy::new_ret_no_self,
    clippy::similar_names,
    clippy::ptr_arg,
    clippy::struct_field_names,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self,
    clippy::useless_conversion,
    reason = "unusual on purpose"
)]

mod cfgs;
mod documented;
mod emitted;
mod flows;
mod generics;
mod lifetimes;
mod names;
mod nodes;
mod outputs;
mod places;
mod support;
mod tools;
mod validators;

/// Runs each of them.
pub(crate) async fn run_all() {
    cfgs::run().await;
    documented::run().await;
    emitted::run().await;
    flows::run().await;
    generics::run().await;
    lifetimes::run().await;
    names::run().await;
    nodes::run().await;
    outputs::run().await;
    places::run().await;
    tools::run().await;
    validators::run().await;
}
