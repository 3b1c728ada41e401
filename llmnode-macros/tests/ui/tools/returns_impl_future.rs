// Cause: what the tool returns is not named.
// Mend: write `async fn`.
#![allow(unused)]

use llmnode::prelude::*;

/// Weeds a bed.
#[tool]
fn weed(bed: u8) -> impl std::future::Future<Output = u8> {
    std::future::ready(bed)
}

fn main() {}
