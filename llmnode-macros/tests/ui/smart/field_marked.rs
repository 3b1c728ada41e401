// Cause: a field of a node with a goal is marked as the history.
// Mend: drop the attribute, or write a prompt.
#![allow(unused)]

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
