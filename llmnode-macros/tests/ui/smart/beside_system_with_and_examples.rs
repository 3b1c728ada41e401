use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(
    goal = "Judge the claim.",
    system = "Be strict.",
    with(n = self.claim.len()),
    examples = [("2 is odd", Verdict { holds: false })],
    output = Verdict,
)]
struct Judge {
    claim: String,
}

fn main() {}
