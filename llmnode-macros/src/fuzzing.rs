//! The library of `fuzz/`, which checks the macros on any text. It stands here because a macro crate cannot be linked:
//! the modules are built anew, below this root.

#![allow(dead_code, missing_docs, reason = "the macros' entry points are not in it, and nobody else uses it")]

extern crate proc_macro;

mod action;
mod anything;
mod by_hand;
mod configured;
mod crate_path;
mod diagnostics;
mod doubled;
mod flow;
mod generics;
mod item;
mod keyed;
mod keys;
mod names;
mod node;
mod output;
mod prompt;
mod tool;
mod validate;
mod values;

use proc_macro2::TokenStream;

/// Any text as a prompt.
pub fn prompt(text: &str) {
    held(anything::prompt::holds(text));
}

/// Any text as a literal.
pub fn literal(text: &str) {
    held(anything::literal::holds(text));
}

/// Any text as `#[macro(arguments)] item`.
pub fn macros(text: &str) {
    let given = text.parse::<TokenStream>().ok().and_then(anything::expansion::Use::read);
    if let Some(given) = given {
        held(given.holds());
    }
    // Else the text would be kept for the positions of its tokens.
    proc_macro2::extra::invalidate_current_thread_spans();
}

fn held(result: anything::Held) {
    if let Err(fault) = result {
        panic!("{fault}");
    }
}
