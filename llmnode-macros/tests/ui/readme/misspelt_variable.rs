use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topik}.")]
struct Haiku {
    topic: String,
}

fn main() {
    let _ = Haiku { topic: "compilers".into() };
}
