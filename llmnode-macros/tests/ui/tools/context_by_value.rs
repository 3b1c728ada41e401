// Cause: the context is taken by value.
// Mend: borrow it.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden;

/// Waters all.
#[tool]
async fn water(cx: llmnode::Cx<'_, Garden>) -> bool {
    true
}

fn main() {}
