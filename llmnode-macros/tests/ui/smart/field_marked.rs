use llmnode::Message;
use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", output = Verdict)]
struct Judge {
    claim: String,
    #[node(history)]
    talk: Vec<Message>,
}

fn main() {}
