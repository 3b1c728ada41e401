// Cause: `attempts` repeats what must not be repeated.
// Mend: drop one of them.
#![allow(unused)]

use llmnode::prelude::*;

/// Fells a tree.
#[tool(idempotent = false, attempts = 2)]
fn fell(tree: String) -> String {
    tree
}

fn main() {}
