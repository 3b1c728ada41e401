// Cause: the context's state is not named.
// Mend: write `&Cx<'_, Garden>`.
#![allow(unused)]

use llmnode::prelude::*;
use llmnode::Cx;

/// Plants.
#[tool]
fn plant(cx: &Cx) -> u8 {
    let _ = cx;
    1
}

fn main() {}
