// Cause: the model would not know what the node is for.
// Mend: write a doc comment.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(tool, prompt = "{what}")]
struct Tend {
    what: String,
}

fn main() {}
