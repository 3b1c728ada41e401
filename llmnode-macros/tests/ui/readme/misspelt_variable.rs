// Cause: the prompt names a variable that is no field of the node.
// Mend: write the name that the compiler proposes.
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topik}.")]
struct Haiku {
    topic: String,
}

fn main() {
    let _ = Haiku { topic: "compilers".into() };
}
