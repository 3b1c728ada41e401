// Cause: a field is marked in some builds only.
// Mend: write the node once for each build, below `#[cfg(…)]`.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}")]
struct Summarize {
    #[cfg_attr(debug_assertions, doc = "A word.")]
    topic: String,
    #[cfg_attr(debug_assertions, node(skip), allow(dead_code))]
    style: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: String::new(), style: String::new() });
}
