// Cause: each build has another field of the node.
// Mend: write the node once for each build, below `#[cfg(…)]`.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic} {depth}")]
struct Summarize {
    topic: String,
    #[cfg(debug_assertions)]
    depth: u8,
    #[cfg(not(debug_assertions))]
    depth: u16,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: String::new(), depth: 1 });
}
