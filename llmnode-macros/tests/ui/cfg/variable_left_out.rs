// Cause: the prompt names a field that a `#[cfg]` leaves out of the node.
// Mend: drop the variable, or choose between two prompts by `#[cfg_attr(…, llm_node(…))]`.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic} {depth}")]
struct Summarize {
    topic: String,
    #[cfg(not(debug_assertions))]
    depth: u8,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: String::new() });
}
