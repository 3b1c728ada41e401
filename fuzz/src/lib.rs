//! Checks the macros on any text. A macro crate cannot be linked: its modules are built anew, below this root.

#![allow(
    dead_code,
    missing_docs,
    reason = "the macros' entry points are not in it, and nobody else uses it"
)]

extern crate proc_macro;

#[path = "../../crates/llmnode-testkit/tests/internals/invariants/mod.rs"]
mod invariants;
#[path = "../../crates/llmnode-testkit/tests/internals/sources.rs"]
mod sources;

use proc_macro2::TokenStream;
use sources::*;

/// Any text as a prompt.
pub fn prompt(text: &str) {
    held(invariants::prompt::holds(text));
}

/// Any text as a literal.
pub fn literal(text: &str) {
    held(invariants::literal::holds(text));
}

/// Any text as `#[macro(arguments)] item`.
pub fn macros(text: &str) {
    let given = text
        .parse::<TokenStream>()
        .ok()
        .and_then(invariants::expansion::Use::read);
    if let Some(given) = given {
        held(given.holds());
    }
    // Else the text would be kept for the positions of its tokens.
    proc_macro2::extra::invalidate_current_thread_spans();
}

fn held(result: invariants::Held) {
    if let Err(fault) = result {
        panic!("{fault}");
    }
}
