//! Checks JSON against a schema. Reports everything that is wrong, in words that a
//! model can act on.
//!
//! A schema is compiled once for each type (`compile.rs`) to rules, which refer to
//! each other by number (`rules.rs`); a value and its rules come in, and faults go
//! out, each with its path (`location.rs`), in the order of the text. There are two
//! modes, `CheckMode`: *type* asks only what serde would ask, to find out which of
//! several readings is meant; *schema* asks all that the schema says.
//!
//! Of a union (`union.rs`) the form is reported that the value was probably meant
//! to be: a fault of each form would tell the model nothing. The work is bounded
//! (`Checker::spend`), since forms within forms multiply.
//!
//! What is wrong is written in `fault.rs` and `describe.rs`, what would be right in
//! `expected.rs`: these sentences go to models, and a change of one is a change of
//! prompts.
//!
//! `pattern`, most values of `format` and other keywords without code here are not
//! checked. Who takes schemas from others has to reject those that have them, so
//! that none is ignored silently.

mod bounds;
mod checker;
mod compile;
pub(crate) mod describe;
mod expected;
mod fault;
mod items;
mod location;
mod members;
mod names;
mod number;
mod rules;
mod text_format;
mod union;
mod variant;

pub(super) use self::bounds::states_bounds;
pub(crate) use self::checker::{CheckMode, Checker, faults, rounded, violations};
pub use self::compile::target;
pub(super) use self::expected::expected_answer;
pub(super) use self::fault::{Fault, Severity, into_violations};
pub(super) use self::location::Location;
pub(crate) use self::members::REPEATED_SCHEMA;
pub(crate) use self::names::in_json_names;
pub(super) use self::rules::Rule;
pub(crate) use self::rules::Rules;

#[cfg(test)]
mod tests;
