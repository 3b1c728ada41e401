// Cause: words for the reasoning that do not exist.
// Mend: write one of `off`, `low`, `medium`, `high` and `max`.
// Errors: 4
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", reasoning = "hihg")]
struct Rate {
    topic: String,
}

#[llm_node(prompt = "{topic}", reasoning = "a lot")]
struct Judge {
    topic: String,
}

#[llm_node(prompt = "{topic}", reasoning = 4_096)]
struct Weigh {
    topic: String,
}

#[llm_node(prompt = "{topic}", reasoning_effort = "low")]
struct Guess {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
