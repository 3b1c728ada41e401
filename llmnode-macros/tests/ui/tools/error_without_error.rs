// Cause: the tool's error is no error.
// Mend: implement `std::error::Error` for it, or fail with a text.
#![allow(unused)]

use llmnode::prelude::*;

struct Wilted;

/// Picks a flower.
#[tool]
fn pick(color: String) -> Result<String, Wilted> {
    Ok(color)
}

fn main() {}
