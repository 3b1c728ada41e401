//! One node, whose expansion a test prints.

use llm::prelude::*;

/// Writes the first sentence of a story.
#[llm_node(prompt = "Write about {subject}, in {words:>1} words at most.")]
struct Opening<'a> {
    subject: &'a str,
    words: u32,
}

fn main() {
    let node = Opening {
        subject: "the sea",
        words: 20,
    };
    println!("{}", llm::testing::request_of(&node, &()).transcript());
}
