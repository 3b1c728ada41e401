// Cause: the argument of a closure has no derives.
// Mend: put `#[llm_output]` on it.
#![allow(unused)]

use llmnode::prelude::*;
use llmnode::{BoxError, Toolset};

struct Bed {
    number: u8,
}

fn main() {
    let tools = Toolset::new().function("weed", "Weeds a bed.", |bed: Bed| async move {
        Ok::<_, BoxError>(bed.number)
    });
}
