// Cause: the tool's future cannot move between threads.
// Mend: drop the `Rc` before the `.await`, or use an `Arc`.
#![allow(unused)]

use llmnode::prelude::*;

/// Waits for rain.
#[tool]
async fn wait(days: u8) -> u8 {
    let kept = std::rc::Rc::new(days);
    std::future::ready(()).await;
    *kept
}

fn main() {}
