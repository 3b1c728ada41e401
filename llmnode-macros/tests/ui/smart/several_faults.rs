use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge {claim}.", form = yaml, prompt = "Judge it.", retries = "2", output = Verdict)]
struct Judge {
    claim: &'static str,
    #[node(skip)]
    note: String,
}

fn main() {}
