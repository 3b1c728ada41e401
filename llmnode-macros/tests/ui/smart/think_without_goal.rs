use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(prompt = "Judge: {claim}", think, output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
