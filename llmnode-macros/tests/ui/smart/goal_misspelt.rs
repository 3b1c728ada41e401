use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(gaol = "Judge the claim.", output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
