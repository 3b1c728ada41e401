//! The first value that a JSON schema allows.

mod collections;
mod finder;
mod flat;
mod height;
mod keywords;
mod merge;
mod nth;
mod number;
mod pattern;
mod string;

use serde_json::Value;

use finder::Finder;
use nth::Nth;

/// The first value that `schema` allows; `null` for what a schema makes impossible.
pub(super) fn first_value(schema: &Value) -> Value {
    Finder::new(schema, Nth::default()).value(schema)
}

#[cfg(test)]
pub(super) fn nth_value(schema: &Value, n: usize) -> Value {
    Finder::new(schema, Nth::new(n)).value(schema)
}
